//! Time, and what operators do while the venue runs.

use super::{Handled, respond};
use crate::call::{Call, Visit};
use crate::gate::Gate;
use crate::json::{JsonOut, Str};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_desk::{AcceptClock, GetTime, SetRulesVersion, TakeBackup, TakeSnapshot};
use serde::Deserialize;

/// `GET /v1/time`
pub(super) async fn time(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let time_us = gate.query(&visit.cx(), GetTime).await?;
    let mut out = JsonOut::with_capacity(64);
    out.open_object();
    out.key("time_us").quoted(time_us);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `POST /v1/admin/snapshot`
pub(super) async fn snapshot(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let seq = gate.send(&call.cx(), TakeSnapshot).await?;
    let mut out = JsonOut::with_capacity(64);
    out.open_object();
    out.key("seq").quoted(seq.0);
    out.close_object();
    Ok(respond(StatusCode::CREATED, out))
}

/// Body of `POST /v1/admin/rules-version`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesVersionRequest {
    version: u32,
}

/// `POST /v1/admin/rules-version`
pub(super) async fn rules_version(gate: &Gate, request: Request) -> Handled {
    let call = super::venue::operator(gate, request).await?;
    let body: RulesVersionRequest = call.json()?;
    let level = call.level(gate, None)?;
    let request = SetRulesVersion { version: body.version, level };
    let answer = gate.send(&call.cx(), request).await?;
    let mut out = JsonOut::with_capacity(64);
    out.open_object();
    out.key("version").number(body.version);
    out.key("seq").quoted(answer.seq.0);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `POST /v1/admin/clock/accept`
pub(super) async fn accept_clock(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let accepted = gate.send(&call.cx(), AcceptClock).await?;
    let mut out = JsonOut::with_capacity(96);
    out.open_object();
    out.key("step_us").text(&(accepted.step_ns / 1_000).to_string());
    out.key("time").quoted(accepted.time.0);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// Body of `POST /v1/admin/backup`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupRequest<'a> {
    #[serde(borrow)]
    name: Str<'a>,
}

/// `POST /v1/admin/backup`
pub(super) async fn backup(gate: &Gate, request: Request) -> Handled {
    let call = super::venue::operator(gate, request).await?;
    let body: BackupRequest<'_> = call.json()?;
    let backup = TakeBackup { name: body.name.to_string() };
    let made = gate.send(&call.cx(), backup).await?;
    let mut out = JsonOut::with_capacity(256);
    out.open_object();
    out.key("directory").text(&made.directory.to_string_lossy());
    out.key("seq").quoted(made.seq.0);
    // Nobody should learn it when the backup is needed.
    out.key("left_out").open_array();
    out.text("keys");
    if gate.payments.is_some() {
        out.text("flows");
    }
    if gate.queues.is_some() {
        out.text("queues");
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::CREATED, out))
}
