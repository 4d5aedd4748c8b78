//! Messages of 1 KiB on the real disk: published and received concurrently, and each one confirmed.

use super::messages::{Content, FIRST_SEQ, Messages};
use super::rounds::{case, rounds, row};
use super::stage::{Stage, seconds};
use crate::drive::disk_sync;
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Latencies};
use crate::references::{Metric, QueueWork, Work};
use crate::report::{Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::{Level, Producer, Publish, Read, Receipt};
use std::collections::VecDeque;
use std::sync::Arc;

const GROUP: &str = "readers";
const BYTES: usize = 1_024;
const PRODUCERS: u64 = 64;
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
    let name = case.to_string();
    let messages = Messages::new(Content::Noise, BYTES, count);
    let [sent, received] = rounds(context, &case, 3, |context| {
        let stage = Stage::at(context, &name, Level::Buffered)?;
        stage.create_group(GROUP)?;
        let (sent, received) = std::thread::scope(|scope| {
            let sending = scope.spawn(|| stage.send(&messages));
            let received = stage.consume(GROUP, &messages);
            (sending.join(), received)
        });
        let sent = sent.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let rates = [sent, received?].map(|seconds| count as f64 / seconds);
        stage.close()?;
        Ok(rates)
    })?;
    let made = |metric, spread, work| {
        row(&case, metric, spread, Unit::MessagesPerSecond, &messages)
            .level(Level::Buffered.name())
            .beside(Work::Queue(work), Metric::Throughput)
            .target(1e6)
            .footnote(AT_ONCE)
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
    let name = case.to_string();
    let messages = Arc::new(Messages::new(Content::Noise, BYTES, PRODUCERS * each));
    let [rate] = rounds(context, &case, 3, |context| {
        let stage = Stage::at(context, &name, Level::Synced)?;
        let clock = Clock::start();
        match producers {
            Producers::Threads => on_threads(&name, &stage, &messages, each)?,
            Producers::Tasks => as_tasks(&name, &stage, &messages, each)?,
        }
        let seconds = seconds(&clock);
        read_interleaved(&name, &stage, &messages, each)?;
        stage.close()?;
        Ok([messages.count as f64 / seconds])
    })?;
    Ok(row(&case, "confirmed", rate, Unit::MessagesPerSecond, &messages)
        .level(Level::Synced.name())
        .beside(Work::Queue(QueueWork::SyncedMany), Metric::Throughput)
        .target(450e3)
        .footnote(CONFIRMED)
        .footnote(footnote))
}

fn on_threads(case: &str, stage: &Stage, messages: &Messages, each: u64) -> Result<(), BenchError> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..PRODUCERS)
            .map(|nth| scope.spawn(move || produce(case, stage, messages, nth * each, each)))
            .collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

/// A runtime's tasks must own their data, so that the producers of this row share it.
fn as_tasks(
    case: &str,
    stage: &Stage,
    messages: &Arc<Messages>,
    each: u64,
) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Runtime::new().map_err(broken(case, "start a runtime"))?;
    let ends = (0..PRODUCERS).map(|nth| {
        let (case, producer) = (case.to_string(), stage.producer()?);
        let produced = produce_async(case, producer, Arc::clone(messages), nth * each, each);
        Ok(runtime.spawn(produced))
    });
    let ends = ends.collect::<Result<Vec<_>, BenchError>>()?;
    ends.into_iter().try_for_each(|end| {
        runtime.block_on(end).unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    })
}

/// The same as [`produce`] in a task.
async fn produce_async(
    case: String,
    producer: Producer,
    messages: Arc<Messages>,
    from: u64,
    count: u64,
) -> Result<(), BenchError> {
    let failed = || broken(&case, "publish a message");
    let mut payload = Vec::with_capacity(BYTES);
    let mut receipts: VecDeque<Receipt> = VecDeque::with_capacity(OUTSTANDING);
    for position in from..from + count {
        numbered(&mut payload, &messages, position);
        if receipts.len() == OUTSTANDING
            && let Some(oldest) = receipts.pop_front()
        {
            oldest.confirmed().await.map_err(failed())?;
        }
        receipts.push_back(producer.try_send(&Publish::new(&payload)).map_err(failed())?);
    }
    for receipt in receipts {
        receipt.confirmed().await.map_err(failed())?;
    }
    Ok(())
}

/// The payload at a position, with the position in it, because the order of messages depends on the
/// threads.
fn numbered(payload: &mut Vec<u8>, messages: &Messages, position: u64) {
    payload.clear();
    payload.extend_from_slice(&position.to_le_bytes());
    payload.extend_from_slice(&messages.payload(position)[8..]);
}

/// Sends the messages of one producer, and waits for each of them.
fn produce(
    case: &str,
    stage: &Stage,
    messages: &Messages,
    from: u64,
    count: u64,
) -> Result<(), BenchError> {
    let failed = || broken(case, "publish a message");
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

/// Reads the messages of several producers, `each` per producer: all must be there, those of each
/// producer in order.
fn read_interleaved(
    case: &str,
    stage: &Stage,
    messages: &Messages,
    each: u64,
) -> Result<(), BenchError> {
    let mut reader = stage.reader(FIRST_SEQ)?;
    let mut next: Vec<u64> = (0..PRODUCERS).map(|producer| producer * each).collect();
    let mut received = 0;
    while let Some(read) = reader.try_next().map_err(broken(case, "read a message"))? {
        let Read::Message(message) = read else { continue };
        let (position, rest) = message.payload().split_first_chunk().unwrap_or((&[0xff; 8], &[]));
        let position = u64::from_le_bytes(*position);
        let expected = next.get_mut((position / each) as usize);
        verify(case, "a message's place", Some(position), expected.as_deref().copied())?;
        verify(case, "a message's bytes", rest == &messages.payload(position)[8..], true)?;
        expected.into_iter().for_each(|next| *next += 1);
        received += 1;
    }
    verify(case, "the number of messages read", received, messages.count)
}

fn one(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let case = case("1 KiB, one producer that waits for each");
    let name = case.to_string();
    let messages = Messages::new(Content::Noise, BYTES, context.sized(3_000, 20));
    let [rate, p50, sync, ratio] = rounds(context, &case, 3, |context| {
        let stage = Stage::at(context, &name, Level::Synced)?;
        let producer = stage.producer()?;
        let mut latencies = Latencies::new();
        let clock = Clock::start();
        for position in 0..messages.count {
            let message = Publish::new(messages.payload(position));
            let before = clock.now_ns();
            let published = producer.publish(&message);
            let _receipt = published.map_err(broken(&name, "publish a message"))?;
            latencies.record(clock.now_ns() - before);
        }
        let rate = messages.count as f64 / seconds(&clock);
        stage.read(&messages)?;
        let p50 = latencies.percentiles().p50 as f64;
        let sync = one_sync(context, &name, &stage, LONE_BYTES)?;
        stage.close()?;
        Ok([rate, p50, sync, p50 / sync])
    })?;
    let made = |metric, spread, unit| {
        row(&case, metric, spread, unit, &messages).level(Level::Synced.name())
    };
    Ok(vec![
        made("confirmed", rate, Unit::MessagesPerSecond)
            .beside(Work::Queue(QueueWork::SyncedOne), Metric::Throughput),
        made("confirmation p50", p50, Unit::Nanoseconds),
        made("one disk sync", sync, Unit::Nanoseconds).footnote(ONE_SYNC),
        made("confirmation p50 in disk syncs", ratio, Unit::DiskSyncs)
            .target(1.3)
            .footnote(ONE_SYNC),
    ])
}

/// The median of synchronous writes of this size, on the disk of a stage.
pub(super) fn one_sync(
    context: &Context<'_>,
    case: &str,
    stage: &Stage,
    bytes: usize,
) -> Result<f64, BenchError> {
    let directory = stage.directory().expect("a stage on disk has a directory");
    let writes = context.sized(2_000, 50);
    let sync = disk_sync(case, directory.path(), bytes, writes)?;
    Ok(sync.percentiles().p50.max(1) as f64)
}
