//! The records of the history.

use super::volumes::{BucketVolume, DirectoryVolume};
use crate::name::{Directory, TenantName};
use crate::quota::Quota;
use crate::record::FileRecord;
use crate::volume::VolumeNumber;
use crate::watcher::WatchSpec;
use crate::{DirectoryKind, FileId};
use rialto_clock::Timestamp;
use rialto_log::Level;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The version of the records. format: docs/formats/depot.md
pub(crate) const FORMAT_VERSION: u32 = 1;

/// The number of a tenant: never used again, while a name may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct TenantNumber(pub(crate) u32);

/// The stage of a tenant's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    /// Files come and go.
    #[default]
    Enabled,
    /// Files are neither accepted nor handed out.
    Disabled,
    /// Files are handed out, and none is accepted.
    Draining,
    /// Its files are being removed.
    Deleting,
}

/// The level of a pool, as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PoolLevel {
    Memory,
    Buffered,
    Synced,
}

impl From<Level> for PoolLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Memory => Self::Memory,
            Level::Buffered => Self::Buffered,
            Level::Synced => Self::Synced,
        }
    }
}

impl From<PoolLevel> for Level {
    fn from(level: PoolLevel) -> Self {
        match level {
            PoolLevel::Memory => Self::Memory,
            PoolLevel::Buffered => Self::Buffered,
            PoolLevel::Synced => Self::Synced,
        }
    }
}

/// What an operator set for a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TenantSettings {
    pub(crate) stage: Stage,
    pub(crate) quota: Quota,
}

/// What an operator set for a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirectorySettings {
    pub(crate) kind: Option<DirectoryKind>,
    pub(crate) quota: Quota,
    /// How long its files are kept, from when they were stored.
    pub(crate) expires_after: Option<Duration>,
}

impl DirectorySettings {
    /// Those of a directory whose files are kept.
    pub(crate) fn shelf() -> Self {
        Self { kind: Some(DirectoryKind::Shelf), ..Self::default() }
    }
}

/// How a work file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ending {
    Completed,
    Deleted,
    Expired,
}

/// The end of a work file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) tenant: TenantNumber,
    pub(crate) id: FileId,
    pub(crate) at: Timestamp,
    pub(crate) ending: Ending,
    /// The volume with its bytes, unless they were inline or are kept.
    pub(crate) volume: Option<VolumeNumber>,
    /// Its submit key, so that a repeat after its end is recognised.
    pub(crate) submitted: Option<Submitted>,
    /// Results that are kept: they exist with this record.
    pub(crate) kept: Vec<FileRecord>,
    /// Results that are work: they are published together with the acknowledgement of this file.
    pub(crate) published: Vec<FileRecord>,
    /// A completed file that stays readable. Its bytes are not those of `volume`.
    pub(crate) retained: Option<Retained>,
}

/// A completed file, and until when it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Retained {
    pub(crate) file: FileRecord,
    pub(crate) until: Timestamp,
}

/// A submit key, and the file that was accepted under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Submitted {
    pub(crate) key: String,
    pub(crate) id: FileId,
    /// Tells another content from the same one.
    pub(crate) fingerprint: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Record {
    /// A tenant exists, with these settings.
    Tenant {
        number: TenantNumber,
        name: TenantName,
        created_at: Timestamp,
        settings: TenantSettings,
    },
    /// A tenant and everything in it is gone.
    TenantDeleted { number: TenantNumber },
    /// A directory has these settings; the default ones remove it from the list.
    Directory { tenant: TenantNumber, directory: Directory, settings: DirectorySettings },
    /// A volume in a directory is mounted, and takes new files unless it drains.
    Volume { number: VolumeNumber, settings: DirectoryVolume },
    /// A volume is no longer of this pool.
    VolumeUnmounted { number: VolumeNumber },
    /// A file is kept under its path, instead of an earlier one of that path.
    Kept { tenant: TenantNumber, file: FileRecord },
    /// A kept file is gone.
    Removed { tenant: TenantNumber, id: FileId },
    /// A work file ended.
    Ended(Ended),
    /// Submit keys of files that are gone, oldest first.
    SubmitKeys { tenant: TenantNumber, keys: Vec<Submitted> },
    /// The numbers of the next tenant and volume are at least these.
    Counters { tenant: TenantNumber, volume: VolumeNumber },
    /// A completed file is kept: in checkpoints, and when its bytes moved.
    Completed { tenant: TenantNumber, retained: Retained },
    /// A folder is watched.
    Watch { spec: WatchSpec, is_enabled: bool },
    /// A folder is not watched any more; its imports are forgotten.
    WatchRemoved { name: String },
    /// Source files that were imported and are still in their folder.
    Imported { watch: String, marks: Vec<u128> },
    /// Source files that were imported and are no longer in their folder.
    ImportsForgotten { watch: String, marks: Vec<u128> },
    /// The level of the pool, which it keeps.
    Level(PoolLevel),
    /// A volume in a bucket is mounted, and takes new files unless it drains.
    Bucket { number: VolumeNumber, settings: BucketVolume },
    /// A tenant exists, with these settings, and keeps its files: its root directory is a shelf.
    Shelf {
        number: TenantNumber,
        name: TenantName,
        created_at: Timestamp,
        settings: TenantSettings,
    },
}
