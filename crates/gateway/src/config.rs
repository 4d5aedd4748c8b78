//! The settings of a gateway.

use crate::connections::TURNED_AWAY_MAX;
use crate::{DepotLimits, Network, QueueLimits, StreamConfig};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a gateway. [`Default`] listens on 127.0.0.1:8080.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayConfig {
    /// The address to listen on. Port 0 lets the system choose; see
    /// [`Gateway::local_addr`](crate::Gateway::local_addr).
    pub listen: SocketAddr,
    /// Whether an address other than the loopback is allowed. The gateway has no TLS: traffic can
    /// be read on the way, though signed requests cannot be altered or replayed.
    pub allow_remote: bool,
    /// A second address for probes and operators: health, metrics, and everything under
    /// `/v1/admin`. It has its own thread and connections.
    pub operations_listen: Option<SocketAddr>,
    /// The most connections to that address.
    pub operations_connections_max: usize,
    /// The number of threads for orders and for operators.
    pub worker_threads: usize,
    /// The number of threads for all other requests: streams, queues and queries.
    pub shared_threads: usize,
    /// By how much the priority of those threads is lowered, on Linux: 0 to 19. Use the same value
    /// for the live feed ([`rialto_desk::LiveConfig::nice`]).
    pub shared_nice: u8,
    /// Connections to the engine; each has its own bound on commands in flight.
    pub lanes: usize,
    /// Distinguishes the request ids of this gateway from those of other gateways: 0 to 1,023.
    pub worker: u16,
    /// The most connections, streams included; further ones get `too_many_connections` (503) and
    /// are closed.
    pub connections_max: usize,
    /// The most connections of one address (the /64 of an IPv6 address) without a signed request;
    /// further ones get `too_many_connections`.
    pub address_connections_max: usize,
    /// The most connections of one key: a connection belongs to the key of its first signed
    /// request. A further connection's first signed request gets `too_many_connections`.
    pub key_connections_max: usize,
    /// The system's send buffer of a connection in bytes (`SO_SNDBUF`; Linux doubles it for its own
    /// bookkeeping). 0 for the system's default.
    pub send_buffer_bytes: usize,
    /// Proxies that are trusted to name the client of a connection or request, with the PROXY
    /// protocol or the header `Forwarded`.
    pub trusted_proxies: Vec<Network>,
    /// The first descriptor that is reserved for the engine: a connection with this or a higher one
    /// is closed. `None` reserves nothing.
    pub descriptors_end: Option<u32>,
    /// The longest request body, in bytes; a longer one gets `body_too_large` (413).
    pub body_bytes_max: usize,
    /// The longest body of a request to publish messages, in bytes.
    pub queue_body_bytes_max: usize,
    /// The memory for the bodies of all requests, in bytes; beyond it, `busy` (503).
    pub bodies_bytes_max: usize,
    /// The part of it that is reserved for bodies of up to 64 KiB of authenticated requests.
    pub bodies_reserve_bytes: usize,
    /// The part of it that requests of one key may use; beyond it, `too_many_bodies` (429).
    pub key_bodies_bytes_max: usize,
    /// The part of it that unauthenticated requests of one address may use; beyond it,
    /// `too_many_bodies` (429). All unauthenticated requests together may use half of the
    /// unreserved memory.
    pub address_bodies_bytes_max: usize,
    /// The most rows of a batch; more get `batch_size` (400).
    pub batch_rows_max: usize,
    /// The most price levels, or orders, of each side of a book.
    pub depth_max: usize,
    /// The most entries of a page.
    pub page_max: usize,
    /// How long a connection may take to send a request's head, and so the longest idle time.
    pub head_timeout: Duration,
    /// How long a connection may take to send a request's body; then `body_timeout` (408).
    pub body_timeout: Duration,
    /// How long a client may take to receive each 64 KiB of an answer, and the rest of it; then it
    /// is disconnected. It also applies to WebSocket messages, beside
    /// [`StreamConfig::send_timeout`].
    pub answer_timeout: Duration,
    /// The most by which a request's timestamp may be behind the venue's clock; at most
    /// [`GatewayConfig::SIGNATURE_WINDOW_MAX`]. It may be a second ahead.
    pub signature_window: Duration,
    /// The most signatures to keep against replays; if more arrive within two windows and two
    /// seconds, further signed requests get `busy` (503).
    pub signatures_max: usize,
    /// The journal quota: the most journal bytes per day of one key's orders and amendments; beyond
    /// it, `journal_quota` (429). 0 for no quota.
    pub journal_bytes_per_key_per_day: u64,
    /// Requests per second of one key; beyond it, `rate_limited` (429).
    pub key_rate: u32,
    /// The burst of one key: requests at once after a pause.
    pub key_burst: u32,
    /// Requests per second without a valid signature of one address.
    pub address_rate: u32,
    /// The burst of one address: requests at once without a valid signature after a pause.
    pub address_burst: u32,
    /// The most addresses with their own allowances; all further ones share one.
    pub addresses_max: usize,
    /// How long a request with `min_seq` waits for that sequence.
    pub min_seq_wait: Duration,
    /// The directory for backups of `POST /v1/admin/backup`: each is a new directory in it.
    pub backup_dir: Option<PathBuf>,
    /// The duration from which a request is logged as slow.
    pub slow_request: Duration,
    /// The limits of queues.
    pub queue: QueueLimits,
    /// The limits of the depot.
    pub depot: DepotLimits,
    /// The limits of `GET /v1/stream`.
    pub stream: StreamConfig,
}

impl GatewayConfig {
    /// The largest [`GatewayConfig::signature_window`].
    pub const SIGNATURE_WINDOW_MAX: Duration = Duration::from_secs(60);

    /// The most descriptors for connections, refused connections included.
    #[must_use]
    pub fn descriptors_max(&self) -> usize {
        let operations = match self.operations_listen {
            Some(_) => self.operations_connections_max + TURNED_AWAY_MAX,
            None => 0,
        };
        self.connections_max + TURNED_AWAY_MAX + operations
    }
}

impl Default for GatewayConfig {
    fn default() -> Self {
        GatewayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            allow_remote: false,
            operations_listen: None,
            operations_connections_max: 64,
            worker_threads: 2,
            shared_threads: 2,
            shared_nice: 5,
            lanes: 2,
            worker: 0,
            connections_max: 4_096,
            address_connections_max: 128,
            key_connections_max: 256,
            send_buffer_bytes: 128 << 10,
            trusted_proxies: Vec::new(),
            descriptors_end: None,
            body_bytes_max: 64 << 10,
            queue_body_bytes_max: 2 << 20,
            bodies_bytes_max: 128 << 20,
            bodies_reserve_bytes: 32 << 20,
            key_bodies_bytes_max: 16 << 20,
            address_bodies_bytes_max: 8 << 20,
            batch_rows_max: 100,
            depth_max: 1_000,
            page_max: 1_000,
            head_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(10),
            answer_timeout: Duration::from_secs(30),
            signature_window: Duration::from_secs(5),
            slow_request: Duration::from_secs(1),
            signatures_max: 2_000_000,
            journal_bytes_per_key_per_day: 16 << 30,
            key_rate: 2_000,
            key_burst: 4_000,
            address_rate: 200,
            address_burst: 400,
            addresses_max: 4_096,
            min_seq_wait: Duration::from_secs(1),
            backup_dir: None,
            queue: QueueLimits::default(),
            depot: DepotLimits::default(),
            stream: StreamConfig::default(),
        }
    }
}
