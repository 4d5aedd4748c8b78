//! A run of event records in memory, framed as in the event log.

use rialto_model::Seq;

/// The length field before every record of a log.
const PREFIX_BYTES: usize = 4;

/// The framed length of a record of `len` bytes: its length field, itself, and padding to eight
/// bytes, as in `docs/formats/log.md`.
#[inline]
pub(crate) const fn frame_bytes(len: usize) -> usize {
    (PREFIX_BYTES + len + 7) & !7
}

/// Consecutive event records, one for each sequence from `first` to `last`.
#[derive(Debug, Default)]
pub(crate) struct Block {
    first: Seq,
    records: u64,
    bytes: Vec<u8>,
}

impl Block {
    /// Fills the block with these records; `bytes` is the body of a group.
    pub(crate) fn fill(&mut self, first: Seq, records: u64, body: &[u8]) {
        self.first = first;
        self.records = records;
        self.bytes.clear();
        self.bytes.extend_from_slice(body);
    }

    pub(crate) fn first(&self) -> Seq {
        self.first
    }

    /// The last sequence; the one before the first if the block is empty.
    pub(crate) fn last(&self) -> Seq {
        Seq(self.first.0 + self.records - 1)
    }

    /// The offset of the frame of `seq`.
    pub(crate) fn offset_of(&self, seq: Seq) -> usize {
        let mut offset = 0;
        for _ in self.first.0..seq.0 {
            offset += frame_len(&self.bytes[offset..]).map_or(0, frame_bytes);
        }
        offset
    }

    /// The record at `offset`, and the offset of the next one.
    #[inline]
    pub(crate) fn record_at(&self, offset: usize) -> Option<(&[u8], usize)> {
        let rest = self.bytes.get(offset..)?;
        let len = frame_len(rest)?;
        Some((rest.get(PREFIX_BYTES..PREFIX_BYTES + len)?, offset + frame_bytes(len)))
    }
}

/// The length of the record of the first frame in `bytes`.
#[inline]
pub(crate) fn frame_len(bytes: &[u8]) -> Option<usize> {
    let prefix = bytes.first_chunk::<PREFIX_BYTES>()?;
    Some(u32::from_le_bytes(*prefix) as usize)
}
