//! Many submitters with one order outstanding each.

use super::check::verify_core;
use crate::drive::{Venue, VenueSettings, check, disk_sync, median_group_bytes, read_back_core};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Latencies, Percentiles, Spread, percentile_spreads};
use crate::references::{MarketWork, Metric, Work};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_engine::{Level, Producer};
use rialto_model::{Command, Seq};
use rialto_workload::{FEES, MarketFlow, paired_round};
use std::time::Duration;

/// Orders of a round, before those against them.
const ROUND: usize = 1_000;
/// Submitters, and the rounds of one pass.
const SUBMITTERS: [(usize, u64); 4] = [(1, 8), (10, 40), (100, 160), (1_000, 400)];
/// A tenth of the orders warm up.
const WARM_UP: usize = 10;
const PATIENCE: Duration = Duration::from_secs(60);

const ONE_THREAD: &str = "Each submitter sends its next order when it has the answer to the last. One \
    thread acts for all of them; it shares the processors with the engine.";
const ONE_SYNC: &str = "One disk sync: the median synchronous write of this run's median group \
    size, over space written before, on the same disk right after the run.";

/// The engine gave no answer.
#[derive(Debug, thiserror::Error)]
#[error("no answer in {} s", PATIENCE.as_secs())]
struct NoAnswerCame;

/// The measurements of a pass.
struct Pass {
    rate: f64,
    latencies: Percentiles,
    measured: u64,
    group_bytes: u64,
    /// The median, at `synced`.
    sync_ns: Option<u64>,
}

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let flow = paired_round(context.sized(ROUND, 200));
    for level in [Level::Memory, Level::Synced] {
        for (submitters, rounds) in SUBMITTERS {
            outcome.take(at_level(context, &flow, level, submitters, rounds));
        }
    }
}

fn at_level(
    context: &mut Context<'_>,
    flow: &MarketFlow,
    level: Level,
    submitters: usize,
    rounds: u64,
) -> Result<Vec<Row>, BenchError> {
    let plural = if submitters == 1 { "" } else { "s" };
    let work = format!("engine, {submitters} submitter{plural} with one order outstanding each");
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    context.progress(&format!("  {}: {level}", case.work));
    let rounds = context.sized(rounds, 3);
    let mut passes = Vec::new();
    for _ in 0..context.sized(3, 1) {
        passes.push(run(context, &case.to_string(), flow, level, submitters, rounds)?);
    }
    Ok(rows(&case, flow, level, submitters, rounds, &passes))
}

fn run(
    context: &mut Context<'_>,
    case: &str,
    flow: &MarketFlow,
    level: Level,
    submitters: usize,
    rounds: u64,
) -> Result<Pass, BenchError> {
    let directory = context.fresh_directory()?;
    let settings = VenueSettings::at(context, level);
    let data = directory.path().join("venue");
    let Venue { engine, mut producer } = Venue::open(case, settings, &data, flow.opening())?;
    let closed = closed_loop(case, &mut producer, &flow.commands, rounds, submitters)?;
    drop(producer);
    let group_bytes = median_group_bytes(&engine.stats().group_bytes);
    let (events, core) = read_back_core(case, engine, closed.last)?;
    verify_core(case, flow, rounds, events.tally.into(), &core)?;
    let sync_ns = match level {
        Level::Synced => {
            let writes = context.sized(1_000, 20);
            let sync = disk_sync(case, directory.path(), group_bytes as usize, writes)?;
            Some(sync.percentiles().p50.max(1))
        }
        _ => None,
    };
    let Closed { rate, latencies, .. } = closed;
    let measured = latencies.count();
    Ok(Pass { rate, latencies: latencies.percentiles(), measured, group_bytes, sync_ns })
}

/// The target of a percentile, in disk syncs: an order waits for the sync under way and for its own, and
/// many submitters wait for each other's work too.
fn syncs_target(submitters: usize, percentile: &str) -> Option<f64> {
    match (percentile, submitters) {
        ("p50", ..=1) => Some(1.5),
        ("p50", ..=10) => Some(2.0),
        ("p50", ..=100) => Some(2.5),
        ("p50", _) => Some(4.5),
        _ => None,
    }
}

/// The results of a closed loop.
struct Closed {
    rate: f64,
    latencies: Latencies,
    last: Seq,
}

/// Sends rounds of commands, of which this many are under way at any time. The order in which they
/// are sent is that of the flow, so that its trades are known.
fn closed_loop(
    case: &str,
    producer: &mut Producer,
    commands: &[Command],
    rounds: u64,
    submitters: usize,
) -> Result<Closed, BenchError> {
    let count = commands.len() * rounds as usize;
    let warm_up = count / WARM_UP;
    let mut sent_ns = vec![0; submitters];
    let (mut latencies, mut last, mut began_ns) = (Latencies::new(), Seq::ZERO, 0);
    let clock = Clock::start();
    let mut sent = 0;
    while sent < submitters.min(count) {
        sent_ns[sent] = clock.now_ns();
        submit(case, producer, sent, &commands[sent % commands.len()])?;
        sent += 1;
    }
    for answered in 1..=count {
        let reply = match producer.try_reply() {
            Some(reply) => reply,
            None => producer
                .reply_timeout(PATIENCE)
                .ok_or_else(|| broken(case, "get an answer")(NoAnswerCame))?,
        };
        let now = clock.now_ns();
        last = last.max(check(case, &reply)?);
        let submitter = reply.token as usize;
        if answered > warm_up {
            latencies.record(now - sent_ns[submitter]);
        } else if answered == warm_up {
            began_ns = now;
        }
        if sent < count {
            sent_ns[submitter] = now;
            submit(case, producer, submitter, &commands[sent % commands.len()])?;
            sent += 1;
        }
    }
    let elapsed_ns = (clock.now_ns() - began_ns).max(1);
    verify(case, "latencies", latencies.count(), (count - warm_up) as u64)?;
    let rate = (count - warm_up) as f64 * 1e9 / elapsed_ns as f64;
    Ok(Closed { rate, latencies, last })
}

fn submit(
    case: &str,
    producer: &mut Producer,
    submitter: usize,
    command: &Command,
) -> Result<(), BenchError> {
    producer.submit(submitter as u64, command, None).map_err(broken(case, "submit a command"))
}

fn rows(
    case: &Case,
    flow: &MarketFlow,
    level: Level,
    submitters: usize,
    rounds: u64,
    passes: &[Pass],
) -> Vec<Row> {
    let beside = Work::Market(MarketWork::Submitters(submitters as u64));
    let row = |metric: String, spread: Spread, unit: Unit| {
        Row::of_spread(case, metric, spread, unit)
            .level(level.name())
            .checks(&flow.checks(rounds))
            .check("latencies", passes[0].measured)
            .check("median_group_bytes", passes[0].group_bytes)
            .footnote(ONE_THREAD)
            .footnote(FEES)
    };
    let rate = Spread::over(passes, |pass| pass.rate);
    let rate = row("throughput".into(), rate, Unit::OrdersPerSecond);
    let mut rows = vec![rate.beside(beside, Metric::Throughput)];
    for (name, spread) in percentile_spreads(passes.iter().map(|pass| &pass.latencies)) {
        let ns = row(format!("latency {name}"), spread, Unit::Nanoseconds);
        rows.push(ns.beside(beside, Metric::of_percentile(name)));
        let syncs: Vec<f64> = passes
            .iter()
            .filter_map(|pass| {
                let (_, ns) = pass.latencies.named().into_iter().find(|it| it.0 == name)?;
                Some(ns as f64 / pass.sync_ns? as f64)
            })
            .collect();
        if let Some(spread) = Spread::of(&syncs).filter(|_| matches!(name, "p50" | "p99" | "p99.9"))
        {
            let metric = format!("latency {name} in disk syncs");
            let row = row(metric, spread, Unit::DiskSyncs).footnote(ONE_SYNC);
            let row = row.target(syncs_target(submitters, name));
            rows.push(row.check("disk_sync_ns", passes[0].sync_ns));
        }
    }
    rows
}
