//! The machine's disk, for looking only.

use crate::Error;
use rialto_disk::{
    Access, DirEntry, DirLock, Disk, DiskError, File, GroupedSync, Metadata, Operation, RealDisk,
};
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The names of the logs in a data directory; `docs/formats/journal.md` describes them.
pub(crate) const JOURNAL_DIR: &str = "journal";
/// See [`JOURNAL_DIR`].
pub(crate) const EVENTS_DIR: &str = "events";

/// The machine's disk, read only: it refuses every change, so that no reader can open a new epoch,
/// clean up or repair.
struct ReadOnlyDisk {
    real: RealDisk,
    /// Whether an engine may use the directory at the same time.
    is_beside: bool,
}

/// A disk for looking at `data_dir`, which must hold a venue.
pub(super) fn open(data_dir: &Path) -> Result<Arc<dyn Disk>, Error> {
    open_disk(data_dir, false)
}

/// The same beside a running engine. Released records never change, but the end may be half
/// written, and old files may be deleted.
pub(super) fn open_beside(data_dir: &Path) -> Result<Arc<dyn Disk>, Error> {
    open_disk(data_dir, true)
}

fn open_disk(data_dir: &Path, is_beside: bool) -> Result<Arc<dyn Disk>, Error> {
    if !data_dir.is_dir() {
        return Err(Error::Usage(format!("{} is not a directory", data_dir.display())));
    }
    if !data_dir.join(JOURNAL_DIR).is_dir() {
        let reason = "holds no venue: there is no directory `journal` in it";
        return Err(Error::Usage(format!("{} {reason}", data_dir.display())));
    }
    Ok(Arc::new(ReadOnlyDisk { real: RealDisk::new(), is_beside }))
}

struct SharedLock {
    _fd: rustix::fd::OwnedFd,
}

impl DirLock for SharedLock {}

/// A directory that was never opened has no lock file. A directory read beside an engine is not
/// locked.
struct NoLock;

impl DirLock for NoLock {}

fn refused<T>(operation: Operation, path: &Path) -> Result<T, DiskError> {
    let source = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
    Err(DiskError::Io { operation, path: path.to_owned(), source })
}

impl Disk for ReadOnlyDisk {
    fn create(&self, path: &Path, _access: Access) -> Result<Box<dyn File>, DiskError> {
        refused(Operation::Create, path)
    }

    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        match access {
            Access::Read => self.real.open(path, Access::Read),
            _ => refused(Operation::Open, path),
        }
    }

    fn rename(&self, from: &Path, _to: &Path) -> Result<(), DiskError> {
        refused(Operation::Rename, from)
    }

    fn remove(&self, path: &Path) -> Result<(), DiskError> {
        refused(Operation::Remove, path)
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        self.real.list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> Result<(), DiskError> {
        refused(Operation::CreateDir, dir)
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), DiskError> {
        refused(Operation::SyncDir, dir)
    }

    /// Fails while an engine holds the directory, and prevents one from starting. Other readers may
    /// share it.
    fn lock(&self, dir: &Path) -> Result<Box<dyn DirLock>, DiskError> {
        if self.is_beside {
            return Ok(Box::new(NoLock));
        }
        let path = dir.join("LOCK");
        let failed = |errno: rustix::io::Errno| DiskError::Io {
            operation: Operation::Lock,
            path: path.clone(),
            source: errno.into(),
        };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = match rustix::fs::open(&path, flags, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => return Ok(Box::new(NoLock)),
            fd => fd.map_err(failed)?,
        };
        match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(Box::new(SharedLock { _fd: fd })),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let holder = std::fs::read_to_string(&path).ok();
                let holder = holder.and_then(|text| text.trim().parse().ok());
                Err(DiskError::Locked { path: dir.to_owned(), holder })
            }
            Err(errno) => Err(failed(errno)),
        }
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        self.real.free_bytes(dir)
    }

    fn list_each(
        &self,
        dir: &Path,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        self.real.list_each(dir, visit)
    }

    fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        self.real.metadata(path)
    }

    fn grouped_sync(&self, dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
        refused(Operation::GroupedSync, dir)
    }

    fn total_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        self.real.total_bytes(dir)
    }
}
