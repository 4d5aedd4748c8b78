//! Signatures of requests, and the headers that carry them.
//!
//! The gateway and the client share this code. `docs/signing.md` has it in words, with a worked
//! example.

use aws_lc_rs::{digest, hmac};
use faster_hex::{hex_decode, hex_string};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};
use zeroize::Zeroize;

/// The header with the key's id.
pub const HEADER_KEY: &str = "x-rialto-key";
/// The header with the time of signing, in microseconds since 1970-01-01 00:00 UTC.
pub const HEADER_TIMESTAMP: &str = "x-rialto-timestamp";
/// The header with the nonce, which distinguishes equal requests of one microsecond; may be left
/// out.
pub const HEADER_NONCE: &str = "x-rialto-nonce";
/// The header with the SHA-256 of the body, in lower-case hexadecimal; left out without a body.
pub const HEADER_BODY_SHA256: &str = "x-rialto-body-sha256";
/// The header with the durability of the answer; left out for the venue's default.
pub const HEADER_DURABILITY: &str = "x-rialto-durability";
/// The header with the signature.
pub const HEADER_SIGNATURE: &str = "x-rialto-signature";
/// The header of an answer with packed messages that holds the next position to read from.
pub const HEADER_NEXT: &str = "x-rialto-next";
/// The header of an answer with packed messages that counts the messages left out for a later one
/// of their key.
pub const HEADER_CONFLATED: &str = "x-rialto-conflated";

/// The prefix of a signature of scheme 2. A signature of scheme 1 has hexadecimal digits only.
const SCHEME_2: &str = "v2:";
/// The first line of the text that scheme 2 signs. The text of scheme 1 begins with a digit, so
/// that no text belongs to both.
const SCHEME_2_LINE: &str = "rialto-2";
/// The SHA-256 of no bytes, in hexadecimal.
pub const EMPTY_SHA256: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    hex_string(bytes)
}

/// Exactly `N` bytes from lower-case hexadecimal digits, or nothing. One spelling only, so that one
/// signature cannot be sent in two forms.
#[must_use]
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    // Digits and lower-case letters have this bit, upper-case letters do not.
    let is_lower = text.bytes().fold(0x20, |all, byte| all & byte) != 0;
    let mut bytes = [0; N];
    if text.len() != 2 * N || !is_lower {
        return None;
    }
    hex_decode(text.as_bytes(), &mut bytes).ok()?;
    Some(bytes)
}

/// The SHA-256 of a body, as bytes.
#[must_use]
pub fn sha256(body: &[u8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest::digest(&digest::SHA256, body).as_ref());
    bytes
}

/// The SHA-256 of a body that comes in pieces.
#[derive(Clone)]
pub struct BodyHash(digest::Context);

impl Default for BodyHash {
    fn default() -> Self {
        BodyHash(digest::Context::new(&digest::SHA256))
    }
}

impl BodyHash {
    /// Adds a piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The SHA-256 of all pieces.
    #[must_use]
    pub fn finish(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.0.finish().as_ref());
        bytes
    }
}

/// Microseconds since 1970-01-01 00:00 UTC by this machine's clock.
#[must_use]
pub fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The hexadecimal signature of scheme 2 in the text of a header or field.
#[must_use]
pub fn scheme_2(signature: &str) -> Option<&str> {
    signature.strip_prefix(SCHEME_2)
}

/// The secret of an API key: 32 random bytes, shown once as 64 hexadecimal digits. Its memory is
/// overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; 32]);

impl Secret {
    /// A secret of these bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Secret {
        Secret(bytes)
    }

    /// Reads 64 lower-case hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Secret> {
        from_hex(text).map(Secret)
    }

    /// The secret as 64 hexadecimal digits: for showing it once, and for nothing else.
    #[must_use]
    pub fn reveal(&self) -> String {
        to_hex(&self.0)
    }

    /// The bytes, to sign with.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Secret::from_hex(&text).ok_or_else(|| de::Error::custom("64 hex digits expected"))
    }
}

/// The parts of a request that every scheme signs. No part may hold a line feed, because line feeds
/// separate them.
#[derive(Clone, Copy, Debug)]
pub struct SignedParts<'a> {
    /// Microseconds since 1970, as text.
    pub timestamp: &'a str,
    /// The nonce, or nothing.
    pub nonce: &'a str,
    /// Such as `POST`.
    pub method: &'a str,
    /// The path with the query.
    pub path: &'a str,
    /// The parts that only this scheme signs.
    pub rest: SignedRest<'a>,
}

/// The parts that a scheme signs in addition.
#[derive(Clone, Copy, Debug)]
pub enum SignedRest<'a> {
    /// Scheme 1: the body itself. The durability that a header asks for is not signed.
    Body(&'a [u8]),
    /// Scheme 2: the durability header and the hash of the body.
    Head {
        /// The durability that a header asks for, or nothing.
        durability: &'a str,
        /// The hash of the body, in hexadecimal.
        body_sha256: &'a str,
    },
}

/// A secret that is ready to sign: the work that depends on it alone is done once for a key and
/// not for each request.
#[derive(Clone)]
pub struct Signer(hmac::Key);

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer(…)")
    }
}

impl Signer {
    /// Signs with this secret.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> Signer {
        Signer(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// Whether the signature is valid. The comparison takes constant time.
    #[must_use]
    pub fn verifies(&self, signed: SignedParts<'_>, signature: &[u8; 32]) -> bool {
        let tag = self.over(signed);
        aws_lc_rs::constant_time::verify_slices_are_equal(tag.as_ref(), signature).is_ok()
    }

    /// The signature.
    #[must_use]
    pub fn sign(&self, signed: SignedParts<'_>) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.over(signed).as_ref());
        bytes
    }

    fn over(&self, signed: SignedParts<'_>) -> hmac::Tag {
        let mut text = Vec::with_capacity(256);
        let mut line = |part: &str| {
            text.extend_from_slice(part.as_bytes());
            text.push(b'\n');
        };
        if let SignedRest::Head { .. } = signed.rest {
            line(SCHEME_2_LINE);
        }
        for part in [signed.timestamp, signed.nonce, signed.method, signed.path] {
            line(part);
        }
        if let SignedRest::Head { durability, body_sha256 } = signed.rest {
            line(durability);
            line(body_sha256);
        }
        let mut mac = hmac::Context::with_key(&self.0);
        mac.update(&text);
        if let SignedRest::Body(body) = signed.rest {
            mac.update(body);
        }
        mac.sign()
    }
}

/// A request that is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct SignRequest<'a> {
    /// When it is signed, in microseconds since 1970.
    pub timestamp_us: u64,
    /// The nonce, which distinguishes equal requests of one microsecond: at most 64 printable ASCII
    /// characters, or empty.
    pub nonce: &'a str,
    /// Such as `POST`.
    pub method: &'a str,
    /// The path with the query, as it is sent.
    pub path: &'a str,
    /// The header `x-rialto-durability`, or empty.
    pub durability: &'a str,
    /// The body, or nothing.
    pub body: &'a [u8],
}

/// A request to sign whose body is not in memory.
#[derive(Clone, Copy, Debug)]
pub struct SignHead<'a> {
    /// The time in microseconds since 1970.
    pub timestamp_us: u64,
    /// A text that distinguishes equal requests of one microsecond; empty for none.
    pub nonce: &'a str,
    /// The HTTP method.
    pub method: &'a str,
    /// The path with the query, as it is sent.
    pub path: &'a str,
    /// The durability level that it asks for; empty for none.
    pub durability: &'a str,
    /// The SHA-256 of the body.
    pub body_sha256: [u8; 32],
}

impl SignHead<'_> {
    /// The signature, as [`SignRequest::sign`] makes it.
    #[must_use]
    pub fn sign(&self, secret: &[u8; 32]) -> String {
        let SignHead { nonce, method, path, durability, .. } = *self;
        let timestamp = self.timestamp_us.to_string();
        let body_sha256 = &to_hex(&self.body_sha256);
        let rest = SignedRest::Head { durability, body_sha256 };
        let signed = SignedParts { timestamp: &timestamp, nonce, method, path, rest };
        format!("{SCHEME_2}{}", to_hex(&Signer::new(secret).sign(signed)))
    }

    /// The headers that make it a signed request.
    #[must_use]
    pub fn headers(&self, key: &str, secret: &[u8; 32]) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            (HEADER_KEY, key.to_owned()),
            (HEADER_TIMESTAMP, self.timestamp_us.to_string()),
            (HEADER_SIGNATURE, self.sign(secret)),
        ];
        if !self.nonce.is_empty() {
            headers.push((HEADER_NONCE, self.nonce.to_owned()));
        }
        let body_sha256 = to_hex(&self.body_sha256);
        if body_sha256 != EMPTY_SHA256 {
            headers.push((HEADER_BODY_SHA256, body_sha256));
        }
        if !self.durability.is_empty() {
            headers.push((HEADER_DURABILITY, self.durability.to_owned()));
        }
        headers
    }
}

impl SignRequest<'_> {
    /// The signature of scheme 2, as its header holds it: `v2:` and in lower-case hexadecimal the
    /// HMAC-SHA256 with the key's secret over `rialto-2`, timestamp, nonce, method, path with query,
    /// durability and the SHA-256 of the body, each followed by a line feed.
    ///
    /// ```
    /// let request = rialto_api::sign::SignRequest {
    ///     timestamp_us: 1_760_000_000_000_000,
    ///     nonce: "",
    ///     method: "POST",
    ///     path: "/v1/orders",
    ///     durability: "",
    ///     body: br#"{"instrument":"BTC-USD"}"#,
    /// };
    /// assert!(request.sign(&[0x0b; 32]).starts_with("v2:"));
    /// ```
    #[must_use]
    pub fn sign(&self, secret: &[u8; 32]) -> String {
        self.head().sign(secret)
    }

    /// The headers that make it a signed request, the durability's included if it asks for one.
    #[must_use]
    pub fn headers(&self, key: &str, secret: &[u8; 32]) -> Vec<(&'static str, String)> {
        self.head().headers(key, secret)
    }

    fn head(&self) -> SignHead<'_> {
        let SignRequest { timestamp_us, nonce, method, path, durability, body } = *self;
        SignHead { timestamp_us, nonce, method, path, durability, body_sha256: sha256(body) }
    }

    /// The signature of scheme 1, which this version still accepts: it covers the body instead of its
    /// hash, and no durability.
    #[must_use]
    pub fn sign_scheme_1(&self, secret: &[u8; 32]) -> String {
        let SignRequest { nonce, method, path, body, .. } = *self;
        let timestamp = self.timestamp_us.to_string();
        let rest = SignedRest::Body(body);
        let signed = SignedParts { timestamp: &timestamp, nonce, method, path, rest };
        to_hex(&Signer::new(secret).sign(signed))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// The worked examples of docs/signing.md, which were also checked with openssl.
    #[test]
    fn the_documented_examples_are_right() {
        let text = include_str!("../../../docs/signing.md");
        let after = |label: &str| {
            let rest = text.split_once(label).expect(label).1;
            rest.split('`').nth(1).expect("a value in backticks")
        };
        let secret: [u8; 32] = from_hex(after("| secret |")).unwrap();
        let request = SignRequest {
            timestamp_us: after("| timestamp |").parse().unwrap(),
            nonce: after("| nonce |"),
            method: after("| method |"),
            path: after("| path |"),
            durability: after("| durability |"),
            body: after("| body |").as_bytes(),
        };
        assert_eq!(to_hex(&sha256(request.body)), after("| SHA-256 of the body |"));
        assert_eq!(request.sign(&secret), after("| signature |"));
        assert_eq!(request.sign_scheme_1(&secret), after("| signature of scheme 1 |"));
        assert_eq!(to_hex(&sha256(b"")), EMPTY_SHA256);
    }

    #[test]
    fn a_signature_binds_every_part() {
        let signer = Signer::new(&[7; 32]);
        let rests =
            [SignedRest::Body(b"b"), SignedRest::Head { durability: "synced", body_sha256: "ab" }];
        for rest in rests {
            let signed =
                SignedParts { timestamp: "1", nonce: "2", method: "GET", path: "/a", rest };
            let signature = signer.sign(signed);
            assert!(signer.verifies(signed, &signature));
            let others = [
                SignedParts { timestamp: "2", ..signed },
                SignedParts { nonce: "", ..signed },
                SignedParts { method: "PUT", ..signed },
                SignedParts { path: "/a?b=c", ..signed },
                SignedParts { path: "/", rest: SignedRest::Body(b"ab"), ..signed },
                SignedParts { rest: SignedRest::Body(b""), ..signed },
                SignedParts {
                    rest: SignedRest::Head { durability: "", body_sha256: "ab" },
                    ..signed
                },
                SignedParts {
                    rest: SignedRest::Head { durability: "synced", body_sha256: "" },
                    ..signed
                },
            ];
            for other in others {
                assert!(!signer.verifies(other, &signature), "{other:?}");
            }
            assert!(!Signer::new(&[8; 32]).verifies(signed, &signature));
        }
    }

    #[test]
    fn hex_goes_both_ways_and_has_one_spelling() {
        let bytes: [u8; 256] = std::array::from_fn(|at| at as u8);
        let text = to_hex(&bytes);
        assert_eq!(from_hex(&text), Some(bytes));
        assert_eq!(from_hex::<2>("0a1"), None);
        assert_eq!(from_hex::<2>("0A1b"), None);
        assert_eq!(from_hex::<2>("0a1g"), None);
        assert_eq!(from_hex::<2>("0a1b"), Some([10, 27]));
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        let secret = Secret::new([1; 32]);
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(Secret::from_hex(&secret.reveal()), Some(secret));
    }
}
