//! The error of a state log.

use rialto_log::{OpenError, RECORD_BYTES_MAX, ReadError};
use std::path::PathBuf;

/// The error of a [`StateLog`](crate::StateLog).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateLogError {
    /// A write failed, so that the log accepts no more changes.
    #[error("the log {} accepts no more changes since one failed ({reason}); open it again", dir.display())]
    Failed {
        /// The directory of the log.
        dir: PathBuf,
        /// The first failure.
        reason: String,
    },
    /// The log could not be opened.
    #[error(transparent)]
    Open(Box<OpenError>),
    /// The log could not be read at its opening.
    #[error(transparent)]
    Read(Box<ReadError>),
    /// The state cannot apply a record.
    #[error("record {seq} in {} is invalid: {reason}; restore the log from a copy", file.display())]
    InvalidRecord {
        /// The segment that holds the record.
        file: PathBuf,
        /// The sequence of the record.
        seq: u64,
        /// The fault.
        reason: String,
    },
    /// The log was written by a newer program.
    #[error(
        "{} has format version {found}, and this program knows up to {known}; use a newer program",
        file.display()
    )]
    Version {
        /// The segment of that version.
        file: PathBuf,
        /// The version of the segment.
        found: u32,
        /// The newest known version.
        known: u32,
    },
    /// The log does not hold the record that the state was saved at.
    #[error("the log {} does not hold record {seq}, at which its state was saved; open it without", dir.display())]
    Unsaved {
        /// The directory of the log.
        dir: PathBuf,
        /// The sequence of the record.
        seq: u64,
    },
    /// A record is longer than a log can hold. Nothing was appended.
    #[error("a record of {bytes} bytes is longer than the {RECORD_BYTES_MAX} that a log can hold")]
    TooLarge {
        /// The most bytes that the record may take.
        bytes: usize,
    },
    /// A record could not be encoded within the length that was announced. Nothing was appended;
    /// this is a mistake of the caller.
    #[error("a record could not be encoded within the {len_max} bytes that were announced for it")]
    Encoding {
        /// The announced length in bytes.
        len_max: usize,
    },
}

impl From<OpenError> for StateLogError {
    fn from(error: OpenError) -> Self {
        Self::Open(Box::new(error))
    }
}

impl From<ReadError> for StateLogError {
    fn from(error: ReadError) -> Self {
        Self::Read(Box::new(error))
    }
}
