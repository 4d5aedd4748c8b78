//! The words in which a group speaks of its messages.

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

/// A message that a consumer has, as a transaction names it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldLease {
    pub(crate) id: MessageId,
    pub(crate) lease: u64,
    pub(crate) consumer: ConsumerId,
}

/// Why a message will not be delivered again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadLetterReason {
    /// A consumer gave it back after the last try.
    Rejected,
    /// A consumer gave it back and said that no try would help.
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

/// A message that goes to the dead letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedMessage {
    pub(crate) id: MessageId,
    pub(crate) attempts: u16,
    pub(crate) reason: DeadLetterReason,
    /// What the consumer said.
    pub(crate) detail: String,
}

/// What a new message came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Leased(Lease),
    /// Another of its key is being worked on.
    Behind,
}

/// How a message is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nack {
    /// To be delivered again after this time, or after what the group says.
    Retry { delay: Option<Duration>, detail: String },
    /// Not to be delivered again.
    Refuse { detail: String },
    /// To be delivered again at once, by a consumer that has not looked at it: the try does not count.
    Unseen,
}

/// Counts since the group was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// Deliveries, repeated ones and messages that came back unseen included.
    pub delivered: u64,
    /// Deliveries of messages that had been delivered before.
    pub redelivered: u64,
    /// Messages acknowledged by a consumer.
    pub acked: u64,
    /// Messages given back.
    pub nacked: u64,
    /// Leases that ran out.
    pub unanswered: u64,
    /// Messages that the filter passed over.
    pub filtered: u64,
    /// Messages that expired before they could be delivered.
    pub expired: u64,
    /// Messages that went to the dead letters, or were dropped after the last try.
    pub dead: u64,
}
