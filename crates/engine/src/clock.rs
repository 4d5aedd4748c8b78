//! Where time comes from. The core never asks; the sequencer does, once per chunk of commands.

use rialto_model::Timestamp;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of time. What commands are stamped with is made of both readings; see
/// [`EngineConfig::clock_step_max`](crate::EngineConfig::clock_step_max).
///
/// Neither has a default: a clock that derived the one from the other would hide the steps that the
/// engine must see.
pub trait Clock: Send + Sync {
    /// The wall clock: the time of day as the machine takes it. It may step in either direction.
    fn now(&self) -> Timestamp;

    /// The monotonic clock: how long ago some fixed moment was. Setting the wall clock does not move
    /// it.
    fn monotonic(&self) -> Duration;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before 1970 is a broken clock; standing at zero until it is mended is harmless,
        // because stamped time never goes back.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    fn monotonic(&self) -> Duration {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        FIRST.get_or_init(Instant::now).elapsed()
    }
}

/// Clocks that stand until they are moved: for tests, and for feeding recorded orders through an
/// engine at their own times.
#[derive(Debug, Default)]
pub struct ManualClock {
    passed: AtomicU64,
    /// By how much the wall clock is ahead of the monotonic one.
    stepped: AtomicI64,
}

impl ManualClock {
    /// Clocks that stand at `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self { passed: AtomicU64::new(now.0), stepped: AtomicI64::new(0) }
    }

    /// Lets time pass until the wall clock shows `now`, which may be in the past.
    pub fn set(&self, now: Timestamp) {
        let stepped = self.stepped.load(Ordering::Acquire);
        self.passed.store(now.0.saturating_add_signed(stepped.saturating_neg()), Ordering::Release);
    }

    /// Lets time pass.
    pub fn advance(&self, nanoseconds: u64) {
        self.passed.fetch_add(nanoseconds, Ordering::AcqRel);
    }

    /// Steps the wall clock, as somebody who sets it does, while no time passes.
    pub fn step(&self, nanoseconds: i64) {
        self.stepped.fetch_add(nanoseconds, Ordering::AcqRel);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let passed = self.passed.load(Ordering::Acquire);
        Timestamp(passed.saturating_add_signed(self.stepped.load(Ordering::Acquire)))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.passed.load(Ordering::Acquire))
    }
}
