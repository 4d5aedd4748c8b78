//! An open file of the simulated disk.

use super::SimDisk;
use super::state::{self, State};
use crate::{Access, DiskError, File, IoMode, Operation};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) struct SimFile {
    disk: SimDisk,
    inode: u64,
    generation: u64,
    path: PathBuf,
    mode: IoMode,
    writable: bool,
    /// How many errors of writing back this handle need not report any more.
    seen_errors: AtomicU64,
}

impl SimFile {
    pub(super) fn new(
        disk: &SimDisk,
        state: &State,
        inode: u64,
        path: &Path,
        access: Access,
    ) -> Self {
        let mode = match access {
            Access::Read | Access::Buffered => IoMode::Buffered,
            _ if state.faults.direct_refused => IoMode::Buffered,
            Access::Direct => IoMode::Direct,
            Access::DirectSync => IoMode::DirectSync,
        };
        Self {
            disk: disk.clone(),
            inode,
            generation: state.generation,
            path: path.to_owned(),
            mode,
            writable: access != Access::Read,
            seen_errors: AtomicU64::new(state.errors_of(inode).sample()),
        }
    }

    fn check_alive(&self, state: &State, operation: Operation) -> Result<(), DiskError> {
        state.check_generation(self.generation, operation, &self.path)
    }

    /// Fails once through this handle after a grouped sync dropped data of the file.
    fn report_error(&self, state: &mut State, operation: Operation) -> Result<(), DiskError> {
        // The lock of the state orders these.
        let mut seen = self.seen_errors.load(Ordering::Relaxed);
        let is_new = state.inode(self.inode).errors.report(&mut seen);
        self.seen_errors.store(seen, Ordering::Relaxed);
        if is_new {
            return Err(state::failed(operation, &self.path, rustix::io::Errno::IO));
        }
        Ok(())
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
            if let Err(error) = self.report_error(&mut state, Operation::Write) {
                state.orphan_last_write(inode);
                return Err(error);
            }
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
        if let Err(error) = self.report_error(&mut state, Operation::Sync) {
            state.orphan_writes(inode);
            return Err(error);
        }
        let through = state.sync_goes_through(Operation::Sync, &self.path, |state| {
            state.orphan_writes(inode);
            state.errors.add();
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
