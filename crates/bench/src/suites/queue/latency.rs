//! The latency from the scheduled arrival of a message to its receipt, at a steady rate.

use super::durable::one_sync;
use super::messages::{Content, FIRST_SEQ, Messages};
use super::rounds::case;
use super::stage::{self, Stage};
use crate::drive::{Schedule, control, control_rows};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Latencies, Pace, Spread, exact_sleeps};
use crate::report::figure::{Figure, Series};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::{Level, Publish, Read, Reader};
use std::time::Duration;

/// Messages per second.
const RATE: u64 = 50_000;
const BYTES: usize = 1_024;
/// A timeout that fails the run.
const PATIENCE: Duration = Duration::from_secs(30);

const OPEN_LOOP: &str = "Open loop: from the scheduled arrival of a message to its receipt by a \
    reader that waits for it. One thread publishes and one receives; both share the processors with \
    the queue's own threads and sleep whenever they have nothing to do. The first sixth is not \
    counted.";
const ALL_HELD: &str = "All messages stay, so that each takes memory of its own, which the system \
    hands out meanwhile unless it was made ready when the queue was opened.";
const SHARED_DISK: &str = "The next file is filled with zeros meanwhile, on the same disk.";
const ONE_SYNC: &str = "One disk sync: the median synchronous write of as much as arrives during \
    one, over space written before, on the same disk right after the run.";

/// The measurements of one pass.
struct Pass {
    latencies: Latencies,
    control: Latencies,
    late_ns_max: u64,
    /// The time of a disk sync, if there is a disk.
    sync_ns: Option<f64>,
}

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let (rate, count) = context.sized((RATE, 2 * RATE), (10_000, 500));
    // A message takes 72 bytes besides its payload, and does not extend over two buffers.
    let ready = (count as usize * (BYTES + 80)).next_multiple_of(1 << 20);
    for (level, buffers_bytes) in [(Level::Memory, 0), (Level::Memory, ready), (Level::Synced, 0)] {
        outcome.take(through_queue(context, level, buffers_bytes, rate, count));
    }
}

fn through_queue(
    context: &mut Context<'_>,
    level: Level,
    buffers_bytes: usize,
    rate: u64,
    count: u64,
) -> Result<Outcome, BenchError> {
    let work = format!("1 KiB at {} K messages/s", rate / 1_000);
    let case = match buffers_bytes >> 20 {
        0 => case(work),
        mib => case(format!("{work}, {mib} MiB of buffers made ready")),
    };
    let messages = Messages::new(Content::Noise, BYTES, count);
    let mut passes = Vec::new();
    for pass in 1..=context.sized(5, 1) {
        context.progress(&format!("  {}: {level}, pass {pass}", case.work));
        let is_control_first = pass % 2 == 0;
        let name = case.to_string();
        let arm = (level, buffers_bytes);
        passes.push(run(context, &name, arm, &messages, rate, is_control_first)?);
    }
    let mut outcome = Outcome::from(rows(&case, level, &messages, &passes));
    let mut all = Latencies::new();
    passes.iter().for_each(|pass| all.merge(&pass.latencies));
    let ready = if buffers_bytes > 0 { ", buffers made ready" } else { "" };
    let name = format!("publish to receive at {} K messages/s, {level}{ready}", rate / 1_000);
    let curve = Series { name, points: all.curve() };
    outcome.plot(Figure::percentiles("Queue: publish to receive", vec![curve]));
    Ok(outcome)
}

fn run(
    context: &mut Context<'_>,
    case: &str,
    (level, buffers_bytes): (Level, usize),
    messages: &Messages,
    rate: u64,
    is_control_first: bool,
) -> Result<Pass, BenchError> {
    let count = messages.count;
    let schedule = Schedule { per_second: rate, count, warm_up: count / 6, bytes: BYTES };
    let beside = |context: &mut Context<'_>| match level {
        Level::Memory => control(case, schedule, None),
        _ => control(case, schedule, Some(context.fresh_directory()?.path())),
    };
    let control_before = is_control_first.then(|| beside(context)).transpose()?;
    let stage = match level {
        Level::Memory => Stage::in_memory(case, buffers_bytes)?,
        _ => Stage::on_disk(context, case, stage::topic(context, level))?,
    };
    if level == Level::Memory {
        stage.create(stage::topic(context, level))?;
    }
    let reader = stage.reader(FIRST_SEQ)?;
    let clock = Clock::start();
    let mut pace = Pace::new(clock, rate, messages.count);
    let schedule = pace.clone();
    let (published, received) = std::thread::scope(|scope| {
        let publishing = scope.spawn(|| publish(case, &stage, messages, &mut pace));
        let received = receive(case, reader, messages, clock, &schedule);
        (publishing.join(), received)
    });
    published.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let latencies = received?;
    let sync_ns = match level {
        Level::Memory => None,
        _ => {
            let lone_ns = one_sync(context, case, &stage, BYTES)?;
            let arriving = (rate as f64 * lone_ns / 1e9).max(1.0) * BYTES as f64;
            Some(one_sync(context, case, &stage, arriving as usize)?)
        }
    };
    stage.close()?;
    let control = control_before.map_or_else(|| beside(context), Ok)?;
    Ok(Pass { latencies, control, late_ns_max: pace.late_ns_max(), sync_ns })
}

fn publish(
    case: &str,
    stage: &Stage,
    messages: &Messages,
    pace: &mut Pace,
) -> Result<(), BenchError> {
    exact_sleeps().map_err(broken(case, "have exact sleeps"))?;
    let producer = stage.producer()?;
    let mut last = None;
    while let Some(due) = pace.due() {
        for position in due {
            let sent = producer.send(&Publish::new(messages.payload(position)));
            last = Some(sent.map_err(broken(case, "publish a message"))?);
        }
    }
    last.map_or(Ok(()), |last| last.wait()).map_err(broken(case, "confirm the last message"))
}

fn receive(
    case: &str,
    mut reader: Reader,
    messages: &Messages,
    clock: Clock,
    schedule: &Pace,
) -> Result<Latencies, BenchError> {
    let mut latencies = Latencies::new();
    let mut received = 0;
    while received < messages.count {
        let read = reader.next(PATIENCE).map_err(broken(case, "read a message"))?;
        let Some(Read::Message(message)) = read else { break };
        let now = clock.now_ns();
        messages.check(case, received, &message)?;
        if received >= messages.count / 6 {
            latencies.record(now.saturating_sub(schedule.scheduled_ns(received)));
        }
        received += 1;
    }
    verify(case, "the number of messages received", received, messages.count)?;
    Ok(latencies)
}

fn rows(case: &Case, level: Level, messages: &Messages, passes: &[Pass]) -> Vec<Row> {
    let spread = |value: &dyn Fn(&Pass) -> f64| {
        let values: Vec<f64> = passes.iter().map(value).collect();
        Spread::of(&values).expect("at least one pass was made")
    };
    let row = |metric: String, spread: Spread, unit: Unit| {
        let late = passes.iter().map(|pass| pass.late_ns_max).max();
        super::rounds::row(case, &metric, spread, unit, messages)
            .level(level.name())
            .check("publisher_late_ns_max", late.unwrap_or(0))
            .footnote(OPEN_LOOP)
            .footnote(if level == Level::Memory { ALL_HELD } else { SHARED_DISK })
    };
    let mut rows = Vec::new();
    for (at, (name, _)) in passes[0].latencies.percentiles().named().iter().enumerate() {
        let of = |pass: &Pass| pass.latencies.percentiles().named()[at].1 as f64;
        rows.push(row(format!("latency {name}"), spread(&of), Unit::Nanoseconds));
    }
    let syncs: Option<Vec<f64>> = passes.iter().map(|pass| pass.sync_ns).collect();
    if let Some(syncs) = syncs.as_deref().and_then(Spread::of) {
        rows.push(row("one disk sync".into(), syncs, Unit::Nanoseconds).footnote(ONE_SYNC));
        let p99 = |pass: &Pass| pass.latencies.percentiles().p99 as f64;
        let ratio = spread(&|pass| p99(pass) / pass.sync_ns.unwrap_or(f64::NAN));
        let metric = "latency p99 in disk syncs".into();
        rows.push(row(metric, ratio, Unit::DiskSyncs).footnote(ONE_SYNC));
    }
    let pairs: Vec<_> = passes.iter().map(|pass| (&pass.latencies, &pass.control)).collect();
    rows.extend(control_rows(case, level.name(), &pairs, level != Level::Memory));
    rows
}
