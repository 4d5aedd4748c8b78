//! What ends a run of the binary early, and the exit code that says so.

use crate::config::ConfigError;
use rialto_engine::StartError;
use std::io;
use std::path::PathBuf;

/// The reason why a command failed. Each kind has its own exit code, so that a supervisor can tell
/// a wrong setting from a broken disk. `docs/configuration.md` lists them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The command line is invalid.
    #[error("{0}")]
    Usage(String),
    /// The venue refused to start.
    #[error("the venue cannot start")]
    Start(#[from] Box<StartError>),
    /// A part other than the engine prevented the start.
    #[error("the venue cannot start: {0}")]
    Assemble(String),
    /// The engine stopped while the venue ran.
    #[error(
        "the engine stopped: {0}. What was acknowledged is on disk; remove the cause and start \
         again. Requests answered with `outcome_unknown` can be repeated then"
    )]
    EngineFailed(String),
    /// A component failed that cannot be restarted within the process.
    #[error(
        "component {name} failed and was given up: {reason}. What was acknowledged is on disk; \
         remove the cause and start again. Requests answered with `outcome_unknown` can be \
         repeated then"
    )]
    GivenUp {
        /// The component.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The venue did not finish its accepted requests before the deadline.
    #[error("{0}")]
    NotDrained(String),
    /// The venue refused the request.
    #[error("{message} ({code})")]
    Refused {
        /// The error code.
        code: String,
        /// The venue's message.
        message: String,
        /// The answer's body.
        body: String,
    },
    /// The venue sent no usable answer.
    #[error("{0}")]
    Unreachable(String),
    /// A file could not be read or written.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// The action, as in "cannot read".
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A check found damage, or a benchmark missed its target: the output says which.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// The exit code.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Failed(_) | Error::File { .. } => 1,
            Error::Usage(_) | Error::Config(_) => 2,
            Error::Start(_) | Error::Assemble(_) => 3,
            Error::EngineFailed(_) | Error::GivenUp { .. } => 4,
            Error::NotDrained(_) => 5,
            Error::Refused { .. } => 6,
            Error::Unreachable(_) => 7,
        }
    }

    /// For `map_err`: makes the error of a file.
    pub(crate) fn file(
        verb: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { verb, path, source }
    }
}

impl From<StartError> for Error {
    fn from(error: StartError) -> Error {
        Error::Start(Box::new(error))
    }
}

/// An error with all its causes in one line.
#[must_use]
pub fn tell_all(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_told = cause.to_string();
        // Transparent errors would print their cause twice.
        if !told.ends_with(&cause_told) {
            told.push_str(": ");
            told.push_str(&cause_told);
        }
        source = cause.source();
    }
    told
}
