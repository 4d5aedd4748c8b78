//! The limits of the stream.

use std::time::Duration;

/// The limits of `GET /v1/stream`: what one connection, and all of them, may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamConfig {
    /// Streams at a time; one more is told `too_many_streams` (503).
    pub connections_max: usize,
    /// Subscriptions of one connection; one more is `too_many_subscriptions`.
    pub subscriptions_max: usize,
    /// Subscriptions of one address on all its streams that nobody has authenticated on; one more is
    /// `too_many_subscriptions`.
    pub address_subscriptions_max: usize,
    /// The longest message from a client, in bytes; a longer one closes the connection (1009).
    pub message_bytes_max: usize,
    /// Messages per second from one client; above it the connection is closed (4029).
    pub message_rate: u32,
    /// Messages that a client may send at once after a pause.
    pub message_burst: u32,
    /// The most levels of a subscription to the best levels of a book.
    pub depth_max: usize,
    /// Messages that may wait for one client, books and tickers aside; when there are more, the
    /// connection is closed (4008).
    pub queue_messages: usize,
    /// Bytes of those messages.
    pub queue_bytes: usize,
    /// Changed levels of one book that may wait, merged; when there are more, the whole book is
    /// sent anew.
    pub queue_levels: usize,
    /// How long one message may take to go out, and a resumed stream to make room for more of its
    /// past; then the connection is closed (4008).
    pub send_timeout: Duration,
    /// How often a client is pinged and told how far its streams are complete.
    pub heartbeat: Duration,
    /// How long a client may be silent, not even answering pings; then the connection is closed
    /// (4000).
    pub idle_timeout: Duration,
    /// Private streams that are replayed from the event log at a time; further ones wait.
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
