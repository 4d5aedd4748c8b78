//! Reads JSON and queries into the API's types, describes their errors, and writes answers.

mod writer;

use crate::ApiError;
use axum::http::StatusCode;
use percent_encoding::percent_decode_str;
use rialto_api::{Explained, explain};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

/// The longest message of the JSON reader that is repeated in an error.
const MESSAGE_BYTES_MAX: usize = 240;

/// Reads one JSON object.
pub(crate) fn read<'de, T: Deserialize<'de> + JsonSchema>(bytes: &'de [u8]) -> Result<T, ApiError> {
    // A derived reader would accept an array of fields in order, which the API does not promise.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(ApiError::invalid("body", "A JSON object is expected here, not an array."));
    }
    serde_json::from_slice(bytes).map_err(|error| refused::<T>(bytes, &error))
}

/// Reads one JSON array.
pub(crate) fn read_list<'de, T: Deserialize<'de> + JsonSchema>(
    bytes: &'de [u8],
) -> Result<T, ApiError> {
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        return Err(ApiError::invalid("body", "A JSON array is expected here."));
    }
    serde_json::from_slice(bytes).map_err(|error| refused::<T>(bytes, &error))
}

/// Reads JSON objects, one per non-empty line, and at most one more than `rows_max`.
pub(crate) fn read_lines<'de, T: Deserialize<'de> + JsonSchema>(
    bytes: &'de [u8],
    rows_max: usize,
) -> Result<Vec<T>, ApiError> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let read_line = |(row, line)| read(line).map_err(|error| error.within(&format!("[{row}]")));
    lines.take(rows_max + 1).enumerate().map(read_line).collect()
}

/// Reads the query parameters of a path.
pub(crate) fn read_query<'de, T: Deserialize<'de> + JsonSchema>(
    query: &'de str,
) -> Result<T, ApiError> {
    check_utf_8(query)?;
    let parameters = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(parameters).map_err(|error| {
        let reason = error.inner().to_string();
        let path = error.path().to_string();
        let explained = explain::<T>("parameter", path.trim_matches('.'), &reason);
        let code = match explained.code {
            "unknown_field" => "unknown_parameter",
            code => code,
        };
        ApiError::from(Explained { code, ..explained })
    })
}

/// Refuses a query that is not UTF-8. The reader below would replace what is not, and take different
/// values for the same.
fn check_utf_8(query: &str) -> Result<(), ApiError> {
    let is_utf_8 = |text: &str| percent_decode_str(text).decode_utf8().is_ok();
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if !is_utf_8(name) {
            return Err(ApiError::invalid("query", "The name of a parameter is not UTF-8."));
        }
        if !is_utf_8(value) {
            let message = format!("The parameter {name} is not percent-encoded UTF-8.");
            return Err(ApiError::invalid("query", message).of(name.to_owned()));
        }
    }
    Ok(())
}

fn refused<'de, T: Deserialize<'de> + JsonSchema>(
    bytes: &'de [u8],
    error: &serde_json::Error,
) -> ApiError {
    let reason = error.to_string();
    let (line, column) = (error.line(), error.column());
    let mut message =
        reason.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&reason);
    // The reader reports a value of another type in place of an enumeration, such as null, as a fault of the
    // syntax. The body is JSON all the same.
    let is_other_type =
        message == "expected value" && serde_json::from_slice::<IgnoredAny>(bytes).is_ok();
    if error.classify() != Category::Data && !is_other_type {
        if let Some((at, _)) = message.char_indices().find(|(at, _)| *at >= MESSAGE_BYTES_MAX) {
            message = &message[..at];
        }
        let message = format!("The body is not JSON: {message} at line {line}, column {column}.");
        return ApiError::new(StatusCode::BAD_REQUEST, "malformed_json", message);
    }
    // Reads again, slowly, to find the field.
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let path = match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Err(error) => error.path().to_string(),
        Ok(_) => String::new(),
    };
    ApiError::from(explain::<T>("field", path.trim_matches('.'), message))
}

impl From<Explained> for ApiError {
    fn from(explained: Explained) -> ApiError {
        let Explained { code, field, message } = explained;
        let field = if field.is_empty() { "body".to_owned() } else { field };
        ApiError::new(StatusCode::BAD_REQUEST, code, message).of(field)
    }
}

/// A value as JSON, in a buffer with this initial capacity.
pub(crate) fn write(value: &impl Serialize, capacity: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(capacity);
    writer::append(&mut bytes, value).expect("plain data is always written to memory");
    debug_assert_eq!(Ok(&bytes), serde_json::to_vec(value).as_ref().map_err(drop));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_api::{BookQuery, DepotPutQuery, OrderRequest, OrdersQuery, TransactionRequest};

    fn fault<'de, T: Deserialize<'de> + JsonSchema>(text: &'de str) -> (&'static str, String) {
        let Err(error) = read::<T>(text.as_bytes()) else { panic!("{text} was read") };
        (error.code, error.field.unwrap_or_default().into_owned())
    }

    #[test]
    fn a_parameter_that_is_not_utf_8_is_refused() {
        let refused = |query: &'static str| {
            let Err(error) = read_query::<DepotPutQuery<'_>>(query) else { panic!("{query}") };
            (error.code, error.field.unwrap_or_default().into_owned())
        };
        let invalid = |field: &str| ("invalid_field", field.to_owned());
        assert_eq!(refused("directory=sh&name=%ff"), invalid("name"));
        assert_eq!(refused("directory=%c3&name=a"), invalid("directory"));
        assert_eq!(refused("%fe=a"), invalid("query"));
        let read = read_query::<DepotPutQuery<'_>>("name=%c3%a4+b").unwrap();
        assert_eq!(read.name.as_deref(), Some("ä b"));
    }

    #[test]
    fn the_field_at_fault_is_named_with_its_path() {
        type Rows<'a> = TransactionRequest<'a>;
        let named =
            |text, code, field: &str| assert_eq!(fault::<Rows<'_>>(text), (code, field.into()));
        let first = r#"{"publish":[{"topic":"t","messages":[{"payload":"a"},"#;
        named(r#"{"publish":[{"topic":5}]}"#, "invalid_field", "publish[0].topic");
        let text = format!("{first}{{\"payload\":{{}}}}]}}]}}");
        named(&text, "invalid_field", "publish[0].messages[1].payload");
        let text = format!("{first}{{\"payload\":\"a\\\"b\",\"priority\":-1}}]}}]}}");
        named(&text, "invalid_field", "publish[0].messages[1].priority");
        let text = format!("{first}{{\"tick\":1}}]}}]}}");
        named(&text, "unknown_field", "publish[0].messages[1].tick");
        named(r#"{"publish":[{"messages":[]}]}"#, "missing_field", "publish[0].topic");
        named(r#"[1]"#, "invalid_field", "body");
        named(r#"7"#, "invalid_field", "body");
        let twice = r#"{"side":"buy","side":"sell"}"#;
        assert_eq!(fault::<OrderRequest<'_>>(twice), ("invalid_field", "side".into()));
        let text = format!("{first}{{\"payload\":\"a\",\"payload\":\"b\"}}]}}]}}");
        named(&text, "invalid_field", "publish[0].messages[1].payload");
        assert_eq!(fault::<OrderRequest<'_>>("{}"), ("missing_field", "instrument".into()));
        for value in ["null", "true", "7", "[]"] {
            let text = format!("{{\"account\":1,\"side\":{value}}}");
            assert_eq!(fault::<OrderRequest<'_>>(&text), ("invalid_field", "side".into()));
        }
    }

    #[test]
    fn text_that_is_no_json_is_placed_by_line_and_column() {
        let surrogate = r#"{"client_order_id":"\ud800"}"#;
        for text in ["", "{", "nul", "{\"account\":}", "\u{0}", "{\"side\":}", surrogate] {
            assert_eq!(fault::<OrderRequest<'_>>(text).0, "malformed_json", "{text}");
        }
        let Err(error) = read::<OrderRequest<'_>>(b"{\"instrument\":\"\xff\"}") else { panic!() };
        assert_eq!(error.code, "malformed_json");
        let Err(error) = read::<OrderRequest<'_>>(b"{\n  \"side\" [") else { panic!() };
        assert!(error.message.contains("line 2, column 10"), "{}", error.message);
    }

    #[test]
    fn the_parameter_at_fault_is_named() {
        let fault = |text: &'static str| {
            let error = read_query::<OrdersQuery<'_>>(text).err()?;
            Some(format!("{} {}", error.code, error.field.unwrap_or_default()))
        };
        assert_eq!(fault(""), None);
        assert_eq!(fault("limit=10&status=ended&instrument=a%2Fb"), None);
        assert_eq!(fault("limit=x").as_deref(), Some("invalid_field limit"));
        assert_eq!(fault("limit=-1").as_deref(), Some("invalid_field limit"));
        assert_eq!(fault("status=all").as_deref(), Some("invalid_field status"));
        assert_eq!(fault("statuses=all").as_deref(), Some("unknown_parameter statuses"));
        assert_eq!(fault("limit=1&limit=2").as_deref(), Some("invalid_field limit"));
        assert_eq!(
            read_query::<BookQuery>("level=3").unwrap().level,
            rialto_api::BookLevel::Orders
        );
    }
}
