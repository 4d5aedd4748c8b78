//! A clock that stands where it is put.

use super::Clock;
use std::sync::Mutex;
use std::time::Duration;

/// A clock for tests: it stands still until it is set. Time that is waited for passes at once,
/// unless the clock is [stuck](ManualClock::stick).
#[derive(Debug)]
pub struct ManualClock(Mutex<Hand>);

#[derive(Debug)]
struct Hand {
    now_ms: u64,
    waited_ms: u64,
    is_stuck: bool,
}

impl ManualClock {
    /// A clock that stands at `now_ms` milliseconds since 1970.
    #[must_use]
    pub fn new(now_ms: u64) -> ManualClock {
        ManualClock(Mutex::new(Hand { now_ms, waited_ms: 0, is_stuck: false }))
    }

    /// Sets it, forwards or back.
    pub fn set(&self, now_ms: u64) {
        self.hand(|hand| hand.now_ms = now_ms);
    }

    /// From now on no time passes while somebody waits for it, as if the clock were broken.
    pub fn stick(&self) {
        self.hand(|hand| hand.is_stuck = true);
    }

    /// How many milliseconds were waited in all.
    #[must_use]
    pub fn waited_ms(&self) -> u64 {
        self.hand(|hand| hand.waited_ms)
    }

    fn hand<T>(&self, with: impl FnOnce(&mut Hand) -> T) -> T {
        // Each change is one assignment, so that a panic elsewhere leaves nothing half done.
        with(&mut self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.hand(|hand| hand.now_ms)
    }

    fn wait_until(&self, ms: u64, at_most: Duration) -> bool {
        self.hand(|hand| {
            let wanted = ms.saturating_sub(hand.now_ms).min(at_most.as_millis() as u64);
            hand.waited_ms += wanted;
            if !hand.is_stuck {
                hand.now_ms += wanted;
            }
            hand.now_ms >= ms
        })
    }
}
