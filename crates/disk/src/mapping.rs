//! The bytes of a file as memory.
#![allow(unsafe_code, reason = "nothing else maps a file; the invariant stands at File::map")]

use memmap2::{Advice, Mmap};
use rustix::fd::{AsFd, AsRawFd};
use std::ops::{Deref, Range};

/// A file's bytes, mapped for reading. They stay after the file was removed, and the room that they
/// take on the disk with them.
///
/// Looking at bytes that the disk cannot deliver, because it fails or because somebody cut the file,
/// ends the process with the signal `SIGBUS`: have them brought by [`Mapping::fetch`] before.
pub struct Mapping {
    map: Mmap,
}

impl Mapping {
    /// Nothing where the system cannot map the file, or cannot say whether a mapped byte is there.
    ///
    /// # Safety
    /// As for [`File::map`](crate::File::map).
    pub(crate) unsafe fn of(file: impl AsFd) -> Option<Self> {
        // SAFETY: the caller sees to it that the bytes do not change under the slice that they are
        // handed out as.
        let map = unsafe { Mmap::map(file.as_fd().as_raw_fd()) }.ok()?;
        let mapping = Self { map };
        mapping.fetch(0..1.min(mapping.len())).then_some(mapping)
    }

    /// Brings bytes into memory. False if that failed, in which case they must not be looked at:
    /// reading the file says what is wrong.
    #[must_use]
    pub fn fetch(&self, range: Range<usize>) -> bool {
        self.map.advise_range(Advice::PopulateRead, range.start, range.len()).is_ok()
    }

    /// Has bytes read from the disk meanwhile that will be fetched soon.
    pub fn read_ahead(&self, range: Range<usize>) {
        // It is a hint; whoever fetches the bytes learns whether they are there.
        let _ = self.map.advise_range(Advice::WillNeed, range.start, range.len());
    }
}

impl Deref for Mapping {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl std::fmt::Debug for Mapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mapping({} bytes)", self.len())
    }
}
