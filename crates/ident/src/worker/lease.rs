//! Worker ids that the processes of a host share out between them.

use super::WorkerError;
use crate::clock::BlockingTimer;
use crate::layout::{Layout, Part};
use rialto_clock::{Clock, SystemClock};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A number of milliseconds has no more digits than this.
const DIGITS_MAX: usize = 20;

/// A worker id that is held by locking a file of it in a directory, so that no two processes on a
/// host have the same, nor two leases in one process.
///
/// Dropping the lease frees the id, and so does the end of the process, however it ends, because
/// the operating system lets go of the lock. The files stay and are used again; removing them while
/// a generator runs would give an id away twice.
///
/// A generator that is dropped writes the time of its last id to the file, and the next holder
/// continues after it, even if the clock was set back or ids were borrowed from the future. A
/// process that is killed writes nothing; the next holder begins a millisecond after it got the
/// lock, which is behind every id that was not borrowed, so long as the clock was not set back
/// meanwhile.
///
/// The directory has to be on a local file system: some network file systems lock nothing.
#[derive(Debug)]
pub struct Lease {
    worker: u64,
    from_ms: u64,
    file: File,
}

impl Lease {
    /// Leases the lowest worker id of a layout that is free. The directory is made if there is
    /// none. All processes of a directory have to use the same layout and datacenter.
    ///
    /// # Errors
    /// The directory or a file in it cannot be used, or every worker id is taken.
    pub fn take(directory: &Path, layout: &Layout) -> Result<Lease, WorkerError> {
        fs::create_dir_all(directory).map_err(io_error("make the directory", directory))?;
        let last = layout.max(Part::Worker);
        for worker in 0..=last {
            let path = directory.join(format!("worker-{worker:04}.lease"));
            if let Some(file) = lock(&path)? {
                return Lease::of_locked(worker, file, &path);
            }
        }
        Err(WorkerError::AllLeased { directory: directory.to_path_buf(), count: last + 1 })
    }

    fn of_locked(worker: u64, mut file: File, path: &Path) -> Result<Lease, WorkerError> {
        // Read after the lock, so that it is not before the last id of the holder before.
        let locked_ms = SystemClock.now_ms();
        let used_until = read_used_until(&mut file, path)?;
        let from_ms = locked_ms.max(used_until).saturating_add(1);
        // So that the first id need not wait; one that still has to is up to the policy.
        SystemClock.wait_until(locked_ms + 1, Duration::from_millis(2));
        Ok(Lease { worker, from_ms, file })
    }

    /// The worker id.
    #[must_use]
    pub fn worker(&self) -> u64 {
        self.worker
    }

    pub(crate) fn first_ms(&self) -> u64 {
        self.from_ms
    }

    /// A file that cannot be written is left as it was: the next holder then knows as little as
    /// after a kill, which is what the documentation promises no more than.
    pub(crate) fn used_until(&mut self, ms: u64) {
        let _ = self.write(ms);
    }

    fn write(&mut self, ms: u64) -> io::Result<()> {
        self.file.rewind()?;
        // All of one length, so that a new text covers the old one.
        self.file.write_all(format!("{ms:0DIGITS_MAX$}").as_bytes())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A process that is being started by this one has the file too, until it becomes another
        // program; closing it here would leave it locked until then.
        let _ = self.file.unlock();
    }
}

/// Opens and locks a file; `None` if it is locked.
fn lock(path: &Path) -> Result<Option<File>, WorkerError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(path).map_err(io_error("open", path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(io_error("lock", path)(source)),
    }
}

/// The time of the last id of earlier holders, in milliseconds since 1970.
fn read_used_until(file: &mut File, path: &Path) -> Result<u64, WorkerError> {
    let mut bytes = Vec::with_capacity(DIGITS_MAX);
    let most = DIGITS_MAX as u64 + 1;
    file.take(most).read_to_end(&mut bytes).map_err(io_error("read", path))?;
    if bytes.is_empty() {
        return Ok(0);
    }
    let found = String::from_utf8_lossy(&bytes);
    found
        .parse()
        .map_err(|_| WorkerError::Damaged { path: path.to_path_buf(), found: found.into_owned() })
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> WorkerError {
    let path: PathBuf = path.to_path_buf();
    move |source| WorkerError::Io { doing, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Generator, Policy, SimulatedTimer};

    fn layout() -> Layout {
        Layout::new(41, 0, 1, 12).unwrap()
    }

    #[test]
    fn an_id_that_is_dropped_is_free_again_and_one_that_is_held_is_not() {
        let home = tempfile::tempdir().unwrap();
        let first = Lease::take(home.path(), &layout()).unwrap();
        let second = Lease::take(home.path(), &layout()).unwrap();
        assert_eq!((first.worker(), second.worker()), (0, 1));
        let none = Lease::take(home.path(), &layout()).unwrap_err();
        assert!(matches!(none, WorkerError::AllLeased { count: 2, .. }), "{none}");
        drop(first);
        assert_eq!(Lease::take(home.path(), &layout()).unwrap().worker(), 0);
    }

    #[test]
    fn the_next_holder_continues_after_the_last_id_although_the_clock_was_set_back() {
        let home = tempfile::tempdir().unwrap();
        let generator = |clock_ms| {
            let lease = Lease::take(home.path(), &layout()).unwrap();
            let mut policy = Policy::default();
            policy.stepped_back.borrow_max = Duration::from_hours(1);
            let config = Config { policy, ..Config::new(layout(), lease.into()) };
            Generator::new(config, SimulatedTimer::new(clock_ms)).unwrap()
        };
        let now = SystemClock.now_ms() + 60_000;
        let last = generator(now).next().unwrap();
        assert!(generator(now - 10_000).next().unwrap() > last);
    }

    #[test]
    fn a_foreign_file_is_not_taken_for_a_lease() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("worker-0000.lease"), "my diary").unwrap();
        let error = Lease::take(home.path(), &layout()).unwrap_err();
        assert!(matches!(error, WorkerError::Damaged { .. }), "{error}");
    }
}
