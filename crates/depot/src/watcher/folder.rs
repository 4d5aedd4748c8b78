//! Folders and files by descriptor: no link is followed below the folder, and what is checked is what is
//! read.

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Identifies a state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) bytes: u64,
    /// The time of the last modification, in nanoseconds since 1970.
    pub(super) modified_ns: i64,
    /// The time of the last change, as the system sets it.
    pub(super) changed_ns: i64,
}

impl Stamp {
    /// Whether both are of the same content: a rename sets the time of change alone.
    pub(super) fn has_same_content(&self, other: &Self) -> bool {
        Self { changed_ns: other.changed_ns, ..*self } == *other
    }
}

/// Identifies a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    File(Stamp),
    Directory(Identity),
    /// A link, a pipe, a socket or a device.
    Other,
}

fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

// The types of the fields differ between systems.
#[allow(clippy::unnecessary_cast, clippy::cast_lossless, reason = "not so on every system")]
fn entry_of(stat: &Stat) -> Entry {
    let (device, inode) = (stat.st_dev as u64, stat.st_ino as u64);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Entry::File(Stamp {
            device,
            inode,
            bytes: stat.st_size as u64,
            modified_ns: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed_ns: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }),
        FileType::Directory => Entry::Directory(Identity { device, inode }),
        _ => Entry::Other,
    }
}

/// What is behind a descriptor.
pub(super) fn entry_of_fd(fd: impl AsFd) -> io::Result<Entry> {
    Ok(entry_of(&rustix::fs::fstat(fd)?))
}

/// What a name in a directory stands for; a link stands for itself.
pub(super) fn look(dir: impl AsFd, name: &CStr) -> io::Result<Entry> {
    Ok(entry_of(&rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens the folder of a watch. The operator named it, so that a link there is followed.
pub(super) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty())?)
}

/// Opens a directory in a directory, unless it is a link.
pub(super) fn open_directory(dir: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(dir, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Makes a directory in a directory if there is none, and opens it.
pub(super) fn make_directory(dir: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(&dir, name, Mode::from_raw_mode(0o777)) {
        Ok(()) | Err(Errno::EXIST) => open_directory(dir, name),
        Err(error) => Err(error.into()),
    }
}

/// Opens a file to be read, unless it is a link. Opening a pipe does not wait for a writer.
pub(super) fn open_file(dir: impl AsFd, name: &CStr) -> io::Result<File> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?.into())
}

/// The entries of a directory, read piece by piece.
pub(super) fn entries(dir: impl AsFd) -> io::Result<Dir> {
    Ok(Dir::read_from(dir)?)
}

/// Renames, unless the new name is taken.
pub(super) fn rename(from: (impl AsFd, &CStr), to: (impl AsFd, &CStr)) -> io::Result<()> {
    let renamed = rustix::fs::renameat_with(&from.0, from.1, &to.0, to.1, RenameFlags::NOREPLACE);
    match renamed {
        // The file system cannot refuse by itself.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match look(&to.0, to.1) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(rustix::fs::renameat(from.0, from.1, to.0, to.1)?)
            }
            Err(error) => Err(error),
        },
        renamed => Ok(renamed?),
    }
}

/// Deletes a file.
pub(super) fn delete(dir: impl AsFd, name: &CStr) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
}

/// Makes renames and deletions in a directory durable.
pub(super) fn sync(dir: impl AsFd) -> io::Result<()> {
    Ok(rustix::fs::fsync(dir)?)
}
