//! The simulated disk as a [`Disk`].

use super::change::{EntryChange, PendingDir};
use super::file::SimFile;
use super::grouped::SimGroupedSync;
use super::{SimDisk, state};
use crate::{
    Access, DirEntry, DirLock, Disk, DiskError, EntryKind, File, GroupedSync, Metadata, Operation,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

impl Disk for SimDisk {
    fn create(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::Create, path)?;
        state.check_parent(Operation::Create, path)?;
        if state.current.contains_key(path) {
            return Err(state::failed(Operation::Create, path, rustix::io::Errno::EXIST));
        }
        let inode = state.add_inode();
        state.change_entries(EntryChange::Add { path: path.to_owned(), inode });
        survives?;
        Ok(Box::new(SimFile::new(self, &state, inode, path, access)))
    }

    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        let state = self.state();
        state.check_running(Operation::Open, path)?;
        let inode = state.inode_at(Operation::Open, path)?;
        Ok(Box::new(SimFile::new(self, &state, inode, path, access)))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::Rename, from)?;
        state.check_parent(Operation::Rename, to)?;
        let inode = state.inode_at(Operation::Rename, from)?;
        state.change_entries(EntryChange::Move { from: from.to_owned(), to: to.to_owned(), inode });
        survives
    }

    fn remove(&self, path: &Path) -> Result<(), DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::Remove, path)?;
        state.inode_at(Operation::Remove, path)?;
        state.change_entries(EntryChange::Drop { path: path.to_owned() });
        survives
    }

    fn list(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        self.state().names_of(dir, EntryKind::File)
    }

    fn list_dirs(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        self.state().names_of(dir, EntryKind::Dir)
    }

    fn list_each(
        &self,
        dir: &Path,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), DiskError> {
        // The lock is let go of before the first visit, which may use the disk.
        let (entries, end) = self.state().scan(dir)?;
        for entry in entries {
            if visit(entry).is_break() {
                return Ok(());
            }
        }
        end
    }

    fn metadata(&self, path: &Path) -> Result<Metadata, DiskError> {
        self.state().metadata_of(path)
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::Remove, dir)?;
        state.check_dir(Operation::Remove, dir)?;
        if dir.parent().is_none() {
            return Err(state::failed(Operation::Remove, dir, rustix::io::Errno::BUSY));
        }
        // A locked directory holds the file of its lock.
        if !state.entries_of(dir).is_empty() || state.locks.contains(dir) {
            return Err(state::failed(Operation::Remove, dir, rustix::io::Errno::NOTEMPTY));
        }
        let at = state.operations;
        state.dirs.remove(dir);
        state.touch_parent(dir);
        state.created_dirs.retain(|created| created.dir != dir);
        state.removed_dirs.push(PendingDir { at, dir: dir.to_owned() });
        survives
    }

    fn create_dir(&self, dir: &Path) -> Result<(), DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::CreateDir, dir)?;
        state.check_parent(Operation::CreateDir, dir)?;
        if !state.dirs.contains_key(dir) {
            let at = state.operations;
            state.create_dirs(dir);
            state.created_dirs.push(PendingDir { at, dir: dir.to_owned() });
        }
        survives
    }

    fn create_dir_all(&self, dir: &Path) -> Result<(), DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::CreateDir, dir)?;
        if survives.is_ok() {
            state.create_dirs(dir);
        }
        survives
    }

    fn sync_dir(&self, dir: &Path) -> Result<(), DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::SyncDir, dir)?;
        state.check_dir(Operation::SyncDir, dir)?;
        survives?;
        // File systems journal names: when that fails the whole file system goes down, so that unlike
        // a page of data a name is never forgotten by one sync and called clean by the next.
        if state.sync_goes_through(Operation::SyncDir, dir, |_| {})? {
            state.settle_entries(dir);
        }
        Ok(())
    }

    fn grouped_sync(&self, dir: &Path) -> Result<Box<dyn GroupedSync>, DiskError> {
        Ok(Box::new(SimGroupedSync::open(self, dir)?))
    }

    fn lock(&self, dir: &Path) -> Result<Box<dyn DirLock>, DiskError> {
        let mut state = self.state();
        state.check_running(Operation::Lock, dir)?;
        state.check_dir(Operation::Lock, dir)?;
        if !state.locks.insert(dir.to_owned()) {
            return Err(DiskError::Locked {
                path: dir.to_owned(),
                holder: Some(std::process::id()),
            });
        }
        let generation = state.generation;
        Ok(Box::new(SimLock { disk: self.clone(), dir: dir.to_owned(), generation }))
    }

    fn free_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        let state = self.state();
        state.check_running(Operation::FreeSpace, dir)?;
        let capacity = state.faults.capacity_bytes.unwrap_or(u64::MAX);
        Ok(capacity.saturating_sub(state.used_bytes()))
    }

    fn total_bytes(&self, dir: &Path) -> Result<u64, DiskError> {
        let state = self.state();
        state.check_running(Operation::TotalSpace, dir)?;
        Ok(state.faults.capacity_bytes.unwrap_or(u64::MAX))
    }
}

struct SimLock {
    disk: SimDisk,
    dir: PathBuf,
    generation: u64,
}

impl DirLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        // A lock of an earlier life was already taken away by the crash.
        if state.generation == self.generation {
            state.locks.remove(&self.dir);
        }
    }
}
