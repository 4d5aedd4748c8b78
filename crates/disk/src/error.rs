//! Errors of a disk.

use std::io;
use std::path::{Path, PathBuf};

/// The operation that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Creating a new file.
    Create,
    /// Opening a file that exists.
    Open,
    /// Reading from a file.
    Read,
    /// Writing to a file.
    Write,
    /// Forcing a file's data to the device.
    Sync,
    /// Asking for a file's length.
    Length,
    /// Changing a file's length.
    SetLength,
    /// Giving a file another name.
    Rename,
    /// Removing a file.
    Remove,
    /// Listing a directory.
    List,
    /// Creating a directory.
    CreateDir,
    /// Forcing a directory's entries to the device.
    SyncDir,
    /// Syncing everything written to a file system.
    GroupedSync,
    /// Asking for what is known of a file or directory.
    Metadata,
    /// Locking a directory.
    Lock,
    /// Asking for the free space.
    FreeSpace,
    /// Asking for the size of the file system.
    TotalSpace,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Operation::Create => "create",
            Operation::Open => "open",
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Sync => "sync",
            Operation::Length => "ask the length of",
            Operation::SetLength => "set the length of",
            Operation::Rename => "rename",
            Operation::Remove => "remove",
            Operation::List => "list",
            Operation::CreateDir => "create the directory",
            Operation::SyncDir => "sync the directory",
            Operation::GroupedSync => "sync the file system of",
            Operation::Metadata => "ask the metadata of",
            Operation::Lock => "lock",
            Operation::FreeSpace => "ask the free space of",
            Operation::TotalSpace => "ask the total space of",
        })
    }
}

/// A failure of a disk: the operation, the path and the reason.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// The operating system, or a simulated fault, refused the operation.
    #[error("cannot {operation} {}: {source}", path.display())]
    Io {
        /// The operation.
        operation: Operation,
        /// The file or directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Another process, or another part of this one, holds the directory.
    #[error(
        "{} is in use by {}; stop it first, or use another directory",
        path.display(),
        holder.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
    )]
    Locked {
        /// The directory.
        path: PathBuf,
        /// The process that holds it, when it could be read.
        holder: Option<u32>,
    },
    /// The simulated machine has crashed, and this handle is invalid.
    #[error("cannot {operation} {}: the simulated machine has crashed", path.display())]
    Crashed {
        /// The operation.
        operation: Operation,
        /// The file or directory.
        path: PathBuf,
    },
}

impl DiskError {
    /// The operation failed on this path for this reason.
    pub fn io(operation: Operation, path: &Path, source: impl Into<io::Error>) -> Self {
        DiskError::Io { operation, path: path.to_owned(), source: source.into() }
    }

    /// The same failure under the final path of a temporary file, which no longer exists when the
    /// message is read.
    #[must_use]
    pub fn renamed(self, path: PathBuf) -> Self {
        match self {
            DiskError::Io { operation, source, .. } => DiskError::Io { operation, path, source },
            DiskError::Crashed { operation, .. } => DiskError::Crashed { operation, path },
            locked @ DiskError::Locked { .. } => locked,
        }
    }

    /// Whether the file or directory does not exist.
    pub fn is_not_found(&self) -> bool {
        self.kind() == Some(io::ErrorKind::NotFound)
    }

    /// Whether the disk or a quota is full.
    pub fn is_out_of_space(&self) -> bool {
        matches!(self.kind(), Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
    }

    /// Whether the operation is not supported here, as grouped syncs are on some file systems.
    pub fn is_unsupported(&self) -> bool {
        self.kind() == Some(io::ErrorKind::Unsupported)
    }

    /// Whether the failure is a simulated crash.
    pub fn is_crash(&self) -> bool {
        matches!(self, DiskError::Crashed { .. })
    }

    fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            DiskError::Io { source, .. } => Some(source.kind()),
            DiskError::Locked { .. } | DiskError::Crashed { .. } => None,
        }
    }
}
