//! Listens, serves connections, and shuts down in order.

use crate::auth::{Gatekeeper, KeyBus, KeyStore};
use crate::connections::{Connections, Door, Pools, Router, operations_limits, public_limits};
use crate::depot_access::DepotAccess;
use crate::gate::Gate;
use crate::intake::Intake;
use crate::limits::{Bodies, BodyLimits, JournalQuota};
use crate::metrics::MoreMetrics;
use crate::recorded::Recorded;
use crate::refusals::{self, Refusals};
use crate::stream::Streams;
use crate::traffic::Traffic;
use crate::{GatewayConfig, routes};
use axum::http::HeaderValue;
use rialto_broker::QueueBus;
use rialto_bus::behaviour::SplitMix;
use rialto_depot::Depot;
use rialto_depot_desk::DepotBus;
use rialto_desk::{DeskBus, DeskConfig, VenueParts};
use rialto_ident::{Generator, IdError, Layout, SystemClock, Worker};
use rialto_lifecycle::Overview;
use rialto_order_files::OrderFileCounts;
use rialto_payments::PaymentsBus;
use rialto_queue::Queue;
use rialto_recorder::Recorder;
use rialto_statements::StatementsBus;
use rialto_threads::{lower_priority, wake_promptly};
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};

/// The reason why a gateway cannot start.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The address is not a loopback address, and others are not allowed.
    #[error(
        "{0} can be reached from other machines and there is no TLS yet: put a proxy with TLS \
         before the venue, or set allow_remote if the network is trusted"
    )]
    Remote(SocketAddr),
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The threads cannot be started.
    #[error("cannot start the gateway's threads: {0}")]
    Threads(#[source] io::Error),
    /// Request ids cannot be made.
    #[error("request ids cannot be made: {0}")]
    RequestIds(#[source] IdError),
}

/// A running gateway: HTTP on one or two addresses, served by its own threads.
///
/// Start it outside of any async runtime, and end it with [`Gateway::shutdown`] before the engine.
pub struct Gateway {
    threads: Threads,
    local_addr: SocketAddr,
    operations_addr: Option<SocketAddr>,
    gate: Arc<Gate>,
    stop: watch::Sender<bool>,
    /// Ends when the last connection has dropped its sender.
    finished: mpsc::Receiver<()>,
}

/// The optional parts of a gateway. The default has none of them, and its own process.
#[derive(Default)]
pub struct GatewayParts {
    /// The process of the gateway, which shows the gateway's health. Each request is an operation
    /// of it, and requests are refused (`stopped`, 503) once it is stopping.
    pub process: Overview,
    /// Records requests.
    pub recorder: Option<Arc<Recorder>>,
    /// Serves withdrawals.
    pub payments: Option<Arc<PaymentsBus>>,
    /// The bus of statements; without it the venue makes none.
    pub statements: Option<Arc<StatementsBus>>,
    /// Serves queues. The caller closes the queue after the gateway has ended.
    pub queue: Option<Queue>,
    /// Serves files. The caller closes the depot after the gateway has ended.
    pub depot: Option<Depot>,
    /// Metrics of other doors of the process, which `/metrics` shows too.
    pub metrics: Option<MoreMetrics>,
    /// Counts of the exchange of order files, for the metrics.
    pub order_files: Option<Arc<OrderFileCounts>>,
}

/// The threads of a gateway.
struct Threads {
    /// Accept connections, and serve orders.
    orders: Runtime,
    /// Serve all other requests, at a lower priority.
    shared: Runtime,
    /// Serve probes and operators on their own address, if there is one.
    operations: Option<Runtime>,
}

/// Threads that do this when they start.
fn pool(
    name: &'static str,
    threads: usize,
    on_start: impl Fn() + Send + Sync + 'static,
) -> Result<Runtime, GatewayError> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads.max(1)).thread_name(name).enable_io().enable_time();
    builder.on_thread_start(on_start).build().map_err(GatewayError::Threads)
}

impl Threads {
    fn start(config: &GatewayConfig) -> Result<Threads, GatewayError> {
        let nice = config.shared_nice;
        let promptly = || {
            wake_promptly();
        };
        let operations = config.operations_listen.map(|_| pool("operations", 1, promptly));
        Ok(Threads {
            orders: pool("gateway", config.worker_threads, promptly)?,
            shared: pool("gateway-shared", config.shared_threads, move || lower_priority(nice))?,
            operations: operations.transpose()?,
        })
    }

    fn pools(&self) -> Pools {
        Pools { orders: self.orders.handle().clone(), shared: self.shared.handle().clone() }
    }

    fn end(self) {
        for runtime in [self.shared, self.orders].into_iter().chain(self.operations) {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}

impl Gateway {
    /// Starts with [`GatewayParts::default`].
    ///
    /// # Errors
    /// The address is not allowed or cannot be bound.
    pub fn start(
        config: GatewayConfig,
        venue: VenueParts,
        keys: Arc<KeyStore>,
    ) -> Result<Gateway, GatewayError> {
        Gateway::start_with(config, venue, keys, GatewayParts::default())
    }

    /// Starts with these optional parts.
    ///
    /// # Errors
    /// The address is not allowed or cannot be bound.
    pub fn start_with(
        config: GatewayConfig,
        venue: VenueParts,
        keys: Arc<KeyStore>,
        parts: GatewayParts,
    ) -> Result<Gateway, GatewayError> {
        let GatewayParts {
            process,
            recorder,
            payments,
            statements,
            queue,
            depot,
            order_files,
            metrics,
        } = parts;
        let threads = Threads::start(&config)?;
        let (listener, local_addr) = listen(&threads.orders, config.listen, &config)?;
        let operations = match (&threads.operations, config.operations_listen) {
            (Some(runtime), Some(address)) => Some(listen(runtime, address, &config)?),
            _ => None,
        };
        let (stop, stopped) = watch::channel(false);
        let (working, finished) = mpsc::channel(1);
        let journaled = venue.live.read().time();
        let desk = {
            let _inside = threads.orders.enter();
            let settings = DeskConfig {
                connections: config.lanes,
                patience: config.min_seq_wait,
                backup_dir: config.backup_dir.clone(),
            };
            DeskBus::open(venue, &settings).recorded_by(recorder.clone())
        };
        let queues = queue.map(|queue| {
            let _inside = threads.shared.enter();
            QueueBus::open(queue, config.queue, stopped.clone(), recorder.clone())
        });
        let depot = depot
            .map(|depot| {
                DepotBus::open(depot, config.depot.clone(), stopped.clone(), recorder.clone())
            })
            .map(Arc::new);
        let worker = Worker::explicit(u64::from(config.worker));
        let ids = rialto_ident::Config::new(Layout::CLASSIC, worker);
        let ids = Generator::new(ids, SystemClock).map_err(GatewayError::RequestIds)?;
        let (quota, rate) = (config.key_burst.max(1), config.key_rate.max(1));
        let rate_policy = format!("\"key\";q={quota};w={}", quota.div_ceil(rate));
        let gate = Arc::new(Gate {
            rate_policy: HeaderValue::from_str(&rate_policy).expect("digits stand in headers"),
            refusals: Refusals::default(),
            journal: JournalQuota::new(config.journal_bytes_per_key_per_day),
            ids,
            traces: SplitMix::from_entropy(),
            gatekeeper: Gatekeeper::new(Arc::clone(&keys), &config, journaled),
            bodies: Arc::new(Bodies::new(BodyLimits {
                total_bytes: config.bodies_bytes_max,
                reserve_bytes: config.bodies_reserve_bytes,
                key_bytes: config.key_bodies_bytes_max,
                address_bytes: config.address_bodies_bytes_max,
            })),
            desk,
            payments,
            statements,
            queues,
            depot,
            order_files,
            downloads_cut: Arc::default(),
            more_metrics: metrics,
            intake: Intake::new(process),
            keys: KeyBus::new(keys, recorder.clone()),
            traffic: Traffic::new(),
            connections: Arc::new(Connections::new(public_limits(&config))),
            recorded: Recorded::by(recorder),
            streams: Streams::new(&config.stream, stopped.clone(), &working),
            config,
        });
        let (telling, waited_for) =
            (refusals::tell(Arc::clone(&gate), stopped.clone()), working.clone());
        threads.shared.spawn(async move {
            telling.await;
            // The last sum is waited for, as connections are.
            drop(waited_for);
        });
        let mut operations_addr = None;
        if let (Some((listener, address)), Some(runtime)) = (operations, &threads.operations) {
            operations_addr = Some(address);
            let door = Door {
                listener,
                router: Router::Operations(routes::operations_router(Arc::clone(&gate))),
                connections: Arc::new(Connections::new(operations_limits(&gate.config))),
                pools: None,
                gate: Arc::clone(&gate),
                stopped: stopped.clone(),
                working: working.clone(),
            };
            runtime.spawn(door.accept());
        }
        let door = Door {
            listener,
            router: Router::Public(routes::router(Arc::clone(&gate))),
            connections: Arc::clone(&gate.connections),
            pools: Some(threads.pools()),
            gate: Arc::clone(&gate),
            stopped,
            working,
        };
        threads.orders.spawn(door.accept());
        Ok(Gateway { threads, local_addr, operations_addr, gate, stop, finished })
    }

    /// The depot and the keys for another door to it; `None` without a depot. It is to be dropped
    /// before the shutdown.
    #[must_use]
    pub fn depot_access(&self) -> Option<DepotAccess> {
        DepotAccess::of(&self.gate)
    }

    /// The bound address.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The bound address for probes and operators, if they have their own.
    #[must_use]
    pub fn operations_addr(&self) -> Option<SocketAddr> {
        self.operations_addr
    }

    /// Stops accepting connections, answers received requests, and ends. A connection is closed
    /// when it has been silent for a moment; unfinished requests are aborted after `deadline`.
    /// Returns whether all were finished.
    ///
    /// It drops the engine, so that the engine can be shut down next.
    pub fn shutdown(self, deadline: Duration) -> bool {
        let Gateway { threads, stop, mut finished, gate, .. } = self;
        drop(gate);
        stop.send_replace(true);
        let is_done = threads
            .orders
            .block_on(async { tokio::time::timeout(deadline, finished.recv()).await.is_ok() });
        threads.end();
        is_done
    }
}

/// Listens on an address, if it is allowed.
fn listen(
    runtime: &Runtime,
    address: SocketAddr,
    config: &GatewayConfig,
) -> Result<(TcpListener, SocketAddr), GatewayError> {
    if !address.ip().is_loopback() && !config.allow_remote {
        return Err(GatewayError::Remote(address));
    }
    let failed = |source| GatewayError::Listen { address, source };
    let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
    if config.send_buffer_bytes > 0 {
        // Connections inherit it from the listener.
        set_socket_send_buffer_size(&listener, config.send_buffer_bytes)
            .map_err(|error| failed(error.into()))?;
    }
    let local_addr = listener.local_addr().map_err(failed)?;
    Ok((listener, local_addr))
}
