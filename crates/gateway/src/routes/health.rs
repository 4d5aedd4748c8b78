//! Health, readiness and liveness.
//!
//! These routes have no limits and no signatures: monitoring must work under load and until the end
//! of a shutdown.

use super::{Handled, respond};
use crate::ApiError;
use crate::call::context;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{AliveAnswer, ComponentInfo, HealthAnswer, ReadyAnswer, StorageInfo, U64Text};
use rialto_desk::{GetStatus, Grant, Health, Storage};
use rialto_lifecycle::ComponentStatus;
use rialto_model::Timestamp;
use std::time::UNIX_EPOCH;

/// `GET /v1/health`: the health of every part of the process. 200 as long as it answers.
pub(super) async fn health(gate: &Gate, request: Request) -> Handled {
    let venue = venue(gate, request).await?;
    let process = &gate.intake.process;
    let response = HealthAnswer {
        alive: process.is_alive(),
        ready: reason_against(gate, &venue).is_none(),
        stopping: process.operations().is_stopping(),
        engine: engine_state(&venue).into(),
        durability: gate.desk.level().name().into(),
        storage: storage(gate.desk.storage()),
        depot_failure: gate.depot.as_ref().and_then(|depot| depot.depot().failure()),
        components: process.status().iter().map(component).collect(),
    };
    Ok(respond(StatusCode::OK, &response, 1_024))
}

/// The free space of the disk, and its use.
fn storage(storage: &Storage) -> StorageInfo {
    let reading = storage.reading();
    let parts = reading.parts.iter().map(|(part, bytes)| ((*part).into(), Some(U64Text(*bytes))));
    let other = ("other".into(), reading.other_bytes().map(U64Text));
    StorageInfo {
        level: storage.level().word().into(),
        free_bytes: reading.free_bytes.into(),
        total_bytes: reading.total_bytes.map(U64Text),
        used_bytes: parts.chain([other]).collect(),
    }
}

fn component(status: &ComponentStatus) -> ComponentInfo {
    let since = status.since_time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    ComponentInfo {
        name: status.name.to_string(),
        state: status.state.word().into(),
        since: since.map(|time| Timestamp(time.as_nanos() as u64)),
        restarts: status.restarts,
        reason: status.state.reason().map(ToString::to_string),
    }
}

/// `GET /v1/ready`: whether commands are accepted and queries answered with current data.
pub(super) async fn ready(gate: &Gate, request: Request) -> Handled {
    let venue = venue(gate, request).await?;
    let reason = reason_against(gate, &venue);
    let response = ReadyAnswer {
        ready: reason.is_none(),
        engine: engine_state(&venue).into(),
        released_seq: venue.released,
        feed_seq: venue.feed,
        reason,
    };
    Ok(respond(status_if(response.ready), &response, 256))
}

/// `GET /v1/live`: whether the process works, or needs a restart.
pub(super) async fn alive(gate: &Gate, _: Request) -> Handled {
    let alive = gate.intake.process.is_alive();
    Ok(respond(status_if(alive), &AliveAnswer { alive }, 32))
}

fn status_if(is_well: bool) -> StatusCode {
    if is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

/// The reason why the venue should get no requests, if there is one. Engine and feed are asked
/// directly, because supervision checks them only at intervals.
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

/// The status of engine and feed.
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
