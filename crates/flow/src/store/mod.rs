//! Stores of runs, messages and marks.
//!
//! [`Store`] keeps runs, [`OutboxStore`](crate::outbox::OutboxStore) outgoing messages and
//! [`InboxStore`](crate::outbox::InboxStore) marks of received ones. [`LogStore`] and
//! [`MemoryStore`] are all three, so that a step and its messages share one atomic write.

mod hashing;
mod index;
mod log;
mod memory;
mod message;
mod messages;
mod ordering;
pub(crate) mod record;
mod runs;
mod state;
mod table;
mod types;

pub use log::{LogOptions, LogStore};
pub use memory::MemoryStore;
pub use message::{
    Accepted, Backlog, ClaimedMessage, DeadMessage, DeliveryResult, InboxMark, MARK_BYTES_MAX,
    MESSAGE_BYTES_MAX, MessageNumber, OutboxMessage,
};
pub use record::{FORMAT_VERSION, RunNumber};
pub use rialto_log::{Level, UnknownLevel};
pub use state::StoreLimits;
pub use types::{
    Appended, Begun, End, FencingToken, NewRun, Outcome, RunFilter, RunStanding, RunSummary,
    StoreError, StoredRun, Ticket, Write,
};

use crate::{FlowId, Timestamp};
use std::time::Duration;

/// Keeps runs and their histories.
///
/// A write is *taken* when [`Store::append`] returns and *confirmed*, at the level of the store,
/// when [`Store::commit`] has returned for its ticket: many writes share one commit. No method has
/// a default, because a store that leaves one out would lose something.
pub trait Store: Send + Sync + 'static {
    /// The durability of a confirmed write. At [`Level::Memory`] every taken write counts as
    /// confirmed.
    fn level(&self) -> Level;

    /// Admits a worker, whose claims last until `lease` after its last [`Store::renew`].
    fn join(&self, now: Timestamp, lease: Duration) -> Result<FencingToken, StoreError>;

    /// Renews the lease of a worker. An error means that it was fenced off and must stop.
    fn renew(&self, worker: FencingToken, now: Timestamp) -> Result<(), StoreError>;

    /// Gives up all claims of a worker.
    fn leave(&self, worker: FencingToken);

    /// Claims up to `max` unfinished runs without a holder, or whose holder's lease has ended,
    /// oldest first.
    fn claim(
        &self,
        worker: FencingToken,
        now: Timestamp,
        max: usize,
    ) -> Result<Vec<StoredRun>, StoreError>;

    /// Begins a run, held by the worker, unless there is one with that id.
    fn begin(&self, worker: FencingToken, run: NewRun<'_>) -> Result<Begun, StoreError>;

    /// Takes writes, each as a whole or not at all. Writes to runs that the worker does not hold
    /// are refused.
    fn append(&self, worker: FencingToken, writes: &[Write]) -> Result<Appended, StoreError>;

    /// Returns when everything up to a ticket is confirmed.
    fn commit(&self, through: Ticket) -> Result<(), StoreError>;

    /// The ticket up to which everything is confirmed.
    fn confirmed(&self) -> Ticket;

    /// The number of a run, if there is one of that id.
    fn number_of(&self, id: &FlowId) -> Result<Option<RunNumber>, StoreError>;

    /// A run with its input and history.
    fn find(&self, id: &FlowId) -> Result<Option<StoredRun>, StoreError>;

    /// The runs that pass a filter and have greater numbers than `after`, in order, at most `max`.
    fn list(
        &self,
        filter: &RunFilter,
        after: Option<RunNumber>,
        max: usize,
    ) -> Result<Vec<RunSummary>, StoreError>;

    /// Reopens a stuck run, held by the worker: adds entries to its history and removes its end.
    /// `None`, without a change, if there is no such run or it is not stuck.
    fn reopen(
        &self,
        worker: FencingToken,
        run: RunNumber,
        entries: &[u8],
    ) -> Result<Option<(StoredRun, Ticket)>, StoreError>;

    /// Does a bounded piece of housekeeping: removes expired entries and writes checkpoints. To be
    /// called regularly, and when idle.
    fn maintain(&self, now: Timestamp) -> Result<(), StoreError>;
}
