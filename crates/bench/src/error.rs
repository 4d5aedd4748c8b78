//! Errors of benchmarks.

use std::io;
use std::path::PathBuf;

/// The reason why a benchmark has no figures. A figure is only given for verified work.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// There is no such suite.
    #[error("there is no suite {name:?}; there are {known}")]
    UnknownSuite {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A suite does not have this part.
    #[error("the suite {suite} has no part {part:?}; its parts are: {known}")]
    UnknownPart {
        /// The suite.
        suite: String,
        /// The requested name.
        part: String,
        /// The known names.
        known: String,
    },
    /// A page needs complete suites.
    #[error("a page needs complete suites, not parts such as {0}")]
    PartOnPage(String),
    /// The verification of a result failed.
    #[error("{case}: {what} is {got}, but must be {expected}")]
    Wrong {
        /// The case.
        case: String,
        /// The verified value.
        what: String,
        /// The expected value.
        expected: String,
        /// The actual value.
        got: String,
    },
    /// An operation was refused that must be accepted.
    #[error("{case}: operation {position} was refused")]
    Refused {
        /// The case.
        case: String,
        /// The position of the operation, from 0.
        position: usize,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file or directory could not be used.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The action.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A system under test could not be set up, or failed during the measurement.
    #[error("{case}: cannot {doing}")]
    Broken {
        /// The case.
        case: String,
        /// The action.
        doing: &'static str,
        /// The error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Results could not be written.
    #[error("cannot write the results")]
    Output(#[source] io::Error),
}

impl BenchError {
    /// The error with its sources.
    #[must_use]
    pub fn with_sources(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            text.push_str(&format!(": {error}"));
            source = error.source();
        }
        text
    }
}

/// For `map_err`: makes the error of a case.
pub(crate) fn broken<E>(case: &str, doing: &'static str) -> impl FnOnce(E) -> BenchError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |error| BenchError::Broken { case: case.to_string(), doing, source: error.into() }
}

/// Returns an error unless the value is as expected.
pub(crate) fn verify<T: PartialEq + std::fmt::Debug>(
    case: &str,
    what: &str,
    got: T,
    expected: T,
) -> Result<(), BenchError> {
    if got == expected {
        return Ok(());
    }
    Err(BenchError::Wrong {
        case: case.to_string(),
        what: what.to_string(),
        expected: format!("{expected:?}"),
        got: format!("{got:?}"),
    })
}
