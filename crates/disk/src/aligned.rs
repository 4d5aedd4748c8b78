//! Memory that direct I/O accepts.

use std::ops::{Deref, DerefMut};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// The alignment and granularity of direct I/O, in bytes. Every disk we may meet accepts it.
pub const BLOCK_BYTES: usize = 4096;

/// One block. The alignment lives in the type, so that a plain `Vec` of blocks is aligned memory
/// and no unsafe code is needed to get it.
#[derive(FromBytes, IntoBytes, Immutable)]
#[repr(C, align(4096))]
struct Block([u8; BLOCK_BYTES]);

/// An owned buffer whose address and length are multiples of [`BLOCK_BYTES`], zero at first.
pub struct AlignedBuf {
    blocks: Vec<Block>,
}

impl AlignedBuf {
    /// Allocates at least `bytes` zero bytes, rounded up to whole blocks.
    pub fn zeroed(bytes: usize) -> Self {
        let blocks = Block::new_vec_zeroed(bytes.div_ceil(BLOCK_BYTES))
            .expect("an allocation that fails ends the process, as it does for every Vec");
        Self { blocks }
    }
}

impl Deref for AlignedBuf {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.blocks.as_slice().as_bytes()
    }
}

impl DerefMut for AlignedBuf {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.blocks.as_mut_slice().as_mut_bytes()
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
