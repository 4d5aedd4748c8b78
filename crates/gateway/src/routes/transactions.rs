//! Queues: transactions.

use super::queues::{MESSAGE_FIELDS_MAX, bus};
use super::{Handled, respond};
use crate::auth::Caller;
use crate::call::Call;
use crate::dto::TransactionRequest;
use crate::gate::Gate;
use crate::json::{JsonOut, SizeMax};
use crate::queues::{MESSAGES_MAX, may_something};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use rialto_bus::Dispatch;
use rialto_queue::Committed;

/// Most JSON of a transaction: topics with messages, which may have headers, and groups with leases.
const TRANSACTION_SIZE_MAX: SizeMax = SizeMax {
    objects: 5 * MESSAGES_MAX + 1,
    values: 2 * MESSAGES_MAX * (2 * MESSAGE_FIELDS_MAX + rialto_queue::HEADERS_MAX),
};

/// `POST /v1/queues/transactions`
pub(super) async fn commit(gate: &Gate, request: Request) -> Handled {
    let bus = bus(gate)?;
    let bytes_max = gate.config.queue_body_bytes_max;
    let may = |caller: &Caller, _: &Parts| Ok(may_something(caller)?);
    let call = Call::read_if(gate, request, bytes_max, may).await?;
    call.query()?.finish()?;
    call.bound(TRANSACTION_SIZE_MAX)?;
    let body: TransactionRequest<'_> = call.json()?;
    let transaction = body.transaction(bus.leases())?;
    let committed = bus.send(transaction, &call.queue_cx()).await?;
    let mut out = JsonOut::with_capacity(32);
    out.open_object();
    out.key("duplicate").flag(committed == Committed::Before);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}
