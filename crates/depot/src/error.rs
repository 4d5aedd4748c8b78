//! Errors, grouped by what the caller can do about them.

use crate::name::InvalidDepotName;
use crate::volume::VolumeError;
use crate::{Directory, DirectoryKind, FileId, TenantName};
use rialto_disk::DiskError;
use rialto_log::Level;
use rialto_queue::QueueError;
use rialto_statelog::StateLogError;

/// The reason that a call on a pool failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DepotError {
    /// A name is not valid.
    #[error(transparent)]
    Name(#[from] InvalidDepotName),
    /// A field of a request is not valid.
    #[error("{field}: {why}")]
    Invalid {
        /// The name of the field.
        field: &'static str,
        /// What to correct.
        why: String,
    },
    /// There is no such tenant.
    #[error("there is no tenant {0:?}; create it first")]
    UnknownTenant(TenantName),
    /// The tenant exists already.
    #[error("there is a tenant {0:?} already")]
    TenantExists(TenantName),
    /// The tenant is disabled, drained or deleted.
    #[error("the tenant {tenant:?} is {stage}: it {refuses}")]
    TenantStage {
        /// The tenant.
        tenant: TenantName,
        /// The stage of its life.
        stage: &'static str,
        /// What it refuses.
        refuses: &'static str,
    },
    /// A quota has no room.
    #[error(
        "the quota of {owner} is reached: it holds {used} {what} of at most {limit}; complete or \
         delete files, or raise the quota"
    )]
    Quota {
        /// The tenant, or the directory of the tenant.
        owner: String,
        /// `files` or `bytes`.
        what: &'static str,
        /// What it holds.
        used: u64,
        /// What it may hold.
        limit: u64,
    },
    /// A limit of the pool is reached.
    #[error("the limit of {limit} {what} is reached")]
    TooMany {
        /// The kind of object that is limited.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// There is no such file.
    #[error("the tenant {tenant:?} has no file {file}")]
    UnknownFile {
        /// The tenant.
        tenant: TenantName,
        /// The id or the path of the file.
        file: String,
    },
    /// A file of this path is kept already.
    #[error("the tenant {tenant:?} keeps a file {path:?} already")]
    FileExists {
        /// The tenant.
        tenant: TenantName,
        /// The path.
        path: String,
    },
    /// The directory is of another kind than the file needs.
    #[error("the directory {directory:?} is a {} directory", kind.name())]
    WrongKind {
        /// The directory.
        directory: Directory,
        /// What it is.
        kind: DirectoryKind,
    },
    /// The file is claimed.
    #[error("the file {0} is claimed; it can be deleted when the claim ends")]
    Claimed(FileId),
    /// The claim has ended: its deadline passed, or the file was completed.
    #[error("the claim of the file {0} has ended; the file may have been handed to another worker")]
    ClaimLost(FileId),
    /// The bytes of the file are missing or damaged.
    #[error("the bytes of the file {id} cannot be read: {source}")]
    Bytes {
        /// The file.
        id: FileId,
        /// What is wrong with them.
        #[source]
        source: Box<VolumeError>,
    },
    /// The bytes that arrived are not the declared ones. Nothing was stored.
    #[error("the {what} of the file should be {expected} and is {got}; send it again")]
    Mismatch {
        /// `length`, `SHA-256` or `CRC-32C`.
        what: &'static str,
        /// What was declared.
        expected: String,
        /// What arrived.
        got: String,
    },
    /// The file is larger than the pool accepts.
    #[error("the file has more than {max} bytes, which is the most that the pool accepts")]
    TooLarge {
        /// The limit in bytes.
        max: u64,
    },
    /// The pool was made with another level, which its work queues keep.
    #[error(
        "the pool was made with the level {level} and keeps it: open it with that level, not with \
         {asked}"
    )]
    OtherLevel {
        /// The level of the pool.
        level: Level,
        /// The level that was asked for.
        asked: Level,
    },
    /// More bytes arrive than may be stored in a second, and other writers wait already.
    #[error(
        "{} stores at most {bytes_per_second} bytes a second, and others wait: send it again in \
         {} s",
        tenant.as_ref().map_or("the pool".to_owned(), |tenant| format!("the tenant {tenant:?}")),
        wait.as_secs_f64().ceil()
    )]
    RateReached {
        /// The tenant whose rate it is; none for that of the pool.
        tenant: Option<TenantName>,
        /// Its rate.
        bytes_per_second: u64,
        /// How long the writer would have waited.
        wait: std::time::Duration,
    },
    /// The disk has little room left, which is kept for what ends files.
    #[error("the disk has little room left: no new files are accepted until there is more")]
    StorageLow,
    /// Another content was submitted under this key.
    #[error("another file was submitted under the key {key:?}: {id}")]
    SubmitConflict {
        /// The key.
        key: String,
        /// The file that was accepted under it.
        id: FileId,
    },
    /// A file is being submitted under this key.
    #[error("a file is being submitted under the key {0:?}; repeat the request later")]
    SubmitInProgress(String),
    /// Files of the pool are on the volume.
    #[error(
        "the volume {name:?} holds {files} files of the pool; drain it and wait until they are gone"
    )]
    VolumeInUse {
        /// The volume.
        name: String,
        /// The number of files on it.
        files: usize,
    },
    /// There is no such volume.
    #[error("the pool has no volume {0:?}")]
    UnknownVolume(String),
    /// There is no such watch.
    #[error("the pool has no watch {0:?}")]
    UnknownWatch(String),
    /// The watch exists already.
    #[error("there is a watch {0:?} already; remove it first")]
    WatchExists(String),
    /// The scan of a watched folder failed.
    #[error("the scan of {folder:?} failed: {why}")]
    WatchFailed {
        /// The folder.
        folder: std::path::PathBuf,
        /// The reason.
        why: String,
    },
    /// The volumes refused.
    #[error(transparent)]
    Volume(#[from] VolumeError),
    /// The queue refused.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The history refused.
    #[error("the history of the pool: {0}")]
    History(#[from] StateLogError),
    /// The disk refused.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The pool is closed.
    #[error("the pool is closed")]
    Closed,
    /// An earlier call closed the pool and failed.
    #[error("the pool was closed with an error, and its last changes may not be durable")]
    CloseFailed,
    /// The pool has a history, and its work queues are gone.
    #[error(
        "the pool has a history, and {dir:?} is missing or empty: its work files are lost; restore \
         the directory from a copy"
    )]
    WorkLost {
        /// The directory that is missing.
        dir: std::path::PathBuf,
    },
    /// The pool contradicts itself.
    #[error("the pool contradicts itself: {0}")]
    Internal(String),
}

impl DepotError {
    pub(crate) fn invalid(field: &'static str, why: impl Into<String>) -> Self {
        Self::Invalid { field, why: why.into() }
    }
}
