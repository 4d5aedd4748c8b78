//! Time, as it is stored and as it is asked for.
//!
//! Whatever asks for the time takes a [`Clock`], so that a test or a simulation can hand it one that
//! stands still until it is moved.
//!
//! ```
//! use rialto_clock::{Clock, ManualClock, Timestamp};
//! use std::time::Duration;
//!
//! let clock = ManualClock::new(Timestamp(1_000));
//! clock.advance(Duration::from_nanos(500));
//! assert_eq!(clock.now(), Timestamp(1_500));
//! ```

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The end of time: for waits without a limit.
    pub const NEVER: Self = Self(u64::MAX);

    /// This much later; never past the end of time.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(nanos))
    }

    /// How much later this is than `earlier`; zero if it is not.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(0).after(since)
    }
}

/// A clock that stands until it is moved, for tests and simulations. Clones share the time.
#[derive(Clone, Debug, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock that stands at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(AtomicU64::new(now.0)))
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        self.set(self.now().after(by));
    }

    /// Sets the clock.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::Release);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Acquire))
    }
}
