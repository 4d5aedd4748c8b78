//! The other side of the wire: asks a running venue over HTTP and signs what it asks.

mod ask;
mod credentials;

pub use ask::{Ask, Raw};
pub use credentials::{Credentials, KeyFile, secret};

use crate::Error;
use rialto_gateway::{HEADER_CONFLATED, HEADER_NEXT, SignRequest, now_us};
use serde_json::Value;
use std::time::Duration;

/// How long an answer may take before the venue counts as unreachable.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How often a request is signed anew because the venue has just started.
const SIGNED_AGAIN_MAX: usize = 3;
/// The longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// A venue, as one of its users sees it. It keeps its connections open.
pub struct Client {
    agent: ureq::Agent,
    url: String,
    credentials: Credentials,
    nonce: std::cell::Cell<u64>,
}

/// An answer of the venue: its HTTP status and its body.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body, which is an object in JSON.
    pub body: Value,
}

impl Client {
    /// A client of the venue at `url`, such as `http://127.0.0.1:8080`.
    #[must_use]
    pub fn new(url: &str, credentials: Credentials) -> Client {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("rialto/", env!("CARGO_PKG_VERSION")))
            .build();
        Client {
            agent: config.into(),
            url: url.trim_end_matches('/').to_string(),
            credentials,
            nonce: std::cell::Cell::new(0),
        }
    }

    /// Asks for something and takes nothing but success for an answer.
    ///
    /// # Errors
    /// The venue refused, or no usable answer came.
    pub fn get(&self, path: &str) -> Result<Value, Error> {
        self.send("GET", path, None)?.accepted()
    }

    /// Has something done and takes nothing but success for an answer.
    ///
    /// # Errors
    /// The venue refused, or no usable answer came.
    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        self.send(method, path, body)?.accepted()
    }

    /// Sends a request, signed if there is a key, and returns whatever the venue answers.
    ///
    /// # Errors
    /// No answer came, or none that is JSON.
    pub fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Answer, Error> {
        let ask = Ask::new(method, path);
        self.ask(&body.into_iter().fold(ask, |ask, body| ask.json(body)))?.answer()
    }

    /// Sends a request, signed if there is a key, and returns whatever the venue answers, as it
    /// came. A venue that has just started takes no signatures for a second: then the request is
    /// signed anew and sent again.
    ///
    /// # Errors
    /// No answer came.
    pub fn ask(&self, ask: &Ask<'_>) -> Result<Raw, Error> {
        for _ in 0..SIGNED_AGAIN_MAX {
            match self.ask_once(ask)? {
                (raw, Some(wait)) if raw.status == 401 => std::thread::sleep(wait),
                (raw, _) => return Ok(raw),
            }
        }
        Ok(self.ask_once(ask)?.0)
    }

    /// What came back, and after how long the venue says to ask again, if it does.
    fn ask_once(&self, ask: &Ask<'_>) -> Result<(Raw, Option<Duration>), Error> {
        let Ask { method, path, body, accept } = ask;
        let bytes = body.as_ref().map(|(_, bytes)| &**bytes).unwrap_or_default();
        let mut request =
            ureq::http::Request::builder().method(*method).uri(format!("{}{path}", self.url));
        if let Some((media_type, _)) = body {
            request = request.header("content-type", *media_type);
        }
        if let Some(media_type) = accept {
            request = request.header("accept", *media_type);
        }
        match &self.credentials {
            Credentials::None => {}
            Credentials::Admin(key) => {
                request = request.header("authorization", format!("Bearer {key}"));
            }
            Credentials::Key { id, secret } => {
                let nonce = self.next_nonce();
                let (timestamp_us, nonce, durability) = (now_us(), &*nonce, "");
                let (path, body) = (*path, bytes);
                let signed = SignRequest { timestamp_us, nonce, method, path, durability, body };
                for (name, value) in signed.headers(id, secret.as_bytes()) {
                    request = request.header(name, value);
                }
            }
        }
        let request = request
            .body(bytes)
            .map_err(|error| Error::Usage(format!("cannot ask {}{path}: {error}", self.url)))?;
        let mut answer = self.agent.run(request).map_err(|error| {
            Error::Unreachable(format!("no answer from the venue at {}: {error}", self.url))
        })?;
        let status = answer.status().as_u16();
        let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let next = header(HEADER_NEXT).map(str::to_owned);
        let conflated = header(HEADER_CONFLATED).and_then(|it| it.parse().ok()).unwrap_or(0);
        let again = header("retry-after").and_then(|it| it.parse().ok()).map(Duration::from_secs);
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| {
            Error::Unreachable(format!("the answer of {} broke off: {error}", self.url))
        })?;
        Ok((Raw { status, next, conflated, body, url: self.url.clone() }, again))
    }

    /// Tells apart like requests of one microsecond, from this process or another.
    fn next_nonce(&self) -> String {
        self.nonce.set(self.nonce.get() + 1);
        format!("{}-{}", std::process::id(), self.nonce.get())
    }
}

impl Answer {
    /// What it holds, unless it is a refusal.
    ///
    /// # Errors
    /// The venue refused.
    pub fn accepted(self) -> Result<Value, Error> {
        let Answer { status, body } = self;
        if (200..300).contains(&status) {
            return Ok(body);
        }
        let error = &body["error"];
        let text = |field: &str| error[field].as_str().map(str::to_string);
        let mut message = text("message").unwrap_or_else(|| format!("the venue answered {status}"));
        if let Some(field) = text("field") {
            message = format!("{field}: {message}");
        }
        let code = text("code").unwrap_or_else(|| status.to_string());
        Err(Error::Refused { code, message, body: body.to_string() })
    }
}

/// Percent-encodes all but what has no meaning of its own in a path or query.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
