//! Records on disk: a ring of files that holds the last of them, for whoever looks later or from
//! outside.
//!
//! A [`Keeper`] takes finished records from a recorder now and then and appends them with a
//! [`RecordingWriter`]; [`Recordings::read`] reads them back, while they are written too. It is kept
//! as a convenience and not as a truth: nothing waits for it, and a power failure may take the last
//! of it. `docs/formats/recording.md` describes the files.

mod format;
mod keeper;
mod read;
mod write;

pub use keeper::Keeper;
pub use read::{Recordings, Unreadable};
pub use write::{RecordingWriter, RingBounds};

use rialto_disk::DiskError;

/// Why records cannot be stored or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// One record is longer than a file of the ring may be.
    #[error(
        "record {id} takes {bytes} bytes, and a file of the ring {bytes_max}: record less of it, or \
         let the ring be larger"
    )]
    TooLong {
        /// The record.
        id: super::RecordId,
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        bytes_max: u64,
    },
    /// A record cannot be encoded.
    #[error("record {id} cannot be encoded")]
    Encode {
        /// The record.
        id: super::RecordId,
        /// Why.
        source: postcard::Error,
    },
}
