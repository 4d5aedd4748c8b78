//! Grouped syncs, and the errors that a file system remembers for later syncs.

use super::{SimDisk, state::State};
use crate::{DiskError, GroupedSync, Operation};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The errors of writing back that a file, or the whole file system, has met. Each handle reports
/// those since it was opened, once. The last one, while no handle has reported it, is also reported
/// by a handle opened later.
#[derive(Clone, Copy, Default)]
pub(super) struct WriteBackErrors {
    count: u64,
    is_seen: bool,
}

impl WriteBackErrors {
    pub(super) fn add(&mut self) {
        *self = Self { count: self.count + 1, is_seen: false };
    }

    /// What a handle that is opened now counts as seen.
    pub(super) fn sample(&self) -> u64 {
        if self.is_seen { self.count } else { self.count.saturating_sub(1) }
    }

    /// Whether a handle that has seen `seen` errors must report one; it has then seen all.
    pub(super) fn report(&mut self, seen: &mut u64) -> bool {
        let is_new = *seen < self.count;
        self.is_seen |= is_new;
        *seen = self.count;
        is_new
    }
}

impl State {
    /// Makes everything durable, except what an earlier failed sync dropped.
    fn settle_all(&mut self) {
        self.settle_where(|_| true);
    }

    /// A grouped sync that the power failure interrupts has reached some files and directories.
    fn settle_some(&mut self) {
        self.settle_where(|state| state.random.below(2) == 0);
    }

    fn settle_where(&mut self, mut is_reached: impl FnMut(&mut Self) -> bool) {
        let inodes: Vec<u64> = self.inodes.keys().copied().collect();
        for inode in inodes {
            if is_reached(self) {
                self.settle_writes(inode);
            }
        }
        let changed = self.entries.iter().filter_map(|entry| entry.change.dir());
        let dirs = self.created_dirs.iter().chain(&self.removed_dirs);
        let dirs = dirs.filter_map(|changed| changed.dir.parent());
        let dirs: BTreeSet<PathBuf> = changed.chain(dirs).map(Path::to_owned).collect();
        for dir in dirs {
            if is_reached(self) {
                self.settle_entries(&dir);
            }
        }
    }

    /// Drops what is pending of one file, whose own next sync says so.
    fn damage_one(&mut self) {
        let has_pending = |inode: &super::state::Inode| inode.pending.iter().any(|it| !it.orphaned);
        let dirty = self.inodes.iter().filter(|(_, inode)| has_pending(inode));
        let dirty: Vec<u64> = dirty.map(|(inode, _)| *inode).collect();
        let nth = self.random.below(dirty.len() as u64) as usize;
        if let Some(inode) = dirty.get(nth) {
            self.orphan_writes(*inode);
            self.inode(*inode).errors.add();
        }
        self.errors.add();
    }
}

pub(super) struct SimGroupedSync {
    disk: SimDisk,
    dir: PathBuf,
    generation: u64,
    seen_errors: u64,
}

impl SimGroupedSync {
    pub(super) fn open(disk: &SimDisk, dir: &Path) -> Result<Self, DiskError> {
        let state = disk.state();
        state.check_running(Operation::GroupedSync, dir)?;
        state.check_dir(Operation::GroupedSync, dir)?;
        let (generation, seen_errors) = (state.generation, state.errors.sample());
        Ok(Self { disk: disk.clone(), dir: dir.to_owned(), generation, seen_errors })
    }
}

impl GroupedSync for SimGroupedSync {
    fn sync(&mut self) -> Result<(), DiskError> {
        self.disk.hang_if_due(&self.dir);
        let mut state = self.disk.state();
        state.check_generation(self.generation, Operation::GroupedSync, &self.dir)?;
        let survives = state.begin_change(Operation::GroupedSync, &self.dir)?;
        if survives.is_err() {
            state.settle_some();
            return survives;
        }
        // A single sync, or another grouped one, met an error since this one last looked.
        if state.errors.report(&mut self.seen_errors) {
            return Err(super::state::failed(Operation::GroupedSync, &self.dir, Errno::IO));
        }
        match state.sync_goes_through(Operation::GroupedSync, &self.dir, State::damage_one) {
            Ok(true) => state.settle_all(),
            Ok(false) => {}
            Err(error) => {
                state.errors.report(&mut self.seen_errors);
                return Err(error);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Access, Disk};

    #[test]
    fn the_power_fails_when_some_files_and_some_directories_are_durable() {
        let reached = |seed| {
            let disk = SimDisk::new(seed);
            for nth in 0..4 {
                let dir = Path::new("/").join(nth.to_string());
                disk.create_dir_all(&dir).unwrap();
                let file = disk.create(&dir.join("a"), Access::Buffered).unwrap();
                file.write_all_at(0, b"x").unwrap();
            }
            let mut group = disk.grouped_sync(Path::new("/")).unwrap();
            disk.crash_after(0);
            group.sync().unwrap_err();
            // Before the restart, at which the crash decides about the rest.
            let state = disk.state();
            let files = state.inodes.values().filter(|inode| !inode.durable.is_empty()).count();
            (files, state.durable.len())
        };
        let reached: BTreeSet<(usize, usize)> = (0..100).map(reached).collect();
        assert!(reached.len() > 10, "{reached:?}");
    }
}
