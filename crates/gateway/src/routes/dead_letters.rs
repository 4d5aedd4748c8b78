//! Queues: dead letters, and purging topics.

use super::queues::{bus, message_bytes, names, places, places_text};
use super::{Handled, count, packed, respond};
use crate::ApiError;
use crate::call::Call;
use crate::convert::message_info;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::limits::MESSAGES_MAX;
use rialto_api::{
    DeadLettersAnswer, DeadLettersQuery, Nothing, PurgeAnswer, RedriveAnswer, RedriveQuery,
};
use rialto_broker::{ListDeadLetters, PurgeTopic, RedriveDeadLetters};
use rialto_bus::Dispatch;
use rialto_queue::packed::pack_messages;

/// `GET /v1/queues/{topic}/dead-letters`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let [topic] = names(&call, ["topic"])?;
    let query: DeadLettersQuery = call.query()?;
    let max = count("max", query.max, 100, MESSAGES_MAX)?;
    let dead_letters = bus(gate)?.query(ListDeadLetters { topic, max }, &call.queue_cx()).await?;
    if packed::is_asked_for(&call) {
        return Ok(packed::respond_packed(pack_messages(&dead_letters, 0)));
    }
    let response = DeadLettersAnswer { messages: dead_letters.iter().map(message_info).collect() };
    Ok(respond(StatusCode::OK, &response, message_bytes(&dead_letters)))
}

/// `POST /v1/queues/{topic}/redrive`
pub(super) async fn redrive(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let [topic] = names(&call, ["topic"])?;
    let query: RedriveQuery<'_> = call.query()?;
    let max = count("max", query.max, MESSAGES_MAX, MESSAGES_MAX)?;
    let from = match query.from.as_deref() {
        None | Some("oldest") => Vec::new(),
        Some(from) => places(from).ok_or_else(|| {
            let message = "The parameter from is oldest, or the value of next in an answer.";
            ApiError::invalid("from", message)
        })?,
    };
    let redrive = RedriveDeadLetters { topic, from, max };
    let (redriven, next) = bus(gate)?.send(redrive, &call.queue_cx()).await?;
    let response = RedriveAnswer {
        sent: redriven.sent.into(),
        kept: redriven.kept.into(),
        next: places_text(&next),
    };
    Ok(respond(StatusCode::OK, &response, 64))
}

/// `DELETE /v1/queues/{topic}/messages`
pub(super) async fn purge(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let Nothing {} = call.query()?;
    let [topic] = names(&call, ["topic"])?;
    let dropped = bus(gate)?.send(PurgeTopic { topic }, &call.queue_cx()).await?;
    Ok(respond(StatusCode::OK, &PurgeAnswer { dropped: dropped.into() }, 32))
}
