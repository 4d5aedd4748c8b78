//! Pushes messages of a group over a WebSocket.
//!
//! A connection is a member of the group with a subscription of the queue. The subscription limits
//! its outstanding messages and returns them when the connection ends.

mod connection;
mod frames;
mod settlement;

use crate::ApiError;
use crate::call::{Arrival, Call};
use crate::connections::STREAM_READ_BYTES;
use crate::gate::Gate;
use crate::routes::{queue_bus, queue_names};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use connection::Connection;
use rialto_api::GroupStreamQuery;
use rialto_broker::SubscribeMessages;
use rialto_bus::Dispatch;
use std::sync::Arc;

/// The default number of outstanding messages.
const PREFETCH_USUAL: usize = 100;

/// `GET /v1/queues/{topic}/groups/{group}/stream`
pub(crate) async fn upgrade(gate: &Arc<Gate>, request: Request) -> Result<Response, ApiError> {
    // It is not counted as an operation, so that it must check for the stop itself.
    if gate.intake.process.operations().is_stopping() {
        return Err(ApiError::stopped());
    }
    let mut call = Call::read_bare(gate, request).await?;
    let [topic, group] = queue_names(&call, ["topic", "group"])?;
    let GroupStreamQuery { prefetch, format } = call.query()?;
    let prefetch = prefetch.unwrap_or(PREFETCH_USUAL);
    let subscribe = SubscribeMessages { topic, group, prefetch };
    let bus = queue_bus(gate)?;
    let (subscription, leases) = (bus.send(subscribe, &call.queue_cx()).await?, bus.leases());
    let upgrade = WebSocketUpgrade::from_request_parts(&mut call.head, &()).await;
    let upgrade = upgrade.map_err(|_| ApiError::websocket_required())?;
    let entered = gate.streams.enter(gate.config.stream.connections_max)?;
    // The connection counts for its key while the stream lives.
    let Arrival { peer, connection, .. } = Arrival::of(&call.head.extensions).clone();
    connection.belongs_to(peer)?;
    connection.signed_by(call.caller.id())?;
    // A frame of the client is as long as a request's body may be.
    let bytes_max = gate.config.body_bytes_max;
    let (gate, caller) = (Arc::clone(gate), call.caller);
    connection.limit_messages(bytes_max);
    let upgrade = upgrade
        .read_buffer_size(STREAM_READ_BYTES)
        .max_message_size(bytes_max)
        .max_frame_size(bytes_max);
    Ok(upgrade
        .on_upgrade(move |socket| async move {
            let messages = (subscription, format);
            Connection::new(gate, caller, connection, leases, socket, messages).serve().await;
            drop(entered);
        })
        .into_response())
}
