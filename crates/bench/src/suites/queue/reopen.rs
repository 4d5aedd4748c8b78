//! Opening a queue with a large topic, until its newest message is read.

use super::messages::{Content, FIRST_SEQ, Messages};
use super::rounds::{Trial, case};
use super::stage::{Stage, seconds};
use crate::error::{BenchError, broken, verify};
use crate::measure::Clock;
use crate::report::{Row, Unit};
use crate::suite::Context;
use rialto_queue::{Level, Publish, Read};

const BYTES: usize = 64 << 10;
const TOPIC_BYTES: u64 = 10_000_000_000;
/// The longest time of writing; the topic then has what was written so far.
const WRITING_S_MAX: f64 = 60.0;

/// One of this many messages is read at the end.
const READ_EVERY: u64 = 100;

const NEWEST: &str = "From before the queue is opened until its newest message has been read and \
    compared. The queue had been closed. Of all messages, every hundredth is read and compared after \
    the last opening, which does not count.";

pub(super) fn measure(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let planned = context.sized(TOPIC_BYTES, 40 * BYTES as u64).div_ceil(BYTES as u64);
    let case =
        case(format!("reopen a topic of {:.0} GB, 64 KiB messages", TOPIC_BYTES as f64 / 1e9));
    let mut messages = Messages::new(Content::Noise, BYTES, planned);
    let mut stage = Stage::at(context, &case.to_string(), Level::Buffered)?;
    context.progress(&format!("  {}: writing", case.work));
    messages.count = fill(&stage, &messages)?;
    let trial = Trial::new(case, Level::Buffered, messages);
    let messages = &trial.messages;
    let [took] = trial.rounds(context, 3, |_| {
        stage.close()?;
        let clock = Clock::start();
        stage.reopen()?;
        check_at(&stage, messages, messages.count - 1)?;
        Ok([seconds(&clock)])
    })?;
    for position in (0..messages.count).step_by(READ_EVERY as usize) {
        check_at(&stage, messages, position)?;
    }
    stage.close()?;
    let compared = messages.count.div_ceil(READ_EVERY);
    let mut row = Row::of_spread(&trial.case, "open and read the newest", took, Unit::Seconds)
        .level(Level::Buffered.name())
        .check("messages", messages.count)
        .check("topic_bytes", messages.bytes_total())
        .check("messages_compared", compared)
        .target(1.0)
        .footnote(NEWEST);
    if messages.count < planned {
        let gb = messages.bytes_total() as f64 / 1e9;
        row = row.footnote(format!(
            "The disk took only {gb:.1} GB in {WRITING_S_MAX:.0} s, and the topic holds no more."
        ));
    }
    Ok(vec![row])
}

/// Publishes messages until all are written or the time is over. Returns their number.
fn fill(stage: &Stage, messages: &Messages) -> Result<u64, BenchError> {
    let failed = || broken(&stage.case, "publish a message");
    let producer = stage.producer()?;
    let clock = Clock::start();
    let (mut sent, mut last) = (0, None);
    while sent < messages.count && seconds(&clock) < WRITING_S_MAX {
        let message = Publish::new(messages.payload(sent));
        last = Some(producer.send(&message).map_err(failed())?);
        sent += 1;
    }
    last.map_or(Ok(()), |last| last.wait()).map_err(failed())?;
    Ok(sent)
}

fn check_at(stage: &Stage, messages: &Messages, position: u64) -> Result<(), BenchError> {
    let case = &stage.case;
    let mut reader = stage.reader(FIRST_SEQ + position)?;
    match reader.try_next().map_err(broken(case, "read a message"))? {
        Some(Read::Message(message)) => messages.check(case, position, &message),
        _ => verify(case, &format!("whether message {position} is there"), false, true),
    }
}
