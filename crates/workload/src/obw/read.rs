//! Reads a stream, and refuses one that is not.

use super::{HEADER_BYTES, Header, Kind, MAGIC, RECORD_BYTES, Record, Stream, VERSION};
use crate::digest::FillDigest;
use rialto_model::Side;
use std::io::{self, Read};

/// The most records that are reserved according to the header, so that a wrong header costs no more
/// than this.
const RECORDS_TRUSTED_MAX: u64 = 1 << 20;

/// The error of reading a stream.
#[derive(Debug, thiserror::Error)]
pub enum ObwError {
    /// The bytes are not those of a stream.
    #[error("not a valid OBW1 stream at byte {offset}: {reason}")]
    Malformed {
        /// The offset, in bytes from the start.
        offset: u64,
        /// The fault.
        reason: String,
    },
    /// The bytes could not be read.
    #[error("cannot read the OBW1 stream at byte {offset}")]
    Io {
        /// The offset, in bytes from the start.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
}

fn malformed(offset: u64, reason: impl Into<String>) -> ObwError {
    ObwError::Malformed { offset, reason: reason.into() }
}

/// Reads a stream record by record, without holding it in memory; a buffered source pays.
///
/// After an error, and after the last record, nothing more comes.
#[derive(Debug)]
pub struct Reader<R> {
    source: R,
    header: Header,
    offset: u64,
    left: u64,
    placed: u64,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    pub fn new(mut source: R) -> Result<Reader<R>, ObwError> {
        let mut bytes = [0; HEADER_BYTES];
        let got = fill(&mut source, &mut bytes, 0)?;
        if bytes[..got.min(4)] != MAGIC[..got.min(4)] || got < 4 {
            return Err(malformed(0, "does not begin with OBW1"));
        }
        if got < HEADER_BYTES {
            return Err(malformed(
                got as u64,
                format!("ends within the header, which has {HEADER_BYTES} bytes"),
            ));
        }
        let version = word32(&bytes, 4);
        if version != VERSION {
            return Err(malformed(4, format!("version {version}; only {VERSION} is known")));
        }
        let header = Header {
            seed: word64(&bytes, 8),
            prefill: word64(&bytes, 16),
            operations: word64(&bytes, 24),
            trades: word64(&bytes, 32),
            traded_quantity: word64(&bytes, 40),
            resting: word64(&bytes, 48),
            digest: FillDigest::from_value(word64(&bytes, 56)),
        };
        let left = header.prefill.checked_add(header.operations);
        let left = left.ok_or_else(|| malformed(16, "counts more operations than can be"))?;
        Ok(Reader { source, header, offset: HEADER_BYTES as u64, left, placed: 0, ended: false })
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Records that the header promises and that have not been read.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.left
    }

    fn record(&mut self) -> Result<Option<Record>, ObwError> {
        let mut bytes = [0; RECORD_BYTES];
        let got = fill(&mut self.source, &mut bytes, self.offset)?;
        if self.left == 0 {
            return match got {
                0 => Ok(None),
                _ => Err(malformed(self.offset, "goes on after the last operation of its header")),
            };
        }
        if got < RECORD_BYTES {
            let reason = format!("ends {} operations too early", self.left);
            return Err(malformed(self.offset + got as u64, reason));
        }
        let record = self.decode(&bytes)?;
        self.offset += RECORD_BYTES as u64;
        self.left -= 1;
        Ok(Some(record))
    }

    fn decode(&mut self, bytes: &[u8; RECORD_BYTES]) -> Result<Record, ObwError> {
        let at = |offset: u64, reason: String| malformed(self.offset + offset, reason);
        let kind = match bytes[20] {
            0 => Kind::Passive,
            1 => Kind::Cancel,
            2 => Kind::Crossing,
            other => return Err(at(20, format!("kind {other} is none of 0, 1, 2"))),
        };
        let side = match bytes[21] {
            0 => Side::Buy,
            1 => Side::Sell,
            other => return Err(at(21, format!("side {other} is neither 0 nor 1"))),
        };
        if bytes[22..24] != [0, 0] {
            return Err(at(22, "the last two bytes of an operation are not zero".into()));
        }
        let record = Record {
            id: word64(bytes, 0),
            price: word32(bytes, 8),
            quantity: word32(bytes, 12),
            user: word32(bytes, 16),
            kind,
            side,
        };
        let (id, placed) = (record.id, self.placed);
        if record.quantity == 0 {
            return Err(at(12, format!("order {id} has no quantity")));
        }
        if kind == Kind::Cancel {
            if id == 0 || id > placed {
                return Err(at(0, format!("cancels order {id}, but only {placed} were placed")));
            }
        } else {
            if id != placed + 1 {
                return Err(at(0, format!("places order {id}; the next is {}", placed + 1)));
            }
            if record.price == 0 {
                return Err(at(8, format!("order {id} has no price")));
            }
            self.placed = id;
        }
        Ok(record)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, ObwError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.record().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Reads a whole stream into memory.
pub fn read(source: impl Read) -> Result<Stream, ObwError> {
    let mut reader = Reader::new(source)?;
    let trusted = reader.remaining().min(RECORDS_TRUSTED_MAX);
    let mut records = Vec::with_capacity(trusted as usize);
    for record in &mut reader {
        records.push(record?);
    }
    Ok(Stream { header: *reader.header(), records })
}

/// Reads until the buffer is full or the source ends; returns how much was read.
fn fill(source: &mut impl Read, buffer: &mut [u8], offset: u64) -> Result<usize, ObwError> {
    let mut got = 0;
    while got < buffer.len() {
        match source.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => return Err(ObwError::Io { offset: offset + got as u64, source }),
        }
    }
    Ok(got)
}

fn word32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn word64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

#[cfg(test)]
mod tests {
    use super::super::{generate, write};
    use super::*;

    fn bytes() -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&generate(3, 20, 50), &mut bytes).expect("a vector takes all bytes");
        bytes
    }

    /// Damages the stream and returns what the reader says of it.
    fn refusal(damage: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut bytes = bytes();
        damage(&mut bytes);
        read(bytes.as_slice()).expect_err("a damaged stream is refused").to_string()
    }

    #[test]
    fn gives_back_what_was_written() {
        assert_eq!(read(bytes().as_slice()).expect("a good stream"), generate(3, 20, 50));
    }

    #[test]
    fn refuses_what_is_no_stream_with_offset_and_reason() {
        let record = HEADER_BYTES + 2 * RECORD_BYTES;
        let cases: [(String, &str); 10] = [
            (refusal(|bytes| bytes.truncate(3)), "byte 0: does not begin with OBW1"),
            (refusal(|bytes| bytes[0] = b'X'), "byte 0: does not begin with OBW1"),
            (refusal(|bytes| bytes.truncate(40)), "byte 40: ends within the header"),
            (refusal(|bytes| bytes[4] = 2), "byte 4: version 2; only 1 is known"),
            (refusal(|bytes| bytes[record + 20] = 3), "byte 132: kind 3 is none of 0, 1, 2"),
            (refusal(|bytes| bytes[record + 21] = 9), "byte 133: side 9 is neither 0 nor 1"),
            (refusal(|bytes| bytes[record + 23] = 1), "byte 134: the last two bytes"),
            (refusal(|bytes| bytes[record] = 9), "byte 112: places order 9; the next is 3"),
            (refusal(|bytes| bytes.truncate(record + 5)), "byte 117: ends 68 operations too early"),
            (refusal(|bytes| bytes.push(0)), "byte 1744: goes on after the last operation"),
        ];
        for (got, expected) in cases {
            assert!(got.contains(expected), "{got:?} does not say {expected:?}");
        }
    }

    #[test]
    fn refuses_counts_that_overflow() {
        let said = refusal(|bytes| bytes[16..32].fill(0xff));
        assert!(said.contains("byte 16: counts more operations"), "{said}");
    }

    #[test]
    fn refuses_orders_without_price_or_quantity_and_cancels_of_unknown_orders() {
        let said = refusal(|bytes| bytes[HEADER_BYTES + 8..HEADER_BYTES + 12].fill(0));
        assert!(said.contains("byte 72: order 1 has no price"), "{said}");
        let said = refusal(|bytes| bytes[HEADER_BYTES + 12..HEADER_BYTES + 16].fill(0));
        assert!(said.contains("byte 76: order 1 has no quantity"), "{said}");
        let said = refusal(|bytes| bytes[HEADER_BYTES + 20] = 1);
        assert!(said.contains("byte 64: cancels order 1, but only 0 were placed"), "{said}");
    }

    #[test]
    fn nothing_comes_after_an_error() {
        let mut bytes = bytes();
        bytes[HEADER_BYTES + 20] = 7;
        let mut reader = Reader::new(bytes.as_slice()).expect("the header is good");
        assert!(reader.next().is_some_and(|record| record.is_err()));
        assert!(reader.next().is_none());
    }
}
