//! A store that is lost with the process.

use super::Store;
use super::message::{
    Accepted, Backlog, ClaimedMessage, DeadMessage, DeliveryResult, InboxMark, MessageNumber,
    OutboxMessage,
};
use super::record::{Record, RunNumber, Settlement};
use super::state::{Journal, State, StoreLimits};
use super::types::{
    Appended, Begun, FencingToken, NewRun, RunFilter, RunSummary, StoreError, StoredRun, Ticket,
    Write,
};
use crate::outbox::{InboxStore, OutboxStore};
use crate::{FlowId, Timestamp};
use rialto_log::Level;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Counts the records that a log would hold.
struct Count(u64);

impl Journal for Count {
    fn record(&mut self, _: &Record<'_>) -> Result<Ticket, StoreError> {
        self.0 += 1;
        Ok(Ticket(self.0))
    }
}

/// Keeps everything in memory: for tests, and for flows that need not survive the process.
///
/// It behaves as [`LogStore`](super::LogStore) without the disk: runs survive their workers, so
/// that another one can claim and resume them.
pub struct MemoryStore {
    inner: Mutex<(State, Count)>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new(limits: StoreLimits) -> Self {
        Self { inner: Mutex::new((State::new(limits, 0), Count(0))) }
    }

    fn lock(&self) -> MutexGuard<'_, (State, Count)> {
        // Nothing under this lock panics half way through a change.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(StoreLimits::default())
    }
}

impl Store for MemoryStore {
    fn level(&self) -> Level {
        Level::Memory
    }

    fn join(&self, now: Timestamp, lease: Duration) -> Result<FencingToken, StoreError> {
        Ok(self.lock().0.join(now, lease))
    }

    fn renew(&self, worker: FencingToken, now: Timestamp) -> Result<(), StoreError> {
        self.lock().0.renew(worker, now)
    }

    fn leave(&self, worker: FencingToken) {
        self.lock().0.leave(worker);
    }

    fn claim(
        &self,
        worker: FencingToken,
        now: Timestamp,
        max: usize,
    ) -> Result<Vec<StoredRun>, StoreError> {
        self.lock().0.claim(worker, now, max)
    }

    fn begin(&self, worker: FencingToken, run: NewRun<'_>) -> Result<Begun, StoreError> {
        let (state, count) = &mut *self.lock();
        state.begin(count, worker, &run)
    }

    fn append(&self, worker: FencingToken, writes: &[Write]) -> Result<Appended, StoreError> {
        let (state, count) = &mut *self.lock();
        state.append(count, worker, writes)
    }

    fn commit(&self, _: Ticket) -> Result<(), StoreError> {
        Ok(())
    }

    fn confirmed(&self) -> Ticket {
        Ticket(self.lock().1.0)
    }

    fn number_of(&self, id: &FlowId) -> Result<Option<RunNumber>, StoreError> {
        Ok(self.lock().0.runs.find(id))
    }

    fn find(&self, id: &FlowId) -> Result<Option<StoredRun>, StoreError> {
        Ok(self.lock().0.find(id))
    }

    fn list(
        &self,
        filter: &RunFilter,
        after: Option<RunNumber>,
        max: usize,
    ) -> Result<Vec<RunSummary>, StoreError> {
        Ok(self.lock().0.runs.list(filter, after, max))
    }

    fn reopen(
        &self,
        worker: FencingToken,
        run: RunNumber,
        entries: &[u8],
    ) -> Result<Option<(StoredRun, Ticket)>, StoreError> {
        let (state, count) = &mut *self.lock();
        state.reopen(count, worker, run, entries)
    }

    fn maintain(&self, now: Timestamp) -> Result<(), StoreError> {
        let (state, count) = &mut *self.lock();
        state.expire(count, now)
    }
}

impl OutboxStore for MemoryStore {
    fn post(&self, messages: Vec<OutboxMessage>) -> Result<(), StoreError> {
        self.accept(Vec::new(), messages).map(drop)
    }

    fn claim_messages(
        &self,
        now: Timestamp,
        lease: Duration,
        max: usize,
    ) -> Result<Vec<ClaimedMessage>, StoreError> {
        Ok(self.lock().0.messages.claim(now, lease, max))
    }

    fn settle(&self, claim: &ClaimedMessage, delivery: DeliveryResult) -> Result<bool, StoreError> {
        let (state, count) = &mut *self.lock();
        state.settle(count, claim, delivery)
    }

    fn commit_messages(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.lock().0.messages.next_due())
    }

    fn backlog(&self) -> Result<Backlog, StoreError> {
        Ok(self.lock().0.messages.backlog())
    }

    fn dead_letters(
        &self,
        after: Option<MessageNumber>,
        max: usize,
    ) -> Result<Vec<DeadMessage>, StoreError> {
        Ok(self.lock().0.messages.dead_letters(after, max))
    }

    fn requeue(&self, message: MessageNumber) -> Result<bool, StoreError> {
        let (state, count) = &mut *self.lock();
        state.settle_dead(count, message, Settlement::Requeued)
    }

    fn discard(&self, message: MessageNumber) -> Result<bool, StoreError> {
        let (state, count) = &mut *self.lock();
        state.settle_dead(count, message, Settlement::Gone)
    }

    fn maintain_messages(&self, now: Timestamp) -> Result<(), StoreError> {
        self.maintain(now)
    }
}

impl InboxStore for MemoryStore {
    fn accept(
        &self,
        marks: Vec<InboxMark>,
        then: Vec<OutboxMessage>,
    ) -> Result<Accepted, StoreError> {
        let (state, count) = &mut *self.lock();
        state.accept(count, marks, then)
    }

    fn is_marked(&self, from: &str, key: &str) -> Result<bool, StoreError> {
        Ok(self.lock().0.messages.is_marked(from, key))
    }
}
