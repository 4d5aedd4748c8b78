//! Requests at scheduled times over kept-alive connections, independent of the server; latency
//! counts from the scheduled time.

use super::connection::{Connection, Requests};
use super::load::Check;
use crate::error::{BenchError, broken};
use crate::measure::{Clock, Latencies, Pace, exact_sleeps};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::net::SocketAddr;

/// How long the sender waits for answers when all connections are in use.
const PATIENCE_NS: u64 = 30_000_000_000;

/// The measurements.
pub(super) struct Paced {
    /// The times from the scheduled arrival of a request to its answer.
    pub(super) latencies: Latencies,
    /// The largest delay of the sender behind its schedule.
    pub(super) late_ns_max: u64,
}

/// Sends all requests at a rate over `connections`, from one thread, and checks every answer. A
/// request without a free connection waits for one, and the wait counts. The first `warm_up` are
/// not counted.
pub(super) fn paced(
    case: &str,
    address: SocketAddr,
    connections: usize,
    requests: &Requests,
    (per_second, warm_up): (u64, usize),
    check: &mut Check<'_>,
) -> Result<Paced, BenchError> {
    let failed = || broken::<io::Error>(case, "send a request and read its answer");
    // A sleep of a tenth of a millisecond must not last half as long again.
    exact_sleeps().map_err(broken(case, "have exact sleeps"))?;
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(address).map_err(failed())?);
    }
    let mut free: Vec<usize> = (0..connections).collect();
    // The request in flight on each connection.
    let mut carried = vec![0; connections];
    let clock = Clock::start();
    let mut pace = Pace::new(clock, per_second, requests.len() as u64);
    let schedule = pace.clone();
    let mut latencies = Latencies::new();
    let mut due = 0..0;
    let mut answered = 0;
    while answered < requests.len() {
        if due.is_empty() {
            due = pace.due_now().unwrap_or(due);
        }
        while !due.is_empty()
            && let Some(at) = free.pop()
        {
            carried[at] = due.start;
            open[at].send(requests.get(due.start as usize)).map_err(failed())?;
            due.start += 1;
        }
        let is_next_known = due.is_empty() && due.end < requests.len() as u64;
        let wait_ns = match is_next_known {
            true => schedule.scheduled_ns(due.end).saturating_sub(clock.now_ns()),
            false => PATIENCE_NS,
        };
        for at in ready(&open, wait_ns).map_err(failed())? {
            let Some((status, body)) = open[at].read().map_err(failed())? else { continue };
            check(status, body)?;
            if carried[at] >= warm_up as u64 {
                latencies.record(clock.now_ns() - schedule.scheduled_ns(carried[at]));
            }
            answered += 1;
            free.push(at);
        }
    }
    Ok(Paced { latencies, late_ns_max: pace.late_ns_max() })
}

/// The connections in flight that have received bytes, after at most this time.
fn ready(open: &[Connection], wait_ns: u64) -> io::Result<Vec<usize>> {
    let waiting: Vec<usize> = (0..open.len()).filter(|&at| open[at].is_waiting).collect();
    let mut polled: Vec<PollFd<'_>> =
        waiting.iter().map(|&at| PollFd::new(&open[at], PollFlags::IN)).collect();
    let timeout = Timespec {
        tv_sec: (wait_ns / 1_000_000_000) as i64,
        tv_nsec: (wait_ns % 1_000_000_000) as i64,
    };
    let count = poll(&mut polled, Some(&timeout))?;
    if count == 0 && wait_ns >= PATIENCE_NS {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let came = waiting.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
    Ok(came.map(|(&at, _)| at).collect())
}
