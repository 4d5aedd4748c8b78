//! Messages of 1 KiB through memory: the send and the receive of the seed, told apart.

use super::messages::{Content, Messages};
use super::rounds::{case, rounds, row};
use super::stage::{self, Stage};
use crate::error::BenchError;
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Row, Unit};
use crate::suite::Context;
use rialto_queue::Level;

const GROUP: &str = "readers";
const BYTES: usize = 1_024;
/// Messages a second, each way.
const TARGET: f64 = 3e6;

const WARM: &str = "One thread sends everything, then receives everything and compares every byte, \
    which counts. A first round is not counted, and the buffers of a topic that was deleted are \
    used again by the next, as far as they are kept: 32 MiB of them. So 100 rounds of 10,000 are a \
    steady rate; of 1,000,000 that are all held at once, most lie in memory that the system has to \
    hand out and clear first.";

pub(super) fn measure(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let mut rows = Vec::new();
    for (count, full) in [(context.sized(10_000, 100), 100), (context.sized(1_000_000, 2_000), 3)] {
        let case = case(format!("{count} x 1 KiB"));
        let name = case.to_string();
        let messages = Messages::new(Content::Noise, BYTES, count);
        let stage = Stage::in_memory(&name)?;
        let spreads = rounds(context, &case, full, |context| {
            stage.create(stage::topic(context, Level::Memory))?;
            stage.create_group(GROUP)?;
            let send = stage.send(&messages)?;
            let read = stage.read(&messages)?;
            let consume = stage.consume(GROUP, &messages)?;
            stage.delete()?;
            Ok([send, read, consume].map(|seconds| count as f64 / seconds))
        })?;
        let [send, read, consume] = spreads;
        let made = |metric, spread| {
            row(&case, metric, spread, Unit::MessagesPerSecond, &messages)
                .level(Level::Memory.name())
                .footnote(WARM)
        };
        let beside = |row: Row, work| row.beside(Work::Queue(work), Metric::Throughput);
        rows.push(beside(made("send", send), QueueWork::MemoryIn).target(TARGET));
        rows.push(beside(made("receive", read), QueueWork::MemoryOut).target(TARGET));
        rows.push(
            beside(made("receive as a member of a group", consume), QueueWork::MemoryOut)
                .footnote("Fetched 500 at a time; every message is acknowledged."),
        );
    }
    Ok(rows)
}
