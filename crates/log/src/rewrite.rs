//! Rewrites the tail of a segment.

use crate::cursor::Cursor;
use crate::error::{OpenError, ReadError};
use crate::format::GROUP_STORED_BYTES_MAX;
use crate::segments::{Mark, Segment, Segments};
use rialto_disk::{AlignedBuf, File};

/// The bytes that are written at once: at least the longest group.
const WINDOW_BYTES: usize = GROUP_STORED_BYTES_MAX;

/// Writes the groups of the newest segment from `mark` to `end` once more, byte for byte. They are
/// checked again: what this reading returns goes over what the one before has found to be whole.
pub(crate) fn write_again(
    segments: &Segments,
    newest: &Segment,
    mark: &Mark,
    end: u64,
    file: &dyn File,
) -> Result<(), OpenError> {
    let mut cursor = Cursor::at_mark(segments.disk(), newest, mark, segments.keys())?;
    let mut window = AlignedBuf::zeroed(WINDOW_BYTES.min((end - mark.offset) as usize));
    let (mut at, mut filled) = (mark.offset, 0);
    while cursor.offset < end {
        let (header, checksum) = cursor
            .group_read_twice()?
            .map_err(|flaw| ReadError::at(&newest.path, cursor.offset, flaw))?;
        let bytes = header.stored_bytes() as usize;
        if filled + bytes > window.len() {
            file.write_all_at(at, &window[..filled])?;
            (at, filled) = (cursor.offset, 0);
        }
        let stored = cursor.stored(&header);
        let (group, padding) = window[filled..filled + bytes].split_at_mut(stored.len());
        group.copy_from_slice(stored);
        padding.fill(0);
        filled += bytes;
        cursor.advance(newest, &header, checksum);
    }
    file.write_all_at(at, &window[..filled])?;
    Ok(())
}
