//! The types of the interface between runs and stores.

use super::message::{InboxMark, OutboxMessage};
use super::record::RunNumber;
use crate::history::{self, Entry, HistoryError};
use crate::{FlowId, Timestamp};
pub use rialto_statelog::Ticket;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The fencing token of a worker: later ones are greater, and a store refuses the writes of a
/// worker to a run that another has claimed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FencingToken(pub u64);

/// A run to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// Its id.
    pub id: FlowId,
    /// The name of its flow.
    pub flow: &'a str,
    /// The version of its flow.
    pub version: u32,
    /// The run that waits for it, if one does. An ended run is kept at least until its parent ends.
    pub parent: Option<RunNumber>,
    /// When it begins.
    pub at: Timestamp,
    /// Its input, encoded.
    pub input: &'a [u8],
}

/// The result of beginning a run.
#[derive(Clone, Debug)]
pub enum Begun {
    /// It has begun, under this number.
    New {
        /// Its number.
        run: RunNumber,
        /// The ticket of its write.
        ticket: Ticket,
    },
    /// A run with that id exists already.
    Known(Box<StoredRun>),
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It completed.
    Completed,
    /// It failed, and its finished steps were undone.
    Failed,
    /// It was cancelled, and its finished steps were undone.
    Cancelled,
    /// It failed or was cancelled, and then undoing it failed as well: an operator must look.
    Stuck,
}

impl Outcome {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Stuck => "stuck",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// When and how a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The time.
    pub at: Timestamp,
    /// The outcome.
    pub outcome: Outcome,
}

/// A filter of listed runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs of this flow.
    pub flow: Option<String>,
    /// Only runs of this standing.
    pub standing: Option<RunStanding>,
}

impl RunFilter {
    /// Whether a run passes.
    #[must_use]
    pub fn passes(&self, run: &RunSummary) -> bool {
        self.flow.as_deref().is_none_or(|flow| *flow == *run.flow)
            && self.standing.is_none_or(|standing| standing == run.standing())
    }
}

/// The standing of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunStanding {
    /// It has not ended.
    Unfinished,
    /// It has ended with this outcome.
    Ended(Outcome),
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Its number.
    pub run: RunNumber,
    /// Its id.
    pub id: FlowId,
    /// The name of its flow.
    pub flow: Arc<str>,
    /// The version of its flow.
    pub version: u32,
    /// The run that waits for it, if one does.
    pub parent: Option<RunNumber>,
    /// When it began.
    pub started: Timestamp,
    /// When and how it ended, if it has.
    pub ended: Option<End>,
    /// The bytes of its encoded history.
    pub history_bytes: usize,
}

impl RunSummary {
    /// The standing of the run.
    #[must_use]
    pub fn standing(&self) -> RunStanding {
        self.ended.map_or(RunStanding::Unfinished, |end| RunStanding::Ended(end.outcome))
    }
}

/// A run in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// Its number.
    pub run: RunNumber,
    /// Its id.
    pub id: FlowId,
    /// The name of its flow.
    pub flow: Arc<str>,
    /// The version of its flow.
    pub version: u32,
    /// The run that waits for it, if one does.
    pub parent: Option<RunNumber>,
    /// When it began.
    pub started: Timestamp,
    /// When and how it ended, if it has.
    pub ended: Option<End>,
    /// Its input, encoded.
    pub input: Vec<u8>,
    /// The entries of its history, encoded; see [`history::entries`](crate::history::entries).
    pub history: Vec<u8>,
}

impl StoredRun {
    /// Reads the history, entry by entry.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry<'_>, HistoryError>> {
        history::entries(&self.history)
    }
}

/// An atomic write to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The run.
    pub run: RunNumber,
    /// When and how the run ended, if the last of the entries ends it.
    pub ended: Option<End>,
    /// Entries of its history, encoded and concatenated.
    pub entries: Vec<u8>,
    /// Messages that are sent if and only if this is stored.
    pub messages: Vec<OutboxMessage>,
    /// Marks of received messages that this has processed.
    pub marks: Vec<InboxMark>,
}

/// The result of writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// The ticket of the last taken write.
    pub ticket: Ticket,
    /// The runs whose writes were refused, because another worker has claimed them since.
    pub fenced: Vec<RunNumber>,
}

/// The error of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A write failed, so that the store accepts no more writes.
    #[error("the store accepts no more writes since one failed ({reason}); open it again")]
    Failed {
        /// The first failure.
        reason: String,
    },
    /// The store could not be opened.
    #[error("the store cannot be opened: {reason}")]
    Open {
        /// The reason.
        reason: String,
    },
    /// A record is invalid.
    #[error("record {ticket:?} of the store is invalid: {reason}; restore it from a copy")]
    Corrupt {
        /// The record.
        ticket: Ticket,
        /// The fault.
        reason: String,
    },
    /// The log was written by a newer program.
    #[error("the store has format version {found}, and this program knows up to {known}")]
    Version {
        /// The version of the log.
        found: u32,
        /// The newest known version.
        known: u32,
    },
    /// A limit is reached; try again later.
    #[error("the store holds its limit of {limit} {what}")]
    Full {
        /// The kind of object that is limited.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// Something is longer than can be stored at once.
    #[error("{bytes} bytes are more than the {limit} that one write may hold")]
    TooLarge {
        /// The length in bytes.
        bytes: usize,
        /// The largest length in bytes.
        limit: usize,
    },
    /// The worker's lease has ended, and another worker has taken over.
    #[error("worker {0:?} has lost its claim to the store")]
    Fenced(FencingToken),
    /// A store of messages elsewhere failed, for this reason.
    #[error("{0}")]
    Other(String),
}
