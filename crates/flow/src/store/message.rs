//! Messages that are stored with the step that they belong to.

use super::record::Settlement;
use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// What the texts and the payload of one message may come to in bytes. It then always fits into one
/// write, with all that is noted beside it.
pub const MESSAGE_BYTES_MAX: usize = 512 << 10;

/// What the texts of one mark may come to in bytes.
pub const MARK_BYTES_MAX: usize = 2 << 10;

/// What the lengths of its parts take beside them, at most.
const OVERHEAD_BYTES: usize = 50;

/// A message that must leave exactly once: stored in one atomic write with the step that sends it,
/// forwarded later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxMessage {
    /// Where it goes: a topic, a queue, an address. Means something to the forwarder only.
    pub to: String,
    /// What the receiver tells duplicates by. Messages of a step get one that follows from the
    /// step, so that a step that runs twice sends the same.
    pub key: String,
    /// Messages of one ordering key to one address leave one after the other, as they were
    /// stored. Messages without a key do not wait for each other.
    pub ordering_key: Option<String>,
    /// What it says.
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

    /// How many bytes its texts and its payload are.
    pub(crate) fn bytes(&self) -> usize {
        let ordering_key = self.ordering_key.as_ref().map_or(0, String::len);
        self.to.len() + self.key.len() + ordering_key + self.payload.len()
    }

    /// How many bytes of a write it takes, at most.
    pub(crate) fn stored_bytes(&self) -> usize {
        self.bytes() + OVERHEAD_BYTES
    }
}

/// The mark that a message of others has been dealt with, stored in one atomic write with what was
/// done about it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InboxMark {
    /// Who sent the message.
    pub from: String,
    /// What its sender calls it.
    pub key: String,
    /// From when on the mark may be forgotten: a duplicate that comes later is not recognised.
    pub keep_until: Timestamp,
}

impl InboxMark {
    /// How many bytes its texts are.
    pub(crate) fn bytes(&self) -> usize {
        self.from.len() + self.key.len()
    }

    /// How many bytes of a write it takes, at most.
    pub(crate) fn stored_bytes(&self) -> usize {
        self.bytes() + OVERHEAD_BYTES
    }
}

/// The number of a message in the outbox, in the order of the writes that hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageNumber(pub u64);

/// What came of the wish to mark a message as dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It is new; everything is stored.
    New,
    /// It has been dealt with before; nothing was stored.
    Duplicate,
}

/// A message to be forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedMessage {
    /// Its number.
    pub number: MessageNumber,
    /// Tells this claim from every other of the message.
    pub token: u64,
    /// How often forwarding it has failed so far.
    pub attempts: u32,
    /// The message.
    pub message: OutboxMessage,
}

/// What became of a claimed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryResult {
    /// It has left.
    Forwarded,
    /// It could not leave and is to be claimed again at a time.
    Retry {
        /// From when on.
        at: Timestamp,
    },
    /// It is given up: it becomes a dead letter.
    Dead {
        /// Why, in a sentence. Stores may keep no more than its first KiB.
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

/// A message that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadMessage {
    /// Its number.
    pub number: MessageNumber,
    /// How often forwarding it has failed.
    pub attempts: u32,
    /// Why it was given up.
    pub reason: String,
    /// The message.
    pub message: OutboxMessage,
}

/// How many messages an outbox holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Messages still to be forwarded, claimed ones included.
    pub waiting: usize,
    /// Dead letters.
    pub dead: usize,
}
