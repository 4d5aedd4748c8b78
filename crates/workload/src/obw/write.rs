//! Writes a stream.

use super::{HEADER_BYTES, MAGIC, RECORD_BYTES, Record, Stream, VERSION};
use std::io::{self, Write};

/// Writes a stream in small pieces: pass a buffered writer.
pub fn write(stream: &Stream, to: &mut impl Write) -> io::Result<()> {
    let header = &stream.header;
    let mut bytes = [0; HEADER_BYTES];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
    let fields = [
        header.seed,
        header.prefill,
        header.operations,
        header.trades,
        header.traded_quantity,
        header.resting,
        header.digest.value(),
    ];
    for (place, field) in bytes[8..].chunks_exact_mut(8).zip(fields) {
        place.copy_from_slice(&field.to_le_bytes());
    }
    to.write_all(&bytes)?;
    for record in &stream.records {
        to.write_all(&encode(record))?;
    }
    Ok(())
}

fn encode(record: &Record) -> [u8; RECORD_BYTES] {
    let mut bytes = [0; RECORD_BYTES];
    bytes[..8].copy_from_slice(&record.id.to_le_bytes());
    bytes[8..12].copy_from_slice(&record.price.to_le_bytes());
    bytes[12..16].copy_from_slice(&record.quantity.to_le_bytes());
    bytes[16..20].copy_from_slice(&record.user.to_le_bytes());
    bytes[20] = record.kind as u8;
    bytes[21] = record.side as u8;
    bytes
}
