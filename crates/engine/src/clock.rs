//! Where time comes from. The core never asks; the sequencer does, once per chunk of commands.

use rialto_model::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A source of time. It may step backwards; the sequencer clamps what it stamps.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before 1970 is a broken clock; standing at zero until it is mended is harmless,
        // because stamped time never goes back.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// A clock that stands until it is moved: for tests, and for feeding recorded orders through an
/// engine at their own times.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { now: AtomicU64::new(now.0) }
    }

    /// Moves the clock, in either direction.
    pub fn set(&self, now: Timestamp) {
        self.now.store(now.0, Ordering::Release);
    }

    /// Moves the clock forward.
    pub fn advance(&self, nanoseconds: u64) {
        self.now.fetch_add(nanoseconds, Ordering::AcqRel);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::Acquire))
    }
}
