//! Requests of a client, signed with signature version 4 in every way that S3 knows: for tests and
//! measurements.

use aws_lc_rs::hmac;
use rialto_api::sign::{sha256, to_hex};
use std::time::{SystemTime, UNIX_EPOCH};

const SCOPE_END: &str = "us-east-1/s3/aws4_request";

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hash(bytes: &[u8]) -> String {
    to_hex(&sha256(bytes))
}

/// A request that is being put together.
#[derive(Clone)]
pub struct Signed {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// Headers that the signature does not cover.
    free: Vec<(String, String)>,
    body: Vec<u8>,
    payload: String,
    id: String,
    secret: String,
    at_s: i64,
    expires_s: Option<u64>,
    signed_chunk: Option<usize>,
    length: Option<usize>,
    is_kept: bool,
}

impl Signed {
    /// A request of a key, given by its id and its secret, for a path that needs no escapes; a query
    /// follows a `?`.
    #[must_use]
    pub fn new((id, secret): (&str, &str), method: &str, target: &str, body: &[u8]) -> Signed {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Signed {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.split('&').filter(|it| !it.is_empty()).map(pair).collect(),
            headers: Vec::new(),
            free: Vec::new(),
            body: body.to_vec(),
            payload: hash(body),
            id: id.to_owned(),
            secret: secret.to_owned(),
            at_s: i64::try_from(now).unwrap_or(i64::MAX),
            expires_s: None,
            signed_chunk: None,
            length: None,
            is_kept: false,
        }
    }

    /// With a header that the signature covers.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Signed {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a header that the signature does not cover.
    #[must_use]
    pub fn free_header(mut self, name: &str, value: &str) -> Signed {
        self.free.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Of another key.
    #[must_use]
    pub fn by(mut self, id: &str, secret: &str) -> Signed {
        (self.id, self.secret) = (id.to_owned(), secret.to_owned());
        self
    }

    /// Signed this many seconds from now.
    #[must_use]
    pub fn after(mut self, seconds: i64) -> Signed {
        self.at_s += seconds;
        self
    }

    /// As a link.
    #[must_use]
    pub fn link(mut self, expires_s: u64) -> Signed {
        self.expires_s = Some(expires_s);
        self
    }

    /// The hash of the content that is declared.
    #[must_use]
    pub fn payload(mut self, payload: &str) -> Signed {
        self.payload = payload.to_owned();
        self
    }

    /// With this Content-Length.
    #[must_use]
    pub fn length(mut self, length: usize) -> Signed {
        self.length = Some(length);
        self
    }

    /// In signed chunks of this length.
    #[must_use]
    pub fn in_signed_chunks(mut self, length: usize) -> Signed {
        self.signed_chunk = Some(length);
        self.payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD".to_owned();
        let decoded = self.body.len().to_string();
        self.header("x-amz-decoded-content-length", &decoded)
    }

    /// In unsigned chunks with a trailer; `wire` is the body as it is sent.
    #[must_use]
    pub fn in_unsigned_chunks(mut self, wire: &[u8], decoded: usize, trailer: &str) -> Signed {
        self.payload = "STREAMING-UNSIGNED-PAYLOAD-TRAILER".to_owned();
        self.body = wire.to_vec();
        self.header("x-amz-decoded-content-length", &decoded.to_string())
            .header("x-amz-trailer", trailer)
    }

    /// On a connection that is kept open behind the answer.
    #[must_use]
    pub fn kept_alive(mut self) -> Signed {
        self.is_kept = true;
        self
    }

    fn date(&self) -> String {
        let at = jiff::Timestamp::from_second(self.at_s).unwrap_or_default();
        at.strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    fn scope(&self) -> String {
        format!("{}/{SCOPE_END}", &self.date()[..8])
    }

    fn signature(&self, headers: &[(String, String)], query: &str, payload: &str) -> String {
        let lines: String =
            headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let canonical = format!(
            "{}\n{}\n{query}\n{lines}\n{}\n{payload}",
            self.method,
            self.path,
            names(headers)
        );
        let (date, scope) = (self.date(), self.scope());
        let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{}", hash(canonical.as_bytes()));
        hex(&mac(&self.key(), &text))
    }

    fn key(&self) -> Vec<u8> {
        let begin = format!("AWS4{}", self.secret);
        let key = mac(begin.as_bytes(), &self.date()[..8]);
        let key = mac(&mac(&key, "us-east-1"), "s3");
        mac(&key, "aws4_request")
    }

    fn query(&self) -> String {
        let mut query = self.query.clone();
        query.sort();
        let pairs: Vec<_> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    }

    /// The head. A body in signed chunks is made here too.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        let mut signed = self.clone();
        signed.finish().into_bytes()
    }

    /// The body as it is sent.
    #[must_use]
    pub fn wire(&self) -> Vec<u8> {
        let mut signed = self.clone();
        signed.finish();
        signed.body
    }

    fn finish(&mut self) -> String {
        let mut headers = self.headers.clone();
        headers.push(("host".to_owned(), "s3.test".to_owned()));
        let mut out = Vec::new();
        if let Some(expires) = self.expires_s {
            headers.sort();
            for (name, value) in [
                ("X-Amz-Algorithm", "AWS4-HMAC-SHA256".to_owned()),
                ("X-Amz-Credential", format!("{}/{}", self.id, self.scope()).replace('/', "%2F")),
                ("X-Amz-Date", self.date()),
                ("X-Amz-Expires", expires.to_string()),
                ("X-Amz-SignedHeaders", names(&headers).replace(';', "%3B")),
            ] {
                self.query.push((name.to_owned(), value));
            }
            let signature = self.signature(&headers, &self.query(), "UNSIGNED-PAYLOAD");
            self.query.push(("X-Amz-Signature".to_owned(), signature));
        } else {
            headers.push(("x-amz-date".to_owned(), self.date()));
            headers.push(("x-amz-content-sha256".to_owned(), self.payload.clone()));
            headers.sort();
            let signature = self.signature(&headers, &self.query(), &self.payload);
            let (id, scope, names) = (&self.id, self.scope(), names(&headers));
            out.push((
                "authorization".to_owned(),
                format!(
                    "AWS4-HMAC-SHA256 Credential={id}/{scope}, SignedHeaders={names}, \
                     Signature={signature}"
                ),
            ));
            if let Some(length) = self.signed_chunk {
                self.body = self.chunked(length, signature);
            }
        }
        let length = self.length.unwrap_or(self.body.len());
        let mut head = format!("{} {}?{} HTTP/1.1\r\n", self.method, self.path, self.query());
        for (name, value) in headers.iter().chain(&self.free).chain(&out) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let connection = if self.is_kept { "keep-alive" } else { "close" };
        head.push_str(&format!("content-length: {length}\r\nconnection: {connection}\r\n\r\n"));
        head
    }

    /// The body in chunks, each signed with the signature before.
    fn chunked(&self, length: usize, mut before: String) -> Vec<u8> {
        let mut wire = Vec::new();
        let empty: &[u8] = b"";
        for chunk in self.body.chunks(length).chain([empty]) {
            let text = format!(
                "AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{before}\n{}\n{}",
                self.date(),
                self.scope(),
                hash(b""),
                hash(chunk)
            );
            before = hex(&mac(&self.key(), &text));
            wire.extend(format!("{:x};chunk-signature={before}\r\n", chunk.len()).bytes());
            wire.extend_from_slice(chunk);
            wire.extend_from_slice(b"\r\n");
        }
        wire
    }
}

fn names(headers: &[(String, String)]) -> String {
    let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
    names.join(";")
}
