//! Values of the API as people read them.

use jiff::Timestamp;
use serde_json::Value;

/// A value, or `-` for none.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if text.is_empty() => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
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
