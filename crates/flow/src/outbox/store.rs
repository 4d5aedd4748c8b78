//! Stores of messages to be forwarded, and of marks that recognise duplicates.

use crate::Timestamp;
use crate::store::{
    Accepted, Backlog, ClaimedMessage, DeadMessage, DeliveryResult, InboxMark, MessageNumber,
    OutboxMessage, StoreError,
};
use std::time::Duration;

/// Keeps messages until they are delivered.
///
/// [`LogStore`](crate::store::LogStore) and [`MemoryStore`](crate::store::MemoryStore) keep those
/// of flows. Messages that must be sent if and only if your own database changes belong in that
/// database: insert them in the transaction that makes the change, and implement this trait over
/// the table. A claim is then an `UPDATE` that sets a token and the end of the lease.
///
/// No method has a default, because a store that leaves one out would lose messages or send them twice.
pub trait OutboxStore: Send + Sync + 'static {
    /// Stores messages in one atomic write, and returns when it is confirmed.
    fn post(&self, messages: Vec<OutboxMessage>) -> Result<(), StoreError>;

    /// Claims up to `max` messages that are due, until `lease` from now. A message can be claimed
    /// if its write is confirmed, if no other claim to it holds, and, with an ordering key, if no
    /// earlier message of that key is left (dead letters aside).
    fn claim_messages(
        &self,
        now: Timestamp,
        lease: Duration,
        max: usize,
    ) -> Result<Vec<ClaimedMessage>, StoreError>;

    /// Records the result of a claimed message. False means that the claim was taken over since,
    /// and nothing changed. It may be confirmed only by the next [`OutboxStore::commit_messages`].
    fn settle(&self, claim: &ClaimedMessage, delivery: DeliveryResult) -> Result<bool, StoreError>;

    /// Returns when all results so far are confirmed.
    fn commit_messages(&self) -> Result<(), StoreError>;

    /// The time when the next message can be claimed, if there is one.
    fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;

    /// The number of messages.
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

/// Keeps the marks of messages that have been processed.
///
/// If a message changes your own database, insert its sender and key in the same transaction into a
/// table where the two are unique: a conflict is a duplicate. Implement this trait over the table
/// if a message leads to other messages.
pub trait InboxStore: Send + Sync + 'static {
    /// Stores marks together with the messages that follow, in one atomic write, and returns when
    /// that is confirmed. If one of the marks is there already nothing is stored, and it returns
    /// when that mark is confirmed.
    fn accept(
        &self,
        marks: Vec<InboxMark>,
        then: Vec<OutboxMessage>,
    ) -> Result<Accepted, StoreError>;

    /// Whether a message has been processed, as far as marks are kept.
    fn is_marked(&self, from: &str, key: &str) -> Result<bool, StoreError>;
}
