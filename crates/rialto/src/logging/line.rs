//! One event as one line: time, level, target, message, fields.
//!
//! Part of what is logged comes from callers. Control characters and such as turn the direction of
//! writing are escaped, and a value that is not one plain word stands in quotation marks, so that no
//! caller can forge a line or a field.

use crate::inspect::utc;
use rialto_model::Timestamp;
use std::fmt::{Debug, Write};
use std::time::{SystemTime, UNIX_EPOCH};
use tracing::field::{Field, Visit};
use tracing::{Event, Level};

/// A longer line is cut.
const BYTES_MAX: usize = 4_096;
/// The field that holds the message.
const MESSAGE: &str = "message";

/// The line of an event.
pub(super) fn of_event(event: &Event<'_>, now: SystemTime) -> String {
    let metadata = event.metadata();
    let mut text = Text::default();
    event.record(&mut text);
    line(now, *metadata.level(), metadata.target(), &text.message, &text.fields)
}

/// A line of the log's own.
pub(super) fn of_log(message: &str, now: SystemTime) -> String {
    line(now, Level::WARN, "rialto::logging", message, "")
}

fn line(now: SystemTime, level: Level, target: &str, message: &str, fields: &str) -> String {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
    let mut line = format!("{} {level:>5} {target}: {message}{fields}", utc::show(now));
    if line.len() > BYTES_MAX {
        let whole = (0..=BYTES_MAX).rev().find(|at| line.is_char_boundary(*at));
        line.truncate(whole.unwrap_or(0));
        line.push('…');
    }
    line.push('\n');
    line
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Text {
    fn field(&mut self, field: &Field, value: &str) {
        if field.name() == MESSAGE {
            escape(&mut self.message, value, false);
            return;
        }
        let _ = write!(self.fields, " {}=", field.name());
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '=');
        if !value.is_empty() && value.chars().all(plain) {
            self.fields.push_str(value);
        } else {
            self.fields.push('"');
            escape(&mut self.fields, value, true);
            self.fields.push('"');
        }
    }
}

impl Visit for Text {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.field(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.field(field, &format!("{value:?}"));
    }
}

/// Appends `text` with everything escaped that is no part of a line.
fn escape(to: &mut String, text: &str, quoted: bool) {
    for c in text.chars().take(BYTES_MAX) {
        let ends_quotes = quoted && matches!(c, '"' | '\\');
        if c.is_control() || ends_quotes || is_layout(c) {
            to.extend(c.escape_default());
        } else {
            to.push(c);
        }
    }
}

/// Characters that move or hide others: ends of lines and paragraphs, directions, widths of zero.
fn is_layout(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use tracing::span;

    /// Collects lines.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

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
            self.0.lock().unwrap().push(of_event(event, UNIX_EPOCH));
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    fn logged(emit: impl FnOnce()) -> String {
        let lines = Lines::default();
        tracing::subscriber::with_default(lines.clone(), emit);
        let lines = lines.0.lock().unwrap();
        assert_eq!(lines.len(), 1);
        lines[0].clone()
    }

    #[test]
    fn a_line_has_time_level_target_message_and_fields() {
        let line =
            logged(|| tracing::warn!(target: "rialto_x", at = 7, what = "two words", "it is"));
        let rest = "  WARN rialto_x: it is at=7 what=\"two words\"\n";
        assert_eq!(line, format!("1970-01-01T00:00:00.000000000Z{rest}"));
    }

    #[test]
    fn callers_text_forges_neither_line_nor_field() {
        let nasty = "a\nb\r\u{1b}[31m \" level=\\ \u{202e}\u{2028}";
        let line = logged(|| tracing::info!(name = nasty, "said by {nasty}"));
        assert_eq!(line.lines().count(), 1, "{line:?}");
        assert!(!line.trim_end().chars().any(|c| c.is_control() || is_layout(c)), "{line:?}");
        assert!(
            line.ends_with("name=\"a\\nb\\r\\u{1b}[31m \\\" level=\\\\ \\u{202e}\\u{2028}\"\n"),
            "{line}"
        );
        let line = logged(|| tracing::info!(name = "x=y", "m"));
        assert!(line.ends_with("name=\"x=y\"\n"), "{line}");
    }

    #[test]
    fn a_long_line_is_cut() {
        let line = logged(|| tracing::info!(name = "ä".repeat(100_000), "m"));
        assert!(line.len() < BYTES_MAX + 8 && line.ends_with("…\n"), "{} bytes", line.len());
    }
}
