//! Requests of snapshots.

use crate::marks::Phase;
use crate::state::EngineState;
use rialto_model::Seq;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The requested and the completed snapshots.
pub(crate) struct SnapshotRequests {
    every: u64,
    wanted: AtomicU64,
    /// The newest snapshot.
    durable: AtomicU64,
    /// The newest failed snapshot.
    failed: AtomicU64,
    last_error: Mutex<Option<String>>,
    settled: Condvar,
}

impl SnapshotRequests {
    /// `newest` is the newest existing snapshot.
    pub(crate) fn new(every: u64, newest: Seq) -> Self {
        Self {
            every: every.max(1),
            wanted: AtomicU64::new(0),
            durable: AtomicU64::new(newest.0),
            failed: AtomicU64::new(0),
            last_error: Mutex::new(None),
            settled: Condvar::new(),
        }
    }

    /// Requests a snapshot through this sequence. A failed one is tried again, because the cause
    /// may be gone.
    pub(crate) fn request(&self, through: Seq) {
        if self.failed.load(Ordering::Acquire) >= through.0 && !self.is_durable(through) {
            self.failed.store(0, Ordering::Release);
        }
        self.wanted.fetch_max(through.0, Ordering::AcqRel);
    }

    /// A pending request.
    pub(crate) fn wanted(&self) -> Option<Seq> {
        let wanted = Seq(self.wanted.load(Ordering::Acquire));
        (!self.is_settled(wanted)).then_some(wanted)
    }

    /// Whether enough has been synced since the last attempt.
    pub(crate) fn is_due(&self, synced: Seq) -> bool {
        let last = self.durable().0.max(self.failed.load(Ordering::Acquire));
        synced.0 >= last.saturating_add(self.every)
    }

    pub(crate) fn durable(&self) -> Seq {
        Seq(self.durable.load(Ordering::Acquire))
    }

    pub(crate) fn is_durable(&self, through: Seq) -> bool {
        self.durable() >= through
    }

    pub(crate) fn is_settled(&self, through: Seq) -> bool {
        self.is_durable(through) || self.failed.load(Ordering::Acquire) >= through.0
    }

    pub(crate) fn made(&self, seq: Seq) {
        self.durable.fetch_max(seq.0, Ordering::AcqRel);
        self.wake();
    }

    pub(crate) fn failed(&self, seq: Seq, why: String) {
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        self.failed.fetch_max(seq.0, Ordering::AcqRel);
        self.wake();
    }

    pub(crate) fn wake(&self) {
        drop(self.last_error.lock());
        self.settled.notify_all();
    }
}

/// A requested snapshot.
pub struct SnapshotTicket {
    through: Seq,
    state: Arc<EngineState>,
}

/// The reason why a snapshot failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotFailed {
    /// It could not be written.
    #[error("the snapshot through sequence {through} could not be made: {reason}")]
    Failed {
        /// The sequence.
        through: Seq,
        /// The disk's error.
        reason: String,
    },
    /// The engine ended before.
    #[error("the engine ended before the snapshot was made")]
    Stopped,
    /// It was not finished in time; it may still be.
    #[error("the snapshot was not made in time")]
    TimedOut,
}

impl SnapshotTicket {
    pub(crate) fn new(through: Seq, state: Arc<EngineState>) -> Self {
        Self { through, state }
    }

    /// The sequence that the snapshot will include.
    #[must_use]
    pub fn through(&self) -> Seq {
        self.through
    }

    /// Waits until the snapshot is durable and returns its sequence, which is at least
    /// [`SnapshotTicket::through`].
    ///
    /// # Errors
    /// It failed.
    pub fn wait(&self, timeout: Duration) -> Result<Seq, SnapshotFailed> {
        let desk = &self.state.snapshots;
        let deadline = Instant::now() + timeout;
        let mut error = desk.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if desk.is_durable(self.through) {
                return Ok(desk.durable());
            }
            if desk.is_settled(self.through) {
                let reason = error.clone().unwrap_or_default();
                return Err(SnapshotFailed::Failed { through: self.through, reason });
            }
            if self.state.progression.phase() >= Phase::Stopped {
                return Err(SnapshotFailed::Stopped);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(SnapshotFailed::TimedOut);
            }
            error = desk
                .settled
                .wait_timeout(error, left)
                .map_or_else(|poison| poison.into_inner().0, |(error, _)| error);
        }
    }
}
