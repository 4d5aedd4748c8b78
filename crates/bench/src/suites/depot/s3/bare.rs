//! The upper bound: a route that only computes the hash.

use super::Way;
use super::client::Call;
use crate::error::{BenchError, broken};
use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use rialto_api::sign::{sha256, to_hex};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

const PATH: &str = "/object";
/// The header of the hash that the client computed.
const HASH: &str = "x-amz-content-sha256";

/// A server with only that route. Dropping it ends it.
pub(super) struct BareServer {
    _runtime: Runtime,
    pub(super) address: SocketAddr,
    content: Vec<u8>,
}

impl BareServer {
    /// Serves on a free port; a get is answered with this content.
    pub(super) fn start(
        case: &str,
        content: &[u8],
        threads: usize,
    ) -> Result<BareServer, BenchError> {
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
        let (answer, expected) = (Bytes::copy_from_slice(content), sha256(content));
        let out = move || async move {
            match sha256(&answer) == expected {
                true => (StatusCode::OK, answer),
                false => (StatusCode::INTERNAL_SERVER_ERROR, Bytes::new()),
            }
        };
        let router = Router::new()
            .route(PATH, get(out).put(store))
            .layer(DefaultBodyLimit::max(content.len()));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Ok(BareServer { _runtime: runtime, address, content: content.to_vec() })
    }

    pub(super) fn call(&self, way: Way, _: u64) -> Call {
        let head = match way {
            Way::Put => {
                let (length, hash) = (self.content.len(), to_hex(&sha256(&self.content)));
                format!(
                    "PUT {PATH} HTTP/1.1\r\nhost: bare\r\n{HASH}: {hash}\r\ncontent-length: {length}\r\n\r\n"
                )
            }
            Way::Get => format!("GET {PATH} HTTP/1.1\r\nhost: bare\r\n\r\n"),
        };
        Call { head: head.into_bytes() }
    }
}

async fn store(headers: HeaderMap, body: Bytes) -> StatusCode {
    let hash = headers.get(HASH).and_then(|value| value.to_str().ok());
    match hash == Some(to_hex(&sha256(&body)).as_str()) {
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    }
}
