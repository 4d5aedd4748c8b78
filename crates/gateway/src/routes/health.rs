//! Whether the venue lives, is ready, and how its parts are.
//!
//! Nothing here is limited or signed, because whoever watches over a venue must not be turned away
//! when it is busiest, and all is answered until the very end of a shutdown.

use super::{Handled, respond};
use crate::ApiError;
use crate::call::context;
use crate::gate::Gate;
use crate::json::JsonOut;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_desk::{GetStatus, Grant, Health, Storage};
use rialto_lifecycle::Status;
use std::time::UNIX_EPOCH;

/// `GET /v1/health`: every part of the process. 200 as long as somebody answers.
pub(super) async fn health(gate: &Gate, request: Request) -> Handled {
    let venue = venue(gate, request).await?;
    let process = &gate.intake.process;
    let mut out = JsonOut::with_capacity(1_024);
    out.open_object();
    out.key("alive").flag(process.is_alive());
    out.key("ready").flag(reason_against(gate, &venue).is_none());
    out.key("stopping").flag(process.operations().is_stopping());
    out.key("engine").text(engine_state(&venue));
    out.key("durability").text(gate.desk.level().name());
    storage(&mut out, gate.desk.storage());
    out.key("components").open_array();
    for status in process.status() {
        component(&mut out, &status);
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// What is left of the disk, and what fills it.
fn storage(out: &mut JsonOut, storage: &Storage) {
    let (level, reading) = (storage.level(), storage.reading());
    out.key("storage").open_object();
    out.key("level").text(level.word());
    out.key("free_bytes").quoted(reading.free_bytes);
    out.key("total_bytes");
    match reading.total_bytes {
        Some(bytes) => out.quoted(bytes),
        None => out.null(),
    }
    out.key("used_bytes").open_object();
    for (part, bytes) in &reading.parts {
        out.key(part).quoted(*bytes);
    }
    out.key("other");
    match reading.other_bytes() {
        Some(bytes) => out.quoted(bytes),
        None => out.null(),
    }
    out.close_object();
    out.close_object();
}

fn component(out: &mut JsonOut, status: &Status) {
    out.open_object();
    out.key("name").text(&status.name);
    out.key("state").text(status.state.word());
    out.key("since");
    match status.since_time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()) {
        Some(time) => out.quoted(time.as_micros() as u64),
        None => out.null(),
    }
    out.key("restarts").number(u32::try_from(status.restarts).unwrap_or(u32::MAX));
    out.key("reason");
    match status.state.reason() {
        Some(reason) => out.text(reason),
        None => out.null(),
    }
    out.close_object();
}

/// `GET /v1/ready`: whether commands are taken and queries answered from the present.
pub(super) async fn ready(gate: &Gate, request: Request) -> Handled {
    let venue = venue(gate, request).await?;
    let reason = reason_against(gate, &venue);
    let mut out = JsonOut::with_capacity(256);
    out.open_object();
    out.key("ready").flag(reason.is_none());
    out.key("engine").text(engine_state(&venue));
    out.key("reason");
    match &reason {
        Some(reason) => out.text(reason),
        None => out.null(),
    }
    out.key("released_seq").quoted(venue.released.0);
    out.key("feed_seq").quoted(venue.feed.0);
    out.close_object();
    Ok(respond(status_if(reason.is_none()), out))
}

/// `GET /v1/live`: whether the process can still do its work, or only a new one helps.
pub(super) async fn alive(gate: &Gate, _: Request) -> Handled {
    let is_alive = gate.intake.process.is_alive();
    let mut out = JsonOut::with_capacity(32);
    out.open_object();
    out.key("alive").flag(is_alive);
    out.close_object();
    Ok(respond(status_if(is_alive), out))
}

fn status_if(is_well: bool) -> StatusCode {
    if is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// Why the venue should get no requests, if so. Engine and feed are asked themselves, because
/// supervision looks at them only now and then.
fn reason_against(gate: &Gate, venue: &rialto_desk::Status) -> Option<String> {
    let process = &gate.intake.process;
    if process.operations().is_stopping() {
        return Some("it is stopping".to_owned());
    }
    if !venue.takes_commands() {
        return Some(venue.engine.to_string());
    }
    if let Some(fault) = &venue.fault {
        return Some(fault.to_string());
    }
    let status = process.status();
    let not_up = status.iter().find(|status| status.state.word() != "up")?;
    Some(format!("{} is {}", not_up.name, not_up.state))
}

/// How engine and feed are.
async fn venue(gate: &Gate, request: Request) -> Result<rialto_desk::Status, ApiError> {
    let (head, _) = request.into_parts();
    gate.query(&context(&head, Grant::nobody()), GetStatus).await
}

fn engine_state(venue: &rialto_desk::Status) -> &'static str {
    match venue.engine {
        Health::Running => "running",
        Health::Stalled(_) => "stalled",
        Health::Draining => "draining",
        Health::Stopped => "stopped",
        Health::Failed(_) => "failed",
    }
}
