//! The state of the simulated disk: the current view, the durable view, and the pending changes.

use super::change::{Change, EntryChange, Pending, PendingDir, PendingEntry, store};
use super::faults::Faults;
use super::grouped::WriteBackErrors;
use super::random::Random;
use crate::{DiskError, Operation};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The unit that a device stores whole or not at all.
pub(super) const SECTOR_BYTES: usize = 512;

/// The most contents of removed files that are kept to reappear behind recycled blocks.
const STALE_FILES_MAX: usize = 4;

pub(super) fn failed(operation: Operation, path: &Path, errno: Errno) -> DiskError {
    DiskError::io(operation, path, errno)
}

#[derive(Default)]
pub(super) struct Inode {
    pub(super) current: Vec<u8>,
    /// What the last write went over: where, and what was there before.
    overwritten: (usize, Vec<u8>),
    pub(super) durable: Vec<u8>,
    pub(super) pending: Vec<Pending>,
    /// The grouped syncs that dropped data of this file.
    pub(super) errors: WriteBackErrors,
    pub(super) modified_ns: i64,
}

pub(super) struct State {
    pub(super) seed: u64,
    pub(super) random: Random,
    /// Counts the lives of the machine; handles of an earlier life are dead.
    pub(super) generation: u64,
    pub(super) operations: u64,
    /// Each operation takes a nanosecond.
    pub(super) time_ns: i64,
    pub(super) crash_at: Option<u64>,
    pub(super) faults: Faults,
    pub(super) fail_write: Option<u64>,
    pub(super) fail_sync: Option<u64>,
    pub(super) fail_read: Option<u64>,
    pub(super) fail_list: Option<u64>,
    pub(super) fail_metadata: Option<u64>,
    pub(super) lie_at_sync: Option<u64>,
    pub(super) lies_told: u64,
    pub(super) hang: Option<Hang>,
    pub(super) misdirect_write: Option<u64>,
    pub(super) misdirected: u64,
    pub(super) stale_read: Option<u64>,
    pub(super) stale_reads: u64,
    pub(super) inodes: BTreeMap<u64, Inode>,
    next_inode: u64,
    pub(super) current: BTreeMap<PathBuf, u64>,
    pub(super) durable: BTreeMap<PathBuf, u64>,
    pub(super) entries: Vec<PendingEntry>,
    /// The directories, and when the names in them changed last.
    pub(super) dirs: BTreeMap<PathBuf, i64>,
    /// The directories whose names are not durable.
    pub(super) created_dirs: Vec<PendingDir>,
    pub(super) removed_dirs: Vec<PendingDir>,
    /// The failed syncs of data, which each grouped sync reports once.
    pub(super) errors: WriteBackErrors,
    pub(super) locks: BTreeSet<PathBuf>,
    /// What removed files held: the bytes that recycled blocks may show.
    pub(super) stale: Vec<Vec<u8>>,
}

pub(super) struct Hang {
    pub(super) dir: PathBuf,
    pub(super) nth: Option<u64>,
    pub(super) until: Box<dyn FnOnce() + Send>,
}

/// Counts a one-shot fault down and says whether it strikes now.
fn strikes(countdown: &mut Option<u64>) -> bool {
    match countdown {
        None => false,
        Some(left) if *left > 1 => {
            *left -= 1;
            false
        }
        Some(_) => {
            *countdown = None;
            true
        }
    }
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            random: Random::new(seed),
            generation: 0,
            operations: 0,
            time_ns: 0,
            crash_at: None,
            faults: Faults::default(),
            fail_write: None,
            fail_sync: None,
            fail_read: None,
            fail_list: None,
            fail_metadata: None,
            lie_at_sync: None,
            lies_told: 0,
            hang: None,
            misdirect_write: None,
            misdirected: 0,
            stale_read: None,
            stale_reads: 0,
            inodes: BTreeMap::new(),
            next_inode: 1,
            current: BTreeMap::new(),
            durable: BTreeMap::new(),
            entries: Vec::new(),
            dirs: BTreeMap::from([(PathBuf::from("/"), 0)]),
            created_dirs: Vec::new(),
            removed_dirs: Vec::new(),
            errors: WriteBackErrors::default(),
            locks: BTreeSet::new(),
            stale: Vec::new(),
        }
    }

    /// Counts an operation that may hang.
    pub(super) fn hang_now(&mut self, path: &Path) -> Option<Hang> {
        let hang = self.hang.as_mut().filter(|hang| path.starts_with(&hang.dir))?;
        if strikes(&mut hang.nth) { self.hang.take() } else { None }
    }

    pub(super) fn is_crashed(&self) -> bool {
        self.crash_at.is_some_and(|at| self.operations > at)
    }

    pub(super) fn check_running(&self, operation: Operation, path: &Path) -> Result<(), DiskError> {
        if self.is_crashed() {
            return Err(DiskError::Crashed { operation, path: path.to_owned() });
        }
        Ok(())
    }

    /// Checks that a handle belongs to this life of the machine.
    pub(super) fn check_generation(
        &self,
        generation: u64,
        operation: Operation,
        path: &Path,
    ) -> Result<(), DiskError> {
        if self.generation != generation {
            return Err(DiskError::Crashed { operation, path: path.to_owned() });
        }
        self.check_running(operation, path)
    }

    pub(super) fn listing_fails(&mut self) -> bool {
        strikes(&mut self.fail_list)
    }

    pub(super) fn metadata_fails(&mut self) -> bool {
        strikes(&mut self.fail_metadata)
    }

    /// Counts a change. The outer error forbids it; the inner one says that the machine crashes in
    /// the middle of it, so that it may still take effect.
    pub(super) fn begin_change(
        &mut self,
        operation: Operation,
        path: &Path,
    ) -> Result<Result<(), DiskError>, DiskError> {
        self.check_running(operation, path)?;
        self.operations += 1;
        self.time_ns += 1;
        if self.faults.read_only {
            return Err(failed(operation, path, Errno::ROFS));
        }
        Ok(self.check_running(operation, path))
    }

    pub(super) fn check_dir(&self, operation: Operation, dir: &Path) -> Result<(), DiskError> {
        if self.dirs.contains_key(dir) {
            return Ok(());
        }
        let is_file = self.current.contains_key(dir);
        Err(failed(operation, dir, if is_file { Errno::NOTDIR } else { Errno::NOENT }))
    }

    pub(super) fn check_parent(&self, operation: Operation, path: &Path) -> Result<(), DiskError> {
        match path.parent() {
            Some(dir) if self.dirs.contains_key(dir) => Ok(()),
            _ => Err(failed(operation, path, Errno::NOENT)),
        }
    }

    pub(super) fn inode_at(&self, operation: Operation, path: &Path) -> Result<u64, DiskError> {
        self.current.get(path).copied().ok_or_else(|| failed(operation, path, Errno::NOENT))
    }

    pub(super) fn add_inode(&mut self) -> u64 {
        let inode = self.next_inode;
        self.next_inode += 1;
        let modified_ns = self.time_ns;
        self.inodes.insert(inode, Inode { modified_ns, ..Inode::default() });
        inode
    }

    pub(super) fn inode(&mut self, inode: u64) -> &mut Inode {
        self.inodes.get_mut(&inode).expect("an inode lives as long as a handle of its generation")
    }

    pub(super) fn change_entries(&mut self, change: EntryChange) {
        let replaced = match &change {
            EntryChange::Add { .. } => None,
            EntryChange::Move { to, .. } => self.current.get(to).copied(),
            EntryChange::Drop { path } => self.current.get(path).copied(),
        };
        if let Some(inode) = replaced {
            let bytes = self.inode(inode).current.clone();
            if self.stale.len() == STALE_FILES_MAX {
                self.stale.remove(0);
            }
            self.stale.push(bytes);
        }
        change.apply(&mut self.current);
        if let EntryChange::Move { from, .. } = &change {
            self.touch_parent(from);
        }
        if let Some(modified_ns) = change.dir().and_then(|dir| self.dirs.get_mut(dir)) {
            *modified_ns = self.time_ns;
        }
        self.entries.push(PendingEntry { at: self.operations, change });
    }

    pub(super) fn touch_parent(&mut self, path: &Path) {
        if let Some(modified_ns) = path.parent().and_then(|dir| self.dirs.get_mut(dir)) {
            *modified_ns = self.time_ns;
        }
    }

    /// Creates what is missing of a directory and those above it.
    pub(super) fn create_dirs(&mut self, dir: &Path) {
        for dir in dir.ancestors() {
            if !self.dirs.contains_key(dir) {
                self.dirs.insert(dir.to_owned(), self.time_ns);
                self.touch_parent(dir);
            }
        }
        self.removed_dirs.retain(|removed| !dir.starts_with(&removed.dir));
    }

    /// Decides the fate of a sync: done, or a lie (false), or an error, after which `orphan` marks
    /// what no later sync will save.
    pub(super) fn sync_goes_through(
        &mut self,
        operation: Operation,
        path: &Path,
        orphan: impl FnOnce(&mut Self),
    ) -> Result<bool, DiskError> {
        if strikes(&mut self.fail_sync) || self.random.chance(self.faults.sync_error_per_mille) {
            orphan(self);
            return Err(failed(operation, path, Errno::IO));
        }
        let lies =
            strikes(&mut self.lie_at_sync) || self.random.chance(self.faults.lying_sync_per_mille);
        self.lies_told += u64::from(lies);
        Ok(!lies)
    }

    pub(super) fn settle_entries(&mut self, dir: &Path) {
        let State { entries, durable, .. } = self;
        entries.retain(|entry| {
            let settles = entry.change.dir() == Some(dir);
            if settles {
                entry.change.apply(durable);
            }
            !settles
        });
        self.created_dirs.retain(|created| created.dir.parent() != Some(dir));
        self.removed_dirs.retain(|removed| removed.dir.parent() != Some(dir));
    }

    /// Whether there is room for a file of this length.
    pub(super) fn check_room(
        &self,
        operation: Operation,
        inode: u64,
        len: u64,
        path: &Path,
    ) -> Result<(), DiskError> {
        let growth = len.saturating_sub(self.len_of(inode));
        match self.faults.capacity_bytes {
            Some(capacity) if self.used_bytes() + growth > capacity => {
                Err(failed(operation, path, Errno::NOSPC))
            }
            _ => Ok(()),
        }
    }

    /// How much of a write is accepted: all of it, a part, or none with an error.
    pub(super) fn accepts_write(
        &mut self,
        inode: u64,
        offset: u64,
        bytes: &[u8],
        path: &Path,
    ) -> Result<usize, DiskError> {
        self.check_room(Operation::Write, inode, offset + bytes.len() as u64, path)?;
        if strikes(&mut self.fail_write) || self.random.chance(self.faults.write_error_per_mille) {
            let sectors = (bytes.len() / SECTOR_BYTES) as u64;
            let stored = self.random.below(sectors + 1) as usize * SECTOR_BYTES;
            self.write(inode, offset, &bytes[..stored]);
            return Err(failed(Operation::Write, path, Errno::IO));
        }
        if self.random.chance(self.faults.short_write_per_mille) {
            return Ok(1 + self.random.below(bytes.len() as u64) as usize);
        }
        Ok(bytes.len())
    }

    /// Where a write goes: to the wrong place of the file, if it is time for that and there is one.
    pub(super) fn direct(&mut self, inode: u64, offset: u64, bytes: usize) -> u64 {
        let block = crate::BLOCK_BYTES as u64;
        let places = (self.len_of(inode).saturating_sub(bytes as u64)) / block + 1;
        if places < 2 || !strikes(&mut self.misdirect_write) {
            return offset;
        }
        let elsewhere = self.random.below(places) * block;
        self.misdirected += u64::from(elsewhere != offset);
        elsewhere
    }

    pub(super) fn write(&mut self, inode: u64, offset: u64, bytes: &[u8]) {
        let (at, time_ns) = (self.operations, self.time_ns);
        let inode = self.inode(inode);
        inode.modified_ns = time_ns;
        let offset = offset as usize;
        let known = inode.current.len().min(offset + bytes.len());
        let mut before = inode.current.get(offset..known).unwrap_or_default().to_vec();
        before.resize(bytes.len(), 0);
        inode.overwritten = (offset, before);
        store(&mut inode.current, offset, bytes);
        let change = Change::Write { offset, bytes: bytes.to_vec() };
        inode.pending.push(Pending { at, orphaned: false, change });
    }

    pub(super) fn set_len(&mut self, inode: u64, bytes: u64) {
        let (at, time_ns) = (self.operations, self.time_ns);
        let inode = self.inode(inode);
        inode.modified_ns = time_ns;
        inode.current.resize(bytes as usize, 0);
        let change = Change::SetLen(bytes as usize);
        inode.pending.push(Pending { at, orphaned: false, change });
    }

    pub(super) fn orphan_writes(&mut self, inode: u64) {
        for pending in &mut self.inode(inode).pending {
            pending.orphaned = true;
        }
    }

    pub(super) fn orphan_last_write(&mut self, inode: u64) {
        if let Some(pending) = self.inode(inode).pending.last_mut() {
            pending.orphaned = true;
        }
    }

    pub(super) fn settle_writes(&mut self, inode: u64) {
        let Inode { pending, durable, .. } = self.inode(inode);
        // As in `settle_last_write`, an older change that a newer one overlaps goes with it.
        let mut newer: Vec<Pending> = Vec::new();
        let mut kept: Vec<Pending> = Vec::new();
        for change in std::mem::take(pending).into_iter().rev() {
            let overtaken = newer.iter().any(|newer| change.change.overlaps(&newer.change));
            if change.orphaned && !overtaken {
                kept.push(change);
            } else {
                newer.push(change);
            }
        }
        newer.iter().rev().for_each(|settled| settled.change.apply(durable));
        pending.extend(kept.into_iter().rev());
    }

    /// Makes the last write durable alone. Older changes that it overlaps reach the device with it,
    /// since they would otherwise come back over it after a crash.
    pub(super) fn settle_last_write(&mut self, inode: u64) {
        let Inode { pending, durable, .. } = self.inode(inode);
        let Some(last) = pending.pop() else { return };
        pending.retain(|earlier| {
            let overlaps = earlier.change.overlaps(&last.change);
            if overlaps {
                earlier.change.apply(durable);
            }
            !overlaps
        });
        last.change.apply(durable);
    }

    pub(super) fn read(
        &mut self,
        inode: u64,
        offset: u64,
        bytes: &mut [u8],
        path: &Path,
    ) -> Result<usize, DiskError> {
        if strikes(&mut self.fail_read) || self.random.chance(self.faults.read_error_per_mille) {
            return Err(failed(Operation::Read, path, Errno::IO));
        }
        let current = &self.inode(inode).current;
        let from = (offset as usize).min(current.len());
        let read = bytes.len().min(current.len() - from);
        bytes[..read].copy_from_slice(&current[from..from + read]);
        if strikes(&mut self.stale_read) {
            let (start, before) = &self.inode(inode).overwritten;
            let (begin, end) = (from.max(*start), (from + read).min(start + before.len()));
            if begin < end {
                let stale = &before[begin - start..end - start];
                let target = &mut bytes[begin - from..end - from];
                let differs = target != stale;
                target.copy_from_slice(stale);
                self.stale_reads += u64::from(differs);
            }
        }
        Ok(read)
    }

    pub(super) fn len_of(&self, inode: u64) -> u64 {
        self.inodes.get(&inode).map_or(0, |inode| inode.current.len() as u64)
    }

    pub(super) fn errors_of(&self, inode: u64) -> WriteBackErrors {
        self.inodes.get(&inode).map_or_else(WriteBackErrors::default, |inode| inode.errors)
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.current.values().map(|inode| self.len_of(*inode)).sum()
    }

    pub(super) fn flip_bit(&mut self, path: &Path, offset: u64, bit: u8) -> bool {
        let Some(inode) = self.current.get(path).copied() else { return false };
        let inode = self.inode(inode);
        let mask = 1 << (bit % 8);
        let offset = offset as usize;
        if let Some(byte) = inode.durable.get_mut(offset) {
            *byte ^= mask;
        }
        // What has not settled yet must not come back over the damage as if it had not happened.
        for pending in &mut inode.pending {
            if let Change::Write { offset: start, bytes } = &mut pending.change
                && let Some(byte) = offset.checked_sub(*start).and_then(|at| bytes.get_mut(at))
            {
                *byte ^= mask;
            }
        }
        match inode.current.get_mut(offset) {
            Some(byte) => {
                *byte ^= mask;
                true
            }
            None => false,
        }
    }

    pub(super) fn bytes_of(&self, path: &Path) -> Option<Vec<u8>> {
        let inode = self.current.get(path)?;
        self.inodes.get(inode).map(|inode| inode.current.clone())
    }

    pub(super) fn put_bytes(&mut self, path: &Path, bytes: Vec<u8>) {
        self.time_ns += 1;
        let inode = match self.current.get(path) {
            Some(inode) => *inode,
            None => {
                self.touch_parent(path);
                self.add_inode()
            }
        };
        self.current.insert(path.to_owned(), inode);
        self.durable.insert(path.to_owned(), inode);
        let (modified_ns, current) = (self.time_ns, bytes.clone());
        *self.inode(inode) = Inode { current, durable: bytes, modified_ns, ..Inode::default() };
    }
}
