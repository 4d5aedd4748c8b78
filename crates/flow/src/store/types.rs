//! What runs and stores say to each other.

use super::message::{InboxMark, OutboxMessage};
use super::record::RunNumber;
use crate::history::{self, Entry, HistoryError};
use crate::{FlowId, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The right of one worker to write: later ones have greater numbers, and a store refuses the
/// writes of a worker to a run that another has claimed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FencingToken(pub u64);

/// The place of a write among all writes of a store. What is confirmed is confirmed up to a ticket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A run that is to begin.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// What it is called.
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

/// What came of the wish to begin a run.
#[derive(Clone, Debug)]
pub enum Begun {
    /// It has begun, under this number.
    New {
        /// Its number.
        run: RunNumber,
        /// The write that says so.
        ticket: Ticket,
    },
    /// A run of that id is there already.
    Known(Box<StoredRun>),
}

/// How a run ended, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It came to its end.
    Completed,
    /// It failed, and everything that it had done was undone.
    Failed,
    /// It was cancelled, and everything that it had done was undone.
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
    /// When.
    pub at: Timestamp,
    /// How.
    pub outcome: Outcome,
}

/// Which runs are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of this flow.
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

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunStanding {
    /// It has not ended.
    Unfinished,
    /// It has ended so.
    Ended(Outcome),
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// Its number.
    pub run: RunNumber,
    /// What it is called.
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
    /// How long its history is, encoded.
    pub history_bytes: usize,
}

impl RunSummary {
    /// How it stands.
    #[must_use]
    pub fn standing(&self) -> RunStanding {
        self.ended.map_or(RunStanding::Unfinished, |end| RunStanding::Ended(end.outcome))
    }
}

/// A run as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    /// Its number.
    pub run: RunNumber,
    /// What it is called.
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

/// Something that happened to a run and must be stored in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The run.
    pub run: RunNumber,
    /// When and how the run ended, if the last of the entries ends it.
    pub ended: Option<End>,
    /// Entries of its history, encoded one behind the other.
    pub entries: Vec<u8>,
    /// Messages that leave if and only if this is stored.
    pub messages: Vec<OutboxMessage>,
    /// Messages of others that this has dealt with.
    pub marks: Vec<InboxMark>,
}

/// What came of writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// The last of them that was taken.
    pub ticket: Ticket,
    /// The runs whose writes were refused, because another worker has claimed them since.
    pub fenced: Vec<RunNumber>,
}

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A write failed, so that nothing later can be trusted to follow it.
    #[error("the store accepts nothing since a write failed ({reason}); open it again")]
    Failed {
        /// The first failure.
        reason: String,
    },
    /// The store could not be opened.
    #[error("the store cannot be opened: {reason}")]
    Open {
        /// Why.
        reason: String,
    },
    /// A record makes no sense.
    #[error("record {ticket:?} of the store makes no sense: {reason}; restore it from a copy")]
    Corrupt {
        /// The record.
        ticket: Ticket,
        /// What is wrong with it.
        reason: String,
    },
    /// The log was written by a newer program.
    #[error("the store has format version {found}, and this program knows up to {known}")]
    Version {
        /// What it has.
        found: u32,
        /// What is known.
        known: u32,
    },
    /// A limit is reached; it will be possible again when there is less.
    #[error("the store holds its limit of {limit} {what}")]
    Full {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// Something is longer than can be stored at once.
    #[error("{bytes} bytes are more than the {limit} that one write may hold")]
    TooLarge {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// The worker has let its lease lapse, and another has taken over.
    #[error("worker {0:?} has lost its claim to the store")]
    Fenced(FencingToken),
    /// A store of messages elsewhere failed, for this reason.
    #[error("{0}")]
    Other(String),
}
