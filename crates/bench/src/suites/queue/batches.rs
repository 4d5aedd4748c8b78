//! Messages published a hundred at a time, compared with one at a time.

use super::messages::{Content, Messages};
use super::rounds::{case, rounds, row};
use super::stage::{self, Stage, seconds};
use crate::error::{BenchError, broken};
use crate::measure::Clock;
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::{Level, Publish};

const BATCH: u64 = 100;
const BYTES: usize = 512;

const READ_BACK: &str = "Making the list of a batch counts. Everything is read back and compared \
    afterwards, which does not.";
const EACH_WAITED: &str = "One producer that waits until each message, or each batch, is durable \
    before it sends the next; both of a pair ran right after each other.";

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    for (count, full) in [(context.sized(10_000, 200), 15), (context.sized(1_000_000, 2_000), 3)] {
        outcome.take(in_memory(context, count, full));
    }
    outcome.take(synced(context));
}

fn in_memory(context: &mut Context<'_>, count: u64, full: usize) -> Result<Vec<Row>, BenchError> {
    let case = case(format!("{count} x 512 B, one by one and {BATCH} at a time"));
    let name = case.to_string();
    let messages = Messages::new(Content::Noise, BYTES, count);
    let stage = Stage::in_memory(&name, 0)?;
    let spreads = rounds(context, &case, full, |context| {
        let mut rates = [0.0; 2];
        for (arm, rate) in rates.iter_mut().enumerate() {
            stage.create(stage::topic(context, Level::Memory))?;
            let seconds = match arm {
                0 => stage.send(&messages)?,
                _ => send_batches(&name, &stage, &messages, false)?,
            };
            *rate = count as f64 / seconds;
            stage.read(&messages)?;
            stage.delete()?;
        }
        let [single, batch] = rates;
        Ok([single, batch, batch / single])
    })?;
    let [single, batch, ratio] = spreads;
    let made = |metric, spread, unit| {
        row(&case, metric, spread, unit, &messages).level(Level::Memory.name()).footnote(READ_BACK)
    };
    let beside = |row: Row, work| row.beside(Work::Queue(work), Metric::Throughput);
    let per_second = Unit::MessagesPerSecond;
    Ok(vec![
        beside(made("send, one by one", single, per_second), QueueWork::Single),
        beside(made("send, in batches", batch, per_second), QueueWork::Batch).target(8e6),
        made("batches over one by one", ratio, Unit::Ratio),
    ])
}

fn synced(context: &mut Context<'_>) -> Result<Row, BenchError> {
    let case = case(format!("512 B, each waited for, {BATCH} at a time over one by one"));
    let name = case.to_string();
    let single = Messages::new(Content::Noise, BYTES, context.sized(2_000, 20));
    let batched = Messages::new(Content::Noise, BYTES, context.sized(100_000, 400));
    let [ratio] = rounds(context, &case, 3, |context| {
        let stage = Stage::at(context, &name, Level::Synced)?;
        let one_by_one = publish_each(&name, &stage, &single)?;
        stage.read(&single)?;
        stage.close()?;
        let stage = Stage::at(context, &name, Level::Synced)?;
        let in_batches = send_batches(&name, &stage, &batched, true)?;
        stage.read(&batched)?;
        stage.close()?;
        Ok([(batched.count as f64 / in_batches) / (single.count as f64 / one_by_one)])
    })?;
    Ok(row(&case, "batches over one by one", ratio, Unit::Ratio, &batched)
        .level(Level::Synced.name())
        .check("messages_one_by_one", single.count)
        .target(50.0)
        .footnote(EACH_WAITED))
}

/// Publishes messages, each after the confirmation of the one before.
fn publish_each(case: &str, stage: &Stage, messages: &Messages) -> Result<f64, BenchError> {
    let producer = stage.producer()?;
    let clock = Clock::start();
    for position in 0..messages.count {
        let message = Publish::new(messages.payload(position));
        let receipt = producer.publish(&message).map_err(broken(case, "publish a message"))?;
        drop(receipt);
    }
    Ok(seconds(&clock))
}

/// Sends messages a hundred at a time, and waits for each batch if requested.
fn send_batches(
    case: &str,
    stage: &Stage,
    messages: &Messages,
    is_waited_for: bool,
) -> Result<f64, BenchError> {
    let failed = || broken(case, "publish a batch");
    let producer = stage.producer()?;
    let clock = Clock::start();
    let mut batch = Vec::with_capacity(BATCH as usize);
    for start in (0..messages.count).step_by(BATCH as usize) {
        let end = messages.count.min(start + BATCH);
        batch.clear();
        batch.extend((start..end).map(|position| Publish::new(messages.payload(position))));
        let receipt = producer.send_batch(&batch).map_err(failed())?;
        if is_waited_for {
            receipt.wait().map_err(failed())?;
        }
    }
    Ok(seconds(&clock))
}
