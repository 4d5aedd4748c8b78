//! Serves one connection: reads requests, answers them in their pools, and ends it in order at the
//! stop.

use super::accept::told_to_stop;
use super::proxy::client_of;
use super::{Open, Pool};
use crate::body::{Arriving, Unread};
use crate::call::{Arrival, trace};
use crate::gate::Gate;
use crate::limits::source_of;
use crate::origin::{self, Origin};
use crate::routes;
use crate::socket::Socket;
use axum::body::Body;
use axum::http::header::CONNECTION;
use axum::http::{HeaderName, HeaderValue};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tower_service::Service;

/// How long a connection must be silent at the stop before it is closed.
const QUIET: Duration = Duration::from_millis(25);
/// How long a client that continues sending is served at the stop.
const LINGER_MAX: Duration = Duration::from_secs(1);

/// The request's id in its answer; the remaining requests and the limit of the key
/// (draft-ietf-httpapi-ratelimit-headers).
const HEADER_RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const HEADER_RATE_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const HEADER_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The size of a connection's read buffer, and so the longest head of a request.
const HEAD_BYTES_MAX: usize = 128 << 10;

/// The routes of a listener.
#[derive(Clone)]
pub(crate) enum Router {
    /// All routes.
    Public(axum::Router),
    /// The routes of probes and operators.
    Operations(axum::Router),
}

/// A connection with the context of its requests.
pub(super) struct Connection<'a> {
    pub(super) gate: &'a Gate,
    pub(super) router: &'a Router,
    pub(super) stopped: watch::Receiver<bool>,
    /// The peer, or the client behind a proxy.
    pub(super) peer: IpAddr,
    /// Whether the peer is a trusted proxy, so that each request names its client.
    pub(super) is_proxy: bool,
    pub(super) open: Arc<Open>,
}

impl Connection<'_> {
    /// Serves it to its end; `ahead` was read already.
    pub(super) async fn serve(mut self, stream: TcpStream, ahead: Vec<u8>) {
        let (begun, answered) = (&AtomicU64::new(0), &AtomicU64::new(0));
        let mut stopped = self.stopped.clone();
        let socket =
            Socket::new(stream, ahead, Arc::clone(&self.open), self.gate.config.answer_timeout);
        let (open, gate) = (Arc::clone(&self.open), self.gate);
        self.peer = counted_peer(self.is_proxy, self.peer);
        let (connection, unread) = (&self, &Unread::default());
        let service = hyper::service::service_fn(|request: hyper::Request<Incoming>| async move {
            begun.fetch_add(1, Ordering::Relaxed);
            let request = request.map(|body| Body::new(Arriving::new(body, unread)));
            let mut response = connection.answer(request).await?;
            if unread.is_set() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            answered.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(response)
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(gate.config.head_timeout)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(socket), service)
            .with_upgrades();
        let mut connection = pin!(connection);
        // Errors of the connection or of its HTTP are not logged.
        let has_ended = {
            // The connection is rarely woken by the stop, and a full check is more expensive than a
            // look at the version.
            let news = stopped.clone();
            let mut stop = pin!(told_to_stop(&mut stopped));
            // The pool in which it waits for the stop: after a move it must wait again.
            let mut waits_in = None;
            poll_fn(|cx| {
                if connection.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(true);
                }
                let pool = open.pool();
                if waits_in == Some(pool) && matches!(news.has_changed(), Ok(false)) {
                    return Poll::Pending;
                }
                waits_in = Some(pool);
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
                tokio::select! {
                    _ = connection => {}
                    // A client that does not read its answers is not waited for.
                    () = stay_answered(begun, answered) => {}
                }
            }
        }
    }

    async fn answer(
        &self,
        mut request: axum::extract::Request,
    ) -> Result<axum::response::Response, Infallible> {
        // While the clock is out of the range of ids, requests are answered without one.
        let request_id = self.gate.ids.next().ok();
        let peer = match self.is_proxy {
            true => {
                let trusted = &self.gate.config.trusted_proxies;
                source_of(client_of(request.headers(), trusted, self.peer))
            }
            false => self.peer,
        };
        let trace = trace(request.headers(), &self.gate.traces);
        let arrival = Arrival { peer, trace, request_id, connection: Arc::clone(&self.open) };
        request.extensions_mut().insert(arrival);
        let answering = pin!(async {
            Ok::<_, Infallible>(match self.router {
                Router::Public(_) if routes::is_order(&request) => {
                    self.open.enter(Pool::Orders).await;
                    routes::place(self.gate, request).await
                }
                Router::Public(router) => {
                    self.open.enter(routes::pool_of(&request)).await;
                    router.clone().call(request).await?
                }
                Router::Operations(router) => router.clone().call(request).await?,
            })
        });
        let origin = Origin::new(trace.trace_id, request_id);
        let mut response = origin::within(origin, answering).await?;
        if let Some(id) = request_id {
            let id = HeaderValue::from_str(id.base32().as_str());
            let id = id.expect("capital letters and digits may stand in a header");
            response.headers_mut().insert(HEADER_REQUEST_ID, id);
        }
        if let Some(left) = self.open.take_requests_left() {
            let headers = response.headers_mut();
            headers.insert(HEADER_RATE_LIMIT, rate_limit(left));
            headers.insert(HEADER_RATE_POLICY, self.gate.rate_policy.clone());
        }
        Ok(response)
    }
}

/// The header with the remaining requests: `"key";r=` and the number.
fn rate_limit(left: u64) -> HeaderValue {
    const BEGIN: &[u8] = b"\"key\";r=";
    let (mut text, mut digits) = ([0; BEGIN.len() + 20], itoa::Buffer::new());
    let digits = digits.format(left).as_bytes();
    let (begin, rest) = text.split_at_mut(BEGIN.len());
    begin.copy_from_slice(BEGIN);
    rest[..digits.len()].copy_from_slice(digits);
    let text = &text[..BEGIN.len() + digits.len()];
    HeaderValue::from_bytes(text).expect("digits may stand in a header")
}

/// The address that limits count. A proxy's own address is kept whole, to be compared.
fn counted_peer(is_proxy: bool, peer: IpAddr) -> IpAddr {
    if is_proxy { peer } else { source_of(peer) }
}

/// Waits until all requests have been answered for [`LINGER_MAX`].
async fn stay_answered(begun: &AtomicU64, answered: &AtomicU64) {
    let mut since = Instant::now();
    while since.elapsed() < LINGER_MAX {
        if begun.load(Ordering::Relaxed) != answered.load(Ordering::Relaxed) {
            since = Instant::now();
        }
        tokio::time::sleep(QUIET).await;
    }
}

/// Waits until no request has begun for [`QUIET`] and all are answered, at most for [`LINGER_MAX`].
/// Requests that a client sent before it could know of the stop are answered, pipelined ones too.
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
