//! The upper bound: a route that only parses an order.

use crate::error::{BenchError, broken};
use axum::routing::post;
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// The route.
pub(super) const PATH: &str = "/order";

/// The body, in the form of the venue's route.
#[derive(Deserialize)]
struct Order {
    instrument: String,
    side: String,
    quantity: String,
    price: String,
}

#[derive(Serialize)]
struct Answer {
    order_id: String,
    status: &'static str,
}

/// A server with only that route. Dropping it ends it.
pub(super) struct BareServer {
    _runtime: Runtime,
    pub(super) address: SocketAddr,
}

impl BareServer {
    /// Serves on a free port, with as many threads as the gateway.
    pub(super) fn start(case: &str, threads: usize) -> Result<BareServer, BenchError> {
        let failed = || broken(case, "start the bare server");
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_io()
            .enable_time()
            .build()
            .map_err(failed())?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let orders = Arc::new(AtomicU64::new(1));
        let route = post(move |Json(order): Json<Order>| async move {
            let Order { instrument, side, quantity, price } = order;
            let is_whole = [instrument, side, quantity, price].iter().all(|text| !text.is_empty());
            let status = if is_whole { "accepted" } else { "rejected" };
            Json(Answer { order_id: orders.fetch_add(1, Ordering::Relaxed).to_string(), status })
        });
        let router = Router::new().route(PATH, route);
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(BareServer { _runtime: runtime, address })
    }
}
