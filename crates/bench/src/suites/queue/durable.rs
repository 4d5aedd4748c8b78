//! Messages of 1 KiB on the real disk: published and received concurrently, and each one confirmed.

use super::messages::{Content, Messages};
use super::producers::{PRODUCERS, Tasks, numbered, read_newest};
use super::rounds::{Trial, case};
use super::stage::{Stage, seconds};
use crate::drive::{both, disk_sync, joined};
use crate::error::{BenchError, broken};
use crate::measure::{Clock, Latencies};
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::{Level, Publish, Receipt};
use std::collections::VecDeque;
use std::sync::Arc;

const GROUP: &str = "readers";
const BYTES: usize = 1_024;
const OUTSTANDING: usize = 4;
/// The size of a single message on disk.
const LONE_BYTES: usize = 4_096;

const AT_ONCE: &str = "One thread sends; another, the only member of a group, fetches 500 at a time, \
    compares every byte and acknowledges. Both clocks start together; the one stops when the last \
    message is confirmed, the other when it is acknowledged. Nothing passes a socket here, as it \
    does with the others.";
const CONFIRMED: &str = "Every receipt is waited for, at most 4 behind the last send of its \
    producer. Everything is read back and compared afterwards: the bytes of \
    each message, and that those of each producer are all there, once and in order.";
const THREADS: &str = "A producer is a thread, all of which share the processors with the queue's.";
const TASKS: &str = "A producer is a task of a runtime with as many threads as there are processors, \
    as in a server.";
const ONE_SYNC: &str = "One disk sync: the median synchronous write of 4 KiB, which is what a lone \
    message takes, over space written before, on the same disk right after.";

/// `buffered`: one producer and one consumer, concurrently.
pub(super) fn at_once(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let count = context.sized(1_000_000, 1_000);
    let case = case(format!("{count} x 1 KiB, one producer and one consumer at once"));
    let messages = Messages::new(Content::Noise, BYTES, count);
    let trial = Trial::new(case, Level::Buffered, messages).note(AT_ONCE);
    let [sent, received] = trial.rounds(context, 3, |context| {
        let stage = trial.stage(context)?;
        stage.create_group(GROUP)?;
        let messages = &trial.messages;
        let (sent, received) = both(|| stage.send(messages), || stage.consume(GROUP, messages));
        let rates = [sent?, received?].map(|seconds| trial.per_second(seconds));
        stage.close()?;
        Ok(rates)
    })?;
    let made = |metric, spread, work| {
        trial.rate(metric, spread).beside(Work::Queue(work), Metric::Throughput).target(1e6)
    };
    Ok(vec![made("in", sent, QueueWork::BufferedIn), made("out", received, QueueWork::BufferedOut)])
}

/// `synced`: many producers, and one that waits for each message.
pub(super) fn confirmed(context: &mut Context<'_>, outcome: &mut Outcome) {
    outcome.take(many(context, Producers::Threads));
    outcome.take(many(context, Producers::Tasks));
    outcome.take(one(context));
}

/// How producers run.
#[derive(Clone, Copy)]
enum Producers {
    Threads,
    Tasks,
}

fn many(context: &mut Context<'_>, producers: Producers) -> Result<Row, BenchError> {
    let each = context.sized(5_000, 10);
    let (what, footnote) = match producers {
        Producers::Threads => ("producers", THREADS),
        Producers::Tasks => ("producers as tasks", TASKS),
    };
    let case = case(format!("1 KiB, {PRODUCERS} {what} with {OUTSTANDING} outstanding each"));
    let messages = Messages::new(Content::Noise, BYTES, PRODUCERS * each);
    let trial = Trial::new(case, Level::Synced, messages).note(CONFIRMED).note(footnote);
    let messages = &trial.messages;
    let [rate] = trial.rounds(context, 3, |context| {
        let stage = trial.stage(context)?;
        let clock = Clock::start();
        match producers {
            Producers::Threads => on_threads(&stage, messages, each)?,
            Producers::Tasks => as_tasks(&stage, messages, each)?,
        }
        let seconds = seconds(&clock);
        read_newest(&stage, messages, messages.count)?;
        stage.close()?;
        Ok([trial.per_second(seconds)])
    })?;
    let row = trial.rate("confirmed", rate);
    Ok(row.beside(Work::Queue(QueueWork::SyncedMany), Metric::Throughput).target(450e3))
}

fn on_threads(stage: &Stage, messages: &Messages, each: u64) -> Result<(), BenchError> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..PRODUCERS)
            .map(|nth| scope.spawn(move || produce(stage, messages, nth * each, each)))
            .collect();
        threads.into_iter().try_for_each(joined)
    })
}

fn as_tasks(stage: &Stage, messages: &Arc<Messages>, each: u64) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Runtime::new().map_err(broken(&stage.case, "start a runtime"))?;
    let tasks = Tasks { outstanding: OUTSTANDING, is_timed: false };
    tasks.produce(&runtime, stage, messages, 0..each).map(drop)
}

/// Sends the messages of one producer, and waits for each of them.
fn produce(stage: &Stage, messages: &Messages, from: u64, count: u64) -> Result<(), BenchError> {
    let failed = || broken(&stage.case, "publish a message");
    let producer = stage.producer()?;
    let mut payload = Vec::with_capacity(BYTES);
    let mut receipts: VecDeque<Receipt> = VecDeque::with_capacity(OUTSTANDING);
    for position in from..from + count {
        numbered(&mut payload, messages, position);
        if receipts.len() == OUTSTANDING
            && let Some(oldest) = receipts.pop_front()
        {
            oldest.wait().map_err(failed())?;
        }
        receipts.push_back(producer.send(&Publish::new(&payload)).map_err(failed())?);
    }
    for receipt in receipts {
        receipt.wait().map_err(failed())?;
    }
    Ok(())
}

fn one(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let case = case("1 KiB, one producer that waits for each");
    let messages = Messages::new(Content::Noise, BYTES, context.sized(3_000, 20));
    let trial = Trial::new(case, Level::Synced, messages);
    let [rate, p50, sync, ratio] = trial.rounds(context, 3, |context| {
        let stage = trial.stage(context)?;
        let producer = stage.producer()?;
        let mut latencies = Latencies::new();
        let clock = Clock::start();
        for position in 0..trial.messages.count {
            let message = Publish::new(trial.messages.payload(position));
            let before = clock.now_ns();
            let published = producer.publish(&message);
            let _receipt = published.map_err(broken(&trial.name, "publish a message"))?;
            latencies.record(clock.now_ns() - before);
        }
        let rate = trial.per_second(seconds(&clock));
        stage.read(&trial.messages)?;
        let p50 = latencies.percentiles().p50 as f64;
        let sync = one_sync(context, &stage, LONE_BYTES)?;
        stage.close()?;
        Ok([rate, p50, sync, p50 / sync])
    })?;
    Ok(vec![
        trial.rate("confirmed", rate).beside(Work::Queue(QueueWork::SyncedOne), Metric::Throughput),
        trial.row("confirmation p50", p50, Unit::Nanoseconds),
        trial.row("one disk sync", sync, Unit::Nanoseconds).footnote(ONE_SYNC),
        trial
            .row("confirmation p50 in disk syncs", ratio, Unit::DiskSyncs)
            .target(1.3)
            .footnote(ONE_SYNC),
    ])
}

/// The median of synchronous writes of this size, on the disk of a stage.
pub(super) fn one_sync(
    context: &Context<'_>,
    stage: &Stage,
    bytes: usize,
) -> Result<f64, BenchError> {
    let directory = stage.directory().expect("a stage on disk has a directory");
    let writes = context.sized(2_000, 50);
    let sync = disk_sync(&stage.case, directory.path(), bytes, writes)?;
    Ok(sync.percentiles().p50.max(1) as f64)
}
