//! Files of dropped segments, kept to be recycled.

use crate::prepare::Directory;
use crate::segments::Segment;
use rialto_disk::DiskError;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps files of dropped segments: a file that was written before serves as well as one filled
/// with zeros. Any number of logs can share one; clones do. Each log takes its own files only.
///
/// A spare file is removed when another needs its place, when any of the logs finds the disk full,
/// and when its log is closed.
#[derive(Clone)]
pub struct SpareFiles {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    bytes_max: u64,
    /// Ordered from the oldest.
    kept: Mutex<VecDeque<Spare>>,
    /// Locked from before files leave the list until they are removed from the disk, so that
    /// removing does not block the list, and a log that needs the room waits for it.
    removing: Mutex<()>,
}

struct Spare {
    of: Arc<Directory>,
    path: PathBuf,
}

impl Spare {
    /// If it cannot be removed, the next opening removes it.
    fn remove(&self) {
        let _ = self.of.disk.remove(&self.path);
    }
}

impl SpareFiles {
    /// Keeps at most `bytes_max` bytes of files.
    #[must_use]
    pub fn up_to(bytes_max: u64) -> Self {
        Self { shared: Arc::new(Shared { bytes_max, ..Shared::default() }) }
    }

    /// Keeps none.
    #[must_use]
    pub fn none() -> Self {
        Self::up_to(0)
    }

    /// The bytes of the files that it keeps now.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.kept().iter().map(|spare| spare.of.segment_bytes).sum()
    }

    /// The list stays consistent when a holder panics.
    fn kept(&self) -> MutexGuard<'_, VecDeque<Spare>> {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it would keep a file of this size.
    #[must_use]
    pub fn takes(&self, bytes: u64) -> bool {
        bytes <= self.shared.bytes_max
    }

    /// Keeps a file that has durably left the log, in place of others if need be.
    pub(crate) fn keep(&self, of: &Arc<Directory>, path: PathBuf) {
        self.kept().push_back(Spare { of: of.clone(), path });
        if self.bytes() > self.shared.bytes_max {
            self.remove(|kept| self.take_excess(kept));
        }
    }

    /// Takes the oldest off the list until the rest is within the bound.
    fn take_excess(&self, kept: &mut VecDeque<Spare>) -> VecDeque<Spare> {
        let mut bytes: u64 = kept.iter().map(|spare| spare.of.segment_bytes).sum();
        let is_excess = |spare: &&Spare| {
            let goes = bytes > self.shared.bytes_max;
            bytes -= spare.of.segment_bytes;
            goes
        };
        let excess = kept.iter().take_while(is_excess).count();
        kept.drain(..excess).collect()
    }

    /// Removes files that are taken off the list for it.
    fn remove(&self, take: impl FnOnce(&mut VecDeque<Spare>) -> VecDeque<Spare>) {
        let _removing = self.shared.removing.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = take(&mut self.kept());
        taken.iter().for_each(Spare::remove);
    }

    /// Hands out a file of this log.
    pub(crate) fn take(&self, of: &Arc<Directory>) -> Option<PathBuf> {
        let mut kept = self.kept();
        let nth = kept.iter().rposition(|spare| Arc::ptr_eq(&spare.of, of))?;
        kept.remove(nth).map(|spare| spare.path)
    }

    /// Removes the files of this log, which is closed.
    pub(crate) fn let_go_of(&self, of: &Arc<Directory>) {
        self.remove(|kept| {
            let (own, others) =
                kept.drain(..).partition(|spare: &Spare| Arc::ptr_eq(&spare.of, of));
            *kept = others;
            own
        });
    }

    /// Runs an operation. If the disk is full, removes all spare files, waits for other removals,
    /// and runs it again.
    pub(crate) fn or_else<T>(
        &self,
        attempt: impl Fn() -> Result<T, DiskError>,
    ) -> Result<T, DiskError> {
        match attempt() {
            Err(error) if error.is_out_of_space() => {
                // Also if there are none: another log may just have made room.
                self.remove(std::mem::take);
                attempt()
            }
            done => done,
        }
    }
}

impl Default for SpareFiles {
    fn default() -> Self {
        Self::none()
    }
}

impl std::fmt::Debug for SpareFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SpareFiles({} of {} bytes)", self.bytes(), self.shared.bytes_max)
    }
}

/// Whether the file of a segment that was taken from the list is unused: no reader is in it, and no
/// mapping of its records is held.
pub(crate) fn is_let_go(segment: Arc<Segment>) -> bool {
    // A reader in a segment refers to it, pinned or not, and so does a caller that is about to map
    // it. No new references are made.
    Arc::into_inner(segment).is_some_and(|segment| segment.slot.ends())
}
