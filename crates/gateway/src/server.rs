//! Listens, serves connections, and stops in an orderly way.

use crate::auth::{Gatekeeper, KeyBus, KeyStore};
use crate::body::{Arriving, Unread};
use crate::call::Arrival;
use crate::gate::Gate;
use crate::intake::Intake;
use crate::limits::{Bodies, BodyLimits, JournalQuota};
use crate::queues::QueueBus;
use crate::recorded::Recorded;
use crate::refusals::{self, Refusals};
use crate::socket::Socket;
use crate::stream::Streams;
use crate::traffic::Traffic;
use crate::{ApiError, GatewayConfig, routes};
use axum::Router;
use axum::body::Body;
use axum::http::header::CONNECTION;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use rialto_desk::{DeskBus, DeskConfig, VenueParts};
use rialto_flow::recorder::Recorder;
use rialto_ident::{Generator, IdError, Layout, SystemClock, Worker};
use rialto_lifecycle::Overview;
use rialto_payments::PaymentsBus;
use rialto_queue::Queue;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};
use tower_service::Service;

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

/// A running gateway: HTTP on one address, served by threads of its own.
///
/// Start it from a thread that is not inside an async runtime, and end it with
/// [`Gateway::shutdown`] before the engine is shut down.
pub struct Gateway {
    runtime: Runtime,
    local_addr: SocketAddr,
    stop: watch::Sender<bool>,
    /// Ends when the last connection has let go of its sender.
    finished: mpsc::Receiver<()>,
}

impl Gateway {
    /// Listens and serves, as a process of its own.
    ///
    /// # Errors
    /// The address may not or cannot be listened on.
    pub fn start(
        config: GatewayConfig,
        venue: VenueParts,
        keys: Arc<KeyStore>,
    ) -> Result<Gateway, GatewayError> {
        Gateway::start_in(Overview::default(), None, config, venue, keys, None, None)
    }

    /// Listens and serves as a part of this process: its health is shown, each request is one of
    /// its operations, and once it is stopping, requests are refused (`stopped`, 503). Withdrawals
    /// are dealt with only where there is a bus for them, queues only where there is one, and what
    /// requests do is recorded only if there is a recorder. Whoever gives a queue closes it when the
    /// gateway has ended.
    ///
    /// # Errors
    /// The address may not or cannot be listened on.
    pub fn start_in(
        process: Overview,
        recorder: Option<Arc<Recorder>>,
        config: GatewayConfig,
        venue: VenueParts,
        keys: Arc<KeyStore>,
        payments: Option<Arc<PaymentsBus>>,
        queue: Option<Queue>,
    ) -> Result<Gateway, GatewayError> {
        let address = config.listen;
        if !address.ip().is_loopback() && !config.allow_remote {
            return Err(GatewayError::Remote(address));
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(config.worker_threads.max(1))
            .thread_name("gateway")
            .enable_io()
            .enable_time()
            .build()
            .map_err(GatewayError::Threads)?;
        let listener = runtime
            .block_on(TcpListener::bind(address))
            .map_err(|source| GatewayError::Listen { address, source })?;
        let local_addr =
            listener.local_addr().map_err(|source| GatewayError::Listen { address, source })?;
        let (stop, stopped) = watch::channel(false);
        let (working, finished) = mpsc::channel(1);
        let journaled = venue.live.read().time();
        let desk = {
            let _inside = runtime.enter();
            let settings = DeskConfig {
                lanes: config.lanes,
                patience: config.min_seq_wait,
                backup_dir: config.backup_dir.clone(),
            };
            DeskBus::open(venue, &settings).recorded_by(recorder.clone())
        };
        let queues = queue.map(|queue| {
            let _inside = runtime.enter();
            QueueBus::open(queue, stopped.clone(), recorder.clone())
        });
        let worker = Worker::explicit(u64::from(config.worker));
        let ids = rialto_ident::Config::new(Layout::CLASSIC, worker);
        let ids = Generator::new(ids, SystemClock).map_err(GatewayError::RequestIds)?;
        let gate = Arc::new(Gate {
            refusals: Refusals::default(),
            journal: JournalQuota::new(config.journal_bytes_per_key_per_day),
            ids,
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
            keys: KeyBus::new(keys),
            traffic: Arc::new(Traffic::new()),
            recorded: Recorded::by(recorder),
            streams: Streams::new(&config.stream, stopped.clone(), &working),
            config,
        });
        runtime.spawn(refusals::tell(Arc::clone(&gate), stopped.clone()));
        runtime.spawn(accept(listener, gate, stopped, working));
        Ok(Gateway { runtime, local_addr, stop, finished })
    }

    /// The address that is listened on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Takes no more connections, answers what clients have sent, and ends. A connection is closed
    /// when nothing has come on it for a moment; what is not finished after `deadline` is broken
    /// off. Returns whether all was finished.
    ///
    /// It lets go of the engine, so that the engine can be shut down next.
    pub fn shutdown(mut self, deadline: Duration) -> bool {
        self.stop.send_replace(true);
        let is_done = self
            .runtime
            .block_on(async { tokio::time::timeout(deadline, self.finished.recv()).await.is_ok() });
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        is_done
    }
}

async fn accept(
    listener: TcpListener,
    gate: Arc<Gate>,
    mut stopped: watch::Receiver<bool>,
    working: mpsc::Sender<()>,
) {
    let router = routes::router(Arc::clone(&gate));
    let mut last = LAST_CONNECTIONS_MAX;
    loop {
        // Connections that were made before the stop are taken: clients have sent requests on them.
        let accepted = tokio::select! {
            biased;
            accepted = listener.accept() => accepted,
            () = told_to_stop(&mut stopped) => return,
        };
        if *stopped.borrow() {
            last -= 1;
            if last == 0 {
                return;
            }
        }
        let Ok((stream, peer)) = accepted else {
            // Out of file descriptors, most likely: trying at once would only burn the processor.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        // A small answer must not wait for the acknowledgement of the one before. A socket that
        // refuses is gone already, and serving it ends at once.
        let _ = stream.set_nodelay(true);
        match gate.traffic.connect(gate.config.connections_max) {
            Some(connected) => {
                let (router, stopped) = (router.clone(), stopped.clone());
                let (gate, working) = (Arc::clone(&gate), working.clone());
                tokio::spawn(async move {
                    serve(&gate, stream, peer, router, stopped).await;
                    drop((connected, working));
                });
            }
            None => {
                tokio::spawn(turn_away(stream));
            }
        }
    }
}

async fn serve(
    gate: &Gate,
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    mut stopped: watch::Receiver<bool>,
) {
    let (begun, answered) = (&AtomicU64::new(0), &AtomicU64::new(0));
    let unread = &Unread::default();
    let service = hyper::service::service_fn(|mut request: hyper::Request<Incoming>| {
        begun.fetch_add(1, Ordering::Relaxed);
        let request_id = gate.ids.next().ok();
        request.extensions_mut().insert(Arrival { peer: peer.ip(), request_id });
        let request = request.map(|body| Body::new(Arriving::new(body, unread)));
        let mut router = router.clone();
        async move {
            let mut response = match routes::is_order(&request) {
                true => routes::place(gate, request).await,
                false => router.call(request).await?,
            };
            answered.fetch_add(1, Ordering::Relaxed);
            if unread.is_set() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            if let Some(id) = request_id {
                let id = HeaderValue::from_str(id.base32().as_str());
                let id = id.expect("capital letters and digits may stand in a header");
                response.headers_mut().insert(HEADER_REQUEST_ID, id);
            }
            Ok::<_, Infallible>(response)
        }
    });
    let socket = Socket::new(stream, gate.config.answer_timeout);
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(gate.config.head_timeout)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(socket), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    // A connection that breaks off or does not speak HTTP concerns nobody but its other end.
    let has_ended = {
        // What wakes the connection rarely is the stop, and asking for that in full each time costs
        // more than looking whether there is anything new.
        let news = stopped.clone();
        let mut stop = pin!(told_to_stop(&mut stopped));
        let mut waits_for_stop = false;
        poll_fn(|cx| {
            if connection.as_mut().poll(cx).is_ready() {
                return Poll::Ready(true);
            }
            if waits_for_stop && matches!(news.has_changed(), Ok(false)) {
                return Poll::Pending;
            }
            waits_for_stop = true;
            stop.as_mut().poll(cx).map(|()| false)
        })
        .await
    };
    if has_ended {
        return;
    }
    tokio::select! {
        _ = connection.as_mut() => {}
        () = fall_quiet(begun, answered) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Waits until no request has begun for [`QUIET`] and all are answered, but no longer than
/// [`LINGER_MAX`]: what a client sent before it could know of the stop gets an answer, even if it
/// sent several requests at once.
async fn fall_quiet(begun: &AtomicU64, answered: &AtomicU64) {
    let end = Instant::now() + LINGER_MAX;
    let mut before = None;
    loop {
        let now = (begun.load(Ordering::Relaxed), answered.load(Ordering::Relaxed));
        if (now.0 == now.1 && before == Some(now)) || Instant::now() >= end {
            return;
        }
        before = Some(now);
        tokio::time::sleep(QUIET).await;
    }
}

/// How long nothing comes on a connection until it is closed at the stop.
const QUIET: Duration = Duration::from_millis(25);
/// How long a client that goes on sending is answered at the stop.
const LINGER_MAX: Duration = Duration::from_secs(1);
/// How many connections are still taken at the stop: as many as the system keeps waiting.
const LAST_CONNECTIONS_MAX: u32 = 1_024;

/// Names the request that an answer answers.
const HEADER_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

async fn told_to_stop(stopped: &mut watch::Receiver<bool>) {
    // A gateway that was dropped instead of shut down is stopping as well.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

/// The most that is buffered of a connection, and so the longest head of a request.
const HEAD_BYTES_MAX: usize = 128 << 10;

/// Tells one connection too many so, and closes it.
async fn turn_away(mut stream: TcpStream) {
    let message = "The venue has as many connections as it may; try again later.";
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let body = ApiError::new(status, "too_many_connections", message).body();
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nretry-after: 1\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let tell = async {
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(&body).await?;
        stream.shutdown().await
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), tell).await;
}
