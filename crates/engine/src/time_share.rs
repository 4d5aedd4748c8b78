//! Divides the writer's time between commands and background work.

use std::time::Duration;

/// The largest credit of background work in nanoseconds, in either direction, so that the distant
/// past has no effect.
const CREDIT_MAX_NS: i64 = 10_000_000;

/// The account of the writer's time. While commands wait, background work is due if it has had less
/// than its share since the account was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeShare {
    percent: i64,
    /// The earned and unused time of background work.
    credit_ns: i64,
}

impl TimeShare {
    pub(crate) fn new(percent: u8) -> TimeShare {
        TimeShare { percent: i64::from(percent.clamp(1, 90)), credit_ns: 0 }
    }

    /// Without work: nothing is saved for later.
    pub(crate) fn reset(&mut self) {
        self.credit_ns = 0;
    }

    pub(crate) fn commands_took(&mut self, time: Duration) {
        let ns = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX).min(100 * CREDIT_MAX_NS);
        self.add(ns * self.percent / (100 - self.percent));
    }

    /// Subtracts the time of background work.
    pub(crate) fn background_took(&mut self, time: Duration) {
        self.add(-i64::try_from(time.as_nanos()).unwrap_or(i64::MAX).min(CREDIT_MAX_NS));
    }

    /// Whether background work comes before further commands.
    pub(crate) fn is_due(&self) -> bool {
        self.credit_ns >= 0
    }

    fn add(&mut self, ns: i64) {
        self.credit_ns = (self.credit_ns + ns).clamp(-CREDIT_MAX_NS, CREDIT_MAX_NS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of background work for steps of these durations.
    fn part(percent: u8, commands_ns: u64, work_ns: u64) -> f64 {
        let mut share = TimeShare::new(percent);
        let (mut commands, mut work) = (0, 0);
        for _ in 0..100_000 {
            share.commands_took(Duration::from_nanos(commands_ns));
            commands += commands_ns;
            if share.is_due() {
                share.background_took(Duration::from_nanos(work_ns));
                work += work_ns;
            }
        }
        work as f64 / (work + commands) as f64
    }

    #[test]
    fn background_work_gets_its_share_of_the_time() {
        for percent in [1, 20, 50] {
            let got = part(percent, 1_000, 50_000);
            let wanted = f64::from(percent) / 100.0;
            assert!((got - wanted).abs() < 0.01, "{got} instead of {wanted}");
        }
    }

    #[test]
    fn work_that_takes_little_time_is_done_with_every_step() {
        assert!(part(20, 1_000, 100) > 0.09);
    }

    #[test]
    fn a_clock_that_stands_still_blocks_nothing() {
        let mut share = TimeShare::new(20);
        share.commands_took(Duration::ZERO);
        assert!(share.is_due());
        share.background_took(Duration::ZERO);
        assert!(share.is_due());
    }

    #[test]
    fn the_credit_is_bounded() {
        let mut share = TimeShare::new(20);
        share.background_took(Duration::MAX);
        share.commands_took(Duration::MAX);
        assert!(share.is_due());
    }
}
