//! The signature of a request.

use super::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// The header with the key's id.
pub const HEADER_KEY: &str = "x-rialto-key";
/// The header with the time of signing, in microseconds since 1970-01-01 00:00 UTC.
pub const HEADER_TIMESTAMP: &str = "x-rialto-timestamp";
/// The header with what tells apart two like requests of one microsecond; may be left out.
pub const HEADER_NONCE: &str = "x-rialto-nonce";
/// The header with the SHA-256 of the body, in lower-case hexadecimal; left out without a body.
pub const HEADER_BODY_SHA256: &str = "x-rialto-body-sha256";
/// The header with the durability that an answer is to have; left out for the venue's.
pub const HEADER_DURABILITY: &str = "x-rialto-durability";
/// The header with the signature.
pub const HEADER_SIGNATURE: &str = "x-rialto-signature";

/// How a signature of scheme 2 begins in its header. One of scheme 1 is hexadecimal digits alone.
const SCHEME_2: &str = "v2:";
/// The first line of what scheme 2 signs. What scheme 1 signs begins with a digit, so that no text
/// is one of both.
const SCHEME_2_LINE: &str = "rialto-2";
/// The SHA-256 of no bytes, in hexadecimal.
pub(super) const EMPTY_SHA256: &str =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// What is signed of a request whatever the scheme. No part may hold a line feed, because line feeds
/// separate them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signed<'a> {
    pub(super) timestamp: &'a str,
    pub(super) nonce: &'a str,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) rest: Rest<'a>,
}

/// What else is signed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rest<'a> {
    /// Scheme 1: the body itself. The durability that a header asks for is not signed.
    Body(&'a [u8]),
    /// Scheme 2: what stands in the head. The hash is in hexadecimal.
    Head { durability: &'a str, body_sha256: &'a str },
}

/// A secret that is ready to sign: the work that depends on it alone is done once for a key and
/// not for each request.
#[derive(Clone)]
pub(super) struct Signer(Hmac<Sha256>);

impl Signer {
    pub(super) fn new(secret: &[u8; 32]) -> Signer {
        Signer(Hmac::new_from_slice(secret).expect("HMAC takes a key of any length"))
    }

    fn over(&self, signed: Signed<'_>) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        let mut line = |text: &str| {
            mac.update(text.as_bytes());
            mac.update(b"\n");
        };
        if let Rest::Head { .. } = signed.rest {
            line(SCHEME_2_LINE);
        }
        for part in [signed.timestamp, signed.nonce, signed.method, signed.path] {
            line(part);
        }
        match signed.rest {
            Rest::Head { durability, body_sha256 } => {
                line(durability);
                line(body_sha256);
            }
            Rest::Body(body) => mac.update(body),
        }
        mac
    }

    /// Whether this is the signature of that, told in constant time.
    pub(super) fn verifies(&self, signed: Signed<'_>, signature: &[u8; 32]) -> bool {
        self.over(signed).verify_slice(signature).is_ok()
    }

    fn sign(&self, signed: Signed<'_>) -> [u8; 32] {
        self.over(signed).finalize().into_bytes().into()
    }
}

/// The SHA-256 of a body, in the bytes that its header spells.
pub(super) fn sha256(body: &[u8]) -> [u8; 32] {
    Sha256::digest(body).into()
}

/// The signature of scheme 2 in what a header or a field says, in hexadecimal.
pub(super) fn scheme_2(signature: &str) -> Option<&str> {
    signature.strip_prefix(SCHEME_2)
}

/// A request that is to be signed.
#[derive(Clone, Copy, Debug)]
pub struct SignRequest<'a> {
    /// When it is signed, in microseconds since 1970.
    pub timestamp_us: u64,
    /// Tells apart two like requests of one microsecond: at most 64 printable ASCII characters, or
    /// nothing.
    pub nonce: &'a str,
    /// Such as `POST`.
    pub method: &'a str,
    /// The path with the query, as it is sent.
    pub path: &'a str,
    /// What the header `x-rialto-durability` says, or nothing.
    pub durability: &'a str,
    /// The body, or nothing.
    pub body: &'a [u8],
}

impl SignRequest<'_> {
    /// The signature of scheme 2, as its header holds it: `v2:` and in lower-case hexadecimal the
    /// HMAC-SHA256 with the key's secret over `rialto-2`, timestamp, nonce, method, path with query,
    /// durability and the SHA-256 of the body, each followed by a line feed.
    ///
    /// ```
    /// let request = rialto_gateway::SignRequest {
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
        let SignRequest { nonce, method, path, durability, body, .. } = *self;
        let timestamp = self.timestamp_us.to_string();
        let body_sha256 = &hex::encode(&sha256(body));
        let rest = Rest::Head { durability, body_sha256 };
        let signed = Signed { timestamp: &timestamp, nonce, method, path, rest };
        format!("{SCHEME_2}{}", hex::encode(&Signer::new(secret).sign(signed)))
    }

    /// The headers that make it a signed request, the durability's included if it asks for one.
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
        if !self.body.is_empty() {
            headers.push((HEADER_BODY_SHA256, hex::encode(&sha256(self.body))));
        }
        if !self.durability.is_empty() {
            headers.push((HEADER_DURABILITY, self.durability.to_owned()));
        }
        headers
    }

    /// The signature of scheme 1, which this version still accepts: it covers the body instead of its
    /// hash, and no durability.
    #[must_use]
    pub fn sign_scheme_1(&self, secret: &[u8; 32]) -> String {
        let SignRequest { nonce, method, path, body, .. } = *self;
        let timestamp = self.timestamp_us.to_string();
        let signed = Signed { timestamp: &timestamp, nonce, method, path, rest: Rest::Body(body) };
        hex::encode(&Signer::new(secret).sign(signed))
    }
}

/// Microseconds since 1970-01-01 00:00 UTC by this machine's clock.
#[must_use]
pub fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked examples of docs/api.md, which were also checked with openssl.
    #[test]
    fn the_documented_examples_are_right() {
        let text = include_str!("../../../../docs/api.md");
        let after = |label: &str| {
            let rest = text.split_once(label).expect(label).1;
            rest.split('`').nth(1).expect("a value in backticks")
        };
        let secret: [u8; 32] = hex::decode(after("| secret |")).unwrap();
        let request = SignRequest {
            timestamp_us: after("| timestamp |").parse().unwrap(),
            nonce: after("| nonce |"),
            method: after("| method |"),
            path: after("| path |"),
            durability: after("| durability |"),
            body: after("| body |").as_bytes(),
        };
        assert_eq!(hex::encode(&sha256(request.body)), after("| SHA-256 of the body |"));
        assert_eq!(request.sign(&secret), after("| signature |"));
        assert_eq!(request.sign_scheme_1(&secret), after("| signature of scheme 1 |"));
        assert_eq!(hex::encode(&sha256(b"")), EMPTY_SHA256);
    }

    #[test]
    fn a_signature_binds_every_part() {
        let signer = Signer::new(&[7; 32]);
        for rest in [Rest::Body(b"b"), Rest::Head { durability: "synced", body_sha256: "ab" }] {
            let signed = Signed { timestamp: "1", nonce: "2", method: "GET", path: "/a", rest };
            let signature = signer.sign(signed);
            assert!(signer.verifies(signed, &signature));
            let others = [
                Signed { timestamp: "2", ..signed },
                Signed { nonce: "", ..signed },
                Signed { method: "PUT", ..signed },
                Signed { path: "/a?b=c", ..signed },
                Signed { path: "/", rest: Rest::Body(b"ab"), ..signed },
                Signed { rest: Rest::Body(b""), ..signed },
                Signed { rest: Rest::Head { durability: "", body_sha256: "ab" }, ..signed },
                Signed { rest: Rest::Head { durability: "synced", body_sha256: "" }, ..signed },
            ];
            for other in others {
                assert!(!signer.verifies(other, &signature), "{other:?}");
            }
            assert!(!Signer::new(&[8; 32]).verifies(signed, &signature));
        }
    }
}
