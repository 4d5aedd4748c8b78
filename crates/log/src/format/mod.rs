//! The bytes on disk, as `docs/formats/log.md` describes them.

mod codec;
mod group;
mod head;
mod segment;

pub(crate) use codec::{Codec, Form, Method, PLAIN_BYTES_MAX};
pub use group::CALLER_BYTES;
pub(crate) use group::{
    BOUND_BYTES, GROUP_HEADER_BYTES, GROUP_STORED_BYTES_MAX, GroupHeader, RECORD_PREFIX_BYTES,
    record_bytes,
};
pub(crate) use head::{HEAD_FILE, HeadSlot, SLOTS};
pub(crate) use segment::{Ground, SegmentHeader, SegmentName};

use rialto_disk::BLOCK_BYTES;

/// The version of the format that this code writes, and the only one it reads.
pub const FORMAT_VERSION: u32 = 1;

/// The granularity of segments and groups as the arithmetic on file offsets wants it.
pub(crate) const BLOCK: u64 = BLOCK_BYTES as u64;

/// The offset of the checksum of a header block: its last four bytes.
const BLOCK_CHECKSUM_AT: usize = BLOCK_BYTES - 4;

/// A flaw in the bytes of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// Nothing was ever written here.
    #[error("nothing but zeros")]
    Zeros,
    /// The file ends before the structure does.
    #[error("the file ends here")]
    EndOfFile,
    /// The file is shorter than when it was created.
    #[error("the file is {got} bytes long, not {expected}")]
    FileLength {
        /// The length it was given.
        expected: u64,
        /// The length it has.
        got: u64,
    },
    /// The bytes do not begin as the structure does.
    #[error("no magic number")]
    Magic,
    /// The format version is unknown.
    #[error("format version {0}, which this program does not know; use a newer one")]
    Version(u32),
    /// The structure uses a codec that is unknown.
    #[error("codec {codec} and key {key}, which this program does not know; use a newer one")]
    Codec {
        /// The codec's number.
        codec: u16,
        /// The key's number.
        key: u64,
    },
    /// The header's checksum does not match its bytes.
    #[error("header checksum {got:#010x} instead of {expected:#010x}")]
    HeaderChecksum {
        /// The checksum of the bytes.
        expected: u32,
        /// The checksum that is stored.
        got: u32,
    },
    /// The body's checksum does not match its bytes.
    #[error("body checksum {got:#010x} instead of {expected:#010x}")]
    BodyChecksum {
        /// The checksum of the bytes.
        expected: u32,
        /// The checksum that is stored.
        got: u32,
    },
    /// The structure belongs to another epoch of the log, or to another log.
    #[error("the salt of another epoch")]
    Salt,
    /// The epoch is not the expected one.
    #[error("epoch {got} instead of {expected}")]
    Epoch {
        /// The expected epoch.
        expected: u64,
        /// The epoch found.
        got: u64,
    },
    /// The group number does not continue.
    #[error("group {got} instead of {expected}")]
    Number {
        /// The expected group number.
        expected: u64,
        /// The group number found.
        got: u64,
    },
    /// The sequence does not continue.
    #[error("sequence {got} instead of {expected}")]
    Sequence {
        /// The expected sequence.
        expected: u64,
        /// The sequence found.
        got: u64,
    },
    /// The checksum of the previous group does not match.
    #[error("chained to {got:#010x} instead of {expected:#010x}")]
    Chain {
        /// The checksum of the previous group.
        expected: u32,
        /// The checksum that is stored.
        got: u32,
    },
    /// A length does not fit.
    #[error("a length of {0} bytes, which does not fit")]
    Length(u64),
    /// The records do not fill the body exactly.
    #[error("records that do not fill the body")]
    Records,
    /// The body is encrypted with a key that the ring does not hold.
    #[error("a group encrypted with key {key}, which is not among the keys given")]
    UnknownKey {
        /// The key's id.
        key: u64,
    },
    /// The body is whole, but its key does not decrypt it.
    #[error(
        "a group that key {key} does not decrypt: either the key given under this id is another \
         than the one it was written with, or somebody has changed the file"
    )]
    Undecryptable {
        /// The key's id.
        key: u64,
    },
    /// The body is whole, but does not decompress to the length in the header.
    #[error("a group that does not decompress to the length in its header")]
    Decompression,
    /// The body is encrypted otherwise than the segment, or not at all.
    #[error("a group that is not encrypted as its segment is")]
    Encryption,
}

impl Flaw {
    /// Whether the group is whole by its checksums. No write that was torn leaves such a flaw, so
    /// that it is never the tail of a log.
    pub(crate) fn is_of_a_whole_group(&self) -> bool {
        matches!(
            self,
            Self::UnknownKey { .. }
                | Self::Undecryptable { .. }
                | Self::Decompression
                | Self::Encryption
        )
    }
}

/// The checksum of a header block without its own last four bytes.
fn block_checksum(block: &[u8; BLOCK_BYTES]) -> u32 {
    crc32c::crc32c(&block[..BLOCK_CHECKSUM_AT])
}

/// Checks a header block: not empty, right magic, right checksum.
fn check_block(block: &[u8; BLOCK_BYTES], magic: &[u8; 8]) -> Result<u32, Flaw> {
    if block.iter().all(|byte| *byte == 0) {
        return Err(Flaw::Zeros);
    }
    if !block.starts_with(magic) {
        return Err(Flaw::Magic);
    }
    let mut stored = [0; 4];
    stored.copy_from_slice(&block[BLOCK_CHECKSUM_AT..]);
    let got = u32::from_le_bytes(stored);
    let expected = block_checksum(block);
    if got != expected {
        return Err(Flaw::HeaderChecksum { expected, got });
    }
    Ok(got)
}

/// Completes a header block with its checksum and returns it.
fn finish_block(block: &mut [u8; BLOCK_BYTES]) -> u32 {
    let checksum = block_checksum(block);
    block[BLOCK_CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
    checksum
}
