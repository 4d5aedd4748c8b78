//! Records on disk: a ring of files with the last records, for later inspection.
//!
//! A [`Keeper`] takes finished records from a recorder at intervals and appends them with a
//! [`RecordingWriter`]; [`Recordings::read`] reads them back, while they are written too. It is not
//! authoritative: nothing waits for it, and a power failure may take the last records.
//! `docs/formats/recording.md` describes the files.

mod format;
mod keeper;
mod read;
mod write;

pub use keeper::Keeper;
pub use read::{Recordings, Unreadable};
pub use write::{RecordingWriter, RingBounds};

use rialto_disk::DiskError;

/// The error of storing or reading records.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// One record is longer than a file of the ring may be.
    #[error(
        "record {id} takes {bytes} bytes, and a file of the ring {bytes_max}: record less, or \
         enlarge the ring"
    )]
    TooLong {
        /// The record.
        id: super::RecordId,
        /// Its length.
        bytes: u64,
        /// The largest length.
        bytes_max: u64,
    },
    /// A record cannot be encoded.
    #[error("record {id} cannot be encoded")]
    Encode {
        /// The record.
        id: super::RecordId,
        /// The error.
        source: postcard::Error,
    },
}
