//! The errors of volumes.

use super::{VolumeIdentity, VolumeNumber};
use rialto_disk::DiskError;
use rialto_log::BlobError;
use std::fmt;
use std::path::PathBuf;

/// A part of a stored file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredPart {
    /// The content as a whole.
    Content,
    /// A block of content, from 0.
    Block(u64),
    /// The table of blocks.
    Table,
    /// The description.
    Description,
    /// The footer.
    Footer,
}

impl fmt::Display for StoredPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content => f.write_str("the content"),
            Self::Block(number) => write!(f, "block {number}"),
            Self::Table => f.write_str("the block table"),
            Self::Description => f.write_str("the description"),
            Self::Footer => f.write_str("the footer"),
        }
    }
}

/// A failure of a volume.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VolumeError {
    /// No volume takes new files.
    #[error("no volume takes new files ({states}); mount one, or end the draining of one")]
    NoVolume {
        /// The volumes and their states.
        states: String,
    },
    /// Volumes take new files, but none has the room.
    #[error(
        "no volume has room for {bytes} more bytes above its minimum of free space ({states}); \
         free space on one, or mount another"
    )]
    NoRoom {
        /// The bytes that were to be stored.
        bytes: u64,
        /// The volumes and their free space.
        states: String,
    },
    /// No volume of this number is mounted.
    #[error("volume {number} is not mounted; mount it to reach its files")]
    NotMounted {
        /// The number.
        number: VolumeNumber,
    },
    /// The number or the name is in use.
    #[error("volume {number} or a volume named {name} is mounted already; unmount it first")]
    AlreadyMounted {
        /// The number.
        number: VolumeNumber,
        /// The name.
        name: String,
    },
    /// Files are being written to the volume.
    #[error("volume {name} has {writers} files in writing; drain it, and unmount it when they end")]
    Busy {
        /// The volume.
        name: String,
        /// The number of open writers.
        writers: u64,
    },
    /// The specification of a volume is not valid.
    #[error("the volume {name:?} cannot be mounted: {why}")]
    InvalidSpec {
        /// The name as given.
        name: String,
        /// What of the specification is not valid: `name` or `bucket`.
        field: &'static str,
        /// What to correct.
        why: String,
    },
    /// The bucket of a volume cannot be used by this process.
    #[error("the bucket of volume {name} cannot be opened: {why}")]
    NoBucket {
        /// The volume.
        name: String,
        /// What lacks.
        why: String,
    },
    /// The directory is not the volume that it was: its file system may not be mounted.
    #[error(
        "volume {name} is gone: {} has no identity file `VOLUME`; mount its file system, or restore \
         the objects of its bucket",
        dir.display()
    )]
    Gone {
        /// The volume.
        name: String,
        /// Its directory.
        dir: PathBuf,
    },
    /// The directory holds another volume.
    #[error(
        "{} holds the volume {found}, not {}; correct the directory of {name}, or give the \
         identity {found} to use that volume",
        dir.display(),
        expected.map_or_else(|| "a new one".to_owned(), |identity| identity.to_string())
    )]
    Foreign {
        /// The volume.
        name: String,
        /// Its directory.
        dir: PathBuf,
        /// The identity in its specification.
        expected: Option<VolumeIdentity>,
        /// The identity in the directory.
        found: VolumeIdentity,
    },
    /// The prefix of a bucket is a volume already. Nothing locks it, so that also one without files is not
    /// taken over: another pool may have it.
    #[error(
        "{} is the volume {found} already, {}; if no pool uses it, mount it with the identity {found}, \
         and otherwise choose another prefix for {name}",
        dir.display(),
        if *has_files { "and holds files" } else { "without files, as after a mount that was interrupted" }
    )]
    PrefixTaken {
        /// The volume.
        name: String,
        /// The bucket and the prefix.
        dir: PathBuf,
        /// The identity in the bucket.
        found: VolumeIdentity,
        /// Whether there are stored files.
        has_files: bool,
    },
    /// The identity file cannot be read.
    #[error(
        "the identity file {} of volume {name} is not valid: {why}; restore it from a copy",
        path.display()
    )]
    InvalidIdentity {
        /// The volume.
        name: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A stored file does not exist, although a record names it.
    #[error(
        "the stored file {} of volume {name} does not exist; restore it from a copy, or delete the \
         file from the pool",
        path.display()
    )]
    Missing {
        /// The volume.
        name: String,
        /// The stored file.
        path: PathBuf,
    },
    /// A part of a stored file is not what was written.
    #[error(
        "{part} of {} on volume {name} is damaged: its CRC32C should be {expected:08x} and is \
         {got:08x}; restore the file from a copy",
        path.display()
    )]
    Damaged {
        /// The volume.
        name: String,
        /// The stored file.
        path: PathBuf,
        /// The damaged part.
        part: StoredPart,
        /// The CRC32C of what was written.
        expected: u32,
        /// The CRC32C of what is there.
        got: u32,
    },
    /// A stored file does not have the stored form, or contradicts itself or its record.
    #[error(
        "{part} of {} on volume {name} is not valid: {why}; restore the file from a copy",
        path.display()
    )]
    Invalid {
        /// The volume.
        name: String,
        /// The stored file.
        path: PathBuf,
        /// The part.
        part: StoredPart,
        /// What is wrong with it.
        why: String,
    },
    /// Files that are being written to buckets hold as much memory as they may.
    #[error(
        "volume {name} is a bucket, and files on their way to buckets hold {max} bytes of memory, \
             as many as they may; repeat it later"
    )]
    TooManyBucketWriters {
        /// The volume.
        name: String,
        /// The limit in bytes.
        max: u64,
    },
    /// A stored file cannot be decrypted, or a new one not encrypted.
    #[error("{part} of {} on volume {name}: {source}", path.display())]
    Sealing {
        /// The volume.
        name: String,
        /// The stored file.
        path: PathBuf,
        /// The part.
        part: StoredPart,
        /// The reason.
        source: BlobError,
    },
    /// The content is longer than a stored file can be, or the description is.
    #[error("the {what} of a file has at most {max} bytes; split the file")]
    TooLong {
        /// What is too long.
        what: &'static str,
        /// The limit in bytes.
        max: u64,
    },
    /// A writer was used after it had failed.
    #[error("the writer of {id} has failed before; begin the file again")]
    WriterFailed {
        /// The file.
        id: crate::FileId,
    },
    /// The disk refused an operation.
    #[error("volume {name}: {source}")]
    Disk {
        /// The volume.
        name: String,
        /// What it refused.
        #[source]
        source: DiskError,
    },
}

impl VolumeError {
    pub(super) fn disk(name: &str, source: DiskError) -> Self {
        Self::Disk { name: name.to_owned(), source }
    }

    /// Whether another volume may succeed where this one failed.
    #[must_use]
    pub fn may_succeed_elsewhere(&self) -> bool {
        matches!(
            self,
            Self::Disk { .. }
                | Self::Gone { .. }
                | Self::NotMounted { .. }
                | Self::TooManyBucketWriters { .. }
        )
    }

    /// Whether the stored bytes are lost or damaged, so that repeating the request does not help.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::Damaged { .. } | Self::Invalid { .. })
    }

    /// Whether space is what lacks.
    #[must_use]
    pub fn is_out_of_space(&self) -> bool {
        match self {
            Self::NoRoom { .. } => true,
            Self::Disk { source, .. } => source.is_out_of_space(),
            _ => false,
        }
    }

    /// Whether the failure is a simulated crash.
    #[must_use]
    pub fn is_crash(&self) -> bool {
        matches!(self, Self::Disk { source, .. } if source.is_crash())
    }
}
