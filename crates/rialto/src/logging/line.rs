//! One event as one line: time, level, target, message, fields; as text or as a JSON object.
//! Callers can put text of theirs into log lines. Control characters and such as turn the direction
//! of writing are escaped, and in text a value that is not one plain word stands in quotation
//! marks, so that no caller can forge a line or a field.

use crate::config::LogFormat;
use crate::inspect::utc;
use rialto_gateway::Origin;
use rialto_model::Timestamp;
use std::fmt::{Debug, Display, Write};
use std::time::{SystemTime, UNIX_EPOCH};
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

/// The most bytes of message and values; the rest is cut.
const BYTES_MAX: usize = 4_096;
/// The field that holds the message.
const MESSAGE: &str = "message";

/// The line of an event.
pub(super) fn of_event(event: &Event<'_>, format: LogFormat, now: SystemTime) -> String {
    let metadata = event.metadata();
    let mut line = Line::new(format);
    event.record(&mut line);
    Origin::show(|origin| {
        line.text("trace_id", &format!("{:032x}", origin.trace_id));
        if let Some(id) = origin.request_id {
            line.text("request_id", id.base32().as_str());
        }
        if let Some(caller) = origin.caller() {
            line.text("caller", caller);
        }
    });
    line.end(now, *metadata.level(), metadata.target())
}

/// A line that is being written. Writing to a string cannot fail.
pub(super) struct Line {
    format: LogFormat,
    message: String,
    fields: String,
    room: usize,
}

impl Line {
    pub(super) fn new(format: LogFormat) -> Line {
        Line { format, message: String::new(), fields: String::new(), room: BYTES_MAX }
    }

    pub(super) fn message(&mut self, text: &str) {
        let (format, room) = (self.format, self.room);
        escape(&mut self.message, text, format, format == LogFormat::Json, room);
        self.room -= self.message.len().min(room);
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '=');
        let is_word = !value.is_empty() && value.chars().all(plain);
        let quoted = self.format == LogFormat::Json || !is_word;
        self.name(name);
        self.fields.push_str(if quoted { "\"" } else { "" });
        let before = self.fields.len();
        escape(&mut self.fields, value, self.format, quoted, self.room);
        self.room -= (self.fields.len() - before).min(self.room);
        self.fields.push_str(if quoted { "\"" } else { "" });
    }

    /// A number or a truth value, which is the same in both formats.
    pub(super) fn plain(&mut self, name: &str, value: impl Display) {
        self.name(name);
        let _ = write!(self.fields, "{value}");
    }

    fn name(&mut self, name: &str) {
        let _ = match self.format {
            LogFormat::Text => write!(self.fields, " {name}="),
            LogFormat::Json => write!(self.fields, ",\"{name}\":"),
        };
    }

    pub(super) fn end(self, now: SystemTime, level: Level, target: &str) -> String {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = Timestamp(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        let (time, Line { format, message, fields, .. }) = (utc::show(now), self);
        match format {
            LogFormat::Text => format!("{time} {level:>5} {target}: {message}{fields}\n"),
            LogFormat::Json => format!(
                "{{\"time\":\"{time}\",\"level\":\"{level}\",\"target\":\"{target}\",\
                 \"message\":\"{message}\"{fields}}}\n"
            ),
        }
    }
}

impl Visit for Line {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.plain(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.plain(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.plain(field.name(), value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            MESSAGE => self.message(value),
            name => self.text(name, value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

/// Appends `text` with everything escaped that is no part of a line, as long as there is room.
fn escape(to: &mut String, text: &str, format: LogFormat, quoted: bool, room: usize) {
    let end = to.len() + room;
    for c in text.chars() {
        if to.len() >= end {
            to.push('…');
            return;
        }
        let ends_quotes = quoted && matches!(c, '"' | '\\');
        match format {
            _ if !(c.is_control() || ends_quotes || is_layout(c)) => to.push(c),
            LogFormat::Json if ends_quotes => to.extend(['\\', c]),
            LogFormat::Json => {
                let _ = write!(to, "\\u{:04x}", u32::from(c));
            }
            LogFormat::Text => to.extend(c.escape_default()),
        }
    }
}

/// Characters that move or hide others: ends of lines and paragraphs, directions, widths of zero.
/// They, and control characters, have four hexadecimal digits at most.
fn is_layout(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};
    use tracing::span;

    /// Collects lines.
    #[derive(Clone)]
    struct Lines(LogFormat, Arc<Mutex<Vec<String>>>);

    impl tracing::Subscriber for Lines {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, event: &Event<'_>) {
            self.1.lock().unwrap().push(of_event(event, self.0, UNIX_EPOCH));
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    fn logged_as(format: LogFormat, emit: impl FnOnce()) -> String {
        let lines = Lines(format, Arc::default());
        tracing::subscriber::with_default(lines.clone(), emit);
        let lines = lines.1.lock().unwrap();
        assert_eq!(lines.len(), 1);
        lines[0].clone()
    }

    fn logged(emit: impl FnOnce()) -> String {
        logged_as(LogFormat::Text, emit)
    }

    fn logged_json(emit: impl FnOnce()) -> Value {
        let line = logged_as(LogFormat::Json, emit);
        assert_eq!(line.lines().count(), 1, "{line:?}");
        assert!(!line.trim_end().chars().any(|c| c.is_control() || is_layout(c)), "{line:?}");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    #[test]
    fn a_line_has_time_level_target_message_and_fields() {
        let line =
            logged(|| tracing::warn!(target: "rialto_x", at = 7, what = "two words", "it is"));
        let rest = "  WARN rialto_x: it is at=7 what=\"two words\"\n";
        assert_eq!(line, format!("1970-01-01T00:00:00.000000000Z{rest}"));
    }

    #[test]
    fn a_line_of_json_has_the_same_and_numbers_are_numbers() {
        let emit = || {
            tracing::warn!(target: "rialto_x", at = -7, on = true, what = "two words", err = ?"x", "it is");
        };
        let time = "1970-01-01T00:00:00.000000000Z";
        let line = json!({"time": time, "level": "WARN", "target": "rialto_x", "message": "it is",
            "at": -7, "on": true, "what": "two words", "err": "\"x\""});
        assert_eq!(logged_json(emit), line);
    }

    #[test]
    fn callers_text_forges_neither_line_nor_field() {
        let nasty = "a\nb\r\u{1b}[31m \" level=\\ \u{202e}\u{2028}";
        let emit = || tracing::info!(name = nasty, "said by {nasty}");
        let line = logged(emit);
        assert_eq!(line.lines().count(), 1, "{line:?}");
        assert!(!line.trim_end().chars().any(|c| c.is_control() || is_layout(c)), "{line:?}");
        assert!(
            line.ends_with("name=\"a\\nb\\r\\u{1b}[31m \\\" level=\\\\ \\u{202e}\\u{2028}\"\n"),
            "{line}"
        );
        let line = logged_json(emit);
        assert_eq!(
            (&line["name"], &line["message"]),
            (&nasty.into(), &format!("said by {nasty}").into())
        );
        let line = logged(|| tracing::info!(name = "x=y", "m"));
        assert!(line.ends_with("name=\"x=y\"\n"), "{line}");
    }

    #[test]
    fn a_long_line_is_cut_where_it_may_be() {
        let long = "ä\"\u{1b}".repeat(100_000);
        let emit = || tracing::info!(name = long, other = "x", "m");
        let line = logged(emit);
        assert!(line.len() < BYTES_MAX + 128 && line.ends_with("…\" other=…\n"), "{}", line.len());
        let line = logged_json(emit);
        assert!(line["name"].as_str().unwrap().ends_with('…') && line["message"] == "m");
        assert_eq!(line["other"], "…");
    }
}
