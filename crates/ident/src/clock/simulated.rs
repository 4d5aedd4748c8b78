//! A timer for tests.

use super::BlockingTimer;
use rialto_clock::{Clock, ManualClock, Timestamp};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A timer for tests: it stands still until it is set. A wait lets the time pass at once, unless the clock is [stuck](SimulatedTimer::stick).
#[derive(Debug)]
pub struct SimulatedTimer {
    clock: ManualClock,
    waits: Mutex<Waits>,
}

#[derive(Debug, Default)]
struct Waits {
    waited_ms: u64,
    is_stuck: bool,
}

impl SimulatedTimer {
    /// A timer that stands at `now_ms` milliseconds since 1970.
    #[must_use]
    pub fn new(now_ms: u64) -> SimulatedTimer {
        SimulatedTimer { clock: ManualClock::new(at(now_ms)), waits: Mutex::default() }
    }

    /// Sets it, forwards or back.
    pub fn set(&self, now_ms: u64) {
        self.clock.set(at(now_ms));
    }

    /// From now on no wait lets time pass, as if the clock were broken.
    pub fn stick(&self) {
        self.waits(|waits| waits.is_stuck = true);
    }

    /// How many milliseconds were waited in all.
    #[must_use]
    pub fn waited_ms(&self) -> u64 {
        self.waits(|waits| waits.waited_ms)
    }

    fn waits<T>(&self, with: impl FnOnce(&mut Waits) -> T) -> T {
        // Each change is one assignment, so that a panic elsewhere leaves nothing half done.
        with(&mut self.waits.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

fn at(ms: u64) -> Timestamp {
    Timestamp(ms.saturating_mul(1_000_000))
}

impl Clock for SimulatedTimer {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn monotonic(&self) -> Instant {
        self.clock.monotonic()
    }
}

impl BlockingTimer for SimulatedTimer {
    fn wait_until(&self, ms: u64, at_most: Duration) -> bool {
        self.waits(|waits| {
            let wanted = ms.saturating_sub(self.now_ms()).min(at_most.as_millis() as u64);
            waits.waited_ms += wanted;
            if !waits.is_stuck {
                self.clock.advance(Duration::from_millis(wanted));
            }
            self.now_ms() >= ms
        })
    }
}
