//! A store on a log.

mod checkpoint;
mod groups;
mod messages;
mod open;

pub use open::LogOptions;

use super::Store;
use super::record::RunNumber;
use super::state::State;
use super::types::{
    Appended, Begun, FencingToken, NewRun, RunFilter, RunSummary, StoreError, StoredRun, Ticket,
    Write,
};
use crate::{FlowId, Timestamp};
use checkpoint::Checkpoint;
use groups::Groups;
use rialto_log::{Commit, Level, WriteError, Writer};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The most full groups that wait to be written; a thread that adds more writes them first.
const WAITING_GROUPS_MAX: usize = 4;

/// Keeps runs and messages in a log of their changes.
///
/// One directory belongs to one process: a second one is refused when it opens it. Within the
/// process any number of workers may share the store, each with its own runs.
///
/// The state lives in memory, within [`StoreLimits`](super::StoreLimits); the log is what it is
/// rebuilt from. When the log has grown to several times the state, [`Store::maintain`] writes a
/// checkpoint, piece by piece, and deletes the log before it.
pub struct LogStore {
    level: Level,
    inner: Mutex<Inner>,
    /// Locked before `inner`, never while holding it.
    files: Mutex<Files>,
    /// The sequence of the last record that is confirmed at the level.
    confirmed: AtomicU64,
    failed: OnceLock<String>,
}

struct Inner {
    state: State,
    groups: Groups,
}

struct Files {
    writer: Writer,
    /// Bytes written since the last checkpoint began.
    grown_bytes: u64,
    checkpoint: Option<Checkpoint>,
    /// The log is rewritten when it has grown by this much, or more if the state is great.
    checkpoint_bytes: u64,
    flush_every: Duration,
    flushed: Timestamp,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in the middle of a change would be a defect of this crate: no code of the user runs
    // under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LogStore {
    fn check_sound(&self) -> Result<(), StoreError> {
        match self.failed.get() {
            None => Ok(()),
            Some(reason) => Err(StoreError::Failed { reason: reason.clone() }),
        }
    }

    fn fail(&self, error: &WriteError) -> StoreError {
        StoreError::Failed { reason: self.failed.get_or_init(|| error.to_string()).clone() }
    }

    /// Changes the state, when there is room to record the change.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Inner) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.check_sound()?;
        let mut inner = lock(&self.inner);
        if inner.groups.waiting() >= WAITING_GROUPS_MAX {
            drop(inner);
            self.write_out(&mut lock(&self.files))?;
            inner = lock(&self.inner);
        }
        change(&mut inner)
    }

    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> Result<T, StoreError> {
        self.check_sound()?;
        Ok(read(&lock(&self.inner).state))
    }

    /// Writes all pending groups.
    fn write_out(&self, files: &mut Files) -> Result<(), StoreError> {
        self.check_sound()?;
        let mut groups = lock(&self.inner).groups.take();
        let commit = match self.level {
            Level::Memory | Level::Buffered => Commit::Written,
            Level::Synced => Commit::Synced,
        };
        for group in &mut groups {
            files.grown_bytes += group.stored_bytes() as u64;
            files.writer.write(group, commit).map_err(|error| self.fail(&error))?;
        }
        self.confirmed.store(files.writer.position().seq, Ordering::Release);
        lock(&self.inner).groups.give_back(groups);
        Ok(())
    }

    /// Writes and syncs everything that was taken so far, whatever the level.
    pub fn sync(&self) -> Result<(), StoreError> {
        let files = &mut *lock(&self.files);
        self.write_out(files)?;
        files.writer.sync().map_err(|error| self.fail(&error))
    }
}

impl Drop for LogStore {
    fn drop(&mut self) {
        // Unconfirmed writes may be lost, but an orderly end loses nothing. An error has no caller
        // here; the next opening reads what was written.
        let files = &mut *lock(&self.files);
        let ended = self.write_out(files);
        let ended = ended.and_then(|()| files.writer.confirm().map_err(|error| self.fail(&error)));
        if let Err(error) = ended {
            tracing::warn!("the store of flows did not end in order: {error}");
        }
    }
}

impl Store for LogStore {
    fn level(&self) -> Level {
        self.level
    }

    fn join(&self, now: Timestamp, lease: Duration) -> Result<FencingToken, StoreError> {
        self.check_sound()?;
        Ok(lock(&self.inner).state.join(now, lease))
    }

    fn renew(&self, worker: FencingToken, now: Timestamp) -> Result<(), StoreError> {
        self.check_sound()?;
        lock(&self.inner).state.renew(worker, now)
    }

    fn leave(&self, worker: FencingToken) {
        lock(&self.inner).state.leave(worker);
    }

    fn claim(
        &self,
        worker: FencingToken,
        now: Timestamp,
        max: usize,
    ) -> Result<Vec<StoredRun>, StoreError> {
        self.check_sound()?;
        lock(&self.inner).state.claim(worker, now, max)
    }

    fn begin(&self, worker: FencingToken, run: NewRun<'_>) -> Result<Begun, StoreError> {
        self.change(|Inner { state, groups }| state.begin(groups, worker, &run))
    }

    fn append(&self, worker: FencingToken, writes: &[Write]) -> Result<Appended, StoreError> {
        self.change(|Inner { state, groups }| state.append(groups, worker, writes))
    }

    fn commit(&self, through: Ticket) -> Result<(), StoreError> {
        self.check_sound()?;
        if self.level == Level::Memory || self.confirmed() >= through {
            return Ok(());
        }
        let files = &mut *lock(&self.files);
        // The last holder of the lock may have written this along with its own.
        if self.confirmed() >= through { Ok(()) } else { self.write_out(files) }
    }

    fn confirmed(&self) -> Ticket {
        match self.level {
            Level::Memory => Ticket(lock(&self.inner).groups.next_seq() - 1),
            Level::Buffered | Level::Synced => Ticket(self.confirmed.load(Ordering::Acquire)),
        }
    }

    fn number_of(&self, id: &FlowId) -> Result<Option<RunNumber>, StoreError> {
        self.read(|state| state.runs.find(id))
    }

    fn find(&self, id: &FlowId) -> Result<Option<StoredRun>, StoreError> {
        self.read(|state| state.find(id))
    }

    fn list(
        &self,
        filter: &RunFilter,
        after: Option<RunNumber>,
        max: usize,
    ) -> Result<Vec<RunSummary>, StoreError> {
        self.read(|state| state.runs.list(filter, after, max))
    }

    fn reopen(
        &self,
        worker: FencingToken,
        run: RunNumber,
        entries: &[u8],
    ) -> Result<Option<(StoredRun, Ticket)>, StoreError> {
        self.change(|Inner { state, groups }| state.reopen(groups, worker, run, entries))
    }

    fn maintain(&self, now: Timestamp) -> Result<(), StoreError> {
        self.change(|Inner { state, groups }| state.expire(groups, now))?;
        let files = &mut *lock(&self.files);
        self.write_out(files)?;
        self.advance_checkpoint(files)?;
        if now.since(files.flushed) >= files.flush_every {
            files.flushed = now;
            files.writer.sync().map_err(|error| self.fail(&error))?;
        }
        Ok(())
    }
}
