//! Queues: transactions.

use super::queues::bus;
use super::{Handled, respond};
use crate::call::Call;
use crate::dto::TransactionRequest;
use crate::gate::Gate;
use crate::json::JsonOut;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_bus::Dispatch;
use rialto_queue::Committed;

/// `POST /v1/queues/transactions`
pub(super) async fn commit(gate: &Gate, request: Request) -> Handled {
    let bus = bus(gate)?;
    let call = Call::read_up_to(gate, request, gate.config.queue_body_bytes_max).await?;
    call.query()?.finish()?;
    let body: TransactionRequest<'_> = call.json()?;
    let transaction = body.transaction(bus.leases())?;
    let committed = bus.send(transaction, &call.queue_cx()).await?;
    let mut out = JsonOut::with_capacity(32);
    out.open_object();
    out.key("duplicate").flag(committed == Committed::Before);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}
