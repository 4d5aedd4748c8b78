//! The settings of volumes.

use super::{BucketSpec, Buckets, VolumeIdentity};
use rialto_log::{Cipher, Compression, KeyRing};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a volume is: its place and its share of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeSpec {
    /// A name for people: 1 to 64 of `a` to `z`, `0` to `9`, `-`, `_` and `.`.
    pub name: String,
    /// Its directory or bucket.
    pub place: VolumePlace,
    /// Its share of new files, relative to other volumes with as much free space; 0 is none.
    pub weight: u32,
    /// The identity that the first mount returned. With `None` the directory must not hold files of
    /// a volume yet, and the prefix of a bucket must not be a volume.
    pub identity: Option<VolumeIdentity>,
}

/// Where a volume is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumePlace {
    /// In a directory.
    Directory(PathBuf),
    /// In a bucket, below a prefix.
    Bucket(BucketSpec),
}

impl From<PathBuf> for VolumePlace {
    fn from(dir: PathBuf) -> Self {
        Self::Directory(dir)
    }
}

impl From<&Path> for VolumePlace {
    fn from(dir: &Path) -> Self {
        Self::Directory(dir.to_owned())
    }
}

impl From<&str> for VolumePlace {
    fn from(dir: &str) -> Self {
        Self::Directory(dir.into())
    }
}

/// How the blocks of new files are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BlockCompression {
    /// Not at all.
    #[default]
    None,
    /// LZ4: the fastest.
    Lz4,
    /// Zstandard.
    Zstd {
        /// 1 (fast) to 22 (small); others are brought into this range.
        level: u8,
    },
}

impl TryFrom<Compression> for BlockCompression {
    type Error = String;

    fn try_from(compression: Compression) -> Result<Self, String> {
        match compression {
            Compression::None => Ok(Self::None),
            Compression::Lz4 => Ok(Self::Lz4),
            Compression::Zstd { level } => Ok(Self::Zstd { level }),
            other @ Compression::Gzip { .. } => {
                Err(format!("files are not compressed by `{other}`: use none, lz4 or zstd"))
            }
        }
    }
}

/// The compression and encryption of the blocks of new files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BlockSealing {
    /// How blocks are compressed. One that compression does not shrink is stored as it is.
    pub compression: BlockCompression,
    /// The cipher of blocks, under the current key of [`VolumeOptions::keys`].
    pub encryption: Option<Cipher>,
}

/// The settings of all volumes of a pool.
#[derive(Clone)]
pub struct VolumeOptions {
    /// The compression and encryption of new files. A file says itself how it is stored, so that
    /// this may change.
    pub sealing: BlockSealing,
    /// The keys to encrypt and decrypt with.
    pub keys: KeyRing,
    /// Whether the SHA-256 of the content is computed and kept.
    pub sha256: bool,
    /// Levels of shard directories on new volumes, 0 to 2, of 256 directories each. A volume keeps
    /// the number that it was made with.
    pub shard_levels: u8,
    /// The most shard directories of a volume that are remembered to exist.
    pub known_dirs_max: usize,
    /// Files of at least this many bytes are written past the page cache.
    pub direct_bytes_min: u64,
    /// Whether blocks of a file of several are written in a thread, while the next ones are hashed.
    /// Without it the order of operations on the disk follows from the calls alone.
    pub write_behind: bool,
    /// Whether files share syncs of their whole file system, where the system reports the errors of
    /// such a sync. It also writes back what other programs wrote.
    pub grouped_sync: bool,
    /// The most buffers of about 1 MiB that are kept for reuse.
    pub idle_buffers_max: usize,
    /// A volume with less free space than this many bytes takes no new files.
    pub free_bytes_min: u64,
    /// The most bytes of one volume that are not durable. Beyond, a writer makes durable what it
    /// wrote before it goes on.
    pub volume_unsynced_bytes_max: u64,
    /// The most bytes of all volumes that are not durable.
    pub unsynced_bytes_max: u64,
    /// The most bytes that writers to buckets hold in memory: 8 MiB for each file that is longer than one
    /// block. Beyond, a file goes to another volume, or is refused.
    pub bucket_bytes_max: u64,
    /// Opens the buckets of volumes. Without it there are volumes in directories only.
    pub buckets: Option<Arc<dyn Buckets>>,
}

impl Default for VolumeOptions {
    fn default() -> Self {
        Self {
            sealing: BlockSealing::default(),
            keys: KeyRing::empty(),
            sha256: true,
            shard_levels: 1,
            known_dirs_max: 1024,
            direct_bytes_min: 1 << 20,
            write_behind: true,
            grouped_sync: true,
            idle_buffers_max: 32,
            free_bytes_min: 1 << 30,
            volume_unsynced_bytes_max: 256 << 20,
            unsynced_bytes_max: 1 << 30,
            bucket_bytes_max: 512 << 20,
            buckets: None,
        }
    }
}
