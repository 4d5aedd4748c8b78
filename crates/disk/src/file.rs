//! The traits of disks and files.

use crate::listing::Page;
use crate::{BLOCK_BYTES, DirEntry, DiskError, GroupedSync, Mapping, Metadata, Operation};
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading only, through the page cache.
    Read,
    /// Reading and writing through the page cache; durable after [`File::sync_data`].
    Buffered,
    /// Writing past the page cache: address, offset and length must be multiples of
    /// [`BLOCK_BYTES`]. Durable after [`File::sync_data`].
    Direct,
    /// As [`Access::Direct`], and each write is durable when it returns.
    DirectSync,
}

/// How a file is actually written, which may be less than requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoMode {
    /// Through the page cache; durable only after [`File::sync_data`].
    Buffered,
    /// Past the page cache; durable only after [`File::sync_data`].
    Direct,
    /// Past the page cache, and durable when a write returns.
    DirectSync,
}

/// An open file. Offsets and lengths are in bytes.
///
/// Methods take `&self` because positional reads and writes share no cursor.
pub trait File: Send + Sync {
    /// Writes some prefix of `bytes` at `offset` and returns its length.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize, DiskError>;

    /// Reads at `offset` into some prefix of `bytes` and returns its length; 0 at the end.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, DiskError>;

    /// Returns when everything written to this file before, through any handle, is durable.
    fn sync_data(&self) -> Result<(), DiskError>;

    /// The length of the file.
    fn len(&self) -> Result<u64, DiskError>;

    /// Whether the file holds no bytes.
    fn is_empty(&self) -> Result<bool, DiskError> {
        Ok(self.len()? == 0)
    }

    /// Cuts the file, or extends it with zeros.
    fn set_len(&self, bytes: u64) -> Result<(), DiskError>;

    /// Extends a new file to this length with zeros and reserves its space, without writing the
    /// zeros. False, without a change, if that is not supported. Durable after [`File::sync_data`];
    /// the first write to a block changes metadata, too, which a sync has to write.
    fn reserve(&self, bytes: u64) -> Result<bool, DiskError>;

    /// How writes really reach the device: a file system may refuse direct I/O, and then a file
    /// opened for it is [`IoMode::Buffered`] and the caller must sync.
    fn mode(&self) -> IoMode;

    /// The path the file was opened under, for messages.
    fn path(&self) -> &Path;

    /// Maps the file's present bytes. `None` if mappings are not supported, as on a simulated disk;
    /// read the bytes then.
    ///
    /// # Safety
    /// Until the mapping is dropped the file must not be written or cut. It may be renamed and
    /// removed.
    #[allow(unsafe_code, reason = "the declaration alone; it is the caller who must promise")]
    unsafe fn map(&self) -> Option<Mapping> {
        None
    }

    /// Writes all of `bytes` at `offset`, continuing after short writes.
    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        let mut done = 0;
        while done < bytes.len() {
            let written = self.write_at(offset + done as u64, &bytes[done..])?;
            let progress = match self.mode() {
                IoMode::Buffered => written,
                // Direct I/O can only continue at a block boundary.
                IoMode::Direct | IoMode::DirectSync => written - written % BLOCK_BYTES,
            };
            if progress == 0 {
                return Err(DiskError::io(
                    Operation::Write,
                    self.path(),
                    io::Error::from(io::ErrorKind::WriteZero),
                ));
            }
            done += progress;
        }
        Ok(())
    }

    /// Reads until `bytes` is full or the file ends, and returns how many bytes were read.
    fn read_full_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, DiskError> {
        let mut done = 0;
        while done < bytes.len() {
            match self.read_at(offset + done as u64, &mut bytes[done..])? {
                0 => break,
                read => done += read,
            }
        }
        Ok(done)
    }
}

/// The exclusive lock of a directory, released when dropped.
pub trait DirLock: Send + Sync {}

/// A disk: files by path, directories, and the syncs that make changes of both durable.
///
/// A file's *name* is durable only after [`Disk::sync_dir`] on its directory, its *bytes* only
/// after [`File::sync_data`]; neither implies the other. [`Disk::grouped_sync`] makes both durable
/// for all files at once.
pub trait Disk: Send + Sync {
    /// Creates a file that must not exist yet.
    fn create(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError>;

    /// Opens a file that must exist.
    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError>;

    /// Renames a file within its directory, replacing a file with the new name.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> Result<(), DiskError>;

    /// The names of the files in a directory, sorted.
    fn list(&self, dir: &Path) -> Result<Vec<String>, DiskError>;

    /// The names of the directories in a directory, sorted. The default is none.
    fn list_dirs(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        let _ = dir;
        Ok(Vec::new())
    }

    /// Shows `visit` the entries of a directory, in no particular order and in bounded memory, until
    /// it breaks.
    ///
    /// An entry that is there from the beginning to the end of the listing is shown once. One that
    /// is created or removed meanwhile may be shown or not. `visit` may use the disk, also to remove
    /// the entry it was given. When the listing fails, a part of the entries has been shown.
    fn list_each(
        &self,
        dir: &Path,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError>;

    /// The first `max` entries of a directory whose names come after `after`, sorted by the bytes of
    /// their names. Fewer than `max` are the last.
    ///
    /// It holds `max` entries in memory, but reads the whole directory each time. Use it to show a
    /// page, and [`Disk::list_each`] to go through a large directory.
    fn list_page(
        &self,
        dir: &Path,
        after: Option<&OsStr>,
        max: usize,
    ) -> Result<Vec<DirEntry>, DiskError> {
        let mut page = Page::new(after, max);
        self.list_each(dir, &mut |entry| {
            page.offer(entry);
            ControlFlow::Continue(())
        })?;
        Ok(page.into_entries())
    }

    /// What is known of a file or directory without opening it.
    fn metadata(&self, path: &Path) -> Result<Metadata, DiskError>;

    /// Removes an empty directory; durable after [`Disk::sync_dir`] on the directory above it.
    fn remove_dir(&self, dir: &Path) -> Result<(), DiskError> {
        let _ = dir;
        Ok(())
    }

    /// Creates a directory and the directories above it, durably.
    fn create_dir_all(&self, dir: &Path) -> Result<(), DiskError>;

    /// Creates a directory in one that exists, unless it is there. Its name is durable after
    /// [`Disk::sync_dir`] on the directory above it; until then a power failure may take the
    /// directory and everything in it. The default makes the name durable at once.
    fn create_dir(&self, dir: &Path) -> Result<(), DiskError> {
        self.create_dir_all(dir)
    }

    /// Asks for the directories that will be made in `dir` to be placed apart from each other, for
    /// one with many whose files come and go. Returns whether the file system does so.
    fn spread_dirs(&self, dir: &Path) -> bool {
        let _ = dir;
        false
    }

    /// Returns when every creation, renaming and removal in `dir` so far is durable.
    fn sync_dir(&self, dir: &Path) -> Result<(), DiskError>;

    /// Opens a grouped sync of the file system that holds `dir`, to be done before the writes that it
    /// is to cover. Where the system cannot report all errors of such a sync, the error
    /// [is so](DiskError::is_unsupported), and the caller syncs each file and directory.
    fn grouped_sync(&self, dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError>;

    /// Locks the directory for this process, by a lock on a file `LOCK` in it.
    fn lock(&self, dir: &Path) -> Result<Box<dyn DirLock>, DiskError>;

    /// The bytes that can still be written under `dir`.
    fn free_bytes(&self, dir: &Path) -> Result<u64, DiskError>;

    /// The size in bytes of the file system that holds `dir`.
    fn total_bytes(&self, dir: &Path) -> Result<u64, DiskError>;

    /// Whether a path of this disk is one of the operating system, so that a library with files of its
    /// own can use it. The default is no.
    fn is_of_system(&self) -> bool {
        false
    }
}
