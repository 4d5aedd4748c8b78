//! The proofs in the bytes on disk, read without the code of recovery.
//!
//! Two faults can hide each other: one damages a group and the other the group that proves it to have
//! been synced. What must then be found is what the disk still proves, and this file looks for it.

use super::history::DIR;
use crate::format::{GroupHeader, HeadSlot, SegmentHeader};
use rialto_disk::{BLOCK_BYTES, SimDisk};
use std::path::Path;

/// The readable slot of HEAD with the greatest generation.
fn best_slot(disk: &SimDisk) -> Option<HeadSlot> {
    let bytes = disk.bytes_of(&Path::new(DIR).join("HEAD"))?;
    let slots = bytes.as_chunks::<BLOCK_BYTES>().0;
    let slots = slots.iter().filter_map(|slot| HeadSlot::decode(slot).ok());
    slots.max_by_key(|slot| slot.generation)
}

/// The greatest end that HEAD vouches for.
pub(super) fn vouched_by_head(disk: &SimDisk) -> Option<u64> {
    best_slot(disk).map(|slot| slot.end_seq)
}

/// The greatest sequence that HEAD, or a whole group header anywhere in the newest segment, says to
/// have been durable. Zero when there is nothing to say so.
pub(super) fn proven_on_disk(disk: &SimDisk) -> u64 {
    let Some(slot) = best_slot(disk) else { return 0 };
    let path = Path::new(DIR).join(slot.newest.to_string());
    let bytes = disk.bytes_of(&path).unwrap_or_default();
    let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
    // A segment without a header that can be read is refused.
    let header = blocks.first().and_then(|block| SegmentHeader::decode(block).ok());
    let Some((header, _)) = header else { return slot.end_seq };
    let groups: Vec<GroupHeader> = blocks
        .iter()
        .filter_map(|block| GroupHeader::decode(block).ok())
        .map(|(group, _)| group)
        .filter(|group| group.salt == header.salt && group.epoch == header.name.epoch)
        .collect();
    let proven = groups.iter().map(|group| {
        let known = groups.iter().filter(|durable| durable.number <= group.durable_group);
        let whole = known.map(GroupHeader::last_seq).max().unwrap_or(0);
        let before = group.durable_group + 1 == group.number;
        whole.max(if before { group.first_seq - 1 } else { 0 })
    });
    proven.max().unwrap_or(0).max(slot.end_seq)
}
