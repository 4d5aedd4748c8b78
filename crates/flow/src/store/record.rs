//! The records of the log of a store.
//!
//! The encoding is postcard: integers are varints, texts and bytes have a length, an enumeration
//! begins with the number of its variant. New variants are only added after the last.

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
    /// A run has advanced.
    #[serde(borrow)]
    Advanced(Advance<'a>),
    /// Ended runs that are no longer kept.
    Forgotten(Vec<RunNumber>),
    /// The image of a run, which replaces all earlier records of it.
    Image {
        #[serde(borrow)]
        beginning: Beginning<'a>,
        ended: Option<End>,
        #[serde(serialize_with = "as_bytes")]
        history: &'a [u8],
    },
    /// Messages and marks that belong to no run.
    Posted { first_message: MessageNumber, messages: Vec<OutboxMessage>, marks: Vec<InboxMark> },
    /// The result for a message.
    Settled { message: MessageNumber, outcome: Settlement },
    /// The image of a message of the outbox, which replaces all earlier records of it.
    MessageImage { message: MessageNumber, content: OutboxMessage, standing: Standing },
    /// Images of marks of the inbox.
    MarkImages(Vec<InboxMark>),
    /// The numbers that the next run and the next message get.
    Counters { next_run: RunNumber, next_message: MessageNumber },
    /// A stuck run was reopened, with these entries added to its history.
    Reopened {
        run: RunNumber,
        #[serde(serialize_with = "as_bytes")]
        entries: &'a [u8],
    },
}

/// The beginning of a run.
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

/// An advance of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Advance<'a> {
    pub(crate) run: RunNumber,
    /// When and how the run ended, if it did: then the last entry is [`Entry::Ended`].
    ///
    /// [`Entry::Ended`]: crate::history::Entry::Ended
    pub(crate) ended: Option<End>,
    /// Entries of its history, concatenated.
    #[serde(serialize_with = "as_bytes")]
    pub(crate) entries: &'a [u8],
    /// The number of the first of the messages; the others follow.
    pub(crate) first_message: MessageNumber,
    pub(crate) messages: Cow<'a, [OutboxMessage]>,
    pub(crate) marks: Cow<'a, [InboxMark]>,
}

/// The result for a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Settlement {
    /// It was delivered or discarded.
    Gone,
    /// The attempt failed, and it is due again at a time.
    Retry { at: Timestamp },
    /// It is a dead letter until an operator requeues or discards it.
    Dead { reason: String },
    /// A dead letter is due again, with its attempts forgotten.
    Requeued,
}

/// The state of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// The number of failed attempts.
    pub(crate) attempts: u32,
    /// When it may be claimed.
    pub(crate) due: Timestamp,
    /// The reason that it became a dead letter, if it did.
    pub(crate) dead: Option<String>,
}
