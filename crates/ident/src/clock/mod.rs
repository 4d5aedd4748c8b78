//! Where the time of an id comes from.

mod cached;
mod manual;

pub use cached::CachedClock;
pub use manual::ManualClock;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// A clock in milliseconds since 1970. It may step back; a generator copes with that.
pub trait Clock {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> u64;

    /// Waits until the clock says `ms` or more, but no longer than `at_most`, and returns whether
    /// it does. There is no default, because only the clock knows how its time passes.
    fn wait_until(&self, ms: u64, at_most: Duration) -> bool;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    #[inline]
    fn now_ms(&self) -> u64 {
        (**self).now_ms()
    }

    fn wait_until(&self, ms: u64, at_most: Duration) -> bool {
        (**self).wait_until(ms, at_most)
    }
}

/// The clock of the operating system, read for each id.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        // A clock before 1970 is as wrong as one at 1970, and the generator refuses both unless
        // its epoch is that.
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        since.as_millis() as u64
    }

    fn wait_until(&self, ms: u64, at_most: Duration) -> bool {
        wait(|| self.now_ms(), ms, at_most)
    }
}

/// So near to the end, sleeping would overshoot.
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
