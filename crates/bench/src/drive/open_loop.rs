//! Commands at scheduled times, independent of the engine; latency counts from the scheduled time.

use super::feed::check;
use super::threads::both;
use crate::error::{BenchError, broken};
use crate::measure::{Clock, Latencies, Pace, exact_sleeps};
use rialto_engine::{Producer, Replies, Submission, SubmitError, Submitter};
use rialto_model::Seq;
use rialto_threads::wake_promptly;
use std::sync::Arc;
use std::time::Duration;

/// How long the sender sleeps when the engine is busy.
const NAP: Duration = Duration::from_micros(50);
/// The timeout of an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The results of an open loop.
pub(crate) struct OpenLoop {
    /// The times from the scheduled arrival of each command to its acknowledgement at the client.
    pub(crate) latencies: Latencies,
    /// Commands per second, first arrival to last acknowledgement.
    pub(crate) rate: f64,
    /// The largest delay of the sender behind its schedule.
    pub(crate) late_ns_max: u64,
    /// The last command's sequence.
    pub(crate) last: Seq,
}

/// Submits commands at a fixed rate from one thread while another takes the replies; idle threads
/// sleep, and wake as promptly as the threads of a gateway. The first `warm_up` commands are not counted.
pub(crate) fn open_loop(
    case: &str,
    producer: Producer,
    submissions: &[Submission],
    per_second: u64,
    warm_up: u64,
) -> Result<OpenLoop, BenchError> {
    let (submitter, replies) = producer.split();
    let clock = Clock::start();
    let mut pace = Pace::new(clock, per_second, submissions.len() as u64);
    let schedule = pace.clone();
    let (submitted, taken) = both(
        || submit(case, submitter, submissions, &mut pace),
        // On a thread of its own too: how it wakes up ends with it.
        || both(|| take(case, replies, submissions.len(), clock, &schedule, warm_up), || ()).0,
    );
    submitted?;
    let (latencies, last) = taken?;
    let rate = submissions.len() as f64 * 1e9 / clock.now_ns().max(1) as f64;
    Ok(OpenLoop { latencies, rate, late_ns_max: pace.late_ns_max(), last })
}

fn submit(
    case: &str,
    mut submitter: Submitter,
    submissions: &[Submission],
    pace: &mut Pace,
) -> Result<(), BenchError> {
    exact_sleeps().map_err(broken(case, "have exact sleeps"))?;
    wake_promptly();
    while let Some(due) = pace.due() {
        let mut due = &submissions[due.start as usize..due.end as usize];
        while !due.is_empty() {
            match submitter.submit_batch(due) {
                Ok(taken) => due = &due[taken..],
                // The schedule continues, and the wait counts.
                Err(SubmitError::Busy) => std::thread::sleep(NAP),
                Err(error) => return Err(broken(case, "submit a command")(error)),
            }
        }
    }
    Ok(())
}

fn take(
    case: &str,
    mut replies: Replies,
    count: usize,
    clock: Clock,
    schedule: &Pace,
    warm_up: u64,
) -> Result<(Latencies, Seq), BenchError> {
    wake_promptly();
    let this = std::thread::current();
    replies.set_waker(Arc::new(move || this.unpark()));
    let mut latencies = Latencies::new();
    let (mut answered, mut last) = (0, Seq::ZERO);
    let mut heard_ns = clock.now_ns();
    while answered < count {
        let Some(taken) = replies.try_reply() else {
            if clock.now_ns() - heard_ns > PATIENCE.as_nanos() as u64 {
                return Err(broken(case, "get an answer")(super::feed::TimedOut));
            }
            std::thread::park_timeout(PATIENCE);
            continue;
        };
        last = check(case, &taken)?;
        heard_ns = clock.now_ns();
        if taken.token >= warm_up {
            latencies.record(heard_ns - schedule.scheduled_ns(taken.token));
        }
        answered += 1;
    }
    Ok((latencies, last))
}
