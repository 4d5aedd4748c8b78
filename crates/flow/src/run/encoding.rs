//! Encoding values behind what is in a buffer.

use crate::Timestamp;
use crate::error::FlowError;
use crate::history::{Kind, Place};
use postcard::ser_flavors::Flavor;
use serde::Serialize;

/// Adds bytes behind what is in a buffer, which stays if the encoding fails half way.
struct Behind<'a>(&'a mut Vec<u8>);

impl Flavor for Behind<'_> {
    type Output = ();

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
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

/// Encodes a value behind what is in a buffer. After an error a part of it may stand there.
pub(crate) fn put(value: &impl Serialize, out: &mut Vec<u8>) -> postcard::Result<()> {
    postcard::serialize_with_flavor(value, Behind(out))
}

/// Encodes a value.
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

/// A few numbers as varints: up to so many bytes of them.
struct Varints<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Varints<N> {
    fn new() -> Self {
        Self { bytes: [0; N], len: 0 }
    }

    /// Adds a number, which takes ten bytes at most.
    fn add(&mut self, mut number: u64) -> &mut Self {
        loop {
            let rest = number >> 7;
            self.bytes[self.len] = (number & 0x7f) as u8 | if rest == 0 { 0 } else { 0x80 };
            self.len += 1;
            number = rest;
            if number == 0 {
                return self;
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Encodes an [`Entry::Finished`](crate::history::Entry::Finished) with an empty output, which ends
/// in the byte of its length. Every step goes here, and the general way costs more
/// than all the rest of recording it.
pub(super) fn put_finished(
    out: &mut Vec<u8>,
    place: Place,
    kind: Kind,
    name: &str,
    at: &EncodedTime,
) {
    let kind = match kind {
        Kind::Step => 0,
        Kind::Wait => 1,
        Kind::Child => 2,
    };
    // The variant and the kind are one byte each.
    let mut head = Varints::<32>::new();
    head.add(0).add(place.branch).add(u64::from(place.number)).add(kind).add(name.len() as u64);
    out.reserve(head.len + name.len() + at.0.len + 1);
    out.extend_from_slice(head.bytes());
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(at.0.bytes());
    out.push(0);
}

/// A time as it stands in entries: all that a run does in one poll happens at the same.
pub(crate) struct EncodedTime(Varints<10>);

impl EncodedTime {
    pub(super) fn new(at: Timestamp) -> Self {
        let mut digits = Varints::new();
        digits.add(at.0);
        Self(digits)
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
    let mut varint = Varints::<10>::new();
    let digits = varint.add(len as u64).bytes();
    out.splice(begin - 1..begin, digits.iter().copied());
    digits.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Entry;

    #[test]
    fn a_finished_step_is_encoded_as_any_other_entry() {
        for (branch, number, at) in
            [(0, 1, 0), (127, 128, 1_700_000_000_000_000_000), (u64::MAX, u32::MAX, u64::MAX)]
        {
            for (kind, name) in [(Kind::Step, "pay"), (Kind::Wait, ""), (Kind::Child, "Straße")] {
                for len in [0, 1, 127, 128, 70_000] {
                    let (place, at) = (Place { branch, number }, Timestamp(at));
                    let output = vec![7; len];
                    let mut encoded = b"before".to_vec();
                    put_finished(&mut encoded, place, kind, name, &EncodedTime::new(at));
                    let begin = encoded.len();
                    encoded.extend_from_slice(&output);
                    let moved = put_length(&mut encoded, begin);
                    assert_eq!(encoded[begin + moved..], output);
                    let mut expected = b"before".to_vec();
                    let entry = Entry::Finished { place, kind, name, at, output: &output };
                    put(&entry, &mut expected).unwrap();
                    assert_eq!(encoded, expected);
                }
            }
        }
    }
}
