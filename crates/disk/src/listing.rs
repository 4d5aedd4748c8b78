//! What a directory holds, and what is known of a file without opening it.

use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// Anything else: in a listing a symbolic link, a socket, a pipe or a device.
    Other,
}

/// A name in a directory. Entries are ordered by the bytes of their names.
///
/// A name need not be UTF-8: another program may have given it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The name, without the directory.
    pub name: OsString,
    /// What it stands for. A symbolic link is not followed.
    pub kind: EntryKind,
}

/// What is known of a file or directory without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// What the path leads to; symbolic links are followed, as by [`Disk::open`](crate::Disk::open).
    pub kind: EntryKind,
    /// The length of a file. For a directory it has no meaning.
    pub len_bytes: u64,
    /// When the bytes of the file, or the names in the directory, changed last: nanoseconds since
    /// the Unix epoch, as exact as the file system keeps them.
    pub modified_ns: i64,
    /// The number of the mounted file system. Two paths with the same number share its space and
    /// its syncs.
    pub device: u64,
}

impl Metadata {
    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind == EntryKind::Dir
    }
}

/// The first entries after a name, of all that are offered in any order.
pub(crate) struct Page<'a> {
    after: Option<&'a OsStr>,
    max: usize,
    first: BinaryHeap<DirEntry>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(after: Option<&'a OsStr>, max: usize) -> Self {
        Self { after, max, first: BinaryHeap::new() }
    }

    pub(crate) fn offer(&mut self, entry: DirEntry) {
        if self.after.is_some_and(|after| entry.name.as_os_str() <= after) {
            return;
        }
        if self.first.len() < self.max {
            self.first.push(entry);
        } else if let Some(mut last) = self.first.peek_mut()
            && entry < *last
        {
            *last = entry;
        }
    }

    pub(crate) fn into_entries(self) -> Vec<DirEntry> {
        self.first.into_sorted_vec()
    }
}
