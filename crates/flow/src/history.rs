//! The history of a run: what it has done so far.

use crate::Timestamp;
use crate::store::Outcome;
use crate::store::record::as_bytes;
use serde::{Deserialize, Serialize};

/// Where in a flow something happens: the same in every execution of the same code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The branch: 0 for the trunk, otherwise a hash of the way to it.
    pub branch: u64,
    /// The number of the step or wait within its branch, from 1.
    pub number: u32,
}

/// What kind of thing a flow does at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// A step of the flow.
    Step,
    /// A wait for an event or a time.
    Wait,
    /// A child flow.
    Child,
}

impl Kind {
    /// The word for it in messages.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Wait => "wait",
            Self::Child => "child",
        }
    }
}

/// An error as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredError {
    /// Which kind of error of a flow it is; see [`FlowError::code`](crate::FlowError::code).
    pub code: u8,
    /// Where it happened, if that has a name.
    pub place: String,
    /// The sentence.
    pub message: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// It came to its end with this output, encoded.
    Completed(#[serde(serialize_with = "as_bytes")] Vec<u8>),
    /// It failed, and everything that it had done was undone.
    Failed(StoredError),
    /// It was cancelled, and everything that it had done was undone.
    Cancelled,
    /// It failed or was cancelled, and then undoing it failed as well: an operator must look.
    Stuck(Box<Stuck>),
}

impl Ending {
    /// The word for it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Completed(_) => Outcome::Completed,
            Self::Failed(_) => Outcome::Failed,
            Self::Cancelled => Outcome::Cancelled,
            Self::Stuck(_) => Outcome::Stuck,
        }
    }
}

/// How a run came to stand between what it did and undoing it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// Why it was to be undone.
    pub cause: StoredError,
    /// Why it could not be.
    pub error: StoredError,
}

/// One thing that happened to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry<'a> {
    /// A step or child has finished.
    Finished {
        /// Where.
        place: Place,
        /// Which kind.
        kind: Kind,
        /// What it is called.
        name: &'a str,
        /// When.
        at: Timestamp,
        /// What it returned, encoded.
        #[serde(serialize_with = "as_bytes")]
        output: &'a [u8],
    },
    /// A step or child has failed for good.
    Failed {
        /// Where.
        place: Place,
        /// Which kind.
        kind: Kind,
        /// What it is called.
        name: &'a str,
        /// When.
        at: Timestamp,
        /// Why.
        error: StoredError,
    },
    /// A wait has begun.
    Waiting {
        /// Where.
        place: Place,
        /// What is waited for.
        name: &'a str,
        /// When.
        at: Timestamp,
        /// Until when.
        until: Timestamp,
    },
    /// A wait has got its event.
    Received {
        /// Where.
        place: Place,
        /// What was waited for.
        name: &'a str,
        /// When.
        at: Timestamp,
        /// Which of the events of the run, from 0.
        event: u32,
    },
    /// A wait has reached its time.
    Lapsed {
        /// Where.
        place: Place,
        /// What was waited for.
        name: &'a str,
        /// When.
        at: Timestamp,
    },
    /// An event has come.
    Event {
        /// What it is called.
        name: &'a str,
        /// When.
        at: Timestamp,
        /// What it says, encoded.
        #[serde(serialize_with = "as_bytes")]
        payload: &'a [u8],
    },
    /// The run is to be cancelled.
    Cancelled {
        /// When.
        at: Timestamp,
    },
    /// The flow has returned an error, and what it has done is being undone.
    Failing {
        /// When.
        at: Timestamp,
        /// Why.
        error: StoredError,
    },
    /// A finished step has been undone.
    Undone {
        /// Which.
        place: Place,
        /// When.
        at: Timestamp,
    },
    /// The run has ended.
    Ended {
        /// When.
        at: Timestamp,
        /// How.
        ending: Ending,
    },
    /// An operator has let a stuck run go on undoing: its end before this is taken back.
    Reopened {
        /// When.
        at: Timestamp,
    },
}

/// Bytes that are no history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the history makes no sense {rest} bytes before its end: {reason}")]
pub struct HistoryError {
    /// How many bytes were left.
    pub rest: usize,
    /// What is wrong with them.
    pub reason: String,
}

/// Reads a history, entry by entry. After an error there is nothing more.
pub fn entries(history: &[u8]) -> impl Iterator<Item = Result<Entry<'_>, HistoryError>> {
    let mut rest = history;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        match postcard::take_from_bytes(rest) {
            Ok((entry, behind)) => {
                rest = behind;
                Some(Ok(entry))
            }
            Err(error) => {
                let failed = HistoryError { rest: rest.len(), reason: error.to_string() };
                rest = &[];
                Some(Err(failed))
            }
        }
    })
}
