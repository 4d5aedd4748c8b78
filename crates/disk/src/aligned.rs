//! Memory that direct I/O accepts.

use crate::large_pages::{LARGE_PAGE_BYTES, Part};
use std::ops::{Deref, DerefMut};

/// The alignment and granularity of direct I/O, in bytes. Every disk we may meet accepts it.
pub const BLOCK_BYTES: usize = 4096;

/// An owned buffer whose address and length are multiples of [`BLOCK_BYTES`], zero at first.
pub struct AlignedBuf {
    memory: Memory,
}

enum Memory {
    /// The aligned part of a somewhat longer vector of bytes, which never grows, so that it stays
    /// there. The system provides a vector of zero bytes without writing them; a vector of aligned
    /// blocks would be written, which costs as much as filling it.
    Lone { bytes: Vec<u8>, start: usize, len: usize },
    /// A part of a large page.
    Shared(Part),
}

impl AlignedBuf {
    /// Allocates at least `bytes` zero bytes, rounded up to whole blocks.
    pub fn zeroed(bytes: usize) -> Self {
        let len = bytes.next_multiple_of(BLOCK_BYTES);
        let bytes = vec![0; len + BLOCK_BYTES - 1];
        let start =
            (bytes.as_ptr() as usize).next_multiple_of(BLOCK_BYTES) - bytes.as_ptr() as usize;
        Self { memory: Memory::Lone { bytes, start, len } }
    }

    /// As many buffers of `bytes` bytes as share a large page, which is faster to allocate than
    /// small pages; the memory of all is allocated on the first write to one. A single buffer as
    /// from [`AlignedBuf::zeroed`] if there is no such page, or if buffers of this size do not fill
    /// one.
    ///
    /// ```
    /// use rialto_disk::AlignedBuf;
    ///
    /// let buffers = AlignedBuf::zeroed_together(1 << 20);
    /// assert!(buffers.len() == 2 || buffers.len() == 1);
    /// assert!(buffers.iter().all(|buffer| buffer.len() == 1 << 20));
    /// ```
    pub fn zeroed_together(bytes: usize) -> Vec<Self> {
        let len = bytes.next_multiple_of(BLOCK_BYTES);
        let fill_one = len > 0 && len < LARGE_PAGE_BYTES && LARGE_PAGE_BYTES.is_multiple_of(len);
        match fill_one.then(|| Part::of_large_page(len)).flatten() {
            Some(parts) => {
                parts.into_iter().map(|part| Self { memory: Memory::Shared(part) }).collect()
            }
            None => vec![Self::zeroed(bytes)],
        }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.memory {
            Memory::Lone { bytes, start, len } => &bytes[*start..*start + *len],
            Memory::Shared(part) => part.bytes(),
        }
    }
}

impl DerefMut for AlignedBuf {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Lone { bytes, start, len } => &mut bytes[*start..*start + *len],
            Memory::Shared(part) => part.bytes_mut(),
        }
    }
}

impl std::fmt::Debug for AlignedBuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedBuf({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_and_length_are_whole_blocks() {
        for bytes in [1, 4096, 4097, 1 << 20] {
            let buf = AlignedBuf::zeroed(bytes);
            assert_eq!(buf.as_ptr() as usize % BLOCK_BYTES, 0);
            assert_eq!(buf.len(), bytes.next_multiple_of(BLOCK_BYTES));
            assert!(buf.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn written_data_is_read_back() {
        let mut buf = AlignedBuf::zeroed(8192);
        buf[5000] = 9;
        assert_eq!(buf[5000], 9);
    }
}
