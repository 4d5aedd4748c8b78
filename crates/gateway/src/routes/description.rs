//! The descriptions of the API.

use super::Handled;
use crate::call::Visit;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use rialto_api::Nothing;
use serde_json::Value;
use std::sync::OnceLock;

/// `GET /v1/openapi.json`
pub(super) async fn openapi(gate: &Gate, request: Request) -> Handled {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    described(gate, request, &TEXT, rialto_api::openapi)
}

/// `GET /v1/asyncapi.json`
pub(super) async fn asyncapi(gate: &Gate, request: Request) -> Handled {
    static TEXT: OnceLock<Bytes> = OnceLock::new();
    described(gate, request, &TEXT, rialto_api::asyncapi)
}

fn described(
    gate: &Gate,
    request: Request,
    text: &OnceLock<Bytes>,
    describe: fn() -> Value,
) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let Nothing {} = visit.query()?;
    let text = text.get_or_init(|| describe().to_string().into());
    let mut response = Response::new(text.clone().into());
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}
