//! Messages that are stored with the step that they belong to.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// A message that must leave exactly once: stored in one atomic write with the step that sends it,
/// forwarded later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxMessage {
    /// Where it goes: a topic, a queue, an address. Means something to the forwarder only.
    pub to: String,
    /// What the receiver tells duplicates by. Messages of a step get one that follows from the
    /// step, so that a step that runs twice sends the same.
    pub key: String,
    /// What it says.
    #[serde(serialize_with = "super::record::as_bytes")]
    pub payload: Vec<u8>,
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

/// The number of a message in the outbox, in the order of the writes that hold them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageNumber(pub u64);

/// What came of the wish to store messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// They are stored.
    Stored,
    /// One of the marks was there already; nothing was stored.
    Duplicate,
}

/// A message that somebody is to forward.
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

/// A message that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// Its number.
    pub number: MessageNumber,
    /// How often forwarding it has failed.
    pub attempts: u32,
    /// Why it was given up.
    pub reason: String,
    /// The message.
    pub message: OutboxMessage,
}
