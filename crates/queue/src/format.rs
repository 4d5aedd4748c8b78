//! A message as a record of a log.

use rialto_clock::Timestamp;
use rialto_log::RECORD_BYTES_MAX;
use zerocopy::byteorder::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The fixed part in front of every message.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(crate) struct Header {
    /// Nanoseconds since 1970, never less than the message before in the same lane.
    pub(crate) published_at: U64,
    /// Nanoseconds since 1970; 0 for never.
    pub(crate) expires_at: U64,
    /// Nanoseconds since 1970; 0 when it was never delayed.
    pub(crate) deliver_at: U64,
    /// 0 when the producer has no id.
    pub(crate) producer: U64,
    pub(crate) producer_sequence: U64,
    /// The transaction that published it, and its index in it; 0 for none.
    pub(crate) transaction: U64,
    pub(crate) schema_version: U32,
    pub(crate) headers_bytes: U32,
    pub(crate) key_bytes: U16,
    pub(crate) content_type_bytes: U16,
    pub(crate) headers: U16,
    pub(crate) priority: u8,
    pub(crate) reserved: u8,
}

impl Header {
    pub(crate) const EMPTY: Self = Self {
        published_at: U64::ZERO,
        expires_at: U64::ZERO,
        deliver_at: U64::ZERO,
        producer: U64::ZERO,
        producer_sequence: U64::ZERO,
        transaction: U64::ZERO,
        schema_version: U32::ZERO,
        headers_bytes: U32::ZERO,
        key_bytes: U16::ZERO,
        content_type_bytes: U16::ZERO,
        headers: U16::ZERO,
        priority: 0,
        reserved: 0,
    };
}

/// The length of the fixed part.
// format: docs/formats/topic.md
pub(crate) const HEADER_BYTES: usize = 64;

/// The bytes in front of each header's name and value: their lengths.
pub(crate) const HEADER_PREFIX_BYTES: usize = 4;

/// The most bytes of a message, headers included: a record of the control log can hold it together
/// with its destination.
pub const MESSAGE_BYTES_MAX: usize = RECORD_BYTES_MAX - 4160;

/// The most bytes of a key.
pub const KEY_BYTES_MAX: usize = 1024;

/// The most bytes of a content type.
pub const CONTENT_TYPE_BYTES_MAX: usize = 255;

/// The most headers of a message.
pub const HEADERS_MAX: usize = 64;

/// The most bytes of all headers together, names and values and four bytes for each.
pub const HEADERS_BYTES_MAX: usize = 64 << 10;

const _: () = assert!(size_of::<Header>() == HEADER_BYTES);

/// The parts of a record. None of its lengths reaches beyond it.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) header: &'a Header,
    pub(crate) content_type: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) headers: &'a [u8],
    pub(crate) payload: &'a [u8],
}

/// Splits a record; `None` if it is not a message.
#[inline]
pub(crate) fn split(record: &[u8]) -> Option<Parts<'_>> {
    let (header, rest) = Header::ref_from_prefix(record).ok()?;
    let (content_type, rest) = rest.split_at_checked(header.content_type_bytes.get().into())?;
    let (key, rest) = rest.split_at_checked(header.key_bytes.get().into())?;
    let (headers, payload) = rest.split_at_checked(header.headers_bytes.get() as usize)?;
    Some(Parts { header, content_type, key, headers, payload })
}

/// Sets the arrival time and the transaction of a record that is moved.
pub(crate) fn restamp(record: &mut [u8], published_at: Timestamp, transaction: u64) {
    if let Ok((header, _)) = Header::mut_from_prefix(record) {
        header.published_at = published_at.0.into();
        header.transaction = transaction.into();
    }
}

/// The headers of a message, in the order in which they were given.
#[derive(Clone, Debug)]
pub struct Headers<'a> {
    rest: &'a [u8],
}

impl<'a> Headers<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a str, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (lengths, rest) = self.rest.split_first_chunk::<HEADER_PREFIX_BYTES>()?;
        let [n0, n1, v0, v1] = *lengths;
        let (name, rest) = rest.split_at_checked(u16::from_le_bytes([n0, n1]).into())?;
        let (value, rest) = rest.split_at_checked(u16::from_le_bytes([v0, v1]).into())?;
        self.rest = rest;
        Some((std::str::from_utf8(name).ok()?, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::{Publish, Stamp};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_stumble(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(parts) = split(&bytes) {
                let _ = Headers::new(parts.headers).count();
                prop_assert!(parts.payload.len() <= bytes.len());
            }
        }

        #[test]
        fn published_messages_are_read(
            payload in prop::collection::vec(any::<u8>(), 0..200),
            key in prop::collection::vec(any::<u8>(), 0..40),
            content_type in "[a-z/]{0,20}",
            headers in prop::collection::vec(("[a-z]{1,9}", prop::collection::vec(any::<u8>(), 0..9)), 0..5),
        ) {
            let mut message = Publish::new(&payload).key(&key).content_type(&content_type);
            for (name, value) in &headers {
                message = message.header(name, value);
            }
            let stamp = Stamp {
                published_at: Timestamp(1),
                deliver_at: None,
                producer: 2,
                producer_sequence: 3,
            };
            let mut record = vec![0xaa; message.bytes()];
            message.encode(stamp, &mut record);
            let parts = split(&record).expect("a message that was encoded splits");
            prop_assert_eq!(parts.payload, &payload[..]);
            prop_assert_eq!(parts.key, &key[..]);
            prop_assert_eq!(parts.content_type, content_type.as_bytes());
            let read: Vec<_> = Headers::new(parts.headers)
                .map(|(name, value)| (name.to_owned(), value.to_vec()))
                .collect();
            prop_assert_eq!(read, headers);
        }
    }
}
