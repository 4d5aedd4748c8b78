//! Reads JSON, and says of JSON that is wrong where and why.

use crate::ApiError;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::error::Category;

/// The longest message that repeats a part of what the client sent.
const MESSAGE_BYTES_MAX: usize = 240;

/// Reads one JSON object that is the whole of `bytes`.
pub(crate) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, ApiError> {
    // A derived reader would take an array too, as fields in their order; that is no promise that
    // a protocol should make.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(ApiError::invalid("body", "A JSON object is expected here, not an array."));
    }
    serde_json::from_slice(bytes).map_err(|error| explain(bytes, &error))
}

/// Reads one JSON array that is the whole of `bytes`.
pub(crate) fn read_list<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<Vec<T>, ApiError> {
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        return Err(ApiError::invalid("body", "A JSON array is expected here."));
    }
    serde_json::from_slice(bytes).map_err(|error| explain(bytes, &error))
}

/// Reads JSON objects, one in each line that is not empty, and no more than one beyond `rows_max`.
pub(crate) fn read_lines<'de, T: Deserialize<'de>>(
    bytes: &'de [u8],
    rows_max: usize,
) -> Result<Vec<T>, ApiError> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let read_line = |(row, line)| {
        read(line).map_err(|mut error| {
            let field = error.field.as_deref().filter(|field| *field != "body");
            let within = field.map(|field| format!(".{field}")).unwrap_or_default();
            error.field = Some(format!("[{row}]{within}").into());
            error
        })
    };
    lines.take(rows_max + 1).enumerate().map(read_line).collect()
}

fn explain(bytes: &[u8], error: &serde_json::Error) -> ApiError {
    let told = error.to_string();
    let (line, column) = (error.line(), error.column());
    let place = format!(" at line {line} column {column}");
    let mut message = told.strip_suffix(&place).unwrap_or(&told);
    if let Some((at, _)) = message.char_indices().find(|(at, _)| *at >= MESSAGE_BYTES_MAX) {
        message = &message[..at];
    }
    if error.classify() != Category::Data {
        let message = format!("The body is not JSON: {message} at line {line}, column {column}.");
        return ApiError::new(StatusCode::BAD_REQUEST, "malformed_json", message);
    }
    let path = path_at(bytes, offset_of(bytes, line, column));
    let quoted = |prefix: &str| message.strip_prefix(prefix)?.split('`').next();
    if let Some(name) = quoted("missing field `") {
        let field = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        return ApiError::missing(field);
    }
    if quoted("unknown field `").is_some() {
        let message = format!("There is no such field: {message}.");
        return ApiError::new(StatusCode::BAD_REQUEST, "unknown_field", message).of(path);
    }
    if path.is_empty() {
        return ApiError::invalid("body", format!("The body is wrong: {message}."));
    }
    let message = format!("The field {path} is wrong: {message}.");
    ApiError::invalid(path, message)
}

fn offset_of(bytes: &[u8], line: usize, column: usize) -> usize {
    let before = bytes.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1));
    before.map(<[u8]>::len).sum::<usize>() + column
}

/// Where in a path a container stands: its own step is the key or index that led to it.
enum Step {
    Key(String),
    Index(usize),
}

/// The path, such as `rows[2].price`, of what is being read at `end`. The text before `end` is
/// JSON as far as it goes, because a reader has come this far.
fn path_at(bytes: &[u8], end: usize) -> String {
    let bytes = &bytes[..end.min(bytes.len())];
    let mut steps: Vec<Step> = Vec::new();
    let mut key_comes = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' => {
                steps.push(Step::Key(String::new()));
                key_comes = true;
            }
            b'[' => steps.push(Step::Index(0)),
            b'}' | b']' => {
                steps.pop();
                key_comes = false;
            }
            b':' => key_comes = false,
            b',' => match steps.last_mut() {
                Some(Step::Key(_)) => key_comes = true,
                Some(Step::Index(index)) => *index += 1,
                None => {}
            },
            b'"' => {
                let start = at;
                while let Some(&byte) = bytes.get(at) {
                    match byte {
                        b'"' => break,
                        b'\\' => at += 2,
                        _ => at += 1,
                    }
                }
                let name = bytes.get(start..at).unwrap_or_default();
                if let (true, Some(Step::Key(key))) = (key_comes, steps.last_mut()) {
                    *key = String::from_utf8_lossy(&name[..name.len().min(64)]).into_owned();
                }
                at += 1;
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) if key.is_empty() => {}
            Step::Key(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&key);
            }
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only whether it can be read matters")]
    struct Row {
        price: String,
        lot: Option<u32>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only whether it can be read matters")]
    struct Rows {
        rows: Vec<Row>,
    }

    fn fault(text: &str) -> (&'static str, Option<String>) {
        let error = read::<Rows>(text.as_bytes()).unwrap_err();
        (error.code, error.field.map(|field| field.into_owned()))
    }

    #[test]
    fn the_field_at_fault_is_named_with_its_path() {
        let named = |text, code, field: &str| assert_eq!(fault(text), (code, Some(field.into())));
        named(r#"{"rows":[{"price":5}]}"#, "invalid_field", "rows[0].price");
        named(r#"{"rows":[{"price":"5"},{"price":{}}]}"#, "invalid_field", "rows[1].price");
        named(r#"{"rows":[{"price":"a\"b","lot":-1}]}"#, "invalid_field", "rows[0].lot");
        named("{\"rows\":\n [{\n \"price\" : [1]}]}", "invalid_field", "rows[0].price");
        named(r#"{"rows":[{"price":"5","tick":1}]}"#, "unknown_field", "rows[0].tick");
        named(r#"{"rows":[{"price":"5"},{"lot":1}]}"#, "missing_field", "rows[1].price");
        named(r#"{}"#, "missing_field", "rows");
        named(r#"[1]"#, "invalid_field", "body");
        named(r#"7"#, "invalid_field", "body");
    }

    #[test]
    fn text_that_is_no_json_is_placed_by_line_and_column() {
        for text in ["", "{", "{\"rows\":[}", "nul", "{} {}", "\u{0}"] {
            assert!(["malformed_json", "missing_field"].contains(&fault(text).0), "{text}");
        }
        let error = read::<Rows>(b"{\n  \"rows\" [").unwrap_err();
        assert!(error.message.contains("line 2, column 10"), "{}", error.message);
    }
}
