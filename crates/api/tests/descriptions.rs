//! The committed descriptions are those that are made of the types.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

use serde_json::Value;
use std::path::Path;

/// Compares a committed description with the one that is made now; with RIALTO_WRITE set, writes it.
fn is_committed(name: &str, made: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("RIALTO_WRITE").is_some() {
        let text = serde_json::to_string_pretty(made).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let committed: Value = serde_json::from_str(&text).unwrap();
    assert!(
        committed == *made,
        "docs/{name} is not what the types say: RIALTO_WRITE=1 cargo test -p rialto-api"
    );
}

#[test]
fn the_description_of_endpoints_is_committed() {
    is_committed("openapi.json", &rialto_api::openapi());
}

#[test]
fn the_description_of_streams_is_committed() {
    is_committed("asyncapi.json", &rialto_api::asyncapi());
}

#[test]
fn every_reference_leads_somewhere() {
    fn check(value: &Value, document: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
                    let target = document.pointer(name.trim_start_matches('#'));
                    assert!(target.is_some(), "{name} leads nowhere");
                }
                fields.values().for_each(|value| check(value, document));
            }
            Value::Array(values) => values.iter().for_each(|value| check(value, document)),
            _ => {}
        }
    }
    for document in [rialto_api::openapi(), rialto_api::asyncapi()] {
        check(&document, &document);
    }
}
