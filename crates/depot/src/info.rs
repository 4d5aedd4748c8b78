//! The descriptions of tenants and files that callers get.

use crate::DirectoryKind;
use crate::active::{ActiveFile, Standing};
use crate::name::{Directory, TenantName};
use crate::quota::Quota;
use crate::record::FileRecord;
use rialto_clock::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// The state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It waits for a worker, or for the end of a delay.
    Waiting,
    /// A worker has it until this time.
    Claimed {
        /// The deadline of the claim.
        until: Timestamp,
    },
    /// It was handed out as often as it may be, or was refused: it is a dead letter.
    Dead,
    /// It is kept on a shelf.
    Kept,
    /// It was completed, and stays readable for a while.
    Completed,
}

impl FileState {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Claimed { .. } => "claimed",
            Self::Dead => "dead",
            Self::Kept => "kept",
            Self::Completed => "completed",
        }
    }
}

/// A file of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// The file.
    pub record: Arc<FileRecord>,
    /// Its state.
    pub state: FileState,
    /// How often it was handed out.
    pub attempts: u16,
}

impl FileInfo {
    pub(crate) fn of_active(file: &ActiveFile, now: impl FnOnce() -> Timestamp) -> Self {
        let state = match file.standing {
            Standing::Claimed { until, .. } if until > now() => FileState::Claimed { until },
            Standing::Arriving | Standing::Waiting | Standing::Claimed { .. } => FileState::Waiting,
            Standing::Dead => FileState::Dead,
        };
        Self { record: file.record.clone(), state, attempts: file.attempts }
    }

    pub(crate) fn of_completed(record: &FileRecord) -> Self {
        Self { record: Arc::new(record.clone()), state: FileState::Completed, attempts: 0 }
    }

    pub(crate) fn of_kept(record: &Arc<FileRecord>) -> Self {
        Self { record: record.clone(), state: FileState::Kept, attempts: 0 }
    }
}

/// A directory with settings of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryInfo {
    /// The directory.
    pub directory: Directory,
    /// What becomes of its files, if that is set here.
    pub kind: Option<DirectoryKind>,
    /// Its quota.
    pub quota: Quota,
    /// How long its kept files are kept, if that is set here.
    pub expires_after: Option<Duration>,
    /// The files in it and below it.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantInfo {
    /// Its name.
    pub name: TenantName,
    /// When it was created.
    pub created_at: Timestamp,
    /// `enabled`, `disabled`, `draining` or `deleting`.
    pub stage: &'static str,
    /// Its quota.
    pub quota: Quota,
    /// Its files, those being written included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The directories with settings of their own.
    pub directories: Vec<DirectoryInfo>,
    /// Its work.
    pub work: WorkInfo,
}

/// The work of a tenant, and what happened since the pool was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkInfo {
    /// Files that wait.
    pub waiting: u64,
    /// Files in the hands of workers.
    pub claimed: u64,
    /// Dead letters.
    pub dead: u64,
    /// When the oldest waiting file was accepted.
    pub oldest_waiting: Option<Timestamp>,
    /// Files that were accepted.
    pub accepted: u64,
    /// Their bytes.
    pub accepted_bytes: u64,
    /// Claims of files.
    pub claims: u64,
    /// Files that were completed.
    pub completed: u64,
    /// Claims that ended as failed.
    pub failed: u64,
    /// Files that expired.
    pub expired: u64,
    /// Files that were deleted.
    pub deleted: u64,
}
