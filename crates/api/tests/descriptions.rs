//! The committed descriptions equal those generated from the types.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::Value;
use std::path::Path;

const OUTDATED: &str = "is not what the types say: RIALTO_WRITE=1 cargo test -p rialto-api";

/// Compares a committed description with the generated one; with RIALTO_WRITE set, writes it.
fn is_committed(name: &str, made: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("RIALTO_WRITE").is_some() {
        let text = serde_json::to_string_pretty(made).unwrap();
        std::fs::write(&path, text + "\n").unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let committed: Value = serde_json::from_str(&text).unwrap();
    assert!(committed == *made, "docs/{name} {OUTDATED}");
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
fn the_page_of_endpoints_is_committed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/endpoints.md");
    let made = rialto_api::reference();
    if std::env::var_os("RIALTO_WRITE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == made, "docs/endpoints.md {OUTDATED}");
}

#[test]
fn the_page_of_endpoints_has_every_endpoint_and_links_that_lead_somewhere() {
    let page = rialto_api::reference();
    for route in rialto_api::Route::ALL.iter().filter(|route| route.endpoint().is_some()) {
        assert!(page.contains(&format!("| `{}` |", route.name())), "{}", route.name());
    }
    for link in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
        let heading =
            |line: &str| line.strip_prefix("### ").is_some_and(|it| it.to_lowercase() == link);
        assert!(page.lines().any(heading), "{link} leads nowhere");
    }
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
