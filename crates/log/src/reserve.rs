//! Reserve files for the next segments, in case the disk has no room for a new one.
//!
//! Any process on the machine may take free space, so that the reserve consists of files with
//! allocated space. A log that finds the disk full makes its next segment from one, and refills the
//! reserve when there is room.

use crate::prepare::Directory;
use rialto_disk::{Access, AlignedBuf, DiskError};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The prefix of the files' names. Openings treat them neither as a part of the log nor as
/// leftovers.
const PREFIX: &str = "reserve-";
/// How many bytes of zeros are written at once where the file system cannot reserve space.
const STEP_BYTES: usize = 256 << 10;

/// The files of one log.
pub(crate) struct Reserve {
    files_max: usize,
    ready: Mutex<Vec<PathBuf>>,
}

impl Reserve {
    /// Up to `files_max` files, of which there are none yet.
    pub(crate) fn of(files_max: usize) -> Reserve {
        Reserve { files_max, ready: Mutex::default() }
    }

    /// The list stays consistent when a holder panics.
    fn ready(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a file is ready.
    pub(crate) fn is_ready(&self) -> bool {
        !self.ready().is_empty()
    }

    /// Hands out a file. What is made of it must get another name.
    pub(crate) fn take(&self) -> Option<PathBuf> {
        self.ready().pop()
    }
}

impl Directory {
    /// Takes over what earlier openings left in reserve, and removes what is of no use.
    pub(crate) fn adopt_reserve(&self) -> Result<(), DiskError> {
        let mut kept = Vec::new();
        for name in self.disk.list(&self.path)? {
            let Some(number) = name.strip_prefix(PREFIX) else { continue };
            let path = self.path.join(&name);
            let is_wanted = number.parse().is_ok_and(|at: usize| at < self.reserve.files_max);
            if is_wanted && self.disk.open(&path, Access::Read)?.len()? == self.segment_bytes {
                kept.push(path);
            } else {
                self.disk.remove(&path)?;
            }
        }
        *self.reserve.ready() = kept;
        Ok(())
    }

    /// Refills the reserve, as far as the disk has room.
    pub(crate) fn fill_reserve(&self) -> Result<(), DiskError> {
        for at in 0..self.reserve.files_max {
            let path = self.path.join(format!("{PREFIX}{at}"));
            if self.reserve.ready().contains(&path) {
                continue;
            }
            let tmp = self.tmp_path("reserve");
            let made = self.make_reserve_file(&tmp).and_then(|()| {
                self.disk.rename(&tmp, &path)?;
                self.disk.sync_dir(&self.path)
            });
            if let Err(error) = made {
                // If it cannot be removed either, the next opening removes it.
                let _ = self.disk.remove(&tmp);
                return Err(error);
            }
            self.reserve.ready().push(path);
        }
        Ok(())
    }

    fn make_reserve_file(&self, path: &std::path::Path) -> Result<(), DiskError> {
        let file = self.disk.create(path, Access::Direct)?;
        if !file.reserve(self.segment_bytes)? {
            let zeros = AlignedBuf::zeroed(STEP_BYTES.min(self.segment_bytes as usize));
            let mut done = 0;
            while done < self.segment_bytes {
                let bytes = (self.segment_bytes - done).min(zeros.len() as u64);
                file.write_all_at(done, &zeros[..bytes as usize])?;
                done += bytes;
            }
        }
        file.sync_data()
    }

    /// Whether the disk has no room for a whole new segment, and the reserve has one.
    pub(crate) fn must_use_reserve(&self) -> bool {
        self.reserve.is_ready()
            && self.disk.free_bytes(&self.path).is_ok_and(|free| free < self.segment_bytes)
    }
}
