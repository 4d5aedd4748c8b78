//! The latency from the scheduled arrival of a message to its receipt, at a steady rate.

use super::durable::one_sync;
use super::messages::{Content, FIRST_SEQ, Messages};
use super::rounds::{Trial, case};
use super::stage::{self, Stage};
use crate::drive::{Schedule, both, control, control_rows};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Latencies, Pace, Spread, exact_sleeps, percentile_spreads};
use crate::report::figure::{Figure, Series};
use crate::report::{Row, Unit};
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
    let notes = [OPEN_LOOP, if level == Level::Memory { ALL_HELD } else { SHARED_DISK }];
    let messages = Messages::new(Content::Noise, BYTES, count);
    let trial = notes.into_iter().fold(Trial::new(case, level, messages), Trial::note);
    let mut passes = Vec::new();
    for pass in 1..=context.sized(5, 1) {
        context.progress(&format!("  {}: {level}, pass {pass}", trial.case.work));
        let is_control_first = pass % 2 == 0;
        passes.push(run(context, &trial, (level, buffers_bytes), rate, is_control_first)?);
    }
    let mut outcome = Outcome::from(rows(&trial, level, &passes));
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
    trial: &Trial,
    (level, buffers_bytes): (Level, usize),
    rate: u64,
    is_control_first: bool,
) -> Result<Pass, BenchError> {
    let Trial { name: case, messages, .. } = trial;
    let count = messages.count;
    let schedule = Schedule { per_second: rate, count, warm_up: count / 6, bytes: BYTES };
    let beside = |context: &mut Context<'_>| match level {
        Level::Memory => control(case, schedule, None),
        _ => control(case, schedule, Some(context.fresh_directory()?.path())),
    };
    let control_before = is_control_first.then(|| beside(context)).transpose()?;
    let stage = match level {
        Level::Memory => Stage::in_memory(case, buffers_bytes)?,
        _ => trial.stage(context)?,
    };
    if level == Level::Memory {
        stage.create(stage::topic(context, level))?;
    }
    let reader = stage.reader(FIRST_SEQ)?;
    let clock = Clock::start();
    let mut pace = Pace::new(clock, rate, messages.count);
    let schedule = pace.clone();
    let (published, received) = both(
        || publish(case, &stage, messages, &mut pace),
        || receive(case, reader, messages, clock, &schedule),
    );
    published?;
    let latencies = received?;
    let sync_ns = match level {
        Level::Memory => None,
        _ => {
            let lone_ns = one_sync(context, &stage, BYTES)?;
            let arriving = (rate as f64 * lone_ns / 1e9).max(1.0) * BYTES as f64;
            Some(one_sync(context, &stage, arriving as usize)?)
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

fn rows(trial: &Trial, level: Level, passes: &[Pass]) -> Vec<Row> {
    let row = |metric: String, spread: Spread, unit: Unit| {
        let late = passes.iter().map(|pass| pass.late_ns_max).max();
        trial.row(metric, spread, unit).check("publisher_late_ns_max", late.unwrap_or(0))
    };
    let percentiles: Vec<_> = passes.iter().map(|pass| pass.latencies.percentiles()).collect();
    let mut rows: Vec<Row> = percentile_spreads(percentiles.iter())
        .map(|(name, spread)| row(format!("latency {name}"), spread, Unit::Nanoseconds))
        .collect();
    let syncs: Option<Vec<f64>> = passes.iter().map(|pass| pass.sync_ns).collect();
    if let Some(syncs) = syncs {
        let one = Spread::over(&syncs, |ns| *ns);
        rows.push(row("one disk sync".into(), one, Unit::Nanoseconds).footnote(ONE_SYNC));
        let pairs = percentiles.iter().zip(&syncs);
        let ratio = Spread::over(pairs, |(pass, sync_ns)| pass.p99 as f64 / sync_ns);
        let metric = "latency p99 in disk syncs".into();
        rows.push(row(metric, ratio, Unit::DiskSyncs).footnote(ONE_SYNC));
    }
    let pairs: Vec<_> = passes.iter().map(|pass| (&pass.latencies, &pass.control)).collect();
    rows.extend(control_rows(&trial.case, level.name(), &pairs, level != Level::Memory));
    rows
}
