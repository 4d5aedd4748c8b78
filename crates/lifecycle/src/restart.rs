//! Restart policies.

use std::time::Duration;

/// When a component that failed is started again, and when it is given up.
///
/// The first restart comes after `first`, each further one after twice the time of the one before,
/// but never more than `longest`. After `attempts` of them the component is given up. Once it has
/// been up for `forgotten_after`, the count begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// How many times it is started again before it is given up; 0 gives it up at once.
    pub attempts: u32,
    /// The pause before the first.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
    /// How long it must be up until earlier failures no longer count.
    pub forgotten_after: Duration,
}

impl Restart {
    /// Never: the first failure is final.
    pub const NEVER: Restart = Restart {
        attempts: 0,
        first: Duration::ZERO,
        longest: Duration::ZERO,
        forgotten_after: Duration::ZERO,
    };

    /// The pause before an attempt, counted from 1.
    #[must_use]
    pub fn pause(&self, attempt: u32) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        self.first.saturating_mul(1 << doublings).min(self.longest)
    }
}

impl Default for Restart {
    /// Five attempts, after 100 ms, 200 ms, 400 ms, 800 ms and 1,600 ms, forgotten after a minute.
    fn default() -> Restart {
        Restart {
            attempts: 5,
            first: Duration::from_millis(100),
            longest: Duration::from_secs(10),
            forgotten_after: Duration::from_secs(60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let restart = Restart { longest: Duration::from_millis(500), ..Restart::default() };
        let ms = [1, 2, 3, 4, 5, u32::MAX].map(|attempt| restart.pause(attempt).as_millis());
        assert_eq!(ms, [100, 200, 400, 500, 500, 500]);
    }
}
