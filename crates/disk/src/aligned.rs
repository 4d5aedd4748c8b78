//! Memory that direct I/O accepts.

use std::ops::{Deref, DerefMut};

/// The alignment and granularity of direct I/O, in bytes. Every disk we may meet accepts it.
pub const BLOCK_BYTES: usize = 4096;

/// An owned buffer whose address and length are multiples of [`BLOCK_BYTES`], zero at first.
///
/// It is the aligned part of a somewhat longer vector of bytes. A vector of bytes that are all zero is
/// had from the system without anybody writing the zeros; one of aligned blocks would be written, which
/// costs as much as filling it.
pub struct AlignedBuf {
    bytes: Vec<u8>,
    /// Where the aligned part begins. The vector never grows, so that it stays there.
    start: usize,
    len: usize,
}

impl AlignedBuf {
    /// Allocates at least `bytes` zero bytes, rounded up to whole blocks.
    pub fn zeroed(bytes: usize) -> Self {
        let len = bytes.next_multiple_of(BLOCK_BYTES);
        let bytes = vec![0; len + BLOCK_BYTES - 1];
        let start =
            (bytes.as_ptr() as usize).next_multiple_of(BLOCK_BYTES) - bytes.as_ptr() as usize;
        Self { bytes, start, len }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }
}

impl DerefMut for AlignedBuf {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
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
    fn what_is_written_is_read() {
        let mut buf = AlignedBuf::zeroed(8192);
        buf[5000] = 9;
        assert_eq!(buf[5000], 9);
    }
}
