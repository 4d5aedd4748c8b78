//! Whose ids they are.

mod lease;

pub use lease::Lease;

use std::path::PathBuf;
use std::{env, io};

/// The worker that a generator makes ids for. No two generators of one datacenter may have the same
/// at the same time; only a [`Lease`] sees to that by itself.
#[derive(Debug)]
pub struct Worker(Source);

#[derive(Debug)]
enum Source {
    Given(u64),
    Leased(Lease),
}

impl Worker {
    /// The worker of this id. Whoever chooses it answers for it being the only one, and for a clock
    /// that goes on between two generators of this id.
    #[must_use]
    pub fn explicit(id: u64) -> Worker {
        Worker(Source::Given(id))
    }

    /// The worker whose id stands in an environment variable, in decimal.
    ///
    /// # Errors
    /// It is not set or is not a number.
    pub fn from_environment(variable: &str) -> Result<Worker, WorkerError> {
        let found = env::var_os(variable)
            .ok_or_else(|| WorkerError::NotSet { variable: variable.to_string() })?;
        let id = found.to_str().and_then(|text| text.parse().ok());
        id.map(Worker::explicit).ok_or_else(|| WorkerError::NotANumber {
            variable: variable.to_string(),
            found: found.to_string_lossy().into_owned(),
        })
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> u64 {
        match &self.0 {
            Source::Given(id) => *id,
            Source::Leased(lease) => lease.worker(),
        }
    }

    /// The first millisecond since 1970 that nobody else made ids of this worker for, so far as is
    /// known.
    pub(crate) fn first_ms(&self) -> u64 {
        match &self.0 {
            Source::Given(_) => 0,
            Source::Leased(lease) => lease.first_ms(),
        }
    }

    /// Remembers that ids were made up to this millisecond since 1970.
    pub(crate) fn used_until(&mut self, ms: u64) {
        if let Source::Leased(lease) = &mut self.0 {
            lease.used_until(ms);
        }
    }
}

impl From<Lease> for Worker {
    fn from(lease: Lease) -> Worker {
        Worker(Source::Leased(lease))
    }
}

/// Why there is no worker id.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The environment variable is not set.
    #[error("the environment variable {variable} is not set: set it to the worker id")]
    NotSet {
        /// Its name.
        variable: String,
    },
    /// The environment variable is not a number.
    #[error("the environment variable {variable} is {found:?}, which is not a worker id")]
    NotANumber {
        /// Its name.
        variable: String,
        /// What it is.
        found: String,
    },
    /// Every worker id is held by somebody.
    #[error(
        "all {count} worker ids in {} are leased: stop a process, or choose a layout with more \
         worker bits",
        directory.display()
    )]
    AllLeased {
        /// Where they are leased.
        directory: PathBuf,
        /// How many there are.
        count: u64,
    },
    /// A file of the directory says something that no lease wrote.
    #[error(
        "{} says {found:?} where a lease writes milliseconds since 1970: if it is not a file of \
         somebody else, remove it while no generator runs",
        path.display()
    )]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What it says.
        found: String,
    },
    /// A file or directory cannot be used.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
