//! A disk in memory that simulates the faults of a real one, from a seed.

mod change;
mod crash;
mod disk;
mod faults;
mod file;
mod grouped;
mod listing;
mod random;
mod state;

pub use faults::Faults;

#[cfg(doc)]
use crate::{Access, Disk, DiskError, File};
use state::{Hang, State};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A disk in memory, deterministic from its seed, without a clock.
///
/// What has been written and what is durable are kept apart: writes become durable by
/// [`File::sync_data`] (or on return, for [`Access::DirectSync`]), names by [`Disk::sync_dir`], and all
/// of them by a [grouped sync](Disk::grouped_sync).
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
    /// A grouped sync that fails drops the data of one file, if one was unsynced, and the next
    /// [`File::sync_data`] through each handle of that file fails once. Each other grouped sync of the
    /// disk fails once after any failed sync of data.
    pub fn fail_sync(&self, nth: u64) {
        self.state().fail_sync = Some(nth);
    }

    /// Makes the `nth` read from now fail with `EIO`.
    pub fn fail_read(&self, nth: u64) {
        self.state().fail_read = Some(nth);
    }

    /// Makes the `nth` listing from now fail with `EIO`, after [`Disk::list_each`] has shown an arbitrary
    /// part.
    pub fn fail_list(&self, nth: u64) {
        self.state().fail_list = Some(nth);
    }

    /// Makes the `nth` [`Disk::metadata`] from now fail with `EIO`.
    pub fn fail_metadata(&self, nth: u64) {
        self.state().fail_metadata = Some(nth);
    }

    /// Sets the time that changes leave behind as [`Metadata::modified_ns`]. It begins at 0, and each
    /// changing operation takes a nanosecond.
    ///
    /// [`Metadata::modified_ns`]: crate::Metadata::modified_ns
    pub fn set_time_ns(&self, time_ns: i64) {
        self.state().time_ns = time_ns;
    }

    /// Makes the `nth` sync from now (a [`Access::DirectSync`] write counts) report success without
    /// making anything durable.
    pub fn lie_at_sync(&self, nth: u64) {
        self.state().lie_at_sync = Some(nth);
    }

    /// Makes the `nth` write or sync of a file under `dir` from now hang: it does not begin before
    /// `until` returns. Where threads wait for the disk, `until` blocks; where one thread does
    /// everything, it lets time pass. A grouped sync counts if the directory that it was opened for is
    /// `dir` or under it.
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
}
