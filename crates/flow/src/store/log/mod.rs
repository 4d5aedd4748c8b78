//! A store on a log.

mod checkpoint;
mod journal;
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
use rialto_log::Level;
use rialto_statelog::StateLog;
use std::time::Duration;

/// Keeps runs and messages in a log of their changes.
///
/// One directory belongs to one process: a second one is refused when it opens it. Within the
/// process any number of workers may share the store, each with its own runs.
///
/// The state lives in memory, within [`StoreLimits`](super::StoreLimits); the log is what it is
/// rebuilt from. When the log has grown to several times the state, [`Store::maintain`] writes a
/// checkpoint, piece by piece, and deletes the log before it.
pub struct LogStore {
    log: StateLog<State>,
}

impl LogStore {
    fn read<T>(&self, read: impl FnOnce(&State) -> T) -> Result<T, StoreError> {
        Ok(self.log.read(read)?)
    }

    /// Writes and syncs everything that was taken so far, whatever the level.
    pub fn sync(&self) -> Result<(), StoreError> {
        Ok(self.log.sync()?)
    }
}

impl Store for LogStore {
    fn level(&self) -> Level {
        self.log.level()
    }

    fn join(&self, now: Timestamp, lease: Duration) -> Result<FencingToken, StoreError> {
        Ok(self.log.change_unlogged(|state| state.join(now, lease))?)
    }

    fn renew(&self, worker: FencingToken, now: Timestamp) -> Result<(), StoreError> {
        self.log.change_unlogged(|state| state.renew(worker, now))?
    }

    fn leave(&self, worker: FencingToken) {
        // A store that has failed hands out no more claims.
        let _ = self.log.change_unlogged(|state| state.leave(worker));
    }

    fn claim(
        &self,
        worker: FencingToken,
        now: Timestamp,
        max: usize,
    ) -> Result<Vec<StoredRun>, StoreError> {
        self.log.change_unlogged(|state| state.claim(worker, now, max))?
    }

    fn begin(&self, worker: FencingToken, run: NewRun<'_>) -> Result<Begun, StoreError> {
        self.log.change(|state, records| state.begin(records, worker, &run))
    }

    fn append(&self, worker: FencingToken, writes: &[Write]) -> Result<Appended, StoreError> {
        self.log.change(|state, records| state.append(records, worker, writes))
    }

    fn commit(&self, through: Ticket) -> Result<(), StoreError> {
        Ok(self.log.commit(through)?)
    }

    fn confirmed(&self) -> Ticket {
        self.log.confirmed()
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
        self.log.change(|state, records| state.reopen(records, worker, run, entries))
    }

    fn maintain(&self, now: Timestamp) -> Result<(), StoreError> {
        self.log.change(|state, records| state.expire(records, now))?;
        Ok(self.log.maintain(now)?)
    }
}
