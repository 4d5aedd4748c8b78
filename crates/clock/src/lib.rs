//! Time as it is stored, and the clocks that tell it.
//!
//! Code that needs the time takes a [`Clock`], so that a test or a simulation can pass a
//! [`ManualClock`].
//!
//! ```
//! use rialto_clock::{Clock, ManualClock, Timestamp};
//! use std::time::Duration;
//!
//! let clock = ManualClock::new(Timestamp(1_000));
//! clock.advance(Duration::from_nanos(500));
//! assert_eq!(clock.now(), Timestamp(1_500));
//! ```

mod manual;
mod timestamp;

pub use manual::ManualClock;
pub use timestamp::Timestamp;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of time.
///
/// Neither reading has a default: a clock that derived one from the other would hide the steps of the
/// wall clock.
pub trait Clock: Send + Sync {
    /// The wall clock: the time of day as the machine takes it. It may step in either direction.
    fn now(&self) -> Timestamp;

    /// The monotonic clock. Setting the wall clock does not move it.
    fn monotonic(&self) -> Instant;

    /// The wall clock in milliseconds since 1970. A clock that counts milliseconds overrides it.
    #[inline]
    fn now_ms(&self) -> u64 {
        self.now().0 / 1_000_000
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    #[inline]
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    #[inline]
    fn monotonic(&self) -> Instant {
        (**self).monotonic()
    }

    #[inline]
    fn now_ms(&self) -> u64 {
        (**self).now_ms()
    }
}

/// The clocks of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// A wall clock before 1970 is broken; it reads as 1970.
    #[inline]
    fn since_1970(self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }
}

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::ZERO.after(self.since_1970())
    }

    #[inline]
    fn monotonic(&self) -> Instant {
        Instant::now()
    }

    #[inline]
    fn now_ms(&self) -> u64 {
        self.since_1970().as_millis() as u64
    }
}
