//! Commands at fixed times, whatever the engine does; latency counts from the scheduled time.

use super::feed::check;
use crate::error::{BenchError, broken};
use crate::measure::{Clock, Latencies, Pace};
use rialto_engine::{Producer, Submission, SubmitError};
use rialto_model::Seq;
use std::time::Duration;

/// How long the sender sleeps when there is nothing to take, unless a reply comes first.
const NAP: Duration = Duration::from_micros(10);

/// What came of an open loop.
pub(crate) struct OpenLoop {
    /// From the scheduled arrival of each command to its acknowledgement in the client's hands.
    pub(crate) latencies: Latencies,
    /// Commands a second, first arrival to last acknowledgement.
    pub(crate) rate: f64,
    /// How far the client fell behind its schedule at worst.
    pub(crate) late_ns_max: u64,
    /// The last command's place in the journal.
    pub(crate) last: Seq,
}

/// Submits commands at a fixed rate from one thread that takes the replies in between. The first
/// `warm_up` of them are not counted.
pub(crate) fn open_loop(
    case: &str,
    producer: &mut Producer,
    submissions: &[Submission],
    per_second: u64,
    warm_up: u64,
) -> Result<OpenLoop, BenchError> {
    let clock = Clock::start();
    let mut pace = Pace::new(clock, per_second, submissions.len() as u64);
    let schedule = pace.clone();
    let mut latencies = Latencies::new();
    let (mut answered, mut last) = (0, Seq::ZERO);
    let mut waiting = 0..0;
    while answered < submissions.len() {
        if waiting.is_empty()
            && let Some(due) = pace.due_now()
        {
            waiting = due;
        }
        if !waiting.is_empty() {
            let chunk = &submissions[waiting.start as usize..waiting.end as usize];
            match producer.submit_batch(chunk) {
                Ok(taken) => waiting.start += taken as u64,
                // The schedule goes on, and the waiting counts.
                Err(SubmitError::Busy) => {}
                Err(error) => return Err(broken(case, "submit a command")(error)),
            }
        }
        let mut reply = producer.try_reply();
        if reply.is_none() {
            // A loop that spins would take a processor away from the engine's threads. Sleeping
            // makes the sender late, and its lateness counts.
            reply = producer.reply_timeout(NAP);
        }
        while let Some(taken) = reply {
            check(case, &taken)?;
            if taken.token >= warm_up {
                latencies.record(clock.now_ns() - schedule.scheduled_ns(taken.token));
            }
            answered += 1;
            last = taken.seq;
            reply = producer.try_reply();
        }
    }
    let rate = submissions.len() as f64 * 1e9 / clock.now_ns().max(1) as f64;
    Ok(OpenLoop { latencies, rate, late_ns_max: pace.late_ns_max(), last })
}
