//! The group header, and the layout of records in a body.

use super::codec::{Codec, Form};
use super::{BLOCK, Flaw};
use crate::group::GROUP_BYTES_MAX;
use std::ops::Range;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 4] = *b"RGRP";

/// The bytes of a group header that belong to the writer of the log.
pub const CALLER_BYTES: usize = 40;

/// The length of a group's header; the body follows at once.
pub(crate) const GROUP_HEADER_BYTES: usize = size_of::<Layout>();
/// The length that stands before every record.
pub(crate) const RECORD_PREFIX_BYTES: usize = 4;
/// The offset from which the header checksum covers bytes: after the magic and itself.
const CHECKED_FROM: usize = 8;

/// The bytes of a header that encryption binds a body to: all but the magic and the two checksums,
/// which are made of what is encrypted.
pub(crate) const BOUND_BYTES: Range<usize> = 12..GROUP_HEADER_BYTES;
/// The most that a group takes on disk. A full one, encrypted, needs a block more for its tag.
pub(crate) const GROUP_STORED_BYTES_MAX: usize = GROUP_BYTES_MAX + BLOCK as usize;

/// The room that a record of `len` bytes takes in a body.
#[inline]
pub(crate) const fn record_bytes(len: usize) -> usize {
    (RECORD_PREFIX_BYTES + len + 7) & !7
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupHeader {
    pub(crate) body_checksum: u32,
    /// The header checksum of the group before, or of the segment header.
    pub(crate) previous_checksum: u32,
    pub(crate) salt: [u8; 16],
    pub(crate) epoch: u64,
    pub(crate) number: u64,
    pub(crate) first_seq: u64,
    pub(crate) records: u32,
    pub(crate) form: Form,
    /// The last group that was known to be durable when this one was written.
    pub(crate) durable_group: u64,
    /// The caller's bytes, which the log does not interpret.
    pub(crate) caller: [u8; CALLER_BYTES],
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Layout {
    magic: [u8; 4],
    header_checksum: U32,
    body_checksum: U32,
    previous_checksum: U32,
    salt: [u8; 16],
    epoch: U64,
    number: U64,
    first_seq: U64,
    last_seq: U64,
    durable_group: U64,
    records: U32,
    stored_bytes: U32,
    plain_bytes: U32,
    codec: U16,
    reserved: U16,
    key: U64,
    caller: [u8; CALLER_BYTES],
}

impl GroupHeader {
    pub(crate) fn last_seq(&self) -> u64 {
        self.first_seq + u64::from(self.records) - 1
    }

    /// The blocks that the group takes on disk, in bytes.
    pub(crate) fn stored_bytes(&self) -> u64 {
        (GROUP_HEADER_BYTES as u64 + u64::from(self.form.stored_bytes)).next_multiple_of(BLOCK)
    }

    /// Writes the header to the front of `target` and returns its checksum.
    pub(crate) fn encode(&self, target: &mut [u8]) -> u32 {
        let mut layout = Layout {
            magic: MAGIC,
            header_checksum: 0.into(),
            body_checksum: self.body_checksum.into(),
            previous_checksum: self.previous_checksum.into(),
            salt: self.salt,
            epoch: self.epoch.into(),
            number: self.number.into(),
            first_seq: self.first_seq.into(),
            last_seq: self.last_seq().into(),
            durable_group: self.durable_group.into(),
            records: self.records.into(),
            stored_bytes: self.form.stored_bytes.into(),
            plain_bytes: self.form.plain_bytes.into(),
            codec: self.form.codec.number().into(),
            reserved: 0.into(),
            key: self.form.key.into(),
            caller: self.caller,
        };
        let checksum = crc32c::crc32c(&layout.as_bytes()[CHECKED_FROM..]);
        layout.header_checksum = checksum.into();
        target[..GROUP_HEADER_BYTES].copy_from_slice(layout.as_bytes());
        checksum
    }

    /// Reads a header from the front of `bytes`; returns it and its checksum.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, u32), Flaw> {
        let (layout, _) = Layout::ref_from_prefix(bytes).map_err(|_| Flaw::EndOfFile)?;
        if layout.magic != MAGIC {
            let zeros = layout.as_bytes().iter().all(|byte| *byte == 0);
            return Err(if zeros { Flaw::Zeros } else { Flaw::Magic });
        }
        let got = layout.header_checksum.get();
        let expected = crc32c::crc32c(&layout.as_bytes()[CHECKED_FROM..]);
        if got != expected {
            return Err(Flaw::HeaderChecksum { expected, got });
        }
        let form = Form {
            codec: Codec::decode(layout.codec.get(), layout.key.get())?,
            key: layout.key.get(),
            plain_bytes: layout.plain_bytes.get(),
            stored_bytes: layout.stored_bytes.get(),
        };
        form.check()?;
        let header = Self {
            body_checksum: layout.body_checksum.get(),
            previous_checksum: layout.previous_checksum.get(),
            salt: layout.salt,
            epoch: layout.epoch.get(),
            number: layout.number.get(),
            first_seq: layout.first_seq.get(),
            records: layout.records.get(),
            form,
            durable_group: layout.durable_group.get(),
            caller: layout.caller,
        };
        if header.first_seq == 0 || header.first_seq.checked_add(header.records.into()).is_none() {
            return Err(Flaw::Sequence { expected: 1, got: header.first_seq });
        }
        if layout.last_seq.get() != header.last_seq() {
            return Err(Flaw::Sequence { expected: header.last_seq(), got: layout.last_seq.get() });
        }
        Ok((header, got))
    }

    /// The salt, epoch and number of a header, without checking the rest.
    pub(crate) fn identity(bytes: &[u8]) -> Option<([u8; 16], u64, u64)> {
        let (layout, _) = Layout::ref_from_prefix(bytes).ok()?;
        Some((layout.salt, layout.epoch.get(), layout.number.get()))
    }

    /// Checks a body as it is stored against the checksum in this header.
    pub(crate) fn check_stored(&self, body: &[u8]) -> Result<(), Flaw> {
        let expected = crc32c::crc32c(body);
        if expected != self.body_checksum {
            return Err(Flaw::BodyChecksum { expected, got: self.body_checksum });
        }
        Ok(())
    }

    /// Checks that the records fill a body exactly, once it has been decrypted and decompressed.
    pub(crate) fn check_records(&self, body: &[u8]) -> Result<(), Flaw> {
        let mut rest = body;
        for _ in 0..self.records {
            let (prefix, _) =
                rest.split_first_chunk::<RECORD_PREFIX_BYTES>().ok_or(Flaw::Records)?;
            let len = u32::from_le_bytes(*prefix) as usize;
            rest = rest.get(record_bytes(len)..).ok_or(Flaw::Records)?;
        }
        if rest.is_empty() { Ok(()) } else { Err(Flaw::Records) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> GroupHeader {
        GroupHeader {
            body_checksum: 1,
            previous_checksum: 2,
            salt: [3; 16],
            epoch: 4,
            number: 5,
            first_seq: 6,
            records: 7,
            form: Form::plain(800),
            durable_group: 4,
            caller: [9; CALLER_BYTES],
        }
    }

    #[test]
    fn a_header_is_read_back_as_written() {
        let mut bytes = [0; GROUP_HEADER_BYTES];
        let checksum = header().encode(&mut bytes);
        assert_eq!(GroupHeader::decode(&bytes), Ok((header(), checksum)));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut bytes = [0; GROUP_HEADER_BYTES];
        header().encode(&mut bytes);
        for bit in 0..GROUP_HEADER_BYTES * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(GroupHeader::decode(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn an_empty_group_ends_before_it_begins() {
        let empty = GroupHeader { records: 0, ..header() };
        assert_eq!(empty.last_seq(), 5);
    }

    #[test]
    fn records_keep_bodies_aligned() {
        assert_eq!(record_bytes(0), 8);
        assert_eq!(record_bytes(4), 8);
        assert_eq!(record_bytes(5), 16);
    }
}
