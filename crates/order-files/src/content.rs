//! The identity of a content: orders are named after it, so that none is entered twice.

use aws_lc_rs::digest::{SHA256, digest};
use rialto_model::{ClientOrderId, MemberId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The SHA-256 of the content of an order file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContentDigest(pub [u8; 32]);

/// The bytes of the digest in a client order id.
const NAMED_BYTES: usize = 12;

impl ContentDigest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(content: &[u8]) -> ContentDigest {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, content).as_ref());
        ContentDigest(bytes)
    }

    /// The client order id of a row, counted from 1: the first 24 digits of the digest, `-`, and
    /// the row.
    #[must_use]
    pub fn client_order_id(&self, row: u32) -> ClientOrderId {
        let mut text = hex(self.0.get(..NAMED_BYTES).unwrap_or_default());
        text.push('-');
        text.push_str(&row.to_string());
        // At most 24 + 1 + 10 bytes of printable ASCII.
        ClientOrderId::new(text.as_bytes()).unwrap_or_default()
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A content of a member: what two members drop is two contents, even if it is equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContentKey {
    /// The member.
    pub member: MemberId,
    /// The digest.
    pub digest: ContentDigest,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_order_id_is_made_of_content_and_row() {
        let digest = ContentDigest::of(b"abc");
        assert!(digest.to_string().starts_with("ba7816bf8f01cfea414140de5dae2223b003"));
        assert_eq!(digest.client_order_id(7).as_str(), "ba7816bf8f01cfea414140de-7");
        assert_eq!(digest.client_order_id(u32::MAX).len(), 35);
        assert_ne!(ContentDigest::of(b"abd").client_order_id(7), digest.client_order_id(7));
    }
}
