//! The types of a group's interface.

use crate::message::MessageId;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ConsumerId(pub(crate) u32);

/// The right to a message, until its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) number: u64,
    pub(crate) attempt: u16,
}

/// A leased message in a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldLease {
    pub(crate) id: MessageId,
    pub(crate) lease: u64,
    pub(crate) consumer: ConsumerId,
}

/// The reason that a message became a dead letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadLetterReason {
    /// A consumer nacked it on the last attempt.
    Rejected,
    /// A consumer refused it.
    Refused,
    /// It was not acknowledged in time at the last attempt.
    Unanswered,
}

impl DeadLetterReason {
    /// Its name in headers and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::Refused => "refused",
            Self::Unanswered => "unanswered",
        }
    }
}

/// A message that is to be dead-lettered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedMessage {
    pub(crate) id: MessageId,
    pub(crate) attempts: u16,
    pub(crate) reason: DeadLetterReason,
    /// The detail that the consumer gave.
    pub(crate) detail: String,
}

/// The result of offering a new message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Leased(Lease),
    /// Another message of its key is outstanding.
    Behind,
}

/// The kinds of nacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nack {
    /// Deliver it again after this delay, or after the group's delay.
    Retry { delay: Option<Duration>, detail: String },
    /// Dead-letter it.
    Refuse { detail: String },
    /// Deliver it again at once, without counting the attempt.
    Unseen,
}

/// Counts since the group was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// Deliveries, including repeated ones and those returned unseen.
    pub delivered: u64,
    /// Deliveries of messages that had been delivered before.
    pub redelivered: u64,
    /// Messages acknowledged by a consumer.
    pub acked: u64,
    /// Messages that were nacked.
    pub nacked: u64,
    /// Leases that expired.
    pub unanswered: u64,
    /// Messages that the filter left out.
    pub filtered: u64,
    /// Messages that expired before they could be delivered.
    pub expired: u64,
    /// Messages that became dead letters or were dropped after the last attempt.
    pub dead: u64,
}
