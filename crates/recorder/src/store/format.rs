//! The format of files of records.

use crate::{Record, RecordId};
use std::path::{Path, PathBuf};

// format: docs/formats/recording.md
const MAGIC: &[u8; 8] = b"RLTRECRD";

// format: docs/formats/recording.md
const VERSION: u32 = 1;

pub(super) const HEADER_BYTES: usize = 24;
/// The bytes before each record.
pub(super) const FRAME_BYTES: usize = 8;

// format: docs/formats/recording.md
const SUFFIX: &str = ".rec";

pub(super) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:016}{SUFFIX}"))
}

/// The number of the file of this name, if it is one of a ring.
pub(super) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX)?;
    let is_number = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten()
}

/// The header of a file that is begun when `last` is the largest number of a record so far.
pub(super) fn header(last: RecordId) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..20].copy_from_slice(&last.0.to_le_bytes());
    let crc = crc32c::crc32c(&header[..20]);
    header[20..].copy_from_slice(&crc.to_le_bytes());
    header
}

/// The fault of a file that cannot be read at all.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormatFault {
    /// It is not a recording, or its header is damaged.
    NoRecording,
    /// Another version wrote it.
    Version(u32),
}

/// Reads a header: the largest number of a record before this file.
pub(super) fn read_header(bytes: &[u8]) -> Result<RecordId, FormatFault> {
    let header = bytes.first_chunk::<HEADER_BYTES>().ok_or(FormatFault::NoRecording)?;
    if !header.starts_with(MAGIC) || crc32c::crc32c(&header[..20]) != u32_at(header, 20) {
        return Err(FormatFault::NoRecording);
    }
    match u32_at(header, 8) {
        VERSION => {
            Ok(RecordId(u64::from(u32_at(header, 12)) | u64::from(u32_at(header, 16)) << 32))
        }
        version => Err(FormatFault::Version(version)),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

pub(super) fn encode(record: &Record, into: &mut Vec<u8>) -> Result<(), postcard::Error> {
    let begin = into.len();
    into.extend_from_slice(&[0; FRAME_BYTES]);
    let mut written = postcard::to_extend(record, std::mem::take(into))?;
    // A record is bounded far below 4 GiB.
    let length = (written.len() - begin - FRAME_BYTES) as u32;
    written[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
    let crc = crc_of(length, &written[begin + FRAME_BYTES..]);
    written[begin + 4..begin + 8].copy_from_slice(&crc.to_le_bytes());
    *into = written;
    Ok(())
}

/// The first record, and its bytes with the frame; `None` if it is incomplete.
pub(super) fn decode(bytes: &[u8]) -> Option<(Record, usize)> {
    let frame = bytes.first_chunk::<FRAME_BYTES>()?;
    let length = u32_at(frame, 0);
    let end = FRAME_BYTES.checked_add(length as usize)?;
    let body = bytes.get(FRAME_BYTES..end)?;
    if length == 0 || crc_of(length, body) != u32_at(frame, 4) {
        return None;
    }
    let record: Record = postcard::from_bytes(body).ok()?;
    record.is_sound().then_some((record, end))
}

/// Covers the length too, so that zeros are no record.
fn crc_of(length: u32, body: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&length.to_le_bytes()), body)
}
