//! Errors of order files.

use crate::lookup::LookupError;
use rialto_depot::DepotError;
use rialto_statelog::StateLogError;
use std::io;

/// The error of opening the exchange of order files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OrderFilesOpenError {
    /// The history cannot be read.
    #[error("cannot read the history of order files")]
    History(#[from] StateLogError),
    /// No thread could be started.
    #[error("cannot start a thread for order files")]
    Thread(#[from] io::Error),
    /// A limit is out of its range.
    #[error("{0}")]
    Limit(String),
}

/// Why the work on a file ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    /// The venue stops, or its engine has ended.
    #[error("the venue stops")]
    Stopping,
    /// The depot refused.
    #[error(transparent)]
    Depot(#[from] DepotError),
    /// The history failed: nothing more can be recorded.
    #[error("the history of order files: {0}")]
    History(#[from] StateLogError),
    /// The answers to rows in doubt cannot be found now.
    #[error("the rows in doubt cannot be looked up: {0}")]
    Lookup(LookupError),
    /// The desk refused a batch as a whole.
    #[error("the venue refuses the rows: {0}")]
    Refused(String),
    /// A defect of this crate.
    #[error("the work on the file panicked")]
    Panicked,
    /// The member has as many unfinished contents as it may have.
    #[error("{0} other files of the member were begun and have not ended; complete those first")]
    TooManyUnfinished(usize),
}

impl From<LookupError> for WorkError {
    fn from(error: LookupError) -> WorkError {
        match error {
            LookupError::Ended => WorkError::Stopping,
            error => WorkError::Lookup(error),
        }
    }
}
