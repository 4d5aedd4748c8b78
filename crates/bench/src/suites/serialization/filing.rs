//! The encoded and decoded message: of the size and shape of Catga's, with other content.
//!
//! Catga's benchmark has a message of two short texts, a number, a time and 1,024 zero bytes. This
//! one has the same kinds of fields with the same sizes, and bytes that are not zero.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rialto_workload::XorShift;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A document that a member files.
#[derive(
    Clone,
    Debug,
    PartialEq,
    Serialize,
    Deserialize,
    rkyv::Archive,
    rkyv::Serialize,
    rkyv::Deserialize,
)]
pub(super) struct Filing {
    /// Eight characters.
    pub(super) reference: String,
    /// Sixteen characters.
    pub(super) title: String,
    pub(super) pages: i32,
    pub(super) filed_at_ns: u64,
    #[serde(with = "content")]
    pub(super) content: Vec<u8>,
}

/// A filing whose texts and bytes are borrowed from the input.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) struct FilingView<'a> {
    pub(super) reference: &'a str,
    pub(super) title: &'a str,
    pub(super) pages: i32,
    pub(super) filed_at_ns: u64,
    pub(super) content: &'a [u8],
}

/// Bytes of content, as in Catga's message.
pub(super) const CONTENT: usize = 1_024;

impl Filing {
    pub(super) fn new() -> Filing {
        let mut random = XorShift::seeded(7);
        Filing {
            reference: "rf-04711".to_string(),
            title: "Statement of May".to_string(),
            pages: 42,
            filed_at_ns: 1_729_036_800_123_456_789,
            content: (0..CONTENT).map(|_| random.next_word() as u8).collect(),
        }
    }

    /// The check of every decoded filing: its number, one byte of its content that differs from
    /// call to call, and the lengths of its texts.
    #[inline]
    pub(super) fn touch(&self, call: u64) -> u64 {
        touch(self.pages, &self.content, self.reference.len() + self.title.len(), call)
    }
}

impl FilingView<'_> {
    #[inline]
    pub(super) fn touch(&self, call: u64) -> u64 {
        touch(self.pages, self.content, self.reference.len() + self.title.len(), call)
    }
}

impl ArchivedFiling {
    #[inline]
    pub(super) fn touch(&self, call: u64) -> u64 {
        let letters = self.reference.len() + self.title.len();
        touch(self.pages.to_native(), &self.content, letters, call)
    }
}

#[inline]
fn touch(pages: i32, content: &[u8], letters: usize, call: u64) -> u64 {
    let byte = content.get(call as usize % CONTENT).copied().unwrap_or_default();
    pages as u64 + u64::from(byte) + letters as u64
}

/// Bytes as base64 in readable formats, as in Catga's JSON, and raw in others.
mod content {
    use super::{Bytes, Deserializer, Engine, STANDARD, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        if to.is_human_readable() {
            to.serialize_str(&STANDARD.encode(bytes))
        } else {
            to.serialize_bytes(bytes)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        if from.is_human_readable() {
            from.deserialize_str(Bytes)
        } else {
            from.deserialize_bytes(Bytes)
        }
    }
}

/// Reads bytes, or the base64 of them.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes, or base64 of them")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        STANDARD.decode(text).map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_of_the_size_of_catgas() {
        let filing = Filing::new();
        let sizes = (filing.reference.len(), filing.title.len(), filing.content.len());
        assert_eq!(sizes, (8, 16, 1_024));
        assert!(filing.content.iter().filter(|byte| **byte == 0).count() < 32);
    }
}
