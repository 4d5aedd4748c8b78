//! A load of requests over kept-alive connections, from one thread with blocking sockets.
//!
//! Every connection has one request in flight. Answers are taken in turn, and each is followed at
//! once by the next request. So all connections stay busy without a runtime that would compete with
//! the server's.

use super::connection::{Connection, Requests};
use crate::error::{BenchError, broken};
use crate::measure::{Clock, Latencies};
use std::net::SocketAddr;

/// Checks status and body of an answer; an error ends the load.
pub(super) type Check<'a> = dyn FnMut(u16, &[u8]) -> Result<(), BenchError> + 'a;

/// The measurements of a load.
pub(super) struct Loaded {
    /// Requests per second.
    pub(super) rate: f64,
    /// The times from sending to answer, with all other connections in flight.
    pub(super) latencies: Latencies,
}

/// Sends all requests over this many connections and checks every answer. Rate and latencies omit
/// the first tenth.
pub(super) fn load(
    case: &str,
    address: SocketAddr,
    connections: usize,
    requests: &Requests,
    check: &mut Check<'_>,
) -> Result<Loaded, BenchError> {
    let failed = || broken(case, "send a request and read its answer");
    let clock = Clock::start();
    let mut open = Vec::with_capacity(connections);
    for next in 0..connections.min(requests.len()) {
        let mut connection = Connection::open(address).map_err(failed())?;
        let sent_ns = clock.now_ns();
        connection.send(requests.get(next)).map_err(failed())?;
        open.push((connection, sent_ns));
    }
    let mut next = open.len();
    let warm_up = requests.len() / 10;
    let (mut answered, mut began_ns) = (0, 0);
    let mut latencies = Latencies::new();
    while answered < requests.len() {
        for (connection, sent_ns) in &mut open {
            if !connection.is_waiting {
                continue;
            }
            let (status, body) = connection.answer().map_err(failed())?;
            check(status, body)?;
            let now = clock.now_ns();
            answered += 1;
            if answered > warm_up {
                latencies.record(now - *sent_ns);
            } else if answered == warm_up {
                began_ns = now;
            }
            if next < requests.len() {
                *sent_ns = now;
                connection.send(requests.get(next)).map_err(failed())?;
                next += 1;
            }
        }
    }
    let elapsed_ns = (clock.now_ns() - began_ns).max(1);
    Ok(Loaded { rate: (answered - warm_up) as f64 * 1e9 / elapsed_ns as f64, latencies })
}
