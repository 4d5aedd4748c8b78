//! Queues: dead letters, and dropping what a topic holds.

use super::queues::{bus, names, places, places_text, write_messages};
use super::{Handled, packed, respond};
use crate::ApiError;
use crate::call::Call;
use crate::gate::Gate;
use crate::json::JsonOut;
use crate::queues::{ListDeadLetters, MESSAGES_MAX, PurgeTopic, RedriveDeadLetters};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_bus::Dispatch;
use rialto_queue::packed::pack_messages;

/// `GET /v1/queues/{topic}/dead-letters`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let [topic] = names(&call, ["topic"])?;
    let mut query = call.query()?;
    let max = query.count("max", 100, MESSAGES_MAX)?;
    query.finish()?;
    let letters = bus(gate)?.query(ListDeadLetters { topic, max }, &call.queue_cx()).await?;
    if packed::is_asked_for(&call) {
        return Ok(packed::respond_packed(pack_messages(&letters, 0)));
    }
    let mut out = JsonOut::with_capacity(1_024);
    out.open_object();
    write_messages(&mut out, &letters);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `POST /v1/queues/{topic}/redrive`
pub(super) async fn redrive(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let [topic] = names(&call, ["topic"])?;
    let mut query = call.query()?;
    let max = query.count("max", MESSAGES_MAX, MESSAGES_MAX)?;
    let from = query.text("from");
    query.finish()?;
    let from = match from.as_deref() {
        None | Some("oldest") => Vec::new(),
        Some(told) => places(told).ok_or_else(|| {
            let message = "The parameter from is oldest, or what an answer called next.";
            ApiError::invalid("from", message)
        })?,
    };
    let redrive = RedriveDeadLetters { topic, from, max };
    let (redriven, next) = bus(gate)?.send(redrive, &call.queue_cx()).await?;
    let mut out = JsonOut::with_capacity(64);
    out.open_object();
    out.key("sent").quoted(redriven.sent);
    out.key("kept").quoted(redriven.kept);
    out.key("next").text(&places_text(&next));
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `DELETE /v1/queues/{topic}/messages`
pub(super) async fn purge(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    call.query()?.finish()?;
    let [topic] = names(&call, ["topic"])?;
    let dropped = bus(gate)?.send(PurgeTopic { topic }, &call.queue_cx()).await?;
    let mut out = JsonOut::with_capacity(32);
    out.open_object();
    out.key("dropped").quoted(dropped);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}
