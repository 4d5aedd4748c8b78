//! The settings of an S3 server.

use std::net::SocketAddr;
use std::time::Duration;

/// Where an S3 server listens, and its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Options {
    /// The address.
    pub listen: SocketAddr,
    /// Whether the address may be one that other machines reach.
    pub allow_remote: bool,
    /// Threads that serve connections.
    pub worker_threads: usize,
    /// The nice value of these threads, on Linux.
    pub nice: u8,
    /// The most connections; more are closed at once.
    pub connections_max: usize,
    /// The most connections of an address.
    pub address_connections_max: usize,
    /// The most requests of a key at a time.
    pub key_requests_max: usize,
    /// The most multipart uploads of a key in a bucket that are neither completed nor aborted.
    pub key_open_uploads_max: usize,
    /// How long a multipart upload, and its parts, are kept.
    pub upload_life: Duration,
    /// How long the head of a request may take, and a connection be idle.
    pub head_timeout: Duration,
    /// In each such time, a body must bring [`S3Options::upload_rate_min`].
    pub body_timeout: Duration,
    /// The fewest bytes per second of a body.
    pub upload_rate_min: u64,
    /// How long a client may take for the next piece of an answer.
    pub answer_timeout: Duration,
}

impl Default for S3Options {
    fn default() -> S3Options {
        S3Options {
            listen: SocketAddr::from(([127, 0, 0, 1], 8_081)),
            allow_remote: false,
            worker_threads: 2,
            nice: 5,
            connections_max: 256,
            address_connections_max: 128,
            key_requests_max: 64,
            key_open_uploads_max: 100,
            upload_life: Duration::from_secs(7 * 86_400),
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(10),
            upload_rate_min: 16 << 10,
            answer_timeout: Duration::from_secs(10),
        }
    }
}
