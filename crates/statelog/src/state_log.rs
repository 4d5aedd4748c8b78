//! A state and the log of its changes.

use crate::checkpoint::Checkpoint;
use crate::commit::{WriteTurn, WriteTurns};
use crate::error::StateLogError;
use crate::logged_state::LoggedState;
use crate::pending::{PendingRecords, Ticket, WAITING_GROUPS_MAX};
use rialto_clock::Timestamp;
use rialto_log::{Commit, Group, Level, Writer};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

/// A state in memory and the log of its changes.
///
/// A change is *taken* when [`StateLog::change`] returns: later changes and reads see it. It is
/// *confirmed*, at the level of the log, when [`StateLog::commit`] has returned for its ticket. Many
/// changes share one commit.
///
/// One directory belongs to one process: a second one is refused when it opens it. Within the
/// process any number of threads may share the log.
///
/// After a write that failed, every later call fails: the state may then be ahead of the log. The
/// next opening folds what was written.
pub struct StateLog<S: LoggedState> {
    pub(crate) dir: PathBuf,
    pub(crate) level: Level,
    pub(crate) inner: Mutex<Inner<S>>,
    /// Locked before `inner`, never while holding it.
    pub(crate) files: Mutex<Files<S::Cursor>>,
    /// Taken before `files` by threads that commit.
    pub(crate) turns: WriteTurns,
    /// The sequence of the last record that is confirmed at the level.
    pub(crate) confirmed: AtomicU64,
    pub(crate) failed: OnceLock<String>,
}

pub(crate) struct Inner<S> {
    pub(crate) state: S,
    pub(crate) records: PendingRecords,
}

pub(crate) struct Files<C> {
    pub(crate) writer: Writer,
    /// The groups that are being written; empty in between.
    pub(crate) groups: VecDeque<Group>,
    /// Bytes written since the last checkpoint began.
    pub(crate) grown_bytes: u64,
    pub(crate) checkpoint: Option<Checkpoint<C>>,
    /// The log is rewritten when it has grown by this much, or more if the state is great.
    pub(crate) checkpoint_bytes: u64,
    pub(crate) flush_every: Duration,
    pub(crate) flushed: Timestamp,
}

impl<S: LoggedState> StateLog<S> {
    /// The durability of a confirmed change. At [`Level::Memory`] every taken change counts as
    /// confirmed.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The first failure, if there was one: the log accepts no more changes.
    pub fn failure(&self) -> Option<String> {
        self.failed.get().cloned()
    }

    /// Changes the state and appends the records of the change, when there is room for them.
    ///
    /// `change` appends a record first and applies it to the state when that has succeeded, so that
    /// the two agree. It runs under the lock of the state: it must be short, and must not call this
    /// log. If it panics, the log accepts no more changes.
    ///
    /// # Errors
    /// The error of `change`, or [`StateLogError::Failed`].
    #[inline]
    pub fn change<T, E: From<StateLogError>>(
        &self,
        change: impl FnOnce(&mut S, &mut PendingRecords) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut inner = self.lock_inner()?;
        if inner.records.waiting() >= WAITING_GROUPS_MAX {
            drop(inner);
            self.write_out(&mut *self.lock_files()?)?;
            inner = self.lock_inner()?;
        }
        let Inner { state, records } = &mut *inner;
        change(state, records)
    }

    /// Changes parts of the state that the log does not hold, such as leases.
    ///
    /// # Errors
    /// [`StateLogError::Failed`] if an earlier write failed.
    #[inline]
    pub fn change_unlogged<T>(&self, change: impl FnOnce(&mut S) -> T) -> Result<T, StateLogError> {
        Ok(change(&mut self.lock_inner()?.state))
    }

    /// Reads the state, changes that are not confirmed included.
    ///
    /// # Errors
    /// [`StateLogError::Failed`] if an earlier write failed: the state may hold what is lost.
    #[inline]
    pub fn read<T>(&self, read: impl FnOnce(&S) -> T) -> Result<T, StateLogError> {
        Ok(read(&self.lock_inner()?.state))
    }

    /// Returns when everything up to the ticket is confirmed at the level.
    ///
    /// Of the threads that commit at the same time one writes for all; see
    /// [`StateLog::taken`] for a ticket that covers everything.
    ///
    /// # Errors
    /// [`StateLogError::Failed`] if this or an earlier write failed.
    pub fn commit(&self, through: Ticket) -> Result<(), StateLogError> {
        self.check_sound()?;
        let is_confirmed = || Ticket(self.confirmed.load(Ordering::Acquire)) >= through;
        if self.level == Level::Memory || is_confirmed() {
            return Ok(());
        }
        let is_over = || is_confirmed() || self.failed.get().is_some();
        if let Some(turn) = self.turns.take(through.0, is_over) {
            let files = &mut *self.lock_files()?;
            // Housekeeping may have written it meanwhile.
            if !is_confirmed() {
                self.write_out_in(files, Some(&turn))?;
            }
        }
        if is_confirmed() { Ok(()) } else { self.check_sound() }
    }

    /// The ticket of the last change that was taken; of everything, for [`StateLog::commit`].
    ///
    /// # Errors
    /// [`StateLogError::Failed`] if an earlier write failed.
    pub fn taken(&self) -> Result<Ticket, StateLogError> {
        Ok(Ticket(self.lock_inner()?.records.next_seq() - 1))
    }

    /// The ticket up to which everything is confirmed.
    pub fn confirmed(&self) -> Ticket {
        let confirmed = Ticket(self.confirmed.load(Ordering::Acquire));
        match self.level {
            Level::Memory => self.taken().unwrap_or(confirmed),
            Level::Buffered | Level::Synced => confirmed,
        }
    }

    /// Writes and syncs everything that was taken so far, whatever the level.
    ///
    /// # Errors
    /// [`StateLogError::Failed`] if this or an earlier write failed.
    pub fn sync(&self) -> Result<(), StateLogError> {
        let files = &mut *self.lock_files()?;
        self.write_out(files)?;
        files.writer.sync().map_err(|error| self.fail(&error))
    }

    /// Does a bounded piece of housekeeping: writes what is pending, continues a checkpoint or
    /// begins one, and syncs if [`flush_every`](crate::StateLogOptions::flush_every) is over. To be
    /// called regularly, and when idle.
    ///
    /// # Errors
    /// [`StateLogError::Failed`] if this or an earlier write failed.
    pub fn maintain(&self, now: Timestamp) -> Result<(), StateLogError> {
        let files = &mut *self.lock_files()?;
        self.write_out(files)?;
        self.advance_checkpoint(files)?;
        if now.since(files.flushed) >= files.flush_every {
            files.flushed = now;
            files.writer.sync().map_err(|error| self.fail(&error))?;
        }
        Ok(())
    }

    /// Writes all pending records.
    pub(crate) fn write_out(&self, files: &mut Files<S::Cursor>) -> Result<(), StateLogError> {
        self.write_out_in(files, None)
    }

    /// Writes all pending records, in the turn of a thread that commits.
    fn write_out_in(
        &self,
        files: &mut Files<S::Cursor>,
        turn: Option<&WriteTurn<'_>>,
    ) -> Result<(), StateLogError> {
        let taken = {
            let mut inner = self.lock_inner()?;
            inner.records.take(&mut files.groups);
            inner.records.next_seq() - 1
        };
        if let Some(turn) = turn {
            turn.takes_through(taken);
        }
        let last = files.groups.len().saturating_sub(1);
        for (nth, group) in files.groups.iter_mut().enumerate() {
            // None of the records is confirmed before all of them are written, so that one sync
            // covers all groups.
            let commit = match self.level {
                Level::Synced if nth == last => Commit::Synced,
                _ => Commit::Written,
            };
            files.grown_bytes += group.stored_bytes() as u64;
            files.writer.write(group, commit).map_err(|error| self.fail(&error))?;
        }
        self.confirmed.store(files.writer.position().seq, Ordering::Release);
        self.lock_inner()?.records.give_back(&mut files.groups);
        Ok(())
    }

    pub(crate) fn lock_inner(&self) -> Result<MutexGuard<'_, Inner<S>>, StateLogError> {
        self.check_sound()?;
        // Half of a change may be in the state and half of it in the log.
        self.inner.lock().map_err(|_| self.fail(&"a change of the state panicked"))
    }

    pub(crate) fn lock_files(&self) -> Result<MutexGuard<'_, Files<S::Cursor>>, StateLogError> {
        self.check_sound()?;
        self.files.lock().map_err(|_| self.fail(&"a write panicked"))
    }

    fn check_sound(&self) -> Result<(), StateLogError> {
        match self.failed.get() {
            None => Ok(()),
            Some(reason) => Err(self.refusal(reason)),
        }
    }

    #[cold]
    fn refusal(&self, reason: &str) -> StateLogError {
        StateLogError::Failed { dir: self.dir.clone(), reason: reason.to_owned() }
    }

    /// Notes the first failure, after which nothing is accepted.
    #[cold]
    pub(crate) fn fail(&self, error: &dyn std::fmt::Display) -> StateLogError {
        self.refusal(self.failed.get_or_init(|| error.to_string()))
    }

    fn end(&self) -> Result<(), StateLogError> {
        let files = &mut *self.lock_files()?;
        self.write_out(files)?;
        files.writer.confirm().map_err(|error| self.fail(&error))
    }
}

impl<S: LoggedState> Drop for StateLog<S> {
    fn drop(&mut self) {
        // Unconfirmed changes may be lost, but an orderly end loses nothing. An error has no caller
        // here; the next opening reads what was written.
        if let Err(error) = self.end() {
            tracing::warn!(dir = %self.dir.display(), "a state log did not end in order: {error}");
        }
    }
}
