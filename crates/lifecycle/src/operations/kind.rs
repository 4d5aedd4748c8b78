//! Operations of one kind.

use super::Shared;
use super::gate::{Gate, LeaveResult};
use super::shard;
use crate::error::Stopping;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

/// The state of the operations of one kind.
#[derive(Debug)]
pub(super) struct KindState {
    pub(super) gate: Gate,
    pub(super) name: Cow<'static, str>,
    timed: Mutex<Timed>,
    /// Not strong, or the list of kinds and its kinds would keep each other alive.
    all: Weak<Shared>,
}

/// When the operations that are timed began; numbers ascend, so the first is the oldest.
#[derive(Debug, Default)]
struct Timed {
    next: u64,
    begun: BTreeMap<u64, Instant>,
}

impl KindState {
    pub(super) fn new(name: Cow<'static, str>, is_stopping: bool, all: Weak<Shared>) -> KindState {
        KindState { gate: Gate::new(is_stopping), name, timed: Mutex::default(), all }
    }

    pub(super) fn oldest(&self) -> Option<Instant> {
        self.timed().begun.first_key_value().map(|(_, &begun)| begun)
    }

    fn timed(&self) -> MutexGuard<'_, Timed> {
        // Nothing in between can panic half way.
        self.timed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn enter(&self) -> Result<(), Stopping> {
        self.gate.enter(shard::of_this_thread()).map_err(|left| {
            self.after(left);
            Stopping
        })
    }

    #[inline]
    fn leave(&self) {
        let left = self.gate.leave(shard::of_this_thread());
        self.after(left);
    }

    #[inline]
    fn after(&self, left: LeaveResult) {
        if left == LeaveResult::Empty {
            self.emptied();
        }
    }

    #[cold]
    fn emptied(&self) {
        // If the whole is dropped, there are no waiters.
        if let Some(all) = self.all.upgrade() {
            all.emptied();
        }
    }
}

/// Begins operations of one kind, such as a route of an interface. A clone is the same kind.
#[derive(Clone, Debug)]
pub struct Kind(Arc<KindState>);

impl Kind {
    pub(super) fn new(state: Arc<KindState>) -> Kind {
        Kind(state)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The number of running operations.
    #[must_use]
    pub fn running(&self) -> u64 {
        self.0.gate.inside()
    }

    /// Begins one, which ends when the returned value is dropped. Both count in the thread's own
    /// memory, without a locked instruction.
    ///
    /// # Errors
    /// If it is stopping.
    #[inline]
    pub fn begin(&self) -> Result<Operation<'_>, Stopping> {
        self.0.enter()?;
        Ok(Operation(&self.0))
    }

    /// Begins one that owns its kind, for example for a task.
    ///
    /// # Errors
    /// As [`Kind::begin`].
    #[inline]
    pub fn begin_owned(&self) -> Result<OwnedOperation, Stopping> {
        self.0.enter()?;
        Ok(OwnedOperation(Arc::clone(&self.0)))
    }

    /// Begins one whose age is known, so that a report says how long the oldest has been running.
    /// That costs a reading of the clock and a lock, so it is for what takes longer than those.
    ///
    /// # Errors
    /// As [`Kind::begin`].
    pub fn begin_timed(&self) -> Result<TimedOperation, Stopping> {
        let operation = self.begin_owned()?;
        let mut timed = self.0.timed();
        let number = timed.next;
        timed.next += 1;
        timed.begun.insert(number, Instant::now());
        drop(timed);
        Ok(TimedOperation { operation, number })
    }
}

/// An operation that is in progress until this is dropped, also by a panic.
#[derive(Debug)]
#[must_use = "the operation ends when this is dropped"]
pub struct Operation<'a>(&'a KindState);

impl Drop for Operation<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// An operation that is in progress until this is dropped, wherever it is by then.
#[derive(Debug)]
#[must_use = "the operation ends when this is dropped"]
pub struct OwnedOperation(Arc<KindState>);

impl Drop for OwnedOperation {
    #[inline]
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// An operation whose age is known.
#[derive(Debug)]
#[must_use = "the operation ends when this is dropped"]
pub struct TimedOperation {
    operation: OwnedOperation,
    number: u64,
}

impl Drop for TimedOperation {
    fn drop(&mut self) {
        self.operation.0.timed().begun.remove(&self.number);
    }
}
