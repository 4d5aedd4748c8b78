//! Submits commands as fast as the engine accepts them, from one thread that also takes the
//! replies.

use crate::error::{BenchError, broken};
use crate::measure::Clock;
use rialto_engine::{Producer, Submission, SubmitError};
use rialto_model::Seq;
use std::time::Duration;

/// The number of commands of one submission.
const CHUNK: usize = 256;
/// The timeout of an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The engine did not answer in time.
#[derive(Debug, thiserror::Error)]
#[error("no answer in {} s", ANSWER_TIMEOUT.as_secs())]
pub(crate) struct TimedOut;

/// A valid order of the workload was rejected.
#[derive(Debug, thiserror::Error)]
#[error("the venue rejects it: {}", .0.sentence())]
pub(crate) struct Rejected(pub(crate) rialto_model::RejectReason);

/// The results of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fed {
    /// The answered commands, all of which took effect.
    pub(crate) answered: u64,
    /// The time from the first submission to the last answer.
    pub(crate) elapsed_ns: u64,
    /// The last command's sequence.
    pub(crate) last: Seq,
}

/// Submits all commands and takes all replies. A reject is an error.
pub(crate) fn feed(
    case: &str,
    producer: &mut Producer,
    submissions: &[Submission],
) -> Result<Fed, BenchError> {
    feed_rounds(case, producer, submissions, 1)
}

/// Submits all commands this many times, without waiting in between.
pub(crate) fn feed_rounds(
    case: &str,
    producer: &mut Producer,
    submissions: &[Submission],
    rounds: usize,
) -> Result<Fed, BenchError> {
    let clock = Clock::start();
    let (mut submitted, mut answered, mut last) = (0, 0, Seq::ZERO);
    let count = submissions.len() * rounds;
    while answered < count {
        let mut is_full = submitted == count;
        if !is_full {
            let at = submitted % submissions.len();
            let chunk = &submissions[at..(at + CHUNK).min(submissions.len())];
            match producer.submit_batch(chunk) {
                Ok(taken) => {
                    submitted += taken;
                    is_full = taken < chunk.len();
                }
                Err(SubmitError::Busy) => is_full = true,
                Err(error) => return Err(broken(case, "submit a command")(error)),
            }
        }
        let mut reply = producer.try_reply();
        if reply.is_none() && is_full {
            reply = producer.reply_timeout(ANSWER_TIMEOUT);
            if reply.is_none() {
                return Err(broken(case, "get an answer")(TimedOut));
            }
        }
        while let Some(taken) = reply {
            last = check(case, &taken)?;
            answered += 1;
            reply = producer.try_reply();
        }
    }
    Ok(Fed { answered: answered as u64, elapsed_ns: clock.now_ns().max(1), last })
}

/// The sequence of a command; an error if it was rejected.
pub(crate) fn check(case: &str, reply: &rialto_engine::Reply) -> Result<Seq, BenchError> {
    let answer = reply.answer.map_err(broken(case, "learn the outcome of a command"))?;
    if let rialto_model::Outcome::Rejected { reason } = answer.outcome {
        return Err(BenchError::Refused {
            case: case.to_string(),
            position: reply.token as usize,
            source: Box::new(Rejected(reason)),
        });
    }
    Ok(answer.seq)
}
