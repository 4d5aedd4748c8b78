//! Messages published a hundred at a time, compared with one at a time.

use super::messages::{Content, Messages};
use super::rounds::{Trial, case};
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
    let messages = Messages::new(Content::Noise, BYTES, count);
    let trial = Trial::new(case, Level::Memory, messages).note(READ_BACK);
    let stage = Stage::in_memory(&trial.name, 0)?;
    let [single, batch, ratio] = trial.rounds(context, full, |context| {
        let mut rates = [0.0; 2];
        for (arm, rate) in rates.iter_mut().enumerate() {
            stage.create(stage::topic(context, Level::Memory))?;
            let seconds = match arm {
                0 => stage.send(&trial.messages)?,
                _ => send_batches(&stage, &trial.messages, false)?,
            };
            *rate = trial.per_second(seconds);
            stage.read(&trial.messages)?;
            stage.delete()?;
        }
        let [single, batch] = rates;
        Ok([single, batch, batch / single])
    })?;
    let (one_by_one, batched) = (Work::Queue(QueueWork::Single), Work::Queue(QueueWork::Batch));
    Ok(vec![
        trial.rate("send, one by one", single).beside(one_by_one, Metric::Throughput),
        trial.rate("send, in batches", batch).beside(batched, Metric::Throughput).target(8e6),
        trial.row("batches over one by one", ratio, Unit::Ratio),
    ])
}

fn synced(context: &mut Context<'_>) -> Result<Row, BenchError> {
    let case = case(format!("512 B, each waited for, {BATCH} at a time over one by one"));
    let single = Messages::new(Content::Noise, BYTES, context.sized(2_000, 20));
    let batched = Messages::new(Content::Noise, BYTES, context.sized(100_000, 400));
    let trial = Trial::new(case, Level::Synced, batched);
    let [ratio] = trial.rounds(context, 3, |context| {
        let stage = trial.stage(context)?;
        let one_by_one = publish_each(&stage, &single)?;
        stage.read(&single)?;
        stage.close()?;
        let stage = trial.stage(context)?;
        let in_batches = send_batches(&stage, &trial.messages, true)?;
        stage.read(&trial.messages)?;
        stage.close()?;
        Ok([trial.per_second(in_batches) / (single.count as f64 / one_by_one)])
    })?;
    Ok(trial
        .row("batches over one by one", ratio, Unit::Ratio)
        .check("messages_one_by_one", single.count)
        .target(50.0)
        .footnote(EACH_WAITED))
}

/// Publishes messages, each when the one before is confirmed.
fn publish_each(stage: &Stage, messages: &Messages) -> Result<f64, BenchError> {
    let failed = || broken(&stage.case, "publish a message");
    let producer = stage.producer()?;
    let clock = Clock::start();
    for position in 0..messages.count {
        let message = Publish::new(messages.payload(position));
        drop(producer.publish(&message).map_err(failed())?);
    }
    Ok(seconds(&clock))
}

/// Sends messages a hundred at a time, and waits for each batch if requested.
fn send_batches(
    stage: &Stage,
    messages: &Messages,
    is_waited_for: bool,
) -> Result<f64, BenchError> {
    let failed = || broken(&stage.case, "publish a batch");
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
