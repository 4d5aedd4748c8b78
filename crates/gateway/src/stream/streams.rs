//! State that all streams share: limits, counts and the upgrade.

use super::turns::Turns;
use super::{StreamConfig, connection};
use crate::ApiError;
use crate::call::Arrival;
use crate::connections::STREAM_READ_BYTES;
use crate::gate::Gate;
use crate::json;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rialto_api::Nothing;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, watch};

/// State that all streams share.
pub(crate) struct Streams {
    pub(crate) counts: Arc<StreamCounts>,
    pub(super) replays: Arc<Turns>,
    pub(super) stopped: watch::Receiver<bool>,
    /// Held by each stream until it has ended in order.
    working: mpsc::WeakSender<()>,
}

/// Counts about streams.
#[derive(Debug, Default)]
pub(crate) struct StreamCounts {
    pub(crate) connections: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) subscriptions: AtomicU64,
    pub(crate) messages: AtomicU64,
    pub(crate) too_slow: AtomicU64,
    pub(crate) resumed: AtomicU64,
    pub(crate) disconnects: AtomicU64,
    pub(crate) disconnects_failed: AtomicU64,
}

/// A stream in the count of open streams, while this lives. The stop waits for it.
pub(crate) struct Entered {
    _counted: Counted,
    _working: mpsc::Sender<()>,
}

struct Counted(Arc<StreamCounts>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Streams {
    pub(crate) fn new(
        config: &StreamConfig,
        stopped: watch::Receiver<bool>,
        working: &mpsc::Sender<()>,
    ) -> Streams {
        Streams {
            counts: Arc::default(),
            replays: Turns::new(config.replays_max),
            stopped,
            working: working.downgrade(),
        }
    }

    /// Counts a stream, unless the limit is reached.
    pub(crate) fn enter(&self, max: usize) -> Result<Entered, ApiError> {
        let working = self.working.upgrade().ok_or_else(ApiError::stopped)?;
        let before = self.counts.connections.fetch_add(1, Ordering::Relaxed);
        let counted = Counted(Arc::clone(&self.counts));
        if before < max as u64 {
            return Ok(Entered { _counted: counted, _working: working });
        }
        self.counts.refused.fetch_add(1, Ordering::Relaxed);
        let message = "The venue has reached its limit of streams; close one or try again later.";
        let status = StatusCode::SERVICE_UNAVAILABLE;
        let error = ApiError::new(status, "too_many_streams", message);
        Err(ApiError { retry: true, ..error })
    }

    /// Announces the stop.
    pub(crate) fn stopped(&self) -> watch::Receiver<bool> {
        self.stopped.clone()
    }
}

/// `GET /v1/stream`
pub(crate) async fn upgrade(gate: &Arc<Gate>, request: Request) -> Result<Response, ApiError> {
    let (mut head, _) = request.into_parts();
    let arrival = Arrival::of(&head.extensions).clone();
    let caller = gate.gatekeeper.check_public(&head, arrival.peer)?;
    let Nothing {} = json::read_query(head.uri.query().unwrap_or_default())?;
    arrival.connection.belongs_to(arrival.peer)?;
    if let Some(caller) = caller {
        arrival.connection.signed_by(caller.id())?;
    }
    let upgrade = WebSocketUpgrade::from_request_parts(&mut head, &()).await;
    let upgrade = upgrade.map_err(|_| ApiError::websocket_required())?;
    let config = &gate.config.stream;
    let entered = gate.streams.enter(config.connections_max)?;
    let gate = Arc::clone(gate);
    arrival.connection.limit_messages(config.message_bytes_max);
    let upgrade = upgrade
        .read_buffer_size(STREAM_READ_BYTES)
        .max_message_size(config.message_bytes_max)
        .max_frame_size(config.message_bytes_max);
    Ok(upgrade
        .on_upgrade(move |socket| async move {
            connection::serve(gate, socket, arrival).await;
            drop(entered);
        })
        .into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_private_streams_are_replayed_at_a_time_as_the_setting_says() {
        let config = StreamConfig { replays_max: 2, ..StreamConfig::default() };
        let (_stop, stopped) = watch::channel(false);
        let (working, _) = mpsc::channel(1);
        let streams = Streams::new(&config, stopped, &working);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let moment = std::time::Duration::from_millis(20);
            let turn = || tokio::time::timeout(moment, streams.replays.take("alice"));
            let first = turn().await.expect("a turn");
            let _second = turn().await.expect("another turn");
            assert!(turn().await.is_err(), "a third turn at a time");
            drop(first);
            assert!(turn().await.is_ok());
        });
    }
}
