//! The authentication headers of a request.

use super::check::unauthorized;
use crate::ApiError;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use rialto_api::sign::{
    EMPTY_SHA256, HEADER_BODY_SHA256, HEADER_DURABILITY, HEADER_KEY, HEADER_NONCE,
    HEADER_SIGNATURE, HEADER_TIMESTAMP, SignedRest, from_hex, scheme_2,
};

const NONCE_BYTES_MAX: usize = 64;

// A static name avoids parsing it for each request.
static KEY: HeaderName = HeaderName::from_static(HEADER_KEY);

/// The authentication headers of a request, as text. None contains a line feed, because line feeds
/// separate the signed parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'a> {
    pub(super) key: &'a str,
    pub(super) timestamp: &'a str,
    pub(super) nonce: &'a str,
    durability: &'a str,
    body_sha256: &'a str,
    signature: &'a str,
}

impl<'a> Claim<'a> {
    /// Whether a request has authentication headers.
    pub(crate) fn is_made(headers: &HeaderMap) -> bool {
        headers.contains_key(&KEY) || headers.contains_key(header::AUTHORIZATION)
    }

    /// Reads the headers of a request. Of a repeated header the first counts.
    pub(super) fn of(head: &'a Parts) -> Result<Claim<'a>, ApiError> {
        const NAMES: [&str; 6] = [
            HEADER_KEY,
            HEADER_TIMESTAMP,
            HEADER_NONCE,
            HEADER_SIGNATURE,
            HEADER_DURABILITY,
            HEADER_BODY_SHA256,
        ];
        // One pass: to look a name up, the map hashes it byte by byte.
        let mut found = [None; NAMES.len()];
        for (name, value) in &head.headers {
            let at = NAMES.iter().position(|known| *known == name.as_str());
            if let Some(at) = at {
                found[at].get_or_insert(value);
            }
        }
        let mut texts = [""; NAMES.len()];
        for ((text, value), name) in texts.iter_mut().zip(found).zip(NAMES) {
            if let Some(value) = value {
                *text = value.to_str().map_err(|_| {
                    let message = "The header is not plain text.";
                    unauthorized("credentials_invalid", message).of(name)
                })?;
            }
        }
        let [key, timestamp, nonce, signature, durability, body_sha256] = texts;
        let claim = Claim::new(key, timestamp, nonce, signature)?;
        Ok(Claim { durability, body_sha256, ..claim })
    }

    /// The claim of a message without durability and body.
    pub(crate) fn new(
        key: &'a str,
        timestamp: &'a str,
        nonce: &'a str,
        signature: &'a str,
    ) -> Result<Claim<'a>, ApiError> {
        for (value, name) in
            [(key, HEADER_KEY), (timestamp, HEADER_TIMESTAMP), (signature, HEADER_SIGNATURE)]
        {
            if value.is_empty() {
                let message = format!("This needs a signed request: {name} is missing.");
                return Err(unauthorized("credentials_missing", message).of(name));
            }
        }
        if nonce.len() > NONCE_BYTES_MAX || !nonce.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            let message =
                format!("A nonce is at most {NONCE_BYTES_MAX} characters of printable ASCII.");
            return Err(unauthorized("credentials_invalid", message).of(HEADER_NONCE));
        }
        Ok(Claim { key, timestamp, nonce, signature, durability: "", body_sha256: "" })
    }

    pub(super) fn is_scheme_2(&self) -> bool {
        scheme_2(self.signature).is_some()
    }

    /// The signature in hexadecimal.
    pub(super) fn signature(&self) -> &'a str {
        scheme_2(self.signature).unwrap_or(self.signature)
    }

    /// The time of signing. Only digits are allowed, so that a time has one form.
    pub(super) fn stamp_us(&self) -> Result<u64, ApiError> {
        let is_number = self.timestamp.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.timestamp.parse().ok()).flatten().ok_or_else(|| {
            let message = "A timestamp is a whole number of microseconds since 1970.";
            unauthorized("credentials_invalid", message).of(HEADER_TIMESTAMP)
        })
    }

    /// The other signed parts of a request without a body.
    pub(super) fn rest_without_body(&self) -> Result<SignedRest<'a>, ApiError> {
        Ok(match (self.is_scheme_2(), self.body_sha256) {
            (false, _) => SignedRest::Body(b""),
            (true, "" | EMPTY_SHA256) => {
                SignedRest::Head { durability: self.durability, body_sha256: EMPTY_SHA256 }
            }
            (true, _) => {
                let message = "The request has a signed SHA-256 of a body, but no body.";
                return Err(unauthorized("credentials_invalid", message).of(HEADER_BODY_SHA256));
            }
        })
    }

    /// The other signed parts of a request with a body, by scheme 2.
    pub(super) fn rest_with_body(&self) -> Result<SignedRest<'a>, ApiError> {
        if self.body_sha256.is_empty() {
            let message =
                format!("The signature does not cover the body: {HEADER_BODY_SHA256} is missing.");
            return Err(unauthorized("credentials_missing", message).of(HEADER_BODY_SHA256));
        }
        if self.body_hash().is_none() {
            let message = "The SHA-256 of a body is 64 hexadecimal digits, in lower case.";
            return Err(unauthorized("credentials_invalid", message).of(HEADER_BODY_SHA256));
        }
        Ok(SignedRest::Head { durability: self.durability, body_sha256: self.body_sha256 })
    }

    /// The claimed SHA-256 of the body.
    pub(super) fn body_hash(&self) -> Option<[u8; 32]> {
        from_hex(self.body_sha256)
    }
}
