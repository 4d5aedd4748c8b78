//! Messages as they are printed.

use rialto_queue::{Message, Timestamp};
use serde_json::{Value, json};
use std::io::{self, Write};

/// How messages are printed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Form {
    /// Print one JSON object a line, with everything there is to a message.
    #[arg(long)]
    json: bool,
    /// Put nothing between payloads, not even the end of a line.
    #[arg(long, conflicts_with = "json")]
    raw: bool,
}

impl Form {
    /// Prints a message; `attempt` is 0 for one that is merely read.
    pub(super) fn print(
        self,
        out: &mut impl Write,
        message: &Message,
        attempt: u16,
    ) -> io::Result<()> {
        if self.json {
            return writeln!(out, "{}", object(message, attempt));
        }
        out.write_all(message.payload())?;
        if self.raw { Ok(()) } else { out.write_all(b"\n") }
    }
}

/// Bytes as text if they are, else in hexadecimal digits under another name.
fn put(object: &mut serde_json::Map<String, Value>, name: &str, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => object.insert(name.to_owned(), text.into()),
        Err(_) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            object.insert(format!("{name}_hex"), digits.into())
        }
    };
}

fn object(message: &Message, attempt: u16) -> Value {
    let time = |time: Timestamp| Value::String(time.0.to_string());
    let mut object = serde_json::Map::new();
    object.insert("id".into(), message.id().to_string().into());
    object.insert("published_at_ns".into(), time(message.published_at()));
    if attempt > 0 {
        object.insert("attempt".into(), attempt.into());
    }
    if let Some(at) = message.expires_at() {
        object.insert("expires_at_ns".into(), time(at));
    }
    if let Some(at) = message.deliver_at() {
        object.insert("deliver_at_ns".into(), time(at));
    }
    if let Some((producer, number)) = message.producer() {
        let named = json!({"id": producer.to_string(), "number": number.to_string()});
        object.insert("producer".into(), named);
    }
    if !message.key().is_empty() {
        put(&mut object, "key", message.key());
    }
    if !message.content_type().is_empty() {
        object.insert("content_type".into(), message.content_type().into());
    }
    if message.schema_version() > 0 {
        object.insert("schema_version".into(), message.schema_version().into());
    }
    let mut headers = serde_json::Map::new();
    for (name, value) in message.headers() {
        put(&mut headers, name, value);
    }
    if !headers.is_empty() {
        object.insert("headers".into(), headers.into());
    }
    put(&mut object, "payload", message.payload());
    object.into()
}
