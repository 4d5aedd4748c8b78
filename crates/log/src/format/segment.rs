//! The segment header and the segment's name.

use super::codec::Codec;
use super::{FORMAT_VERSION, Flaw, check_block, finish_block};
use rialto_disk::BLOCK_BYTES;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: &[u8; 8] = b"RIALTLOG";

/// What identifies a segment: the first sequence it may hold and the epoch that wrote it. Two
/// segments may share the first sequence, when the older held nothing or was superseded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SegmentName {
    pub(crate) first_seq: u64,
    pub(crate) epoch: u64,
}

impl std::fmt::Display for SegmentName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:020}-{:010}.log", self.first_seq, self.epoch)
    }
}

impl SegmentName {
    pub(crate) fn parse(file: &str) -> Option<Self> {
        let (first_seq, epoch) = file.strip_suffix(".log")?.split_once('-')?;
        let name = Self { first_seq: first_seq.parse().ok()?, epoch: epoch.parse().ok()? };
        // Only the exact spelling counts: two files must not stand for one segment.
        (name.to_string() == file).then_some(name)
    }
}

/// The contents of a segment's blocks before the first group is stored in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ground {
    /// Zeros that were written.
    #[default]
    Zeros,
    /// Zeros, as reserved space reads.
    Reserved,
    /// Bytes of an earlier segment of the same log, which have no meaning.
    Used,
}

impl Ground {
    fn number(self) -> u16 {
        match self {
            Ground::Zeros => 0,
            Ground::Reserved => 1,
            Ground::Used => 2,
        }
    }

    fn decode(number: u16) -> Self {
        match number {
            0 => Ground::Zeros,
            1 => Ground::Reserved,
            // A value of a newer program: nothing is assumed about the blocks.
            _ => Ground::Used,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) name: SegmentName,
    pub(crate) salt: [u8; 16],
    pub(crate) rules_version: u32,
    pub(crate) segment_bytes: u64,
    /// The segment before this one; none for the first of a log.
    pub(crate) previous: Option<SegmentName>,
    /// The checksum of the group that holds the record before this segment.
    pub(crate) previous_checksum: u32,
    pub(crate) first_group: u64,
    /// The last sequence of the log before this segment replaced a part of it; `first_seq - 1` when
    /// it replaced nothing.
    pub(crate) superseded_through: u64,
    /// How its writer stored groups when it began. Single groups may be stored uncompressed, but
    /// every one is encrypted with this cipher.
    pub(crate) codec: Codec,
    /// The key that was current when it began; each group names its own.
    pub(crate) key: u64,
    pub(crate) ground: Ground,
}

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Layout {
    magic: [u8; 8],
    format_version: U32,
    rules_version: U32,
    epoch: U64,
    salt: [u8; 16],
    first_seq: U64,
    first_group: U64,
    segment_bytes: U64,
    previous_first_seq: U64,
    previous_epoch: U64,
    superseded_through: U64,
    previous_checksum: U32,
    codec: U16,
    ground: U16,
    key: U64,
}

impl SegmentHeader {
    /// Writes the header into a zeroed block and returns its checksum, to which the segment's first
    /// group is chained.
    pub(crate) fn encode(&self, block: &mut [u8; BLOCK_BYTES]) -> u32 {
        let layout = Layout {
            magic: *MAGIC,
            format_version: FORMAT_VERSION.into(),
            rules_version: self.rules_version.into(),
            epoch: self.name.epoch.into(),
            salt: self.salt,
            first_seq: self.name.first_seq.into(),
            first_group: self.first_group.into(),
            segment_bytes: self.segment_bytes.into(),
            previous_first_seq: self.previous.map_or(0, |name| name.first_seq).into(),
            previous_epoch: self.previous.map_or(0, |name| name.epoch).into(),
            superseded_through: self.superseded_through.into(),
            previous_checksum: self.previous_checksum.into(),
            codec: self.codec.number().into(),
            ground: self.ground.number().into(),
            key: self.key.into(),
        };
        block.fill(0);
        block[..size_of::<Layout>()].copy_from_slice(layout.as_bytes());
        finish_block(block)
    }

    /// Reads a header block; returns the header and the block's checksum.
    pub(crate) fn decode(block: &[u8; BLOCK_BYTES]) -> Result<(Self, u32), Flaw> {
        let checksum = check_block(block, MAGIC)?;
        let (layout, _) = Layout::ref_from_prefix(block).map_err(|_| Flaw::EndOfFile)?;
        if layout.format_version.get() != FORMAT_VERSION {
            return Err(Flaw::Version(layout.format_version.get()));
        }
        let key = layout.key.get();
        let codec = Codec::decode(layout.codec.get(), key)?;
        let previous = SegmentName {
            first_seq: layout.previous_first_seq.get(),
            epoch: layout.previous_epoch.get(),
        };
        let header = Self {
            name: SegmentName { first_seq: layout.first_seq.get(), epoch: layout.epoch.get() },
            salt: layout.salt,
            rules_version: layout.rules_version.get(),
            segment_bytes: layout.segment_bytes.get(),
            previous: (previous.epoch != 0).then_some(previous),
            previous_checksum: layout.previous_checksum.get(),
            first_group: layout.first_group.get(),
            superseded_through: layout.superseded_through.get(),
            codec,
            key,
            ground: Ground::decode(layout.ground.get()),
        };
        Ok((header, checksum))
    }
}

#[cfg(test)]
mod tests {
    use super::super::codec::Method;
    use super::*;
    use crate::sealing::Cipher;

    fn header() -> SegmentHeader {
        SegmentHeader {
            name: SegmentName { first_seq: 42, epoch: 3 },
            salt: [7; 16],
            rules_version: 9,
            segment_bytes: 1 << 20,
            previous: Some(SegmentName { first_seq: 1, epoch: 2 }),
            previous_checksum: 0xdead_beef,
            first_group: 17,
            superseded_through: 50,
            codec: Codec { method: Some(Method::Lz4), cipher: Some(Cipher::Aes128Gcm) },
            key: 6,
            ground: Ground::Used,
        }
    }

    #[test]
    fn a_header_is_read_back_as_written() {
        let mut block = [0; BLOCK_BYTES];
        let checksum = header().encode(&mut block);
        assert_eq!(SegmentHeader::decode(&block), Ok((header(), checksum)));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut block = [0; BLOCK_BYTES];
        header().encode(&mut block);
        for bit in 0..BLOCK_BYTES * 8 {
            block[bit / 8] ^= 1 << (bit % 8);
            assert!(SegmentHeader::decode(&block).is_err(), "bit {bit}");
            block[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn an_unknown_version_is_named() {
        let mut block = [0; BLOCK_BYTES];
        header().encode(&mut block);
        block[8] = 2;
        finish_block(&mut block);
        assert_eq!(SegmentHeader::decode(&block), Err(Flaw::Version(2)));
    }

    #[test]
    fn names_have_one_spelling() {
        let name = SegmentName { first_seq: 42, epoch: 3 };
        assert_eq!(name.to_string(), "00000000000000000042-0000000003.log");
        assert_eq!(SegmentName::parse(&name.to_string()), Some(name));
        assert_eq!(SegmentName::parse("42-3.log"), None);
        assert_eq!(SegmentName::parse("00000000000000000042-0000000003.tmp"), None);
    }
}
