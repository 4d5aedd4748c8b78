//! The clocks of ids.

mod cached;
mod simulated;

pub use cached::CachedClock;
pub use simulated::SimulatedTimer;

use rialto_clock::{Clock, SystemClock};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A clock that a thread can wait on. It may step back; a generator copes with that.
pub trait BlockingTimer: Clock {
    /// Waits until [`Clock::now_ms`] is `ms` or more, but no longer than `at_most`, and returns whether
    /// it is. There is no default, because only the clock knows how its time passes.
    fn wait_until(&self, ms: u64, at_most: Duration) -> bool;
}

impl<T: BlockingTimer + ?Sized> BlockingTimer for Arc<T> {
    fn wait_until(&self, ms: u64, at_most: Duration) -> bool {
        (**self).wait_until(ms, at_most)
    }
}

impl BlockingTimer for SystemClock {
    fn wait_until(&self, ms: u64, at_most: Duration) -> bool {
        wait(|| self.now_ms(), ms, at_most)
    }
}

/// Sleeping overshoots by less than this.
const SLEEP_SLACK: Duration = Duration::from_micros(200);
/// The longest sleep between two looks, because the clock may be set meanwhile.
const SLEEP_MAX: Duration = Duration::from_millis(5);

fn wait(now_ms: impl Fn() -> u64, ms: u64, at_most: Duration) -> bool {
    let start = Instant::now();
    loop {
        let now = now_ms();
        if now >= ms {
            return true;
        }
        let waited = start.elapsed();
        if waited >= at_most {
            return false;
        }
        // The clock may be anywhere within its millisecond, so the last one is not slept through.
        let whole_ms = Duration::from_millis(ms - now - 1).min(at_most - waited);
        if whole_ms > SLEEP_SLACK {
            std::thread::sleep((whole_ms - SLEEP_SLACK).min(SLEEP_MAX));
        } else {
            std::thread::yield_now();
        }
    }
}
