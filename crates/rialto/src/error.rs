//! What ends a run of the binary early, and the exit code that says so.

use crate::config::ConfigError;
use rialto_engine::StartError;
use std::io;
use std::path::PathBuf;

/// Why the binary ended without having done what was asked.
///
/// Each kind has an exit code of its own, so that whoever supervises a venue can tell a wrong
/// setting from a broken disk. `docs/configuration.md` lists them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The venue refused to start.
    #[error("the venue does not start")]
    Start(#[from] Box<StartError>),
    /// Something other than the engine kept the venue from starting.
    #[error("the venue does not start: {0}")]
    Assemble(String),
    /// The engine stopped while the venue ran.
    #[error(
        "the engine stopped: {0}. What was acknowledged is on disk; mend the cause and start \
         again. Callers who were told `outcome_unknown` can repeat their requests then"
    )]
    EngineFailed(String),
    /// A component of the venue failed, and nobody can start it again while the process lives.
    #[error(
        "component {name} failed and was given up: {reason}. What was acknowledged is on disk; \
         mend the cause and start again. Callers who were told `outcome_unknown` can repeat their \
         requests then"
    )]
    GivenUp {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
    /// The venue could not finish what it had taken before the deadline.
    #[error("{0}")]
    NotDrained(String),
    /// The venue answered, and refused.
    #[error("{message} ({code})")]
    Refused {
        /// The stable code.
        code: String,
        /// What the venue said.
        message: String,
        /// The answer as it came.
        body: String,
    },
    /// No usable answer came from the venue.
    #[error("{0}")]
    Unreachable(String),
    /// A file could not be read or written.
    #[error("cannot {verb} {}", path.display())]
    File {
        /// What was tried, as in "cannot read".
        verb: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
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

    /// For `map_err`: a file that could not be read or written.
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
        // Errors that are transparent about their cause would tell it twice.
        if !told.ends_with(&cause_told) {
            told.push_str(": ");
            told.push_str(&cause_told);
        }
        source = cause.source();
    }
    told
}
