//! Attributions to bytes and back. In the journal, an attribution is before its command, in the
//! same record.

use super::reader::Reader;
use super::writer::Writer;
use super::{ATTRIBUTION_MARK, DecodeError, DecodeFault, VERSION};
use crate::Attribution;

/// Bytes of the longest attribution.
pub const ATTRIBUTION_BYTES_MAX: usize = 144;

/// Writes an attribution at the beginning of `out`, which must be at least
/// [`ATTRIBUTION_BYTES_MAX`] long, and returns how many bytes it takes, a multiple of 8. The command
/// goes behind it.
///
/// # Panics
///
/// If `out` is shorter than [`ATTRIBUTION_BYTES_MAX`].
pub fn encode_attribution(attribution: &Attribution, out: &mut [u8]) -> usize {
    let out: &mut [u8; ATTRIBUTION_BYTES_MAX] =
        out.first_chunk_mut().expect("the caller leaves room for the longest attribution");
    let mut writer = Writer::new(out, 0);
    writer.words([u64::from(ATTRIBUTION_MARK) | (u64::from(VERSION) << 8)]);
    writer.attribution(attribution);
    writer.end()
}

/// The attribution at the beginning of a record of the journal, and the bytes of its command.
/// `None`: the record has only a command.
#[inline]
pub fn decode_attribution(record: &[u8]) -> Result<Option<(Attribution, &[u8])>, DecodeError> {
    if record.first() == Some(&ATTRIBUTION_MARK) { attributed(record).map(Some) } else { Ok(None) }
}

#[cold]
fn attributed(record: &[u8]) -> Result<(Attribution, &[u8]), DecodeError> {
    let mut reader = Reader::new(record);
    reader.u8()?;
    let version = reader.u8()?;
    if version != VERSION {
        return Reader::fault(1, DecodeFault::UnknownVersion(version));
    }
    reader.zeros::<6>()?;
    let attribution = reader.attribution()?;
    Ok((attribution, &record[reader.at()..]))
}
