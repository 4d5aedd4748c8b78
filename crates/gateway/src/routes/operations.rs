//! Time, and operations on a running venue.

use super::{Handled, respond};
use crate::call::{Call, Visit};
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{
    BackupAnswer, BackupRequest, ClockAnswer, I64Text, Nothing, RulesVersionAnswer,
    RulesVersionRequest, SnapshotAnswer, TimeAnswer,
};
use rialto_desk::{AcceptClock, GetTime, SetRulesVersion, TakeBackup, TakeSnapshot};
use rialto_model::Timestamp;

/// `GET /v1/time`
pub(super) async fn time(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let time_us = gate.query(&visit.cx(), GetTime).await?;
    let time = Timestamp(time_us.saturating_mul(1_000));
    Ok(respond(StatusCode::OK, &TimeAnswer { time }, 64))
}

/// `POST /v1/admin/snapshot`
pub(super) async fn snapshot(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let seq = gate.send(&call.cx(), TakeSnapshot).await?;
    Ok(respond(StatusCode::CREATED, &SnapshotAnswer { seq }, 64))
}

/// `POST /v1/admin/rules-version`
pub(super) async fn rules_version(gate: &Gate, request: Request) -> Handled {
    let call = super::venue::operator(gate, request).await?;
    let RulesVersionRequest { version } = call.json()?;
    let level = call.level(gate, None)?;
    let answer = gate.send(&call.cx(), SetRulesVersion { version, level }).await?;
    Ok(respond(StatusCode::OK, &RulesVersionAnswer { version, seq: answer.seq }, 64))
}

/// `POST /v1/admin/clock/accept`
pub(super) async fn accept_clock(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let accepted = gate.send(&call.cx(), AcceptClock).await?;
    let response = ClockAnswer { step_ns: I64Text(accepted.step_ns), time: accepted.time };
    Ok(respond(StatusCode::OK, &response, 96))
}

/// `POST /v1/admin/backup`
pub(super) async fn backup(gate: &Gate, request: Request) -> Handled {
    let call = super::venue::administrator(gate, request).await?;
    let body: BackupRequest<'_> = call.json()?;
    let made = gate.send(&call.cx(), TakeBackup { name: body.name.into_owned() }).await?;
    // An operator should learn this before the backup is needed.
    let parts = [
        ("keys", true),
        ("flows", gate.payments.is_some()),
        ("queues", gate.queues.is_some()),
        ("depot", gate.depot.is_some()),
        ("statements", gate.statements.is_some()),
        ("order_files", gate.order_files.is_some()),
    ];
    let response = BackupAnswer {
        directory: made.directory.to_string_lossy().into_owned(),
        seq: made.seq,
        left_out: parts
            .iter()
            .filter(|(_, is_there)| *is_there)
            .map(|(it, _)| (*it).into())
            .collect(),
    };
    Ok(respond(StatusCode::CREATED, &response, 256))
}
