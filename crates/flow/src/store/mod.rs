//! Where runs, messages and marks are kept.
//!
//! [`Store`] keeps runs, [`MessageStore`] the messages of the outbox and the marks of the inbox. They
//! are two traits, because messages that must leave with a change in somebody's database belong into
//! that database: implement [`MessageStore`] over a table that the same transaction writes to, and
//! forward from there. [`LogStore`] and [`MemoryStore`] are both, so that a step and its messages
//! share one atomic write.

mod log;
mod memory;
mod message;
mod messages;
pub(crate) mod record;
mod runs;
mod state;
mod types;

pub use log::{LogOptions, LogStore};
pub use memory::MemoryStore;
pub use message::{ClaimedMessage, DeadLetter, InboxMark, MessageNumber, OutboxMessage, Posted};
pub use record::{FORMAT_VERSION, RunNumber, Settlement, Standing};
pub use state::Limits;
pub use types::{
    Appended, Begun, End, Fence, Level, NewRun, Outcome, RunFilter, RunStanding, RunSummary,
    StoreError, StoredRun, Ticket, UnknownLevel, Write,
};

use crate::{FlowId, Timestamp};
use std::time::Duration;

/// Keeps runs and their histories.
///
/// A write is *taken* when [`Store::append`] returns and *confirmed*, at the level of the store, when
/// [`Store::commit`] has returned for its ticket: many writes ride one commit. No method has a
/// default, because a store that leaves one out would lose something.
pub trait Store: Send + Sync + 'static {
    /// What a confirmation promises. At [`Level::Memory`] whatever is taken counts as confirmed.
    fn level(&self) -> Level;

    /// Admits a worker, whose claims hold until `lease` after it last said [`Store::renew`].
    fn join(&self, now: Timestamp, lease: Duration) -> Result<Fence, StoreError>;

    /// Says that a worker is alive. An error means that it was fenced off and must stop.
    fn renew(&self, worker: Fence, now: Timestamp) -> Result<(), StoreError>;

    /// Gives up all claims of a worker.
    fn leave(&self, worker: Fence);

    /// Claims up to `max` unfinished runs that nobody holds, or whose holder has let its lease
    /// lapse, oldest first.
    fn claim(
        &self,
        worker: Fence,
        now: Timestamp,
        max: usize,
    ) -> Result<Vec<StoredRun>, StoreError>;

    /// Begins a run, held by the worker, unless there is one of that id.
    fn begin(&self, worker: Fence, run: NewRun<'_>) -> Result<Begun, StoreError>;

    /// Takes writes, each whole or not at all. Those to runs that the worker does not hold are
    /// refused.
    fn append(&self, worker: Fence, writes: &[Write]) -> Result<Appended, StoreError>;

    /// Returns when everything up to a ticket is confirmed.
    fn commit(&self, through: Ticket) -> Result<(), StoreError>;

    /// The ticket up to which everything is confirmed.
    fn confirmed(&self) -> Ticket;

    /// The number of a run, if there is one of that id.
    fn number_of(&self, id: &FlowId) -> Result<Option<RunNumber>, StoreError>;

    /// What is known of a run.
    fn find(&self, id: &FlowId) -> Result<Option<StoredRun>, StoreError>;

    /// The runs that pass a filter and have greater numbers than `after`, in order, at most `max`.
    fn list(
        &self,
        filter: &RunFilter,
        after: Option<RunNumber>,
        max: usize,
    ) -> Result<Vec<RunSummary>, StoreError>;

    /// Lets a stuck run go on, held by the worker: adds entries to its history and takes its end
    /// back. Nothing, and nothing is changed, if there is no such run or it is not stuck.
    fn reopen(
        &self,
        worker: Fence,
        run: RunNumber,
        entries: &[u8],
    ) -> Result<Option<(StoredRun, Ticket)>, StoreError>;

    /// Does a bounded piece of housekeeping: forgets what need not be kept any longer, and makes
    /// room. To be called now and then, and whenever nothing else is to do.
    fn maintain(&self, now: Timestamp) -> Result<(), StoreError>;
}

/// Keeps messages until they have left, and marks of messages that have come.
///
/// To keep the outbox in a database of yours, write messages there in the transaction that they
/// belong to and implement this trait over the table. `put` is then your own `INSERT`, and `claim` a
/// `SELECT … FOR UPDATE SKIP LOCKED` with a column for the lease.
pub trait MessageStore: Send + Sync + 'static {
    /// Stores messages and marks in one atomic write. If one of the marks is there already, nothing
    /// is stored: [`Posted::Duplicate`].
    fn put(
        &self,
        messages: Vec<OutboxMessage>,
        marks: Vec<InboxMark>,
        now: Timestamp,
    ) -> Result<Posted, StoreError>;

    /// Claims up to `max` messages that are due, oldest first, until `lease` from now. A message
    /// whose claim has lapsed can be claimed again, and the older claim settles nothing any more.
    fn claim_messages(
        &self,
        now: Timestamp,
        lease: Duration,
        max: usize,
    ) -> Result<Vec<ClaimedMessage>, StoreError>;

    /// Says what became of a claimed message. False means that the claim has been taken over, and
    /// nothing was changed.
    fn settle(&self, claim: &ClaimedMessage, outcome: Settlement) -> Result<bool, StoreError>;

    /// Returns when all changes so far are confirmed, at the level of the store.
    fn commit_messages(&self) -> Result<(), StoreError>;

    /// Whether a message of others has been dealt with.
    fn is_marked(&self, from: &str, key: &str) -> Result<bool, StoreError>;

    /// The messages that were given up, oldest first, at most `max`.
    fn dead_letters(&self, max: usize) -> Result<Vec<DeadLetter>, StoreError>;

    /// Makes a dead letter due again, or discards it. False if there is none of that number.
    fn settle_dead(&self, message: MessageNumber, revive: bool) -> Result<bool, StoreError>;

    /// When the next message is due that nobody claims, if there is one.
    fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;
}
