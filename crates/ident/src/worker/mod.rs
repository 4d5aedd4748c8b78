//! Worker ids.

mod lease;

pub use lease::Lease;

use std::path::PathBuf;
use std::{env, io};

/// The worker that a generator makes ids for. No two generators of one datacenter may have the same
/// at the same time; only a [`Lease`] guarantees that.
#[derive(Debug)]
pub struct Worker(Source);

#[derive(Debug)]
enum Source {
    Given(u64),
    Leased(Lease),
}

impl Worker {
    /// The worker with this id. The caller must ensure that it is unique, and that the clock
    /// advances between two generators with this id.
    #[must_use]
    pub fn explicit(id: u64) -> Worker {
        Worker(Source::Given(id))
    }

    /// The worker whose id is in an environment variable, in decimal.
    ///
    /// # Errors
    /// If it is not set or is not a number.
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

    /// The first millisecond since 1970 for which no other generator is known to have made ids of
    /// this worker.
    pub(crate) fn first_ms(&self) -> u64 {
        match &self.0 {
            Source::Given(_) => 0,
            Source::Leased(lease) => lease.first_ms(),
        }
    }

    /// Records that ids were made up to this millisecond since 1970.
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

/// The error of getting a worker id.
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
        /// The value found.
        found: String,
    },
    /// All worker ids are leased.
    #[error(
        "all {count} worker ids in {} are leased: stop a process, or choose a layout with more \
         worker bits",
        directory.display()
    )]
    AllLeased {
        /// The directory of the leases.
        directory: PathBuf,
        /// The number of worker ids.
        count: u64,
    },
    /// A file of the directory was not written by a lease.
    #[error(
        "{} contains {found:?} instead of milliseconds since 1970: if the file is a lease, remove \
         it while no generator runs",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The contents found.
        found: String,
    },
    /// A file or directory cannot be used.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation.
        doing: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
