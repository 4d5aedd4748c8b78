//! The disk of the machine.

use crate::{
    Access, DirEntry, DirLock, Disk, DiskError, EntryKind, File, GroupedSync, IoMode, Mapping,
    Metadata, Operation,
};
use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{DirBuilder, FileType};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The files and directories of this machine.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealDisk;

impl RealDisk {
    /// The machine's disk.
    pub fn new() -> Self {
        Self
    }
}

struct RealFile {
    fd: OwnedFd,
    path: PathBuf,
    mode: IoMode,
}

struct RealLock {
    _fd: OwnedFd,
}

impl DirLock for RealLock {}

/// Some file systems refuse direct I/O when a file is opened, others only at the first write; both
/// say `EINVAL`. The latter are found by a read, which is held to the same rule and changes nothing.
fn accepts_direct(fd: &OwnedFd) -> bool {
    let mut probe = crate::AlignedBuf::zeroed(crate::BLOCK_BYTES);
    !matches!(rustix::io::pread(fd, &mut probe[..], 0), Err(Errno::INVAL | Errno::OPNOTSUPP))
}

fn open(
    path: &Path,
    access: Access,
    creation: OFlags,
    operation: Operation,
) -> Result<Box<dyn File>, DiskError> {
    let open_with = |flags: OFlags, creation: OFlags| {
        retry(|| {
            rustix::fs::open(path, flags | creation | OFlags::CLOEXEC, Mode::from_raw_mode(0o640))
        })
    };
    let wanted = match access {
        Access::Read => None,
        Access::Buffered => None,
        Access::Direct => Some((OFlags::DIRECT, IoMode::Direct)),
        Access::DirectSync => Some((OFlags::DIRECT | OFlags::DSYNC, IoMode::DirectSync)),
    };
    let base = if access == Access::Read { OFlags::RDONLY } else { OFlags::RDWR };
    let mut creation = creation;
    if let Some((flags, mode)) = wanted {
        match open_with(base | flags, creation) {
            Ok(fd) if accepts_direct(&fd) => {
                return Ok(Box::new(RealFile { fd, path: path.to_owned(), mode }));
            }
            // The refusing open may have created the file already, so it must not insist again.
            Ok(_) => creation = OFlags::empty(),
            Err(Errno::INVAL | Errno::OPNOTSUPP) => creation.remove(OFlags::EXCL),
            Err(errno) => return Err(DiskError::io(operation, path, errno)),
        }
    }
    let fd = open_with(base, creation).map_err(|errno| DiskError::io(operation, path, errno))?;
    Ok(Box::new(RealFile { fd, path: path.to_owned(), mode: IoMode::Buffered }))
}

/// Repeats a system call that a signal interrupted before it did anything. Any other error is
/// returned at once.
pub(crate) fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

impl File for RealFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize, DiskError> {
        retry(|| rustix::io::pwrite(&self.fd, bytes, offset))
            .map_err(|errno| DiskError::io(Operation::Write, &self.path, errno))
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, DiskError> {
        retry(|| rustix::io::pread(&self.fd, &mut *bytes, offset))
            .map_err(|errno| DiskError::io(Operation::Read, &self.path, errno))
    }

    // A failed sync is never repeated: the kernel may have dropped the dirty pages, and a second
    // call would then succeed without having written them. An interrupted one has reported nothing
    // yet: an error of writing back is kept for the call that reports it.
    fn sync_data(&self) -> Result<(), DiskError> {
        retry(|| rustix::fs::fdatasync(&self.fd))
            .map_err(|errno| DiskError::io(Operation::Sync, &self.path, errno))
    }

    fn len(&self) -> Result<u64, DiskError> {
        retry(|| rustix::fs::fstat(&self.fd))
            .map(|stat| u64::try_from(stat.st_size).unwrap_or(0))
            .map_err(|errno| DiskError::io(Operation::Length, &self.path, errno))
    }

    fn set_len(&self, bytes: u64) -> Result<(), DiskError> {
        retry(|| rustix::fs::ftruncate(&self.fd, bytes))
            .map_err(|errno| DiskError::io(Operation::SetLength, &self.path, errno))
    }

    #[allow(unsafe_code, reason = "what the caller promises is passed on")]
    unsafe fn map(&self) -> Option<Mapping> {
        // SAFETY: the caller promises that nobody writes to the file or cuts it.
        unsafe { Mapping::of(&self.fd) }
    }

    #[cfg(target_os = "linux")]
    fn reserve(&self, bytes: u64) -> Result<bool, DiskError> {
        let flags = rustix::fs::FallocateFlags::empty();
        match retry(|| rustix::fs::fallocate(&self.fd, flags, 0, bytes)) {
            Ok(()) => Ok(true),
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(false),
            Err(errno) => Err(DiskError::io(Operation::SetLength, &self.path, errno)),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn reserve(&self, _: u64) -> Result<bool, DiskError> {
        Ok(false)
    }

    fn mode(&self) -> IoMode {
        self.mode
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// The names of the entries of one kind in a directory, sorted.
fn names(dir: &Path, is_wanted: impl Fn(&FileType) -> bool) -> Result<Vec<String>, DiskError> {
    let failed = |source| DiskError::io(Operation::List, dir, source);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if is_wanted(&entry.file_type().map_err(failed)?) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn kind_of(kind: FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Dir
    } else {
        EntryKind::Other
    }
}

impl Disk for RealDisk {
    fn create(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        // A file that a refusing file system created before saying no must not be mistaken for one
        // that was there before, so the question is settled here.
        let may_be_refused = matches!(access, Access::Direct | Access::DirectSync);
        if may_be_refused && path.exists() {
            return Err(DiskError::io(Operation::Create, path, Errno::EXIST));
        }
        open(path, access, OFlags::CREATE | OFlags::EXCL, Operation::Create)
    }

    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        open(path, access, OFlags::empty(), Operation::Open)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        retry(|| rustix::fs::rename(from, to))
            .map_err(|errno| DiskError::io(Operation::Rename, from, errno))
    }

    fn remove(&self, path: &Path) -> Result<(), DiskError> {
        retry(|| rustix::fs::unlink(path))
            .map_err(|errno| DiskError::io(Operation::Remove, path, errno))
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        names(dir, FileType::is_file)
    }

    fn list_dirs(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        names(dir, FileType::is_dir)
    }

    fn list_each(
        &self,
        dir: &Path,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        let failed = |source| DiskError::io(Operation::List, dir, source);
        for entry in std::fs::read_dir(dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = match entry.file_type() {
                Ok(kind) => kind_of(kind),
                // The file system does not list kinds, and the entry was removed before it was asked.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            if visit(DirEntry { name: entry.file_name(), kind }).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        let known = std::fs::metadata(path)
            .map_err(|source| DiskError::io(Operation::Metadata, path, source))?;
        Ok(Metadata {
            kind: kind_of(known.file_type()),
            len_bytes: known.len(),
            modified_ns: known
                .mtime()
                .saturating_mul(1_000_000_000)
                .saturating_add(known.mtime_nsec()),
            device: known.dev(),
        })
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), DiskError> {
        retry(|| rustix::fs::rmdir(dir))
            .map_err(|errno| DiskError::io(Operation::Remove, dir, errno))
    }

    fn create_dir_all(&self, dir: &Path) -> Result<(), DiskError> {
        let missing: Vec<&Path> =
            dir.ancestors().take_while(|ancestor| !ancestor.exists()).collect();
        // The directory holds secrets, orders and balances of members, so that only its owner may
        // read it.
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(|source| DiskError::io(Operation::CreateDir, dir, source))?;
        for created in missing {
            if let Some(parent) = created.parent() {
                let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                self.sync_dir(parent)?;
            }
        }
        Ok(())
    }

    fn create_dir(&self, dir: &Path) -> Result<(), DiskError> {
        match DirBuilder::new().mode(0o700).create(dir) {
            Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
                Err(DiskError::io(Operation::CreateDir, dir, source))
            }
            _ => Ok(()),
        }
    }

    // ext4 places a directory near the one above it, and does not give out the number of a file
    // again that was removed in the last seconds: it passes over every such number of the group,
    // one by one.
    #[cfg(target_os = "linux")]
    fn spread_dirs(&self, dir: &Path) -> bool {
        use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(fd) = retry(|| rustix::fs::open(dir, flags, Mode::empty())) else { return false };
        let Ok(known) = ioctl_getflags(&fd) else { return false };
        known.contains(IFlags::TOPDIR) || ioctl_setflags(&fd, known | IFlags::TOPDIR).is_ok()
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), DiskError> {
        let failed = |errno| DiskError::io(Operation::SyncDir, dir, errno);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry(|| rustix::fs::open(dir, flags, Mode::empty())).map_err(failed)?;
        retry(|| rustix::fs::fsync(&fd)).map_err(failed)
    }

    fn grouped_sync(&self, dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
        crate::grouped_sync::open(dir)
    }

    fn lock(&self, dir: &Path) -> Result<Box<dyn DirLock>, DiskError> {
        let path = dir.join("LOCK");
        let failed = |errno| DiskError::io(Operation::Lock, &path, errno);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o640);
        let fd = retry(|| rustix::fs::open(&path, flags, mode)).map_err(failed)?;
        match retry(|| rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut text = [0; 16];
                let read = rustix::io::pread(&fd, &mut text, 0).unwrap_or(0);
                let holder = std::str::from_utf8(&text[..read])
                    .ok()
                    .and_then(|text| text.trim().parse().ok());
                return Err(DiskError::Locked { path: dir.to_owned(), holder });
            }
            Err(errno) => return Err(failed(errno)),
        }
        // The lock is the flock; the number only tells a second process whom to ask.
        retry(|| rustix::fs::ftruncate(&fd, 0)).map_err(failed)?;
        let text = format!("{}\n", std::process::id());
        retry(|| rustix::io::pwrite(&fd, text.as_bytes(), 0)).map_err(failed)?;
        Ok(Box::new(RealLock { _fd: fd }))
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        retry(|| rustix::fs::statvfs(dir))
            .map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize))
            .map_err(|errno| DiskError::io(Operation::FreeSpace, dir, errno))
    }

    fn total_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        retry(|| rustix::fs::statvfs(dir))
            .map(|stat| stat.f_blocks.saturating_mul(stat.f_frsize))
            .map_err(|errno| DiskError::io(Operation::TotalSpace, dir, errno))
    }

    fn is_of_system(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_call_is_repeated_and_a_failed_one_is_not() {
        let mut answers = [Err(Errno::INTR), Err(Errno::INTR), Ok(7)].into_iter();
        assert_eq!(retry(|| answers.next().unwrap()), Ok(7));
        let mut answers = [Err(Errno::IO), Ok(7)].into_iter();
        assert_eq!(retry(|| answers.next().unwrap()), Err(Errno::IO));
        assert_eq!(answers.next(), Some(Ok(7)), "the sync that failed was not repeated");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn directories_are_spread_where_the_file_system_keeps_the_flag() {
        let home = tempfile::tempdir().unwrap();
        assert!(!RealDisk.spread_dirs(&home.path().join("none")));
        let flagged = || {
            let dir = std::fs::File::open(home.path()).unwrap();
            rustix::fs::ioctl_getflags(&dir).is_ok_and(|it| it.contains(rustix::fs::IFlags::TOPDIR))
        };
        assert!(!flagged());
        for _ in 0..2 {
            assert_eq!(RealDisk.spread_dirs(home.path()), flagged());
        }
    }

    #[test]
    fn a_file_that_is_there_is_not_created_again_whatever_the_access() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        std::fs::write(&path, b"kept").unwrap();
        for access in [Access::Buffered, Access::Direct, Access::DirectSync] {
            assert!(RealDisk.create(&path, access).is_err(), "{access:?}");
            assert_eq!(std::fs::read(&path).unwrap(), b"kept");
        }
    }
}
