//! What things are worth: a random walk that the simulated members believe in.

use super::dice::Dice;
use std::time::Duration;

/// How much a value moves in the square root of a second, relative to itself.
const VOLATILITY: f64 = 0.000_2;
/// How much of the distance to its anchor a value loses in a second, relative to it. With the
/// volatility above, a value strays about two percent from its anchor, and rarely six: well within
/// the collar, so that an order line printed at the start still works hours later.
const REVERSION: f64 = 0.000_05;
/// The share of a value's movement that both coins have in common.
const CORRELATION: f64 = 0.7;

/// The values of both coins in dollars. The value of one coin in the other follows from them, so
/// that the three markets agree.
pub(crate) struct Fair {
    logs: [f64; 2],
    anchors: [f64; 2],
}

impl Fair {
    /// Begins at the present prices; the anchors are where the demo began.
    pub(crate) fn new(bitcoin: f64, ether: f64, anchors: [f64; 2]) -> Fair {
        Fair { logs: [bitcoin.ln(), ether.ln()], anchors: anchors.map(f64::ln) }
    }

    /// Lets time pass.
    pub(crate) fn step(&mut self, time: Duration, dice: &mut Dice) {
        let seconds = time.as_secs_f64();
        let (shared, own) = (dice.normal(), dice.normal());
        let second = CORRELATION * shared + (1.0 - CORRELATION * CORRELATION).sqrt() * own;
        for (at, draw) in [shared, second].into_iter().enumerate() {
            let back = (self.anchors[at] - self.logs[at]) * (REVERSION * seconds).min(1.0);
            self.logs[at] += back + VOLATILITY * seconds.sqrt() * draw;
        }
    }

    /// The value of each market's base in its quote, in the order of
    /// [`super::super::markets::MARKETS`].
    pub(crate) fn prices(&self) -> [f64; 3] {
        let [bitcoin, ether] = self.logs.map(f64::exp);
        [bitcoin, ether, ether / bitcoin]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_move_agree_and_stay_within_the_collar_for_days() {
        let mut dice = Dice::new(7);
        let mut fair = Fair::new(64_000.0, 3_200.0, [64_000.0, 3_200.0]);
        let mut moved = 0;
        for _ in 0..3 * 86_400 {
            let before = fair.prices()[0];
            fair.step(Duration::from_secs(1), &mut dice);
            let [bitcoin, ether, cross] = fair.prices();
            moved += u32::from((bitcoin - before).abs() > 1.0);
            assert!((cross * bitcoin / ether - 1.0).abs() < 1e-9);
            assert!((bitcoin / 64_000.0 - 1.0).abs() < 0.1, "{bitcoin}");
        }
        assert!(moved > 86_400, "it hardly moved");
    }
}
