//! Checks that finished segments have their full length, by reading the end of each.

use crate::error::{OpenError, Proof};
use crate::format::{BLOCK, Flaw, GROUP_STORED_BYTES_MAX, GroupHeader};
use crate::segments::Segment;
use rialto_disk::{Access, BLOCK_BYTES, Disk, DiskError};
use std::sync::Arc;

/// Refuses a log of which a segment, other than the newest, was cut short. Oldest first.
pub(crate) fn check(disk: &dyn Disk, live: &[Arc<Segment>]) -> Result<(), OpenError> {
    for pair in live.windows(2) {
        let [segment, next] = pair else { continue };
        let first_seq = next.name().first_seq;
        if let Some(offset) = cut_at(disk, segment, first_seq)? {
            return Err(OpenError::Corrupt {
                file: segment.path.clone(),
                offset,
                flaw: Flaw::EndOfFile,
                proof: Proof::NextSegment { first_seq },
            });
        }
    }
    Ok(())
}

/// The end of the file, if it is before the last group that must be in it.
///
/// A segment has the length it was made with or, after an opening, ends with its last group.
fn cut_at(disk: &dyn Disk, segment: &Segment, next_seq: u64) -> Result<Option<u64>, DiskError> {
    let file = disk.open(&segment.path, Access::Read)?;
    let end = file.len()?;
    if end >= segment.header.segment_bytes {
        return Ok(None);
    }
    let mut block = [0; BLOCK_BYTES];
    let mut at = end;
    while end.is_multiple_of(BLOCK) && at > BLOCK && end - at < GROUP_STORED_BYTES_MAX as u64 {
        at -= BLOCK;
        file.read_full_at(at, &mut block)?;
        let Ok((group, _)) = GroupHeader::decode(&block) else { continue };
        let is_last = group.salt == segment.header.salt && at + group.stored_bytes() == end;
        if is_last {
            return Ok((group.last_seq() + 1 < next_seq).then_some(end));
        }
    }
    Ok(Some(end))
}
