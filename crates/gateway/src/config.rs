//! The settings of a gateway: every limit that it states and enforces.

use crate::connections::TURNED_AWAY_MAX;
use crate::{Network, QueueLimits, StreamConfig};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a gateway. [`Default`] listens on 127.0.0.1:8080.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayConfig {
    /// Where to listen. Port 0 lets the system choose; see
    /// [`Gateway::local_addr`](crate::Gateway::local_addr).
    pub listen: SocketAddr,
    /// Whether an address other than the loopback is allowed. There is no TLS yet: what is said
    /// can then be read, though not altered or repeated, by whoever sits on the way.
    pub allow_remote: bool,
    /// Where probes and operators are answered, whatever happens on the address above: health,
    /// metrics, and everything under `/v1/admin`. It has a thread and connections of its own.
    pub operations_listen: Option<SocketAddr>,
    /// Connections at a time on that address.
    pub operations_connections_max: usize,
    /// Threads that orders are entered and cancelled on, and that operators are answered on.
    pub worker_threads: usize,
    /// Threads of everything else: streams, queues and queries.
    pub shared_threads: usize,
    /// By how much the priority of those is lower, on Linux: 0 (not at all) to 19. Whoever starts the
    /// live feed sets the same there ([`rialto_desk::LiveConfig::nice`]).
    pub shared_nice: u8,
    /// Ways into the engine; each has its own bound on commands in flight.
    pub lanes: usize,
    /// Tells the ids of this gateway's requests from those of other gateways: 0 to 1,023.
    pub worker: u16,
    /// Connections at a time, streams included; one more is told `too_many_connections` (503) and
    /// closed.
    pub connections_max: usize,
    /// Connections of one address (the /64 of an IPv6 address) on which no request has been signed
    /// yet; one more is told `too_many_connections`.
    pub address_connections_max: usize,
    /// Connections of one key: a connection belongs to the key of its first signed request. A
    /// request that would be the first on one more is `too_many_connections`.
    pub key_connections_max: usize,
    /// What the system holds for one connection of answers and messages that its client has not
    /// received yet, in bytes (`SO_SNDBUF`; Linux counts its own bookkeeping and doubles it). 0 leaves
    /// it to the system.
    pub send_buffer_bytes: usize,
    /// Proxies that may say whose a connection or a request is, with the PROXY protocol or the
    /// header `Forwarded`.
    pub trusted_proxies: Vec<Network>,
    /// The first descriptor that is reserved for the engine: a connection that would have it or a
    /// higher one is closed. None reserves nothing.
    pub descriptors_end: Option<u32>,
    /// The longest request body, in bytes; a longer one is `body_too_large` (413).
    pub body_bytes_max: usize,
    /// The longest body of messages that are published on a topic, in bytes.
    pub queue_body_bytes_max: usize,
    /// Memory of the bodies of all requests under way, in bytes; one more is `busy` (503).
    pub bodies_bytes_max: usize,
    /// What of it is kept for bodies of up to 64 KiB whose senders the heads of the requests prove.
    pub bodies_reserve_bytes: usize,
    /// What of it the requests of one key may hold; one more is `too_many_bodies` (429).
    pub key_bodies_bytes_max: usize,
    /// What of it the requests of one remote address may hold until their senders are proved; one more
    /// is `too_many_bodies` (429). All such requests together hold half of what is not reserved.
    pub address_bodies_bytes_max: usize,
    /// Most rows of one batch; more are `batch_size` (400).
    pub batch_rows_max: usize,
    /// Most price levels, or orders, of each side in one book.
    pub depth_max: usize,
    /// Most entries of one page.
    pub page_max: usize,
    /// How long a connection may take to send a request's head, and so how long it may idle.
    pub head_timeout: Duration,
    /// How long a connection may take to send a request's body; then `body_timeout` (408).
    pub body_timeout: Duration,
    /// How long a client may take for each 64 KiB of an answer, and for the rest of it; one that is
    /// slower is cut off. Applies to what is pushed on WebSockets, too, beside
    /// [`StreamConfig::send_timeout`].
    pub answer_timeout: Duration,
    /// How far a request's timestamp may be behind the venue's clock; at most
    /// [`GatewayConfig::SIGNATURE_WINDOW_MAX`]. It may be a second ahead.
    pub signature_window: Duration,
    /// Signatures remembered at a time, so that none is accepted twice; when that many came within
    /// two windows and two seconds, further signed requests are `busy` (503).
    pub signatures_max: usize,
    /// How many bytes a day one key may have the journal grow by entering and changing orders; above it
    /// `journal_quota` (429). 0 is no quota.
    pub journal_bytes_per_key_per_day: u64,
    /// Requests per second of one key; above it `rate_limited` (429).
    pub key_rate: u32,
    /// Requests that a key may make at once after a pause.
    pub key_burst: u32,
    /// Requests per second of one remote address that carry no valid signature.
    pub address_rate: u32,
    /// Requests without a valid signature that an address may make at once after a pause.
    pub address_burst: u32,
    /// Remote addresses counted apart; when there are more, all further ones share one allowance.
    pub addresses_max: usize,
    /// How long a request with `min_seq` waits for that sequence to become visible.
    pub min_seq_wait: Duration,
    /// Where `POST /v1/admin/backup` may write: each backup becomes a new directory in it.
    pub backup_dir: Option<PathBuf>,
    /// A request that takes at least this long is logged.
    pub slow_request: Duration,
    /// What callers may use up of the queue.
    pub queue: QueueLimits,
    /// The limits of `GET /v1/stream`.
    pub stream: StreamConfig,
}

impl GatewayConfig {
    /// The widest that [`GatewayConfig::signature_window`] may be.
    pub const SIGNATURE_WINDOW_MAX: Duration = Duration::from_secs(60);

    /// The most connections that can be open at a time, those included that are told that there are
    /// too many: as many descriptors are in use for them.
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
            stream: StreamConfig::default(),
        }
    }
}
