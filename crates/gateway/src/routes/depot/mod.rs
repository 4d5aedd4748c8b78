//! The depot: files, claims, tenants, volumes and watched folders.

pub(crate) mod claims;
pub(crate) mod files;
pub(crate) mod links;
pub(crate) mod tenants;
pub(crate) mod upkeep;
pub(crate) mod volumes;
pub(crate) mod watches;

use crate::ApiError;
use crate::call::unescape;
use crate::gate::Gate;
use axum::http::StatusCode;
use axum::http::request::Parts;
use rialto_depot::{FileId, TenantName};
use rialto_depot_desk::{DepotBus, RESERVED_TENANTS};
use std::borrow::Cow;

/// The depot's bus, if this venue has one.
fn bus(gate: &Gate) -> Result<&DepotBus, ApiError> {
    gate.depot.as_deref().ok_or_else(|| {
        let message = "This venue has no depot; its operator can set enabled in [depot].";
        ApiError::new(StatusCode::NOT_FOUND, "no_depot", message)
    })
}

/// A part of the path after `prefix`, by its number.
fn part<'a>(head: &'a Parts, prefix: &str, nth: usize) -> Result<Cow<'a, str>, ApiError> {
    let path = head.uri.path().strip_prefix(prefix).unwrap_or_default();
    unescape(path.split('/').nth(nth).unwrap_or_default())
}

fn tenant_name(text: &str) -> Result<TenantName, ApiError> {
    if RESERVED_TENANTS.contains(&text) {
        let message = format!("The name {text} is a word of paths; no tenant has it here.");
        return Err(ApiError::invalid("tenant", message));
    }
    TenantName::new(text).map_err(|error| ApiError::invalid("tenant", format!("{error}.")))
}

/// The tenant in a path `/v1/depot/{tenant}/…`.
fn tenant(head: &Parts) -> Result<TenantName, ApiError> {
    tenant_name(&part(head, "/v1/depot/", 0)?)
}

/// The file in a path `/v1/depot/{tenant}/files/{id}…`.
fn file_id(head: &Parts) -> Result<FileId, ApiError> {
    let text = part(head, "/v1/depot/", 2)?;
    text.parse().map_err(|error| ApiError::invalid("id", format!("{error}.")))
}
