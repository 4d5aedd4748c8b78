//! A slot of the HEAD file.

use super::{FORMAT_VERSION, Flaw, SegmentName, check_block, finish_block};
use rialto_disk::BLOCK_BYTES;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub(crate) const HEAD_FILE: &str = "HEAD";
/// The number of slots; the one with the greater generation counts.
pub(crate) const SLOTS: usize = 2;

const MAGIC: &[u8; 8] = b"RIALTHED";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeadSlot {
    pub(crate) generation: u64,
    pub(crate) oldest: SegmentName,
    /// The newest live segment; the ones between are found by following the headers back.
    pub(crate) newest: SegmentName,
    /// The number of live segments.
    pub(crate) segments: u64,
    /// The least sequence at which the log must end.
    pub(crate) end_seq: u64,
    /// The number of the last group known to be durable.
    pub(crate) end_group: u64,
    /// The offset of that group's end in the newest segment.
    pub(crate) end_offset: u64,
    /// Whether nothing stands behind that group, so that the file may end with it.
    pub(crate) at_rest: bool,
}

/// The bit of the flags that says that the log is at rest.
const AT_REST: u32 = 1;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Layout {
    magic: [u8; 8],
    format_version: U32,
    flags: U32,
    generation: U64,
    oldest_first_seq: U64,
    oldest_epoch: U64,
    newest_first_seq: U64,
    newest_epoch: U64,
    segments: U64,
    end_seq: U64,
    end_group: U64,
    end_offset: U64,
}

impl HeadSlot {
    pub(crate) fn encode(&self, block: &mut [u8; BLOCK_BYTES]) {
        let layout = Layout {
            magic: *MAGIC,
            format_version: FORMAT_VERSION.into(),
            flags: (u32::from(self.at_rest) * AT_REST).into(),
            generation: self.generation.into(),
            oldest_first_seq: self.oldest.first_seq.into(),
            oldest_epoch: self.oldest.epoch.into(),
            newest_first_seq: self.newest.first_seq.into(),
            newest_epoch: self.newest.epoch.into(),
            segments: self.segments.into(),
            end_seq: self.end_seq.into(),
            end_group: self.end_group.into(),
            end_offset: self.end_offset.into(),
        };
        block.fill(0);
        block[..size_of::<Layout>()].copy_from_slice(layout.as_bytes());
        finish_block(block);
    }

    pub(crate) fn decode(block: &[u8; BLOCK_BYTES]) -> Result<Self, Flaw> {
        check_block(block, MAGIC)?;
        let (layout, _) = Layout::ref_from_prefix(block).map_err(|_| Flaw::EndOfFile)?;
        if layout.format_version.get() != FORMAT_VERSION {
            return Err(Flaw::Version(layout.format_version.get()));
        }
        let name = |first_seq: U64, epoch: U64| SegmentName {
            first_seq: first_seq.get(),
            epoch: epoch.get(),
        };
        Ok(Self {
            generation: layout.generation.get(),
            oldest: name(layout.oldest_first_seq, layout.oldest_epoch),
            newest: name(layout.newest_first_seq, layout.newest_epoch),
            segments: layout.segments.get(),
            end_seq: layout.end_seq.get(),
            end_group: layout.end_group.get(),
            end_offset: layout.end_offset.get(),
            at_rest: layout.flags.get() & AT_REST != 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_read_back_as_written_and_damage_is_noticed() {
        let slot = HeadSlot {
            generation: 8,
            oldest: SegmentName { first_seq: 1, epoch: 1 },
            newest: SegmentName { first_seq: 90, epoch: 4 },
            segments: 3,
            end_seq: 99,
            end_group: 12,
            end_offset: 40960,
            at_rest: true,
        };
        let mut block = [0; BLOCK_BYTES];
        slot.encode(&mut block);
        assert_eq!(HeadSlot::decode(&block), Ok(slot));
        block[20] ^= 1;
        assert!(matches!(HeadSlot::decode(&block), Err(Flaw::HeaderChecksum { .. })));
    }
}
