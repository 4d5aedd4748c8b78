//! Listens, and shuts down in order.

use crate::connections::Acceptor;
use crate::front::Front;
use crate::keys::SigningKeys;
use crate::options::S3Options;
use crate::traffic::S3Traffic;
use rialto_depot_desk::DepotBus;
use rialto_threads::lower_priority;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};

/// The reason that a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum S3ServerError {
    /// The address is not a loopback address, and others are not allowed.
    #[error(
        "{0} can be reached from other machines and there is no TLS yet: put a proxy with TLS \
         before the venue, or set allow_remote if the network is trusted"
    )]
    Remote(SocketAddr),
    /// The address cannot be bound.
    #[error("cannot listen on {address} for S3: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The threads cannot be started.
    #[error("cannot start the threads of S3: {0}")]
    Threads(#[source] io::Error),
}

/// A running server: S3 over HTTP on an address of its own, served by its own threads.
///
/// Start it outside of any async runtime, and end it with [`S3Server::shutdown`] before the depot.
pub struct S3Server {
    threads: Runtime,
    local_addr: SocketAddr,
    stop: watch::Sender<bool>,
    /// Ends when the last connection has dropped its sender.
    finished: mpsc::Receiver<()>,
}

impl S3Server {
    /// Listens. `traffic` counts what happens.
    ///
    /// # Errors
    /// The address is not allowed or cannot be bound.
    pub fn start(
        options: S3Options,
        bus: Arc<DepotBus>,
        keys: Arc<dyn SigningKeys>,
        traffic: Arc<S3Traffic>,
    ) -> Result<S3Server, S3ServerError> {
        let address = options.listen;
        if !address.ip().is_loopback() && !options.allow_remote {
            return Err(S3ServerError::Remote(address));
        }
        let mut threads = Builder::new_multi_thread();
        threads.worker_threads(options.worker_threads.max(1)).thread_name("s3");
        let nice = options.nice;
        threads.on_thread_start(move || lower_priority(nice));
        let threads = threads.enable_io().enable_time().build().map_err(S3ServerError::Threads)?;
        let failed = |source| S3ServerError::Listen { address, source };
        let listener = threads.block_on(TcpListener::bind(address)).map_err(failed)?;
        let local_addr = listener.local_addr().map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let (working, finished) = mpsc::channel(1);
        let front = Front::new(bus, keys, options.clone(), Arc::clone(&traffic));
        let acceptor = Acceptor { front: Arc::new(front), options, traffic, stopped, working };
        threads.spawn(acceptor.accept(listener));
        Ok(S3Server { threads, local_addr, stop, finished })
    }

    /// The bound address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Stops accepting connections, answers received requests, and ends. Requests unfinished after
    /// `deadline` are aborted. Returns whether all were finished.
    pub fn shutdown(self, deadline: Duration) -> bool {
        let S3Server { threads, stop, mut finished, .. } = self;
        stop.send_replace(true);
        let is_done = threads
            .block_on(async { tokio::time::timeout(deadline, finished.recv()).await.is_ok() });
        threads.shutdown_timeout(Duration::from_secs(1));
        is_done
    }
}
