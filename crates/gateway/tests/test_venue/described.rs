//! Checks every answer and message of a test against the description of the API.

use jsonschema::Validator;
use rialto_api::{Route, asyncapi, openapi};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

static OPENAPI: LazyLock<Value> = LazyLock::new(openapi);
static ASYNCAPI: LazyLock<Value> = LazyLock::new(asyncapi);
static VALIDATORS: LazyLock<Mutex<HashMap<String, Validator>>> = LazyLock::new(Mutex::default);

/// The endpoint of a request, if there is one.
fn route(method: &str, path: &str) -> Option<Route> {
    let path = path.split('?').next()?;
    let fits = |route: &&Route| {
        let (mut own, mut asked) = (route.path().split('/'), path.split('/'));
        let mut same = || match (own.next(), asked.next()) {
            (None, None) => Some(true),
            (Some(own), Some(asked)) if own == asked || own.starts_with('{') => None,
            _ => Some(false),
        };
        route.method() == method
            && std::iter::repeat_with(&mut same).find_map(|it| it) == Some(true)
    };
    let all: Vec<_> = Route::ALL.iter().filter(fits).collect();
    all.iter().min_by_key(|route| route.path().matches('{').count()).map(|route| **route)
}

/// Checks an answer against the schema of its endpoint and status.
#[track_caller]
pub fn check_answer(method: &str, path: &str, status: u16, body: &Value) {
    let Some(route) = route(method, path) else { return };
    let responses = &OPENAPI["paths"][route.path()][method.to_lowercase()]["responses"];
    let class = format!("{}XX", status / 100);
    let response = responses.get(status.to_string()).or_else(|| responses.get(&class));
    let response = response.unwrap_or_else(|| panic!("{method} {path} answered {status}: {body}"));
    let Some(content) = response.get("content") else { return };
    let schema = &content["application/json"]["schema"];
    check(&format!("{route:?} {status}"), schema, &OPENAPI, body);
}

/// Checks a message of the venue's stream against its schema.
#[track_caller]
pub fn check_message(message: &Value) {
    let schema = &ASYNCAPI["channels"]["venue"]["messages"]["message"]["payload"];
    check("stream", schema, &ASYNCAPI, message);
}

#[track_caller]
fn check(name: &str, schema: &Value, document: &Value, value: &Value) {
    let mut validators = VALIDATORS.lock().unwrap();
    let validator = validators.entry(name.to_owned()).or_insert_with(|| {
        let schema = json!({ "allOf": [schema], "components": document["components"] });
        jsonschema::draft202012::new(&schema).unwrap()
    });
    let wrong: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{name} is not as described: {wrong:?}\n{value}");
}
