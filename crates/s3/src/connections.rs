//! Accepts connections, serves each, and ends them in order at the stop.

use crate::front::Front;
use crate::options::S3Options;
use crate::socket::PatientSocket;
use crate::traffic::S3Traffic;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

/// The longest head of a request, in bytes.
const HEAD_BYTES_MAX: usize = 64 << 10;
/// How long the listener waits when the system refuses a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What all connections share.
pub(crate) struct Acceptor {
    pub(crate) front: Arc<Front>,
    pub(crate) options: S3Options,
    pub(crate) traffic: Arc<S3Traffic>,
    pub(crate) stopped: watch::Receiver<bool>,
    /// Dropped with the last connection.
    pub(crate) working: mpsc::Sender<()>,
}

impl Acceptor {
    pub(crate) async fn accept(self, listener: TcpListener) {
        let mut stopped = self.stopped.clone();
        loop {
            let accepted = tokio::select! {
                biased;
                () = told_to_stop(&mut stopped) => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => self.serve(stream, peer.ip().to_canonical()),
                Err(error) => {
                    tracing::warn!("no S3 connection can be accepted: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    /// Serves a connection, if there may be one more.
    fn serve(&self, stream: TcpStream, peer: IpAddr) {
        let S3Options { connections_max, address_connections_max, .. } = self.options;
        let slot = self.traffic.begin_connection(peer, connections_max, address_connections_max);
        let Some(slot) = slot else { return };
        // Answers are written whole.
        let _ = stream.set_nodelay(true);
        let (front, working) = (Arc::clone(&self.front), self.working.clone());
        let (mut stopped, options) = (self.stopped.clone(), self.options.clone());
        tokio::spawn(async move {
            let socket = PatientSocket::new(stream, options.answer_timeout);
            let service = service_fn(|request| front.answer(peer, request));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(options.head_timeout)
                .max_buf_size(HEAD_BYTES_MAX)
                .serve_connection(TokioIo::new(socket), service);
            let mut connection = pin!(connection);
            // Errors of the connection or of its HTTP are not logged.
            tokio::select! {
                _ = connection.as_mut() => {}
                () = told_to_stop(&mut stopped) => {
                    connection.as_mut().graceful_shutdown();
                    let _ = connection.await;
                }
            }
            drop((slot, working));
        });
    }
}

async fn told_to_stop(stopped: &mut watch::Receiver<bool>) {
    // A server that is gone has stopped.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}
