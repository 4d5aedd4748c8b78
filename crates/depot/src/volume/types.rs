//! The values that describe volumes and stored files.

use super::BucketSpec;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The number of a volume in its pool. Records of files name volumes by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VolumeNumber(pub u16);

impl fmt::Display for VolumeNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The random number in the identity file of a volume. It distinguishes the volume from another
/// directory that is mounted in its place. As text it is 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VolumeIdentity(pub u128);

impl fmt::Display for VolumeIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for VolumeIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for VolumeIdentity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let valid = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        valid.then(|| u128::from_str_radix(text, 16).ok()).flatten().map(Self).ok_or_else(|| {
            format!(
                "{:?} is not the identity of a volume: it has 32 digits",
                text.get(..64).unwrap_or(text)
            )
        })
    }
}

/// What the record of a file says of its stored bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBytes {
    /// The volume.
    pub volume: VolumeNumber,
    /// The length of the content in bytes.
    pub bytes: u64,
    /// The length of the stored file in bytes, its footer included.
    pub stored_bytes: u64,
    /// The CRC32C of the footer, so that another file cannot take this one's place.
    pub footer_crc: u32,
    /// The SHA-256 of the content, if it was computed.
    pub sha256: Option<[u8; 32]>,
}

/// A stored file as its own footer describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// What its record should say.
    pub stored: StoredBytes,
    /// The description that was given to [`StoredWriter::finish`](super::StoredWriter::finish).
    pub description: Vec<u8>,
}

/// Whether a volume takes new files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeState {
    /// It takes new files.
    Up,
    /// It keeps and serves its files, and takes no new ones.
    Draining,
    /// An operation failed on it. It takes no new files until a probe succeeds.
    Failed,
}

impl fmt::Display for VolumeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Up => "up",
            Self::Draining => "draining",
            Self::Failed => "failed",
        })
    }
}

/// A mounted volume at one moment. Sizes are in bytes.
#[derive(Clone, Debug)]
pub struct VolumeStatus {
    /// Its number.
    pub number: VolumeNumber,
    /// Its name.
    pub name: String,
    /// Its directory; `s3://BUCKET/PREFIX` for a bucket.
    pub dir: PathBuf,
    /// Its bucket, if it is in one.
    pub bucket: Option<BucketSpec>,
    /// Its identity.
    pub identity: VolumeIdentity,
    /// Its share of new files, relative to other volumes with as much free space.
    pub weight: u32,
    /// Whether it takes new files.
    pub state: VolumeState,
    /// The free space of its file system when it was last asked for; `None` for a bucket, which has no
    /// limit.
    pub free_bytes: Option<u64>,
    /// The size of its file system; `None` for a bucket.
    pub total_bytes: Option<u64>,
    /// The device number of its file system.
    pub device: u64,
    /// The files that this process has written.
    pub files_written: u64,
    /// The bytes that this process has written.
    pub bytes_written: u64,
    /// The bytes written that no sync has made durable.
    pub unsynced_bytes: u64,
    /// The last failure.
    pub last_error: Option<String>,
}

/// The space of all volumes in directories; volumes that share a file system count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeTotals {
    /// The free space in bytes.
    pub free_bytes: u64,
    /// The size in bytes.
    pub total_bytes: u64,
    /// The number of file systems.
    pub file_systems: usize,
}
