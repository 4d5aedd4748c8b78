//! Errors, grouped by who has to act.

use crate::FlowId;
use crate::history::StoredError;
use crate::store::StoreError;
use std::fmt::{self, Display};

/// The error type of step bodies.
///
/// Every other error turns into one by `?`, and is then permanent: only what was marked
/// with [`StepError::retryable`] is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepError {
    message: String,
    retryable: bool,
}

impl StepError {
    /// A retryable error.
    pub fn retryable(message: impl Display) -> Self {
        Self { message: message.to_string(), retryable: true }
    }

    /// A permanent error.
    pub fn permanent(message: impl Display) -> Self {
        Self { message: message.to_string(), retryable: false }
    }

    /// Whether it is retryable.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// The sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<E: std::error::Error> From<E> for StepError {
    fn from(error: E) -> Self {
        Self::permanent(error)
    }
}

/// The error of steps and waits, and of a failed flow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowError {
    /// A step has failed for good.
    #[error("step `{name}` failed: {message}")]
    Step {
        /// The step.
        name: String,
        /// The error's message.
        message: String,
    },
    /// A child flow did not complete.
    #[error("child `{name}` failed: {message}")]
    Child {
        /// The name of the child in this flow.
        name: String,
        /// The error's message.
        message: String,
    },
    /// The flow itself has decided to fail.
    #[error("{0}")]
    Failed(String),
    /// The run is being cancelled: return, so that what was done is undone.
    #[error("the run was cancelled")]
    Cancelled,
    /// The result of a step or the payload of an event is longer than the limit.
    #[error("`{name}` has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// The step.
        name: String,
        /// The length in bytes.
        bytes: usize,
        /// The largest length in bytes.
        limit: usize,
    },
    /// The history of the run has reached its limit.
    #[error("the history has reached its limit before `{name}`; split the flow into children")]
    HistoryFull {
        /// The step that would have come next.
        name: String,
    },
    /// A value cannot be encoded, or stored bytes are not the type that the code expects.
    #[error("the value of `{name}` cannot be converted: {reason}")]
    Codec {
        /// The step or event.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl FlowError {
    /// A failure by decision of the flow.
    pub fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }

    /// The number under which this kind of error is stored.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 0,
            Self::Step { .. } => 1,
            Self::Child { .. } => 2,
            Self::Cancelled => 3,
            Self::TooLarge { .. } => 4,
            Self::HistoryFull { .. } => 5,
            Self::Codec { .. } => 6,
        }
    }

    pub(crate) fn to_stored(&self) -> StoredError {
        let (operation, message) = match self {
            Self::Step { name, message } | Self::Child { name, message } => {
                (name.clone(), message.clone())
            }
            Self::Failed(message) => (String::new(), message.clone()),
            Self::Cancelled => (String::new(), String::new()),
            Self::TooLarge { name, bytes, limit } => (name.clone(), format!("{bytes} {limit}")),
            Self::HistoryFull { name } => (name.clone(), String::new()),
            Self::Codec { name, reason } => (name.clone(), reason.clone()),
        };
        StoredError {
            code: self.code(),
            operation: shortened(operation),
            message: shortened(message),
        }
    }

    pub(crate) fn from_stored(stored: &StoredError) -> Self {
        let name = stored.operation.clone();
        let message = stored.message.clone();
        match stored.code {
            1 => Self::Step { name, message },
            2 => Self::Child { name, message },
            3 => Self::Cancelled,
            4 => {
                let mut numbers = message.split(' ').map(|number| number.parse().unwrap_or(0));
                let bytes = numbers.next().unwrap_or(0);
                Self::TooLarge { name, bytes, limit: numbers.next().unwrap_or(0) }
            }
            5 => Self::HistoryFull { name },
            6 => Self::Codec { name, reason: message },
            // A kind of a later version keeps its message.
            _ => Self::Failed(message),
        }
    }
}

/// The longest text of an error that is stored, in bytes.
const STORED_TEXT_MAX: usize = 1024;

pub(crate) fn shortened(mut text: String) -> String {
    if text.len() > STORED_TEXT_MAX {
        let end = (0..=STORED_TEXT_MAX).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
    }
    text
}

/// The reason that a run is parked until an operator acts. Nothing was recorded, so that a
/// corrected program resumes the run where it stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Parked {
    /// The code is of another version than the one that began the run.
    #[error(
        "run {id} was begun by version {recorded} of flow `{flow}`, and this program has version \
         {present}; run the old version until its runs have ended"
    )]
    Version {
        /// The run.
        id: FlowId,
        /// Its flow.
        flow: String,
        /// The version that began it.
        recorded: u32,
        /// The version of this program.
        present: u32,
    },
    /// The code does not match the recorded history at a position.
    #[error(
        "run {id} of flow `{flow}` version {version} has recorded {recorded}, but the code now has \
         {present}; restore the old order of steps, or give the changed flow a new version"
    )]
    Changed {
        /// The run.
        id: FlowId,
        /// Its flow.
        flow: String,
        /// The version of both.
        version: u32,
        /// The recorded operation.
        recorded: String,
        /// The operation of the code.
        present: String,
    },
    /// No flow of that name is registered.
    #[error("run {id} belongs to flow `{flow}`, which this program does not have")]
    UnknownFlow {
        /// The run.
        id: FlowId,
        /// Its flow.
        flow: String,
    },
    /// The input or history of the run cannot be read.
    #[error("run {id} of flow `{flow}` cannot be read: {reason}")]
    Unreadable {
        /// The run.
        id: FlowId,
        /// Its flow.
        flow: String,
        /// The reason.
        reason: String,
    },
    /// The code has panicked.
    #[error("run {id} of flow `{flow}` panicked: {message}")]
    Panicked {
        /// The run.
        id: FlowId,
        /// Its flow.
        flow: String,
        /// The message of the panic.
        message: String,
    },
    /// Another worker has claimed the run.
    #[error("run {id} was taken over by another worker")]
    Fenced {
        /// The run.
        id: FlowId,
    },
}

/// The reason that a run has no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It failed, and its finished steps were undone.
    #[error(transparent)]
    Failed(FlowError),
    /// It was cancelled, and its finished steps were undone.
    #[error("the run was cancelled")]
    Cancelled,
    /// It failed or was cancelled, and then undoing it failed as well: an operator must look.
    #[error("{cause}; undoing the finished steps failed: {error}")]
    Stuck {
        /// The error that caused the undoing.
        cause: FlowError,
        /// The error of the undoing.
        error: FlowError,
    },
    /// It is parked in this process.
    #[error(transparent)]
    Parked(Box<Parked>),
    /// Its output is not of the type that was expected.
    #[error("the output cannot be read: {0}")]
    Unreadable(String),
    /// The store has failed or the workers have stopped. The run continues after the next start.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It waits, and there are no worker threads to wait for it.
    #[error("the run waits for an event or a time, and there is no worker thread to wait for it")]
    Waiting,
}

/// The error of an operation on flows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlowsError {
    /// There is a run of this id, but with another flow or another input.
    #[error("there is a run {id} already, {what}")]
    Conflict {
        /// The id.
        id: FlowId,
        /// The difference.
        what: String,
    },
    /// No run of this id is in progress.
    #[error("run {0} is not running in this process")]
    NotRunning(FlowId),
    /// The state of the run does not allow this.
    #[error("run {id} is {standing}; {advice}")]
    Standing {
        /// The run.
        id: FlowId,
        /// The standing of the run.
        standing: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// There is no run of this id.
    #[error("the store has no run {0}")]
    Unknown(FlowId),
    /// The flow was not registered.
    #[error("flow `{0}` is not registered")]
    NotRegistered(String),
    /// Two flows have one name.
    #[error("two flows have the name `{0}`")]
    DuplicateName(&'static str),
    /// The run's limit of waiting events is reached.
    #[error("run {id} has {limit} events waiting, which is its limit")]
    EventsFull {
        /// The run.
        id: FlowId,
        /// The limit.
        limit: usize,
    },
    /// An input or event is longer than the limit.
    #[error("{bytes} bytes are more than the limit of {limit}")]
    TooLarge {
        /// The length in bytes.
        bytes: usize,
        /// The largest length in bytes.
        limit: usize,
    },
    /// The options contradict each other.
    #[error("{0}")]
    Options(String),
    /// An input or event cannot be encoded.
    #[error("the value cannot be encoded: {0}")]
    Codec(String),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
