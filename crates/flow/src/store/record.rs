//! What the log of a store holds, as bytes.
//!
//! Everything is postcard: integers are varints, texts and bytes bear their length, an enumeration
//! begins with the number of its variant. New variants are only ever added behind the last.

use super::message::{InboxMark, MessageNumber, OutboxMessage};
use super::types::End;
use crate::{FlowId, Timestamp};
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// The version of the records, stored as the `rules_version` of every segment.
// format: docs/formats/flow.md
pub const FORMAT_VERSION: u32 = 1;

/// Writes bytes in one piece; on its own serde writes a slice element by element.
pub(crate) fn as_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

/// The number of a run: greater than those of all runs that began before, and never used twice in one
/// store. It is not dense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunNumber(pub u64);

/// One record of the log: one atomic write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Record<'a> {
    /// A run has begun.
    #[serde(borrow)]
    Started(Beginning<'a>),
    /// A run has come further.
    #[serde(borrow)]
    Advanced(Advance<'a>),
    /// Ended runs that are no longer kept.
    Forgotten(Vec<RunNumber>),
    /// All of a run so far: takes the place of everything that was recorded of it before.
    Image {
        #[serde(borrow)]
        beginning: Beginning<'a>,
        ended: Option<End>,
        #[serde(serialize_with = "as_bytes")]
        history: &'a [u8],
    },
    /// Messages and marks that belong to no run.
    Posted { first_message: MessageNumber, messages: Vec<OutboxMessage>, marks: Vec<InboxMark> },
    /// What became of a message.
    Settled { message: MessageNumber, outcome: Settlement },
    /// A message of the outbox once more, in the place of everything recorded of it before.
    MessageImage { message: MessageNumber, content: OutboxMessage, standing: Standing },
    /// Marks of the inbox once more.
    MarkImages(Vec<InboxMark>),
    /// The numbers that the next run and the next message get.
    Counters { next_run: RunNumber, next_message: MessageNumber },
    /// A stuck run goes on, with these entries added to its history.
    Reopened {
        run: RunNumber,
        #[serde(serialize_with = "as_bytes")]
        entries: &'a [u8],
    },
}

/// How a run began.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Beginning<'a> {
    pub(crate) run: RunNumber,
    pub(crate) id: FlowId,
    pub(crate) flow: &'a str,
    pub(crate) version: u32,
    pub(crate) parent: Option<RunNumber>,
    pub(crate) at: Timestamp,
    #[serde(serialize_with = "as_bytes")]
    pub(crate) input: &'a [u8],
}

/// How a run came further.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Advance<'a> {
    pub(crate) run: RunNumber,
    /// When and how the run ended, if it did: then the last entry is [`Entry::Ended`].
    ///
    /// [`Entry::Ended`]: crate::history::Entry::Ended
    pub(crate) ended: Option<End>,
    /// Entries of its history, one behind the other.
    #[serde(serialize_with = "as_bytes")]
    pub(crate) entries: &'a [u8],
    /// The number of the first of the messages; the others follow.
    pub(crate) first_message: MessageNumber,
    pub(crate) messages: Cow<'a, [OutboxMessage]>,
    pub(crate) marks: Cow<'a, [InboxMark]>,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Settlement {
    /// It has left, or was discarded: it is gone from the outbox.
    Gone,
    /// It could not leave and is due again at a time.
    Retry { at: Timestamp },
    /// It is a dead letter until an operator requeues or discards it.
    Dead { reason: String },
    /// A dead letter is due again, with its attempts forgotten.
    Requeued,
}

/// How a message stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// How often forwarding it has failed.
    pub(crate) attempts: u32,
    /// From when on it may be claimed.
    pub(crate) due: Timestamp,
    /// Why it was given up, if it was.
    pub(crate) dead: Option<String>,
}
