//! A disk in memory that simulates the faults of a real one, from a seed.

mod crash;
mod faults;
mod random;
mod state;

pub use faults::Faults;

use crate::{Access, DirLock, Disk, DiskError, File, IoMode, Operation};
use state::{EntryChange, Hang, State};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A disk in memory, deterministic from its seed, without a clock.
///
/// What has been written and what is durable are kept apart: writes become durable by
/// [`File::sync_data`] (or on return, for [`Access::DirectSync`]), names by [`Disk::sync_dir`].
/// [`SimDisk::crash`] decides for everything else whether it survives, in units of a 512-byte
/// sector. Clones share the same disk.
#[derive(Clone)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

impl SimDisk {
    /// An empty disk whose every decision follows from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: Arc::new(Mutex::new(State::new(seed))) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic of a test thread must not hide behind a second panic here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cuts the power and turns it on again. Everything that was not durable survives, is lost, is
    /// torn or is reordered as the seed decides; all open files and locks are gone.
    pub fn crash(&self) {
        self.state().crash();
    }

    /// Brings the machine back after a crash that [`SimDisk::crash_after`] caused, or causes one.
    pub fn restart(&self) {
        self.state().crash();
    }

    /// Kills the process: open files and locks are gone, but what was written stays in the page
    /// cache and can still be lost to a later [`SimDisk::crash`].
    pub fn kill(&self) {
        self.state().end_process();
    }

    /// Lets `operations` more changes succeed, then crashes in the middle of the next one: it and
    /// everything after it fails with [`DiskError::Crashed`] until [`SimDisk::restart`].
    pub fn crash_after(&self, operations: u64) {
        let mut state = self.state();
        state.crash_at = Some(state.operations + operations);
    }

    /// Whether the crash that [`SimDisk::crash_after`] planned has come and the machine was not
    /// restarted yet.
    pub fn is_down(&self) -> bool {
        self.state().is_crashed()
    }

    /// The number of changing operations attempted so far. Reads do not count: a crash between two
    /// of them is the same crash.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Replaces the standing faults.
    pub fn set_faults(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Makes the `nth` write from now fail with `EIO`, after an arbitrary part of it was stored.
    pub fn fail_write(&self, nth: u64) {
        self.state().fail_write = Some(nth);
    }

    /// Makes the `nth` sync from now fail with `EIO`. Data that it should have made durable never will
    /// be by a later sync, as on a kernel that drops dirty pages after reporting the error; names will.
    pub fn fail_sync(&self, nth: u64) {
        self.state().fail_sync = Some(nth);
    }

    /// Makes the `nth` read from now fail with `EIO`.
    pub fn fail_read(&self, nth: u64) {
        self.state().fail_read = Some(nth);
    }

    /// Makes the `nth` sync from now (a [`Access::DirectSync`] write counts) report success without
    /// making anything durable.
    pub fn lie_at_sync(&self, nth: u64) {
        self.state().lie_at_sync = Some(nth);
    }

    /// Makes the `nth` write or sync of a file under `dir` from now hang: it does not begin before
    /// `until` returns. Where threads wait for the disk, `until` blocks; where one thread does
    /// everything, it lets time pass.
    pub fn hang(&self, dir: &Path, nth: u64, until: impl FnOnce() + Send + 'static) {
        self.state().hang =
            Some(Hang { dir: dir.to_owned(), nth: Some(nth), until: Box::new(until) });
    }

    /// Cancels what [`SimDisk::hang`] planned.
    pub fn hang_never(&self) {
        self.state().hang = None;
    }

    /// Hangs, if it is time to. The disk answers others meanwhile.
    fn hang_if_due(&self, path: &Path) {
        // The lock is let go of before the wait.
        let hang = self.state().hang_now(path);
        if let Some(hang) = hang {
            (hang.until)();
        }
    }

    /// Sends the `nth` write from now to another place of its file and reports success.
    pub fn misdirect_write(&self, nth: u64) {
        self.state().misdirect_write = Some(nth);
    }

    /// The number of misdirected writes.
    pub fn misdirected(&self) -> u64 {
        self.state().misdirected
    }

    /// Makes the `nth` read from now see its file as it was before the last write.
    pub fn stale_read(&self, nth: u64) {
        self.state().stale_read = Some(nth);
    }

    /// The number of reads that returned outdated bytes.
    pub fn stale_reads(&self) -> u64 {
        self.state().stale_reads
    }

    /// The number of syncs, including synchronous writes, that falsely reported success.
    pub fn lies_told(&self) -> u64 {
        self.state().lies_told
    }

    /// Turns over one stored bit, as decaying media would. Returns whether the file has that byte.
    pub fn flip_bit(&self, path: &Path, offset: u64, bit: u8) -> bool {
        self.state().flip_bit(path, offset, bit)
    }

    /// The paths of all files as they stand, also while the machine is down.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.state().current.keys().cloned().collect()
    }

    /// The present bytes of a file, or `None` if it does not exist.
    pub fn bytes_of(&self, path: &Path) -> Option<Vec<u8>> {
        self.state().bytes_of(path)
    }

    /// Replaces the bytes of a file, durably and past all faults, as an operator or another program
    /// might. Creates the file when it does not exist.
    pub fn put_bytes(&self, path: &Path, bytes: Vec<u8>) {
        self.state().put_bytes(path, bytes);
    }

    fn open_as(&self, state: &State, inode: u64, path: &Path, access: Access) -> Box<dyn File> {
        let mode = match access {
            Access::Read | Access::Buffered => IoMode::Buffered,
            _ if state.faults.direct_refused => IoMode::Buffered,
            Access::Direct => IoMode::Direct,
            Access::DirectSync => IoMode::DirectSync,
        };
        Box::new(SimFile {
            disk: self.clone(),
            inode,
            generation: state.generation,
            path: path.to_owned(),
            mode,
            writable: access != Access::Read,
        })
    }
}

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
        survives.map(|()| self.open_as(&state, inode, path, access))
    }

    fn open(&self, path: &Path, access: Access) -> Result<Box<dyn File>, DiskError> {
        let state = self.state();
        state.check_running(Operation::Open, path)?;
        let inode = state.inode_at(Operation::Open, path)?;
        Ok(self.open_as(&state, inode, path, access))
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
        let state = self.state();
        state.check_running(Operation::List, dir)?;
        state.check_dir(Operation::List, dir)?;
        let names = state.current.keys().filter(|path| path.parent() == Some(dir));
        Ok(names
            .filter_map(|path| path.file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect())
    }

    fn list_dirs(&self, dir: &Path) -> Result<Vec<String>, DiskError> {
        let state = self.state();
        state.check_running(Operation::List, dir)?;
        state.check_dir(Operation::List, dir)?;
        let names = state.dirs.iter().filter(|path| path.parent() == Some(dir));
        let names = names.filter_map(|path| path.file_name());
        Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
    }

    fn remove_dir(&self, dir: &Path) -> Result<(), DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::Remove, dir)?;
        let is_empty = !state.current.keys().chain(&state.dirs).any(|it| it.parent() == Some(dir));
        if !is_empty {
            let error = rustix::io::Errno::NOTEMPTY;
            return Err(state::failed(Operation::Remove, dir, error));
        }
        if survives.is_ok() {
            state.dirs.remove(dir);
        }
        survives
    }

    fn create_dir_all(&self, dir: &Path) -> Result<(), DiskError> {
        let mut state = self.state();
        let survives = state.begin_change(Operation::CreateDir, dir)?;
        if survives.is_ok() {
            state.dirs.extend(dir.ancestors().map(Path::to_owned));
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

struct SimFile {
    disk: SimDisk,
    inode: u64,
    generation: u64,
    path: PathBuf,
    mode: IoMode,
    writable: bool,
}

impl SimFile {
    fn check_alive(&self, state: &State, operation: Operation) -> Result<(), DiskError> {
        if state.generation != self.generation {
            return Err(DiskError::Crashed { operation, path: self.path.clone() });
        }
        state.check_running(operation, &self.path)
    }

    fn check_aligned(&self, operation: Operation, at: u64, bytes: &[u8]) -> Result<(), DiskError> {
        let block = crate::BLOCK_BYTES;
        let aligned = at.is_multiple_of(block as u64)
            && bytes.len().is_multiple_of(block)
            && (bytes.as_ptr() as usize).is_multiple_of(block);
        if self.mode == IoMode::Buffered || aligned {
            return Ok(());
        }
        Err(state::failed(operation, &self.path, rustix::io::Errno::INVAL))
    }
}

impl File for SimFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize, DiskError> {
        self.disk.hang_if_due(&self.path);
        let mut state = self.disk.state();
        self.check_alive(&state, Operation::Write)?;
        if !self.writable {
            return Err(state::failed(Operation::Write, &self.path, rustix::io::Errno::BADF));
        }
        self.check_aligned(Operation::Write, offset, bytes)?;
        let survives = state.begin_change(Operation::Write, &self.path)?;
        if survives.is_err() {
            // The write in flight at a crash may reach the medium in part.
            state.write(self.inode, offset, bytes);
            survives?;
        }
        let mut accepted = state.accepts_write(self.inode, offset, bytes, &self.path)?;
        if self.mode != IoMode::Buffered {
            // Past the page cache a write is cut short between blocks or not at all.
            let block = crate::BLOCK_BYTES;
            accepted = (accepted - accepted % block).max(block.min(bytes.len()));
        }
        let bytes = &bytes[..accepted];
        let offset = state.direct(self.inode, offset, bytes.len());
        state.write(self.inode, offset, bytes);
        if self.mode == IoMode::DirectSync {
            let inode = self.inode;
            let through = state.sync_goes_through(Operation::Write, &self.path, |state| {
                state.orphan_last_write(inode);
            })?;
            if through {
                state.settle_last_write(inode);
            }
        }
        Ok(accepted)
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize, DiskError> {
        let mut state = self.disk.state();
        self.check_alive(&state, Operation::Read)?;
        self.check_aligned(Operation::Read, offset, bytes)?;
        state.read(self.inode, offset, bytes, &self.path)
    }

    fn sync_data(&self) -> Result<(), DiskError> {
        self.disk.hang_if_due(&self.path);
        let mut state = self.disk.state();
        self.check_alive(&state, Operation::Sync)?;
        state.begin_change(Operation::Sync, &self.path)??;
        let inode = self.inode;
        let through = state.sync_goes_through(Operation::Sync, &self.path, |state| {
            state.orphan_writes(inode);
        })?;
        if through {
            state.settle_writes(inode);
        }
        Ok(())
    }

    fn len(&self) -> Result<u64, DiskError> {
        let state = self.disk.state();
        self.check_alive(&state, Operation::Length)?;
        Ok(state.len_of(self.inode))
    }

    fn set_len(&self, bytes: u64) -> Result<(), DiskError> {
        let mut state = self.disk.state();
        self.check_alive(&state, Operation::SetLength)?;
        let survives = state.begin_change(Operation::SetLength, &self.path)?;
        state.set_len(self.inode, bytes);
        survives
    }

    fn reserve(&self, bytes: u64) -> Result<bool, DiskError> {
        let mut state = self.disk.state();
        self.check_alive(&state, Operation::SetLength)?;
        let survives = state.begin_change(Operation::SetLength, &self.path)?;
        state.check_room(Operation::SetLength, self.inode, bytes, &self.path)?;
        state.set_len(self.inode, bytes);
        survives.map(|()| true)
    }

    fn mode(&self) -> IoMode {
        self.mode
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
