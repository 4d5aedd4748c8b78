//! The signature of a request.

use super::hex;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::time::{SystemTime, UNIX_EPOCH};

/// The header with the key's id.
pub const HEADER_KEY: &str = "x-rialto-key";
/// The header with the time of signing, in microseconds since 1970-01-01 00:00 UTC.
pub const HEADER_TIMESTAMP: &str = "x-rialto-timestamp";
/// The header with what tells apart two like requests of one microsecond; may be left out.
pub const HEADER_NONCE: &str = "x-rialto-nonce";
/// The header with the signature.
pub const HEADER_SIGNATURE: &str = "x-rialto-signature";

/// What is signed. The parts are joined by line feeds, none of which can stand in the first four.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signed<'a> {
    pub(super) timestamp: &'a str,
    pub(super) nonce: &'a str,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) body: &'a [u8],
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
        for part in [signed.timestamp, signed.nonce, signed.method, signed.path] {
            mac.update(part.as_bytes());
            mac.update(b"\n");
        }
        mac.update(signed.body);
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

/// The signature of a request, in lower-case hexadecimal: HMAC-SHA256 with the key's secret over
/// timestamp, nonce (or nothing), method, path with query, and body, the first four each followed
/// by a line feed.
///
/// ```
/// let signature = rialto_gateway::sign(
///     &[0x0b; 32],
///     1_760_000_000_000_000,
///     "",
///     "POST",
///     "/v1/orders",
///     br#"{"instrument":"BTC-USD"}"#,
/// );
/// assert_eq!(signature.len(), 64);
/// ```
#[must_use]
pub fn sign(
    secret: &[u8; 32],
    timestamp_us: u64,
    nonce: &str,
    method: &str,
    path_and_query: &str,
    body: &[u8],
) -> String {
    let timestamp = timestamp_us.to_string();
    let signed = Signed { timestamp: &timestamp, nonce, method, path: path_and_query, body };
    hex::encode(&Signer::new(secret).sign(signed))
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

    /// The worked example of docs/api.md, which was also checked with openssl.
    #[test]
    fn the_documented_example_is_right() {
        let text = include_str!("../../../../docs/api.md");
        let after = |label: &str| {
            let rest = text.split_once(label).expect(label).1;
            rest.split('`').nth(1).expect("a value in backticks")
        };
        let secret: [u8; 32] = hex::decode(after("| secret |")).unwrap();
        let signature = sign(
            &secret,
            after("| timestamp |").parse().unwrap(),
            after("| nonce |"),
            after("| method |"),
            after("| path |"),
            after("| body |").as_bytes(),
        );
        assert_eq!(signature, after("| signature |"));
    }

    #[test]
    fn a_signature_binds_every_part() {
        let signer = Signer::new(&[7; 32]);
        let signed = Signed { timestamp: "1", nonce: "2", method: "GET", path: "/a", body: b"b" };
        let signature = signer.sign(signed);
        assert!(signer.verifies(signed, &signature));
        let others = [
            Signed { timestamp: "2", ..signed },
            Signed { nonce: "", ..signed },
            Signed { method: "PUT", ..signed },
            Signed { path: "/a?b=c", ..signed },
            Signed { body: b"", ..signed },
            Signed { path: "/", body: b"ab", ..signed },
        ];
        for other in others {
            assert!(!signer.verifies(other, &signature), "{other:?}");
        }
        assert!(!Signer::new(&[8; 32]).verifies(signed, &signature));
    }
}
