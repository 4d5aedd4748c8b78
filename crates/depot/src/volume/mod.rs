//! Volumes: the directories and buckets that hold the bytes of files.
//!
//! [`Volumes`] is the set of them. [`Volumes::begin`] places a new file and returns the
//! [`StoredWriter`] that its content is streamed into; [`Finished::make_durable`] shares syncs with
//! other files; [`StoredReader`] checks every byte that it returns. A stored file has no name but
//! its [`FileId`](crate::FileId): the record of the file says on which volume it is, and bytes that
//! no record names are no file. `docs/formats/depot.md` describes the stored form.

mod bucket;
mod buffers;
mod codec;
mod error;
mod format;
mod health;
mod identity;
mod known_dirs;
mod layout;
mod mounted;
mod options;
mod output;
mod place;
mod placement;
mod quarantine;
mod reader;
mod scan;
mod set;
mod sync_group;
mod types;
mod write_behind;
mod writer;

pub use bucket::{
    Bucket, BucketError, BucketSpec, Buckets, ObjectInfo, ObjectParts, PART_BYTES, PARTS_MAX,
};
pub use error::{StoredPart, VolumeError};
pub use known_dirs::KnownDirs;
pub use mounted::MountedVolume;
pub use options::{BlockCompression, BlockSealing, VolumeOptions, VolumePlace, VolumeSpec};
pub use reader::StoredReader;
pub use scan::{FoundFile, ScanCursor};
pub use set::Volumes;
pub use types::{
    Described, StoredBytes, VolumeIdentity, VolumeNumber, VolumeState, VolumeStatus, VolumeTotals,
};
pub use writer::{Finished, StoredWriter};
