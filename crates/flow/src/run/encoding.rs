//! Appends encoded values to a buffer.

use crate::Timestamp;
use crate::error::FlowError;
use crate::history::{EntryPosition, Kind};
use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Appends to a buffer, and restores its contents if the encoding fails.
struct Behind<'a>(&'a mut Vec<u8>);

impl Flavor for Behind<'_> {
    type Output = ();

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        put_bytes(self.0, bytes);
        Ok(())
    }

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Appends an encoded value to a buffer. After an error a part of it may be left.
pub(crate) fn put(value: &impl Serialize, out: &mut Vec<u8>) -> postcard::Result<()> {
    postcard::serialize_with_flavor(value, Behind(out))
}

pub(crate) fn encode(
    name: &str,
    value: &impl Serialize,
    bytes_max: usize,
) -> Result<Vec<u8>, FlowError> {
    let mut encoded = Vec::with_capacity(16);
    put(value, &mut encoded)
        .map_err(|error| FlowError::Codec { name: name.to_owned(), reason: error.to_string() })?;
    if encoded.len() > bytes_max {
        let bytes = encoded.len();
        return Err(FlowError::TooLarge { name: name.to_owned(), bytes, limit: bytes_max });
    }
    Ok(encoded)
}

/// Adds bytes, a few of them one by one: they were just written one by one, and read again all at
/// once they would keep the processor waiting until they have left its buffers.
#[inline]
fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    const FEW: usize = 10;
    if bytes.len() > FEW {
        return out.extend_from_slice(bytes);
    }
    out.reserve(FEW);
    for byte in bytes {
        out.push(*byte);
    }
}

/// Adds a number as a varint, of ten bytes at most.
#[inline]
fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Encodes an [`Entry::Finished`](crate::history::Entry::Finished) with an empty output, which ends
/// in the byte of its length. Every step goes here, and the general way costs more
/// than all the rest of recording it.
pub(super) fn put_finished(
    out: &mut Vec<u8>,
    position: EntryPosition,
    kind: Kind,
    name: &str,
    at: &EncodedTime,
) {
    let kind = match kind {
        Kind::Step => 0,
        Kind::Wait => 1,
        Kind::Child => 2,
    };
    out.reserve(48 + name.len());
    out.push(0);
    put_number(out, position.branch);
    put_number(out, u64::from(position.number));
    out.push(kind);
    put_number(out, name.len() as u64);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(&at.digits[..usize::from(at.len)]);
    out.push(0);
}

/// Encodes an [`Entry::Ended`](crate::history::Entry::Ended) of a run that has completed with an
/// output: most runs do.
pub(super) fn put_completed(out: &mut Vec<u8>, at: &EncodedTime, output: &[u8]) {
    out.reserve(32 + output.len());
    out.push(9);
    out.extend_from_slice(&at.digits[..usize::from(at.len)]);
    out.push(0);
    put_number(out, output.len() as u64);
    out.extend_from_slice(output);
}

/// An encoded time. All entries of one poll have the same time.
pub(crate) struct EncodedTime {
    digits: [u8; 10],
    len: u8,
}

impl EncodedTime {
    pub(super) fn new(at: Timestamp) -> Self {
        let mut encoded = Self { digits: [0; 10], len: 0 };
        let mut rest = at.0;
        for digit in &mut encoded.digits {
            encoded.len += 1;
            *digit = (rest & 0x7f) as u8;
            rest >>= 7;
            if rest == 0 {
                break;
            }
            *digit |= 0x80;
        }
        encoded
    }
}

impl Default for EncodedTime {
    fn default() -> Self {
        Self::new(Timestamp::default())
    }
}

/// Writes the length of everything from `begin` on in front of it, where there is one byte of a
/// length of zero. Returns by how much that has moved it.
pub(super) fn put_length(out: &mut Vec<u8>, begin: usize) -> usize {
    let len = out.len() - begin;
    if let Ok(byte @ 0..=0x7f) = u8::try_from(len) {
        out[begin - 1] = byte;
        return 0;
    }
    let mut digits = Vec::with_capacity(10);
    put_number(&mut digits, len as u64);
    let more = digits.len() - 1;
    out.splice(begin - 1..begin, digits);
    more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Ending, Entry};

    #[test]
    fn the_end_of_a_completed_run_is_encoded_as_any_other_entry() {
        for at in [0, 127, 128, 1_700_000_000_000_000_000, u64::MAX].map(Timestamp) {
            for len in [0, 1, 127, 128, 70_000] {
                let output = vec![7; len];
                let mut encoded = b"before".to_vec();
                put_completed(&mut encoded, &EncodedTime::new(at), &output);
                let mut expected = b"before".to_vec();
                put(&Entry::Ended { at, ending: Ending::Completed(output) }, &mut expected)
                    .unwrap();
                assert_eq!(encoded, expected);
            }
        }
    }

    #[test]
    fn a_finished_step_is_encoded_as_any_other_entry() {
        for (branch, number, at) in
            [(0, 1, 0), (127, 128, 1_700_000_000_000_000_000), (u64::MAX, u32::MAX, u64::MAX)]
        {
            for (kind, name) in [(Kind::Step, "pay"), (Kind::Wait, ""), (Kind::Child, "Straße")] {
                for len in [0, 1, 127, 128, 70_000] {
                    let (position, at) = (EntryPosition { branch, number }, Timestamp(at));
                    let output = vec![7; len];
                    let mut encoded = b"before".to_vec();
                    put_finished(&mut encoded, position, kind, name, &EncodedTime::new(at));
                    let begin = encoded.len();
                    encoded.extend_from_slice(&output);
                    let moved = put_length(&mut encoded, begin);
                    assert_eq!(encoded[begin + moved..], output);
                    let mut expected = b"before".to_vec();
                    let entry = Entry::Finished { position, kind, name, at, output: &output };
                    put(&entry, &mut expected).unwrap();
                    assert_eq!(encoded, expected);
                }
            }
        }
    }
}
