//! Listings and metadata of the simulated disk.

use super::random::Random;
use super::state::{State, failed};
use crate::{DirEntry, DiskError, EntryKind, Metadata, Operation};
use rustix::io::Errno;
use std::path::Path;

/// All of a simulated disk is one file system.
const DEVICE: u64 = 1;

impl State {
    /// The names in a directory, sorted.
    pub(super) fn entries_of(&self, dir: &Path) -> Vec<DirEntry> {
        let files = self.current.keys().map(|path| (path, EntryKind::File));
        let dirs = self.dirs.keys().map(|path| (path, EntryKind::Dir));
        let inside = files.chain(dirs).filter(|(path, _)| path.parent() == Some(dir));
        let mut entries: Vec<DirEntry> = inside
            .filter_map(|(path, kind)| Some(DirEntry { name: path.file_name()?.to_owned(), kind }))
            .collect();
        entries.sort();
        entries
    }

    /// The names of one kind in a directory, sorted.
    pub(super) fn names_of(
        &mut self,
        dir: &Path,
        wanted: EntryKind,
    ) -> Result<Vec<String>, DiskError> {
        self.begin_listing(dir)?;
        if self.listing_fails() {
            return Err(failed(Operation::List, dir, Errno::IO));
        }
        let wanted = self.entries_of(dir).into_iter().filter(|entry| entry.kind == wanted);
        Ok(wanted.map(|entry| entry.name.to_string_lossy().into_owned()).collect())
    }

    /// The names in a directory, in an order of their own as on a real disk, and how the listing
    /// ends: one that fails has shown a part of them.
    pub(super) fn scan(
        &mut self,
        dir: &Path,
    ) -> Result<(Vec<DirEntry>, Result<(), DiskError>), DiskError> {
        self.begin_listing(dir)?;
        let mut entries = self.entries_of(dir);
        // The order is no draw of chance, since a listing must not change what later faults do.
        entries.sort_by_cached_key(|entry| {
            let bytes = entry.name.as_encoded_bytes().iter();
            bytes.fold(self.seed, |hash, byte| Random::new(hash ^ u64::from(*byte)).next())
        });
        if !self.listing_fails() {
            return Ok((entries, Ok(())));
        }
        let shown = self.random.below(entries.len() as u64 + 1) as usize;
        entries.truncate(shown);
        Ok((entries, Err(failed(Operation::List, dir, Errno::IO))))
    }

    fn begin_listing(&self, dir: &Path) -> Result<(), DiskError> {
        self.check_running(Operation::List, dir)?;
        self.check_dir(Operation::List, dir)
    }

    pub(super) fn metadata_of(&mut self, path: &Path) -> Result<Metadata, DiskError> {
        self.check_running(Operation::Metadata, path)?;
        if self.metadata_fails() {
            return Err(failed(Operation::Metadata, path, Errno::IO));
        }
        let (kind, len_bytes, modified_ns) = match self.dirs.get(path) {
            Some(modified_ns) => (EntryKind::Dir, 0, *modified_ns),
            None => {
                let inode = self.inode_at(Operation::Metadata, path)?;
                (EntryKind::File, self.len_of(inode), self.inode(inode).modified_ns)
            }
        };
        Ok(Metadata { kind, len_bytes, modified_ns, device: DEVICE })
    }
}
