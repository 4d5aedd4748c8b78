//! The bytes of a file as memory.
#![allow(unsafe_code, reason = "nothing else maps a file; the invariant stands at File::map")]

use memmap2::{Advice, Mmap};
use rustix::fd::{AsFd, AsRawFd};
use std::ops::{Deref, Range};

/// A file's bytes, mapped for reading. They stay after the file was removed, and the room that they
/// take on the disk with them.
///
/// Reading bytes that the disk cannot deliver, because it fails or because the file was cut, ends
/// the process with the signal `SIGBUS`: call [`Mapping::fetch`] first.
pub struct Mapping {
    map: Mmap,
}

impl Mapping {
    /// `None` if the system cannot map the file, or cannot tell whether a mapped byte is readable.
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

    /// Fetches bytes into memory. False if that failed; then they must not be read, and reading the
    /// file reports the error.
    #[must_use]
    pub fn fetch(&self, range: Range<usize>) -> bool {
        self.map.advise_range(Advice::PopulateRead, range.start, range.len()).is_ok()
    }

    /// Starts to read bytes from the disk that will be fetched soon.
    pub fn read_ahead(&self, range: Range<usize>) {
        // It is a hint; fetching reports errors.
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
