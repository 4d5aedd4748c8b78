//! The limits of the stream.

use std::time::Duration;

/// The limits of `GET /v1/stream`, for one connection and for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamConfig {
    /// The most streams; further ones get `too_many_streams` (503).
    pub connections_max: usize,
    /// The most subscriptions of one connection; further ones get `too_many_subscriptions`.
    pub subscriptions_max: usize,
    /// The most subscriptions of one address on all its unauthenticated streams; further ones get
    /// `too_many_subscriptions`.
    pub address_subscriptions_max: usize,
    /// The longest message of a client, in bytes; a longer one closes the connection (1009).
    pub message_bytes_max: usize,
    /// Messages per second of one client; beyond it, the connection is closed (4029).
    pub message_rate: u32,
    /// The burst of one client: messages at once after a pause.
    pub message_burst: u32,
    /// The most levels of a subscription to the best levels of a book.
    pub depth_max: usize,
    /// The most messages queued for one client, without books and tickers; beyond it, the
    /// connection is closed (4008).
    pub queue_messages: usize,
    /// The most bytes of those messages.
    pub queue_bytes: usize,
    /// The most changed levels of a book that wait, merged; beyond it, a new snapshot of the book
    /// is sent.
    pub queue_levels: usize,
    /// How long one message may take to be sent, and a resumed stream to make room for more of its
    /// replay; then the connection is closed (4008).
    pub send_timeout: Duration,
    /// The interval of pings and heartbeats. A heartbeat says how far the streams are complete.
    pub heartbeat: Duration,
    /// How long a client may be silent, without even a pong; then the connection is closed (4000).
    pub idle_timeout: Duration,
    /// The most private streams that are replayed at a time; further ones wait.
    pub replays_max: usize,
}

impl Default for StreamConfig {
    fn default() -> Self {
        StreamConfig {
            connections_max: 512,
            subscriptions_max: 100,
            address_subscriptions_max: 400,
            message_bytes_max: 16 << 10,
            message_rate: 50,
            message_burst: 200,
            depth_max: 100,
            queue_messages: 4_096,
            queue_bytes: 4 << 20,
            queue_levels: 4_096,
            send_timeout: Duration::from_secs(10),
            heartbeat: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(60),
            replays_max: 4,
        }
    }
}
