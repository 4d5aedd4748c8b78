//! The end of a segment, and whether the bytes after it may be cut.

use crate::cursor::Cursor;
use crate::error::{OpenError, Proof};
use crate::format::{BLOCK, Flaw, Ground, GroupHeader, HeadSlot};
use crate::sealing::KeyRing;
use crate::segments::{Mark, Segment};
use rialto_disk::{AlignedBuf, BLOCK_BYTES, Disk, DiskError, File};
use std::collections::VecDeque;

/// The bytes that are read at once when blocks are searched.
const SCAN_BYTES: u64 = 1 << 20;

/// The end of a segment.
pub(crate) struct Tail {
    pub(crate) last_seq: u64,
    /// The offset at which the next group would be.
    pub(crate) offset: u64,
    pub(crate) last_group: u64,
    /// The first group that nothing proves to have been synced, if there is one.
    pub(crate) unproven_from: Option<Mark>,
    /// The checksum of the group that holds the last record; nothing when there is no record.
    pub(crate) record_checksum: Option<u32>,
    pub(crate) cut: Option<CutBytes>,
}

/// The bytes after the tail that are cut.
pub(crate) struct CutBytes {
    pub(crate) bytes: u64,
    pub(crate) flaw: Flaw,
    pub(crate) unsynced_groups: u64,
}

/// Finds the tail of the newest segment. `trusting` skips the proofs against a cut; only a test that
/// shows what they are for sets it.
pub(crate) fn find(
    disk: &dyn Disk,
    segment: &Segment,
    head: &HeadSlot,
    keys: &KeyRing,
    trusting: bool,
) -> Result<Tail, OpenError> {
    let mut cursor = Cursor::at_start(disk, segment, keys)?;
    let mut record_checksum = None;
    let mut proven = head.end_group;
    let mut unproven = VecDeque::new();
    let flaw = loop {
        match cursor.group_read_twice()? {
            Ok((header, checksum)) => {
                if header.records > 0 {
                    record_checksum = Some(checksum);
                }
                proven = proven.max(header.durable_group);
                let mark = Mark { offset: cursor.offset, chain: cursor.chain.clone() };
                unproven.push_back((header.number, mark));
                while unproven.front().is_some_and(|(number, _)| *number <= proven) {
                    unproven.pop_front();
                }
                cursor.advance(segment, &header, checksum);
            }
            Err(flaw) => break flaw,
        }
    };
    let offset = cursor.offset;
    let last_seq = cursor.chain.next_seq - 1;
    let broken = cursor.chain.next_group;
    let corrupt = |flaw: &Flaw, proof| OpenError::Corrupt {
        file: segment.path.clone(),
        offset,
        flaw: flaw.clone(),
        proof,
    };

    if let Flaw::UnknownKey { key } = flaw {
        return Err(OpenError::UnknownKey { file: segment.path.clone(), offset, key });
    }
    if flaw.is_of_a_whole_group() {
        return Err(corrupt(&flaw, Proof::Whole));
    }
    let behind = look_behind(cursor.file(), segment, offset, broken)?;
    if !trusting {
        // A group of a codec that is unknown here is whole, so it must not be cut; unless it is none
        // of this segment, but a record of an earlier one that looks like a group.
        if let Flaw::Codec { .. } = flaw
            && is_of(segment, broken, cursor.file(), offset)?
        {
            return Err(OpenError::Unsupported { file: segment.path.clone(), offset, flaw });
        }
        if let Some(proof) = behind.proof {
            return Err(corrupt(&flaw, proof));
        }
        if head.end_group >= broken || head.end_seq > last_seq {
            let proof = Proof::Head { seq: head.end_seq, group: head.end_group };
            return Err(corrupt(&flaw, proof));
        }
        let (expected, got) = (segment.header.segment_bytes, cursor.file().len()?);
        // HEAD is durable before a file is cut to the end that it names.
        let is_rested = head.at_rest && (offset..expected).contains(&got);
        if got != expected && !is_rested {
            return Err(corrupt(&Flaw::FileLength { expected, got }, Proof::Segment));
        }
    }
    let cut = (behind.bytes > 0).then_some(CutBytes {
        bytes: behind.bytes,
        flaw,
        unsynced_groups: behind.unsynced_groups,
    });
    let unproven_from = unproven.pop_front().map(|(_, mark)| mark);
    let last_group = broken - 1;
    Ok(Tail { last_seq, offset, last_group, unproven_from, record_checksum, cut })
}

/// Whether a header that is whole says that it is that of this group of the segment.
fn is_of(segment: &Segment, number: u64, file: &dyn File, offset: u64) -> Result<bool, DiskError> {
    let mut block = [0; BLOCK_BYTES];
    file.read_full_at(offset, &mut block)?;
    let identity = (segment.header.salt, segment.name().epoch, number);
    Ok(GroupHeader::identity(&block) == Some(identity))
}

/// What follows the first break of a segment.
struct Behind {
    /// From the break to the end of the last block that is not all zeros; in a file that was used
    /// before, of the last group that is of this segment.
    bytes: u64,
    /// Groups of this segment that were written before the broken one had been synced.
    unsynced_groups: u64,
    /// A group that was written after the broken one had been synced.
    proof: Option<Proof>,
}

fn look_behind(
    file: &dyn File,
    segment: &Segment,
    offset: u64,
    broken: u64,
) -> Result<Behind, DiskError> {
    let mut behind = Behind { bytes: 0, unsynced_groups: 0, proof: None };
    let is_used = segment.header.ground == Ground::Used;
    for_each_block(file, offset, |at, block| {
        if is_zero(block) {
            return;
        }
        let decoded = GroupHeader::decode(block);
        let ours = decoded.as_ref().ok().map(|(group, _)| group).filter(|group| {
            group.salt == segment.header.salt && group.epoch == segment.name().epoch
        });
        // In a file that was used before, only what is of this segment without doubt was stored in it:
        // the groups that stand behind its own have lower numbers than theirs, or another salt.
        let end = match ours.filter(|group| group.number >= broken) {
            Some(group) if is_used => at + group.stored_bytes(),
            None if is_used && !(at == offset && is_torn(segment, broken, &decoded, block)) => 0,
            _ => at + BLOCK,
        };
        behind.bytes = behind.bytes.max(end.saturating_sub(offset));
        let Some(group) = ours.filter(|group| group.number > broken) else { return };
        if group.durable_group >= broken {
            let later = Proof::LaterGroup { number: group.number, offset: at };
            behind.proof.get_or_insert(later);
        } else {
            behind.unsynced_groups += 1;
        }
    })?;
    Ok(behind)
}

/// Whether a block that holds no whole header begins as the group did that should stand there.
fn is_torn(
    segment: &Segment,
    number: u64,
    decoded: &Result<(GroupHeader, u32), Flaw>,
    block: &[u8],
) -> bool {
    let identity = (segment.header.salt, segment.name().epoch, number);
    matches!(decoded, Err(Flaw::HeaderChecksum { .. }))
        || GroupHeader::identity(block) == Some(identity)
}

fn is_zero(block: &[u8]) -> bool {
    let (words, rest) = block.as_chunks::<16>();
    words.iter().all(|word| u128::from_ne_bytes(*word) == 0) && rest.iter().all(|byte| *byte == 0)
}

/// Shows every block from `from` to the end of the file; the last one may be short.
pub(crate) fn for_each_block(
    file: &dyn File,
    from: u64,
    mut show: impl FnMut(u64, &[u8]),
) -> Result<(), DiskError> {
    let left = file.len()?.saturating_sub(from);
    let mut window = AlignedBuf::zeroed(left.clamp(1, SCAN_BYTES) as usize);
    let mut at = from;
    loop {
        let read = file.read_full_at(at, &mut window)?;
        for (nth, block) in window[..read].chunks(BLOCK_BYTES).enumerate() {
            show(at + nth as u64 * BLOCK, block);
        }
        if read < window.len() {
            return Ok(());
        }
        at += read as u64;
    }
}
