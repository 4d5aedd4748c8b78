//! Stores of messages to be forwarded, and of marks that recognise duplicates.

use crate::Timestamp;
use crate::store::{
    Accepted, Backlog, ClaimedMessage, DeadMessage, DeliveryResult, InboxMark, MessageNumber,
    OutboxMessage, StoreError,
};
use std::time::Duration;

/// Keeps messages until they have left.
///
/// [`LogStore`](crate::store::LogStore) and [`MemoryStore`](crate::store::MemoryStore) keep those of
/// flows. Messages that must leave if and only if something in a database of yours changes belong
/// into that database: insert them in the transaction that makes the change, and implement this trait
/// over the table. A claim is then an `UPDATE` that sets a token and the end of the lease.
///
/// No method has a default, because a store that leaves one out would lose messages or send them twice.
pub trait OutboxStore: Send + Sync + 'static {
    /// Stores messages that belong to nothing else, in one atomic write, and returns when that is
    /// confirmed.
    fn post(&self, messages: Vec<OutboxMessage>) -> Result<(), StoreError>;

    /// Claims up to `max` messages that are due, until `lease` from now. A message is handed out
    /// only when the write that holds it is confirmed, only if nobody else's claim to it holds, and,
    /// with an ordering key, only if no earlier one of that key is there still (dead letters aside).
    fn claim_messages(
        &self,
        now: Timestamp,
        lease: Duration,
        max: usize,
    ) -> Result<Vec<ClaimedMessage>, StoreError>;

    /// Says what became of a claimed message. False means that the claim has been taken over since,
    /// and nothing was changed. It may be confirmed only by the next
    /// [`OutboxStore::commit_messages`].
    fn settle(&self, claim: &ClaimedMessage, delivery: DeliveryResult) -> Result<bool, StoreError>;

    /// Returns when all that was settled so far is confirmed.
    fn commit_messages(&self) -> Result<(), StoreError>;

    /// From when on the next message can be claimed, if there is one.
    fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;

    /// How many messages there are.
    fn backlog(&self) -> Result<Backlog, StoreError>;

    /// The dead letters with greater numbers than `after`, in order, at most `max`.
    fn dead_letters(
        &self,
        after: Option<MessageNumber>,
        max: usize,
    ) -> Result<Vec<DeadMessage>, StoreError>;

    /// Makes a dead letter due at once, with its attempts forgotten, and returns when that is
    /// confirmed. False if there is none of that number.
    fn requeue(&self, message: MessageNumber) -> Result<bool, StoreError>;

    /// Forgets a dead letter, and returns when that is confirmed. False if there is none of that
    /// number.
    fn discard(&self, message: MessageNumber) -> Result<bool, StoreError>;

    /// Does a bounded piece of housekeeping, if there is any to do.
    fn maintain_messages(&self, now: Timestamp) -> Result<(), StoreError>;
}

/// Keeps the marks of messages that have been dealt with.
///
/// Where what a message does is a change in a database of yours, let the same transaction insert its
/// sender and key into a table where the two are unique: a conflict is a duplicate. Implement this
/// trait over the table where what follows from a message is other messages.
pub trait InboxStore: Send + Sync + 'static {
    /// Stores marks together with the messages that follow, in one atomic write, and returns when
    /// that is confirmed. If one of the marks is there already nothing is stored, and it returns
    /// when that mark is confirmed.
    fn accept(
        &self,
        marks: Vec<InboxMark>,
        then: Vec<OutboxMessage>,
    ) -> Result<Accepted, StoreError>;

    /// Whether a message has been dealt with, as far as marks are kept.
    fn is_marked(&self, from: &str, key: &str) -> Result<bool, StoreError>;
}
