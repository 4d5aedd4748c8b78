//! Accepts connections.

use super::Pools;
use super::open::{ConnectionLimits, Connections, Holder, Open, TooMany};
use super::proxy::{Announced, announced};
use super::serve::{Connection, Router};
use crate::ApiError;
use crate::gate::Gate;
use crate::limits::source_of;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, watch};

/// The most connections that are still accepted at the stop: the length of the system's backlog.
const LAST_CONNECTIONS_MAX: u32 = 1_024;

/// The most refused connections that get an answer at a time; further ones are closed without one.
pub(crate) const TURNED_AWAY_MAX: usize = 64;

/// The pause of the accept loop after an error.
const PAUSE: Duration = Duration::from_millis(20);

/// A listener with its limits.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) router: Router,
    pub(crate) connections: Arc<Connections>,
    /// `None` if connections are served by the accepting threads.
    pub(crate) pools: Option<Pools>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) stopped: watch::Receiver<bool>,
    /// Held by each connection until it ends.
    pub(crate) working: mpsc::Sender<()>,
}

impl Door {
    /// Accepts connections until the stop.
    pub(crate) async fn accept(self) {
        let turning_away = Arc::new(Semaphore::new(TURNED_AWAY_MAX));
        let mut stopped = self.stopped.clone();
        let door = Arc::new(self);
        let mut last = LAST_CONNECTIONS_MAX;
        loop {
            // Connections that were made before the stop are accepted: clients have sent requests
            // on them.
            let accepted = tokio::select! {
                biased;
                accepted = door.listener.accept() => accepted,
                () = told_to_stop(&mut stopped) => return,
            };
            if *stopped.borrow() {
                last -= 1;
                if last == 0 {
                    return;
                }
            }
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be taken");
                    // Most likely there are no descriptors; retrying at once would waste processor
                    // time.
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            if door.is_reserved(&stream) {
                tracing::warn!(
                    "a connection is closed: all descriptors but those of the engine are in use"
                );
                door.connections.refuse();
                continue;
            }
            // A small answer must not wait for the acknowledgement of the one before. A failure
            // shows when the connection is served.
            let _ = stream.set_nodelay(true);
            if let Err((stream, too_many)) = door.take(stream, peer) {
                tracing::info!(peer = %peer.ip(), ?too_many, "a connection is refused");
                // Beyond the bound, the connection is closed without an answer.
                if let Ok(place) = Arc::clone(&turning_away).try_acquire_owned() {
                    tokio::spawn(async move {
                        turn_away(stream, too_many).await;
                        drop(place);
                    });
                }
            }
        }
    }

    /// Whether a connection has a descriptor that is reserved for the engine. The system allocates
    /// the lowest free one, so that all below are in use.
    fn is_reserved(&self, stream: &TcpStream) -> bool {
        let end = self.gate.config.descriptors_end;
        self.pools.is_some() && end.is_some_and(|end| i64::from(stream.as_raw_fd()) >= end.into())
    }

    fn take(
        self: &Arc<Self>,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> Result<(), (TcpStream, TooMany)> {
        let peer = peer.ip();
        let is_proxy = self.is_trusted(peer);
        let holder = match is_proxy {
            true => Holder::Proxy,
            false => Holder::Address(source_of(peer)),
        };
        let open = match self.connections.open(holder) {
            Ok(open) => open,
            Err(too_many) => return Err((stream, too_many)),
        };
        let (door, connection_open) = (Arc::clone(self), Arc::clone(&open));
        let working = self.working.clone();
        let connection = Box::pin(async move {
            match is_proxy {
                true => door.serve_proxy(stream, peer, connection_open).await,
                false => door.serve(stream, peer, false, Vec::new(), connection_open).await,
            }
            drop(working);
        });
        match &self.pools {
            Some(pools) => pools.serve(open, connection),
            None => drop(tokio::spawn(connection)),
        }
        Ok(())
    }

    fn is_trusted(&self, address: IpAddr) -> bool {
        self.gate.config.trusted_proxies.iter().any(|network| network.contains(address))
    }

    /// Serves a connection of a trusted proxy, which may name the client.
    async fn serve_proxy(&self, mut stream: TcpStream, proxy: IpAddr, open: Arc<Open>) {
        let head_timeout = self.gate.config.head_timeout;
        let header = tokio::time::timeout(head_timeout, announced(&mut stream)).await;
        // A malformed header closes the connection, without a log line.
        let Ok(Ok(Announced { client, ahead })) = header else { return };
        let peer = client.unwrap_or(proxy);
        let is_proxy = self.is_trusted(peer);
        if !is_proxy && let Err(too_many) = open.belongs_to(source_of(peer)) {
            return turn_away(stream, too_many).await;
        }
        self.serve(stream, peer, is_proxy, ahead, open).await;
    }

    async fn serve(
        &self,
        stream: TcpStream,
        peer: IpAddr,
        is_proxy: bool,
        ahead: Vec<u8>,
        open: Arc<Open>,
    ) {
        let connection = Connection {
            gate: &self.gate,
            router: &self.router,
            stopped: self.stopped.clone(),
            peer,
            is_proxy,
            open,
        };
        connection.serve(stream, ahead).await;
    }
}

/// The limits of the public listener.
pub(crate) fn public_limits(config: &crate::GatewayConfig) -> ConnectionLimits {
    ConnectionLimits {
        open: config.connections_max,
        of_address: config.address_connections_max,
        of_key: config.key_connections_max,
        address_subscriptions: config.stream.address_subscriptions_max,
    }
}

/// The limits of the listener for probes and operators.
pub(crate) fn operations_limits(config: &crate::GatewayConfig) -> ConnectionLimits {
    let max = config.operations_connections_max;
    ConnectionLimits { open: max, of_address: max, of_key: max, address_subscriptions: 0 }
}

pub(super) async fn told_to_stop(stopped: &mut watch::Receiver<bool>) {
    // Dropping a gateway stops it too.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

/// Answers a connection beyond the limit, and closes it.
async fn turn_away(mut stream: TcpStream, too_many: TooMany) {
    let tell = async {
        let body = ApiError::from(too_many).body();
        let head = format!(
            "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nretry-after: 1\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&body).await?;
        stream.shutdown().await
    };
    // A client that does not take the answer is closed without it; it was logged before.
    let _ = tokio::time::timeout(Duration::from_secs(1), tell).await;
}
