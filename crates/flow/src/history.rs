//! The history of a run: its recorded entries.

use crate::Timestamp;
use crate::store::Outcome;
use crate::store::record::as_bytes;
use serde::{Deserialize, Serialize};

/// The position of an operation in a flow, the same in every execution of the same code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryPosition {
    /// The branch: 0 for the trunk, otherwise a hash of the path to it.
    pub branch: u64,
    /// The number of the step or wait within its branch, from 1.
    pub number: u32,
}

/// The kinds of operations of a flow.
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
    /// The kind of the error; see [`FlowError::code`](crate::FlowError::code).
    pub code: u8,
    /// The name of the operation that failed, if it has one.
    pub operation: String,
    /// The sentence.
    pub message: String,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// It completed with this output, encoded.
    Completed(#[serde(serialize_with = "as_bytes")] Vec<u8>),
    /// It failed, and its finished steps were undone.
    Failed(StoredError),
    /// It was cancelled, and its finished steps were undone.
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

/// The errors of a run that could not be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    /// The error that caused the undoing.
    pub cause: StoredError,
    /// The error of the undoing.
    pub error: StoredError,
}

/// An entry of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entry<'a> {
    /// A step or child has finished.
    Finished {
        /// The position.
        position: EntryPosition,
        /// The kind of the operation.
        kind: Kind,
        /// The name.
        name: &'a str,
        /// The time.
        at: Timestamp,
        /// The result, encoded.
        #[serde(serialize_with = "as_bytes")]
        output: &'a [u8],
    },
    /// A step or child has failed for good.
    Failed {
        /// The position.
        position: EntryPosition,
        /// The kind of the operation.
        kind: Kind,
        /// The name.
        name: &'a str,
        /// The time.
        at: Timestamp,
        /// The error.
        error: StoredError,
    },
    /// A wait has begun.
    Waiting {
        /// The position.
        position: EntryPosition,
        /// The name of the event.
        name: &'a str,
        /// The time.
        at: Timestamp,
        /// The end of the wait.
        until: Timestamp,
    },
    /// A wait has received its event.
    Received {
        /// The position.
        position: EntryPosition,
        /// The name of the event.
        name: &'a str,
        /// The time.
        at: Timestamp,
        /// The index of the event in the run, from 0.
        event: u32,
    },
    /// A wait has reached its time.
    Lapsed {
        /// The position.
        position: EntryPosition,
        /// The name of the event.
        name: &'a str,
        /// The time.
        at: Timestamp,
    },
    /// An event has arrived.
    Event {
        /// The name.
        name: &'a str,
        /// The time.
        at: Timestamp,
        /// The payload, encoded.
        #[serde(serialize_with = "as_bytes")]
        payload: &'a [u8],
    },
    /// The run is to be cancelled.
    Cancelled {
        /// The time.
        at: Timestamp,
    },
    /// The flow has returned an error, and its finished steps are being undone.
    Failing {
        /// The time.
        at: Timestamp,
        /// The error.
        error: StoredError,
    },
    /// A finished step has been undone.
    Undone {
        /// The position of the step.
        position: EntryPosition,
        /// The time.
        at: Timestamp,
    },
    /// The run has ended.
    Ended {
        /// The time.
        at: Timestamp,
        /// The ending.
        ending: Ending,
    },
    /// An operator has reopened a stuck run, to continue undoing.
    Reopened {
        /// The time.
        at: Timestamp,
    },
}

/// Bytes that are not a history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the history is invalid {rest} bytes before its end: {reason}")]
pub struct HistoryError {
    /// The number of bytes left.
    pub rest: usize,
    /// The fault.
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
