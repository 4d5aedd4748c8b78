//! A clock for tests and simulations.

use crate::{Clock, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Clocks that stand still until they are moved: for tests, and for feeding recorded orders through an
/// engine at their own times. Clones share the time.
#[derive(Clone, Debug)]
pub struct ManualClock {
    /// The origin of [`Clock::monotonic`].
    begin: Instant,
    readings: Arc<Readings>,
}

#[derive(Debug, Default)]
struct Readings {
    passed_ns: AtomicU64,
    /// The lead of the wall clock over the monotonic one.
    stepped_ns: AtomicI64,
}

impl ManualClock {
    /// Clocks that stand at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        let readings = Readings { passed_ns: AtomicU64::new(now.0), ..Readings::default() };
        Self { begin: Instant::now(), readings: Arc::new(readings) }
    }

    /// Lets time pass until the wall clock shows `now`, which may be in the past.
    pub fn set(&self, now: Timestamp) {
        let stepped = self.readings.stepped_ns.load(Ordering::Acquire);
        let passed = now.0.saturating_add_signed(stepped.saturating_neg());
        self.readings.passed_ns.store(passed, Ordering::Release);
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let nanos = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.readings.passed_ns.fetch_add(nanos, Ordering::AcqRel);
    }

    /// Steps the wall clock, as an operator who sets it does, while no time passes.
    pub fn step(&self, nanoseconds: i64) {
        self.readings.stepped_ns.fetch_add(nanoseconds, Ordering::AcqRel);
    }

    /// The monotonic clock, as the time since 1970 if the wall clock was never stepped.
    #[must_use]
    pub fn passed(&self) -> Duration {
        Duration::from_nanos(self.readings.passed_ns.load(Ordering::Acquire))
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new(Timestamp::ZERO)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let passed = self.readings.passed_ns.load(Ordering::Acquire);
        let stepped = self.readings.stepped_ns.load(Ordering::Acquire);
        Timestamp(passed.saturating_add_signed(stepped))
    }

    fn monotonic(&self) -> Instant {
        self.begin + self.passed()
    }
}
