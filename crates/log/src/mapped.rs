//! A finished segment as memory.

use crate::format::{BLOCK, Codec};
use crate::segments::Segment;
use rialto_disk::{Access, Disk, DiskError, Mapping};
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes that are fetched into memory at once.
const STRETCH_BYTES: usize = 1 << 20;

/// The number of stretches that are read ahead from the disk.
const STRETCHES_AHEAD: usize = 4;

/// The bytes of a finished segment, and which of its groups have been checked.
pub(crate) struct Mapped {
    bytes: Mapping,
    /// By stretch.
    fetched: Marks,
    /// By the block in which a group begins.
    checked: Marks,
}

impl Mapped {
    /// `None` if the segment is still written, if its groups are sealed, or if the disk or the
    /// system does not support mappings.
    pub(crate) fn of(disk: &dyn Disk, segment: &Segment) -> Result<Option<Self>, DiskError> {
        if !segment.is_finished() || segment.header.codec != Codec::default() {
            return Ok(None);
        }
        let file = disk.open(&segment.path, Access::Read)?;
        // SAFETY: the segment is finished, and nobody of this program writes to the file of one or
        // cuts it while it is mapped: a writer has closed it when it says so (`Writer::roll`), an
        // opening writes to the newest segment and cuts it before it says so (`Recovered::start`),
        // and does neither to one that had been finished before. It is only removed, or made a
        // segment again once nobody has this mapping or can make another (`spares::is_let_go`).
        // That nobody else touches the files of a log is what its lock and docs/log.md ask for.
        #[allow(unsafe_code, reason = "the one place that maps a file")]
        let bytes = unsafe { file.map() };
        Ok(bytes.map(|bytes| Self {
            fetched: Marks::new(bytes.len().div_ceil(STRETCH_BYTES)),
            checked: Marks::new(bytes.len().div_ceil(BLOCK as usize)),
            bytes,
        }))
    }

    /// At most `bytes` bytes of the file from `offset` on. `None` if they could not be fetched, in
    /// which case reading the file reports the error.
    pub(crate) fn fetch(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let bytes = self.bytes(offset, len);
        let start = offset as usize;
        for stretch in start / STRETCH_BYTES..(start + bytes.len()).div_ceil(STRETCH_BYTES) {
            if !self.fetched.has(stretch) {
                self.fetch_stretch(stretch)?;
            }
        }
        Some(bytes)
    }

    /// At most `bytes` bytes from `offset` on, which were fetched before.
    pub(crate) fn bytes(&self, offset: u64, len: usize) -> &[u8] {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        &self.bytes[start..start.saturating_add(len).min(self.bytes.len())]
    }

    #[cold]
    fn fetch_stretch(&self, stretch: usize) -> Option<()> {
        // A reader of the stretch before will be in the one behind soon.
        if stretch > 0 && self.fetched.has(stretch - 1) {
            self.bytes.read_ahead(self.stretches(stretch + 1..stretch + 1 + STRETCHES_AHEAD));
        }
        if !self.bytes.fetch(self.stretches(stretch..stretch + 1)) {
            return None;
        }
        self.fetched.set(stretch);
        Some(())
    }

    fn stretches(&self, stretches: Range<usize>) -> Range<usize> {
        let end = (stretches.end * STRETCH_BYTES).min(self.bytes.len());
        (stretches.start * STRETCH_BYTES).min(end)..end
    }

    /// Whether the body of the group at `offset` was checked before.
    pub(crate) fn is_checked(&self, offset: u64) -> bool {
        self.checked.has((offset / BLOCK) as usize)
    }

    /// Marks the body of the group at `offset` as checked.
    pub(crate) fn set_checked(&self, offset: u64) {
        self.checked.set((offset / BLOCK) as usize);
    }
}

/// A set of marks.
struct Marks {
    /// A marked part never changes, so that the order of two marks does not matter.
    words: Box<[AtomicU64]>,
}

impl Marks {
    fn new(places: usize) -> Self {
        Self { words: (0..places.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    fn has(&self, place: usize) -> bool {
        let word = self.words.get(place / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (place % 64) & 1 == 1)
    }

    fn set(&self, place: usize) {
        if let Some(word) = self.words.get(place / 64) {
            word.fetch_or(1 << (place % 64), Ordering::Relaxed);
        }
    }
}

/// Records in the mapped file of a finished segment: each behind its length and padded to eight
/// bytes, as [`GroupView::framed`](crate::GroupView::framed) has them. They stay valid when the log
/// deletes the segment; the file takes space on the disk until the last of them is dropped.
#[derive(Clone)]
pub struct MappedRecords {
    map: Arc<Mapped>,
    range: Range<usize>,
}

impl MappedRecords {
    pub(crate) fn new(map: &Arc<Mapped>, bytes: &[u8]) -> Self {
        let start = bytes.as_ptr() as usize - map.bytes.as_ptr() as usize;
        Self { map: map.clone(), range: start..start + bytes.len() }
    }
}

impl Deref for MappedRecords {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map.bytes[self.range.clone()]
    }
}

impl std::fmt::Debug for MappedRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MappedRecords({} bytes)", self.range.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_covers_only_its_own_message() {
        let marks = Marks::new(130);
        marks.set(64);
        marks.set(129);
        marks.set(100_000);
        let marked: Vec<_> = (0..200).filter(|place| marks.has(*place)).collect();
        assert_eq!(marked, [64, 129]);
    }
}
