//! Messages as they are printed.

use rialto_queue::packed::PackedMessage;
use rialto_queue::{Headers, Message, MessageId, Timestamp};
use serde_json::{Value, json};
use std::io::{self, IsTerminal, Write};

/// The format of printed messages.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Form {
    /// Print one JSON object a line, with all fields of the message.
    #[arg(long)]
    json: bool,
    /// Print payloads without line ends.
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

/// A message, local or remote.
pub(super) struct Shown<'a> {
    id: MessageId,
    published_at: Timestamp,
    expires_at: Option<Timestamp>,
    deliver_at: Option<Timestamp>,
    producer: Option<(u64, u64)>,
    /// The attempt; 0 without a group.
    attempt: u16,
    key: &'a [u8],
    content_type: &'a str,
    schema_version: u32,
    headers: Headers<'a>,
    payload: &'a [u8],
}

impl<'a> Shown<'a> {
    pub(super) fn of(message: &'a Message, attempt: u16) -> Shown<'a> {
        Shown {
            id: message.id(),
            published_at: message.published_at(),
            expires_at: message.expires_at(),
            deliver_at: message.deliver_at(),
            producer: message.producer(),
            attempt,
            key: message.key(),
            content_type: message.content_type(),
            schema_version: message.schema_version(),
            headers: message.headers(),
            payload: message.payload(),
        }
    }

    pub(super) fn of_packed(message: &PackedMessage<'a>) -> Shown<'a> {
        Shown {
            id: message.id(),
            published_at: message.published_at(),
            expires_at: message.expires_at(),
            deliver_at: message.deliver_at(),
            producer: message.producer(),
            attempt: message.attempt(),
            key: message.key(),
            content_type: message.content_type(),
            schema_version: message.schema_version(),
            headers: message.headers(),
            payload: message.payload(),
        }
    }

    pub(super) fn id(&self) -> MessageId {
        self.id
    }

    pub(super) fn payload(&self) -> &'a [u8] {
        self.payload
    }

    fn object(&self) -> Value {
        let time = |time: Timestamp| Value::String(time.0.to_string());
        let mut object = serde_json::Map::new();
        object.insert("id".into(), self.id.to_string().into());
        object.insert("published_at".into(), time(self.published_at));
        if self.attempt > 0 {
            object.insert("attempt".into(), self.attempt.into());
        }
        if let Some(at) = self.expires_at {
            object.insert("expires_at".into(), time(at));
        }
        if let Some(at) = self.deliver_at {
            object.insert("deliver_at".into(), time(at));
        }
        if let Some((producer, number)) = self.producer {
            let named = json!({"id": producer.to_string(), "number": number.to_string()});
            object.insert("producer".into(), named);
        }
        if !self.key.is_empty() {
            put(&mut object, "key", self.key);
        }
        if !self.content_type.is_empty() {
            object.insert("content_type".into(), self.content_type.into());
        }
        if self.schema_version > 0 {
            object.insert("schema_version".into(), self.schema_version.into());
        }
        let mut headers = serde_json::Map::new();
        for (name, value) in self.headers.clone() {
            put(&mut headers, name, value);
        }
        if !headers.is_empty() {
            object.insert("headers".into(), headers.into());
        }
        put(&mut object, "payload", self.payload);
        object.into()
    }
}

/// The line of a payload that is not text, for a terminal.
fn placeholder(payload: &[u8]) -> Option<String> {
    let is_text = std::str::from_utf8(payload).is_ok();
    let bytes = payload.len();
    (!is_text).then(|| format!("({bytes} bytes that are not text: use --json or --raw)"))
}

impl Form {
    pub(super) fn print(self, out: &mut impl Write, message: &Shown<'_>) -> io::Result<()> {
        if self.json {
            return writeln!(out, "{}", message.object());
        }
        let is_terminal = || io::stdout().is_terminal();
        match placeholder(message.payload) {
            Some(placeholder) if !self.raw && is_terminal() => {
                out.write_all(placeholder.as_bytes())?;
            }
            _ => out.write_all(message.payload)?,
        }
        if self.raw { Ok(()) } else { out.write_all(b"\n") }
    }
}

/// Bytes as text if they are UTF-8, else in hexadecimal digits under another name.
fn put(object: &mut serde_json::Map<String, Value>, name: &str, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => object.insert(name.to_owned(), text.into()),
        Err(_) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            object.insert(format!("{name}_hex"), digits.into())
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_that_is_not_text_is_not_written_to_a_terminal() {
        assert_eq!(placeholder("häuser".as_bytes()), None);
        let line = placeholder(b"\xff\x01\x1b").unwrap_or_default();
        assert_eq!(line, "(3 bytes that are not text: use --json or --raw)");
    }
}
