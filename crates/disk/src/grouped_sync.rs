//! One sync for all files of a file system.

use crate::{DiskError, Operation};
use std::io;
use std::path::Path;

/// A grouped sync: one sync for everything that was written to a file system.
///
/// [`Disk::grouped_sync`](crate::Disk::grouped_sync) opens it, **before the first write that it is
/// to cover**: it reports the errors of writing back since it was opened, and an error that another
/// grouped sync has reported before is not reported to a younger one.
///
/// # What success means
/// All bytes written to files of the file system, and all names created, renamed and removed on it
/// before the call, are durable. Neither [`File::sync_data`](crate::File::sync_data) nor
/// [`Disk::sync_dir`](crate::Disk::sync_dir) is needed. One case is excluded: on XFS, bytes that
/// overwrite durable bytes in place past the page cache need a sync of their own.
///
/// # What failure means
/// Some file of the file system could not be written back, and it is not known which one. The same
/// grouped sync reports the failure **once**. The bytes are lost, and the next call may succeed.
/// So a failed grouped sync must not be repeated as a group. The caller syncs every file that was
/// written since the last success by itself, through a handle that has been open since it was
/// written, and then the directories. The damaged file's sync fails once for each such handle, and
/// those of the other files succeed. Therefore:
/// - the handles of files stay open until the grouped sync that covers them has succeeded;
/// - callers that share a grouped sync share its failure: those of *all* of them sync their files.
///   Callers that do not know of each other each open their own.
///
/// A file of another program on the same file system can fail the call, too. Then all single syncs
/// succeed.
///
/// # Cost
/// It writes back all that is unsynced on the file system, also what other programs wrote.
pub trait GroupedSync: Send {
    /// Returns when everything written, created, renamed or removed on the file system before the
    /// call is durable. It needs exclusive access, because only one of two concurrent calls would
    /// get the error.
    fn sync(&mut self) -> Result<(), DiskError>;
}

fn unsupported(dir: &Path, reason: &'static str) -> DiskError {
    DiskError::io(Operation::GroupedSync, dir, io::Error::new(io::ErrorKind::Unsupported, reason))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open(dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
    Err(unsupported(dir, "grouped syncs need Linux; sync each file by itself"))
}

#[cfg(target_os = "linux")]
pub(crate) use linux::open;

#[cfg(target_os = "linux")]
mod linux {
    use super::{GroupedSync, unsupported};
    use crate::real::retry;
    use crate::{DiskError, Operation};
    use rustix::fd::OwnedFd;
    use rustix::fs::{Mode, OFlags};
    use std::path::{Path, PathBuf};

    /// Since this version `syncfs` returns the errors of a file system's own commit; since 5.8 it
    /// returns those of writing back data.
    const KERNEL_MIN: (u32, u32) = (5, 17);

    /// The magic numbers of the file systems on which `syncfs` makes bytes and names durable and
    /// reports every error: ext4 (also for ext2 and ext3), XFS, Btrfs; and tmpfs, which keeps nothing
    /// anyway. Overlayfs hides the errors of the file system below, and FUSE may not pass the call on.
    const FILE_SYSTEMS: [u64; 4] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994];

    struct Syncfs {
        fd: OwnedFd,
        dir: PathBuf,
    }

    impl GroupedSync for Syncfs {
        fn sync(&mut self) -> Result<(), DiskError> {
            retry(|| rustix::fs::syncfs(&self.fd))
                .map_err(|errno| DiskError::io(Operation::GroupedSync, &self.dir, errno))
        }
    }

    /// The first two numbers of a release such as `5.15.0-91-generic`.
    fn version(release: &str) -> Option<(u32, u32)> {
        let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    }

    fn reports_errors(release: &str) -> bool {
        version(release).is_some_and(|version| version >= KERNEL_MIN)
    }

    pub(crate) fn open(dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
        let failed = |errno| DiskError::io(Operation::GroupedSync, dir, errno);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry(|| rustix::fs::open(dir, flags, Mode::empty())).map_err(failed)?;
        if !rustix::system::uname().release().to_str().is_ok_and(reports_errors) {
            let reason = "grouped syncs need Linux 5.17, because older kernels hide errors; \
                          sync each file by itself";
            return Err(unsupported(dir, reason));
        }
        let kind = retry(|| rustix::fs::fstatfs(&fd)).map_err(failed)?.f_type;
        if !u64::try_from(kind).is_ok_and(|kind| FILE_SYSTEMS.contains(&kind)) {
            let reason = "grouped syncs need ext4, XFS, Btrfs or tmpfs, because other file systems \
                          may hide errors; sync each file by itself";
            return Err(unsupported(dir, reason));
        }
        Ok(Box::new(Syncfs { fd, dir: dir.to_owned() }))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn kernels_that_hide_errors_are_refused() {
            for release in ["5.17.0", "5.17-rc3", "6.1.0-18-amd64", "10.0"] {
                assert!(reports_errors(release), "{release}");
            }
            for release in ["4.18.0-553.el8", "5.8.0", "5.16.20", "", "6", "unknown"] {
                assert!(!reports_errors(release), "{release}");
            }
        }
    }
}
