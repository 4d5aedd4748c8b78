//! Queues: transactions.

use super::queues::bus;
use super::{Handled, respond};
use crate::auth::Caller;
use crate::call::Call;
use crate::convert::transaction;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use rialto_api::{Nothing, TransactionAnswer, TransactionRequest};
use rialto_broker::may_use_any_topic;
use rialto_bus::Dispatch;
use rialto_queue::Committed;

/// `POST /v1/queues/transactions`
pub(super) async fn commit(gate: &Gate, request: Request) -> Handled {
    let bus = bus(gate)?;
    let bytes_max = gate.config.queue_body_bytes_max;
    let may = |caller: &Caller, _: &Parts| Ok(may_use_any_topic(caller.queue_principal())?);
    let call = Call::read_if(gate, request, bytes_max, may).await?;
    let Nothing {} = call.query()?;
    let body: TransactionRequest<'_> = call.json()?;
    let transaction = transaction(body, bus.leases())?;
    let committed = bus.send(transaction, &call.queue_cx()).await?;
    let duplicate = committed == Committed::Before;
    Ok(respond(StatusCode::OK, &TransactionAnswer { duplicate }, 32))
}
