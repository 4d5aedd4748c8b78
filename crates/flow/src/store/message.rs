//! Messages that are stored with the step that they belong to.

use super::record::Settlement;
use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// The most bytes of the texts and the payload of one message, so that it fits into one write with
/// its metadata.
pub const MESSAGE_BYTES_MAX: usize = 512 << 10;

/// The most bytes of the texts of one mark.
pub const MARK_BYTES_MAX: usize = 2 << 10;

/// The most bytes of the lengths of its parts.
const OVERHEAD_BYTES: usize = 50;

/// A message of the outbox: stored in one atomic write with the step that sends it, forwarded
/// later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxMessage {
    /// The destination, such as a topic or an address. Only the forwarder interprets it.
    pub to: String,
    /// The key by which the receiver recognises duplicates. Messages of a step get one derived from
    /// the step, so that a repeated step sends the same key.
    pub key: String,
    /// Messages of one ordering key to one address are delivered one after the other, in the order
    /// in which they were stored. Messages without one do not wait for each other.
    pub ordering_key: Option<String>,
    /// The payload.
    #[serde(serialize_with = "super::record::as_bytes")]
    pub payload: Vec<u8>,
}

impl OutboxMessage {
    /// A message without a key and an ordering key.
    pub fn new(to: impl Into<String>, payload: impl Into<Vec<u8>>) -> Self {
        Self { to: to.into(), payload: payload.into(), ..Self::default() }
    }

    /// The same message, with a key.
    #[must_use]
    pub fn with_key(self, key: impl Into<String>) -> Self {
        Self { key: key.into(), ..self }
    }

    /// The same message, with an ordering key.
    #[must_use]
    pub fn with_ordering_key(self, key: impl Into<String>) -> Self {
        Self { ordering_key: Some(key.into()), ..self }
    }

    /// The bytes of its texts and its payload.
    pub(crate) fn bytes(&self) -> usize {
        let ordering_key = self.ordering_key.as_ref().map_or(0, String::len);
        self.to.len() + self.key.len() + ordering_key + self.payload.len()
    }

    /// The most bytes of a write that it takes.
    pub(crate) fn stored_bytes(&self) -> usize {
        self.bytes() + OVERHEAD_BYTES
    }
}

/// The mark that a received message has been processed, stored in one atomic write with its
/// effects.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InboxMark {
    /// The sender of the message.
    pub from: String,
    /// The sender's key of the message.
    pub key: String,
    /// When the mark expires: a later duplicate is not recognised.
    pub keep_until: Timestamp,
}

impl InboxMark {
    /// The bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        self.from.len() + self.key.len()
    }

    /// The most bytes of a write that it takes.
    pub(crate) fn stored_bytes(&self) -> usize {
        self.bytes() + OVERHEAD_BYTES
    }
}

/// The number of a message in the outbox, in the order of the writes that hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageNumber(pub u64);

/// The result of marking a message as processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It is new; everything is stored.
    New,
    /// It was processed earlier; nothing was stored.
    Duplicate,
}

/// A message to be forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedMessage {
    /// Its number.
    pub number: MessageNumber,
    /// The token of this claim, which differs from those of other claims.
    pub token: u64,
    /// The number of failed attempts so far.
    pub attempts: u32,
    /// The message.
    pub message: OutboxMessage,
}

/// The result for a claimed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// It was delivered.
    Forwarded,
    /// The attempt failed, and it is due again at a time.
    Retry {
        /// The time when it is due again.
        at: Timestamp,
    },
    /// It becomes a dead letter.
    Dead {
        /// The reason, in a sentence. Stores may keep only its first KiB.
        reason: String,
    },
}

impl From<DeliveryResult> for Settlement {
    fn from(delivery: DeliveryResult) -> Self {
        match delivery {
            DeliveryResult::Forwarded => Self::Gone,
            DeliveryResult::Retry { at } => Self::Retry { at },
            DeliveryResult::Dead { reason } => {
                Self::Dead { reason: crate::error::shortened(reason) }
            }
        }
    }
}

/// A dead letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadMessage {
    /// Its number.
    pub number: MessageNumber,
    /// The number of failed attempts.
    pub attempts: u32,
    /// The reason.
    pub reason: String,
    /// The message.
    pub message: OutboxMessage,
}

/// The number of messages in an outbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Messages to be forwarded, including claimed ones.
    pub waiting: usize,
    /// Dead letters.
    pub dead: usize,
}
