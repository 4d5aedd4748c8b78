//! Values of the API as people read them.

use jiff::Timestamp;
use serde_json::Value;
use std::borrow::Cow;

/// A value, or `-` for none.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => printable(text).into_owned(),
        other => other.to_string(),
    }
}

/// A text that somebody else chose, as it may be written to a terminal. What ends a line, gives the
/// terminal an order, or changes the direction of writing is escaped, so that nobody forges a row.
pub(super) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_order) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_order(letter) {
            true => escaped.extend(letter.escape_default()),
            false => escaped.push(letter),
        }
    }
    Cow::Owned(escaped)
}

/// Whether a terminal obeys a character instead of showing it.
fn is_order(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A time in nanoseconds since 1970, as a date of UTC in whole seconds.
pub(super) fn time(value: &Value) -> String {
    let nanos: Option<i128> = value.as_str().and_then(|text| text.parse().ok());
    let time = nanos.and_then(|nanos| Timestamp::from_nanosecond(nanos).ok());
    time.map_or_else(|| text(value), |time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// A limit, where 0 is none.
pub(super) fn limit(value: &Value) -> String {
    match text(value).as_str() {
        "0" | "-" => "no limit".to_owned(),
        limit => limit.to_owned(),
    }
}

/// A number that is written as text.
pub(super) fn number(value: &Value) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        let forged = "bad\n18eb41d8  5  \u{1b}[2J\r\u{7f}\u{9b}";
        assert_eq!(text(&json!(forged)), r"bad\n18eb41d8  5  \u{1b}[2J\r\u{7f}\u{9b}");
        assert_eq!(printable("a\u{202e}vsc.b\u{2028}\u{2066}"), r"a\u{202e}vsc.b\u{2028}\u{2066}");
        assert_eq!(printable("Ärger, 株式.csv"), "Ärger, 株式.csv");
    }
}
