//! Listens, serves connections, and stops in an orderly way.

use crate::auth::{Gatekeeper, KeyBus, KeyStore};
use crate::connections::{Connections, Door, Pools, Router, operations_limits, public_limits};
use crate::gate::Gate;
use crate::intake::Intake;
use crate::limits::{Bodies, BodyLimits, JournalQuota};
use crate::recorded::Recorded;
use crate::refusals::{self, Refusals};
use crate::stream::Streams;
use crate::traffic::Traffic;
use crate::{GatewayConfig, routes};
use axum::http::HeaderValue;
use rialto_broker::QueueBus;
use rialto_bus::behaviour::SplitMix;
use rialto_desk::{DeskBus, DeskConfig, VenueParts, lower_priority};
use rialto_ident::{Generator, IdError, Layout, SystemClock, Worker};
use rialto_lifecycle::Overview;
use rialto_payments::PaymentsBus;
use rialto_queue::Queue;
use rialto_recorder::Recorder;
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The address is not the loopback, and that was not allowed.
    #[error(
        "{0} can be reached from other machines and there is no TLS yet: put a proxy with TLS \
         before the venue, or set allow_remote if the network is trusted"
    )]
    Remote(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Which address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// No threads could be started.
    #[error("cannot start the gateway's threads: {0}")]
    Threads(#[source] io::Error),
    /// Requests cannot be given ids.
    #[error("requests cannot be named: {0}")]
    RequestIds(#[source] IdError),
}

/// A running gateway: HTTP on one address, or two, served by threads of its own.
///
/// Start it from a thread that is not inside an async runtime, and end it with
/// [`Gateway::shutdown`] before the engine is shut down.
pub struct Gateway {
    threads: Threads,
    local_addr: SocketAddr,
    operations_addr: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    /// Ends when the last connection has let go of its sender.
    finished: mpsc::Receiver<()>,
}

/// The optional parts of a gateway. By default there are none of them, and the gateway has a process
/// of its own.
#[derive(Default)]
pub struct GatewayParts {
    /// The process that the gateway belongs to. The gateway shows its health, each request is one of
    /// its operations, and requests are refused (`stopped`, 503) once it is stopping.
    pub process: Overview,
    /// Records what requests do.
    pub recorder: Option<Arc<Recorder>>,
    /// Serves withdrawals.
    pub payments: Option<Arc<PaymentsBus>>,
    /// Serves queues. The caller closes the queue when the gateway has ended.
    pub queue: Option<Queue>,
}

/// The threads of a gateway.
struct Threads {
    /// Take connections, and enter orders.
    orders: Runtime,
    /// Do everything else, at a lower priority.
    shared: Runtime,
    /// Serve probes and operators on an address of their own, if they have one.
    operations: Option<Runtime>,
}

impl Threads {
    fn start(config: &GatewayConfig) -> Result<Threads, GatewayError> {
        let pool = |name: &'static str, threads: usize, nice: u8| {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads.max(1)).thread_name(name).enable_io().enable_time();
            if nice > 0 {
                builder.on_thread_start(move || lower_priority(nice));
            }
            builder.build().map_err(GatewayError::Threads)
        };
        let operations = config.operations_listen.map(|_| pool("operations", 1, 0));
        Ok(Threads {
            orders: pool("gateway", config.worker_threads, 0)?,
            shared: pool("gateway-shared", config.shared_threads, config.shared_nice)?,
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
    /// Listens and serves with [`GatewayParts::default`].
    ///
    /// # Errors
    /// The address may not or cannot be listened on.
    pub fn start(
        config: GatewayConfig,
        venue: VenueParts,
        keys: Arc<KeyStore>,
    ) -> Result<Gateway, GatewayError> {
        Gateway::start_with(config, venue, keys, GatewayParts::default())
    }

    /// Listens and serves with these optional parts.
    ///
    /// # Errors
    /// The address may not or cannot be listened on.
    pub fn start_with(
        config: GatewayConfig,
        venue: VenueParts,
        keys: Arc<KeyStore>,
        parts: GatewayParts,
    ) -> Result<Gateway, GatewayError> {
        let GatewayParts { process, recorder, payments, queue } = parts;
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
            queues,
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
            gate,
            stopped,
            working,
        };
        threads.orders.spawn(door.accept());
        Ok(Gateway { threads, local_addr, operations_addr, stop, finished })
    }

    /// The address that is listened on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// The address that probes and operators are answered on, if they have one of their own.
    #[must_use]
    pub fn operations_addr(&self) -> Option<SocketAddr> {
        self.operations_addr
    }

    /// Takes no more connections, answers what clients have sent, and ends. A connection is closed
    /// when nothing has come on it for a moment; what is not finished after `deadline` is broken
    /// off. Returns whether all was finished.
    ///
    /// It lets go of the engine, so that the engine can be shut down next.
    pub fn shutdown(self, deadline: Duration) -> bool {
        let Gateway { threads, stop, mut finished, .. } = self;
        stop.send_replace(true);
        let is_done = threads
            .orders
            .block_on(async { tokio::time::timeout(deadline, finished.recv()).await.is_ok() });
        threads.end();
        is_done
    }
}

/// Listens on an address, if that is allowed.
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
        // Connections take it over from the listener.
        set_socket_send_buffer_size(&listener, config.send_buffer_bytes)
            .map_err(|error| failed(error.into()))?;
    }
    let local_addr = listener.local_addr().map_err(failed)?;
    Ok((listener, local_addr))
}
