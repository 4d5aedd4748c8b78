//! Seeded randomness for the simulated members.

use rialto_workload::XorShift;

/// A generator whose whole sequence follows from its seed.
pub(crate) struct Dice(XorShift);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(XorShift::seeded(seed))
    }

    /// A number from 0 to `bound - 1`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    /// A number in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_word() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in [`low`, `high`).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// Whether something of this probability happens.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A standard normal number, by the method of Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        // One minus a number in [0, 1) is never zero, which has no logarithm.
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// An exponential number of mean one.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_moments_they_should_have() {
        let mut dice = Dice::new(1);
        let count = 100_000;
        let draws: Vec<f64> = (0..count).map(|_| dice.normal()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(count);
        let variance = draws.iter().map(|draw| draw * draw).sum::<f64>() / f64::from(count);
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
        let mean = (0..count).map(|_| dice.exponential()).sum::<f64>() / f64::from(count);
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((0..count).all(|_| (3.0..5.0).contains(&dice.between(3.0, 5.0))));
    }
}
