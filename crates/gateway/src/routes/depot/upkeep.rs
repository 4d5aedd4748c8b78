//! The scrub, and the bytes without a record.

use super::bus;
use crate::call::Call;
use crate::convert::{adopted_info, scrub_info};
use crate::gate::Gate;
use crate::routes::{Handled, respond};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{DepotAdoptRequest, Nothing};
use rialto_bus::Dispatch;
use rialto_depot_desk::{AdoptFiles, GetScrub};

/// `GET /v1/depot/scrub`
pub(crate) async fn scrub(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let found = bus(gate)?.query(GetScrub, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &scrub_info(&found), 256 + 384 * found.damage.len()))
}

/// `POST /v1/depot/adopt`
pub(crate) async fn adopt(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let DepotAdoptRequest { dry_run } = call.json()?;
    let adopted = bus(gate)?.send(AdoptFiles { dry_run }, &call.depot_cx()).await?;
    Ok(respond(StatusCode::OK, &adopted_info(&adopted), 256 + 384 * adopted.files.len()))
}
