//! Why a benchmark ends without figures.

use std::io;
use std::path::PathBuf;

/// A figure is only given for work that was done right; everything else is an error.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// There is no such suite.
    #[error("there is no suite {name:?}; there are {known}")]
    UnknownSuite {
        /// What was asked for.
        name: String,
        /// What could have been.
        known: String,
    },
    /// A suite has no such part.
    #[error("the suite {suite} has no part {part:?}; its parts are: {known}")]
    UnknownPart {
        /// The suite.
        suite: String,
        /// What was asked for.
        part: String,
        /// What could have been.
        known: String,
    },
    /// The tables of a page are of whole suites.
    #[error("a page is written of whole suites, not of parts such as {0}")]
    PartOnPage(String),
    /// What was measured did not come to the right result.
    #[error("{case}: {what} is {got}, but must be {expected}")]
    Wrong {
        /// What was measured.
        case: String,
        /// What was verified.
        what: String,
        /// What it must be.
        expected: String,
        /// What it is.
        got: String,
    },
    /// What was measured refused an operation that it must accept.
    #[error("{case}: operation {position} was refused")]
    Refused {
        /// What was measured.
        case: String,
        /// Which operation, from 0.
        position: usize,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file or directory could not be used.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What is measured could not be set up, or broke down while it was measured.
    #[error("{case}: cannot {doing}")]
    Broken {
        /// What was measured.
        case: String,
        /// What was tried.
        doing: &'static str,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Results could not be written out.
    #[error("cannot write the results")]
    Output(#[source] io::Error),
}

impl BenchError {
    /// What happened, and what led to it.
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

/// Turns what a part of the venue says into an error of the case that it was said in.
pub(crate) fn broken<E>(case: &str, doing: &'static str) -> impl FnOnce(E) -> BenchError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |error| BenchError::Broken { case: case.to_string(), doing, source: error.into() }
}

/// An error unless what was verified is what it must be.
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
