//! The layout of packed batches.

use super::read::InvalidPacked;
use zerocopy::byteorder::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The media type of packed messages.
// format: docs/formats/messages.md
pub const MESSAGES_MEDIA_TYPE: &str = "application/vnd.rialto.messages";

/// The media type of packed leases.
pub const LEASES_MEDIA_TYPE: &str = "application/vnd.rialto.leases";

pub(super) const MESSAGES_MAGIC: [u8; 4] = *b"RMSG";
pub(super) const LEASES_MAGIC: [u8; 4] = *b"RLSE";
const VERSION: u16 = 1;

/// The length in front of each record.
pub(super) const PREFIX_BYTES: usize = 4;

/// The head of a batch.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct Head {
    pub(super) magic: [u8; 4],
    version: U16,
    reserved: U16,
    pub(super) runs: U32,
    /// The epoch of the leases, which are valid only where they were delivered.
    pub(super) epoch: U32,
    /// The number of messages that were dropped before delivery.
    pub(super) missed: U64,
    reserved_too: U64,
}

/// The head of a run: messages of one lane with consecutive numbers and, if they were delivered,
/// consecutive leases and the same attempt.
#[derive(Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(super) struct Run {
    pub(super) first_seq: U64,
    pub(super) first_lease: U64,
    pub(super) messages: U32,
    /// The bytes of its records, with the lengths before and the padding after them.
    pub(super) bytes: U32,
    pub(super) attempt: U16,
    pub(super) lane: u8,
    pub(super) reserved: [u8; 5],
}

pub(super) const HEAD_BYTES: usize = 32;
pub(super) const RUN_BYTES: usize = 32;

const _: () = assert!(size_of::<Head>() == HEAD_BYTES && size_of::<Run>() == RUN_BYTES);

impl Head {
    pub(super) fn new(magic: [u8; 4], runs: u32, epoch: u32, missed: u64) -> Head {
        Head {
            magic,
            version: VERSION.into(),
            reserved: 0.into(),
            runs: runs.into(),
            epoch: epoch.into(),
            missed: missed.into(),
            reserved_too: 0.into(),
        }
    }

    /// Takes the head off the bytes of a batch.
    pub(super) fn split(magic: [u8; 4], bytes: &[u8]) -> Result<(&Head, &[u8]), InvalidPacked> {
        let (head, rest) = Head::ref_from_prefix(bytes).map_err(|_| InvalidPacked::Short)?;
        if head.magic != magic {
            return Err(InvalidPacked::Magic);
        }
        if head.version.get() != VERSION {
            return Err(InvalidPacked::Version(head.version.get()));
        }
        if head.reserved.get() != 0 || head.reserved_too.get() != 0 {
            return Err(InvalidPacked::Reserved);
        }
        Ok((head, rest))
    }
}

/// The room that a record of `len` bytes takes, with its length and padding to a multiple of eight.
pub(super) const fn framed_bytes(len: usize) -> usize {
    (PREFIX_BYTES + len + 7) & !7
}
