//! Messages of 1 KiB in memory: the send and the receive of Helianthus' test, each alone.

use super::messages::{Content, Messages};
use super::rounds::{Trial, case};
use super::stage::{self, Stage, seconds};
use crate::error::BenchError;
use crate::measure::{Clock, Spread};
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::Level;

const GROUP: &str = "readers";
const BYTES: usize = 1_024;
/// Messages per second, each way.
const TARGET: f64 = 3e6;

const ROUNDS: &str = "One thread sends everything, then receives everything and compares every byte, \
    which counts. A first round is not counted.";
const KEPT: &str = "The buffers of a topic that was deleted are used again by the next, as far as \
    they are kept: 32 MiB of them.";
const COLD: &str = "All messages are held at once, most of them in memory that the system has to \
    hand out and clear first, page by page, while they are sent.";
const READY: &str = "All messages lie in memory that was made ready when the queue was opened \
    (`buffers_bytes`).";

/// The number of messages, and the buffers.
struct Load {
    count: u64,
    rounds: usize,
    /// The buffers that are prepared when the queue is opened.
    buffers_bytes: usize,
    footnote: &'static str,
}

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let many = context.sized(1_000_000, 2_000);
    let few = context.sized(10_000, 100);
    // A message takes 72 bytes besides its payload, and does not extend over two buffers.
    let buffers_bytes = (many as usize * (BYTES + 80)).next_multiple_of(1 << 20);
    for load in [
        Load { count: few, rounds: 100, buffers_bytes: 0, footnote: KEPT },
        Load { count: many, rounds: 3, buffers_bytes: 0, footnote: COLD },
        Load { count: many, rounds: 3, buffers_bytes, footnote: READY },
    ] {
        outcome.take(measure_load(context, &load));
    }
}

fn measure_load(context: &mut Context<'_>, load: &Load) -> Result<Vec<Row>, BenchError> {
    let Load { count, rounds: full, buffers_bytes, footnote } = *load;
    let case = match buffers_bytes >> 20 {
        0 => case(format!("{count} x 1 KiB")),
        mib => case(format!("{count} x 1 KiB, {mib} MiB of buffers made ready")),
    };
    let messages = Messages::new(Content::Noise, BYTES, count);
    let trial = Trial::new(case, Level::Memory, messages).note(ROUNDS).note(footnote);
    let clock = Clock::start();
    let stage = Stage::in_memory(&trial.name, buffers_bytes)?;
    let opening = seconds(&clock);
    let [send, read, consume] = trial.rounds(context, full, |context| {
        stage.create(stage::topic(context, Level::Memory))?;
        stage.create_group(GROUP)?;
        let send = stage.send(&trial.messages)?;
        let read = stage.read(&trial.messages)?;
        let consume = stage.consume(GROUP, &trial.messages)?;
        stage.delete()?;
        Ok([send, read, consume].map(|seconds| trial.per_second(seconds)))
    })?;
    let (sent, received) = (Work::Queue(QueueWork::MemoryIn), Work::Queue(QueueWork::MemoryOut));
    let mut rows = vec![
        trial.rate("send", send).beside(sent, Metric::Throughput).target(TARGET),
        trial.rate("receive", read).beside(received, Metric::Throughput).target(TARGET),
        trial
            .rate("receive as a member of a group", consume)
            .beside(received, Metric::Throughput)
            .footnote("Fetched 500 at a time; every message is acknowledged."),
    ];
    if buffers_bytes > 0 {
        let opening = Spread::over([opening], |seconds| seconds);
        rows.push(trial.bare_row("open the queue", opening, Unit::Seconds).footnote(READY));
    }
    Ok(rows)
}
