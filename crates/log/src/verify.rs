//! Verifies a whole log by reading it.

use crate::error::ReadError;
use crate::reader::Reader;
use crate::segments::Segments;

/// The counts of a full scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// The oldest sequence.
    pub first_seq: u64,
    /// The last durable sequence.
    pub last_seq: u64,
    /// Live segments.
    pub segments: u64,
    /// Groups with records.
    pub groups: u64,
    /// Records.
    pub records: u64,
    /// The bytes of all records, without lengths and padding.
    pub record_bytes: u64,
}

/// Reads every record that is durable, checking headers, bodies and the chain across segments.
pub fn verify(segments: &Segments) -> Result<Statistics, ReadError> {
    let mut statistics = Statistics {
        first_seq: segments.first_seq(),
        last_seq: segments.durable_seq(),
        segments: segments.count() as u64,
        ..Statistics::default()
    };
    if statistics.last_seq < statistics.first_seq {
        return Ok(statistics);
    }
    let mut reader = Reader::open(segments, statistics.first_seq)?;
    while let Some(group) = reader.next_group()? {
        statistics.groups += 1;
        for (_, record) in group {
            statistics.records += 1;
            statistics.record_bytes += record.len() as u64;
        }
    }
    Ok(statistics)
}
