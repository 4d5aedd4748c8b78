//! Ten million orders, tenth by tenth.

use super::check::verify_core;
use crate::drive::{Venue, VenueSettings, feed_rounds, read_back_core, submissions};
use crate::error::{BenchError, verify};
use crate::measure::{Percentiles, Spread, resident_bytes};
use crate::references::{MarketWork, Metric, Work};
use crate::report::figure::{Axis, Figure, Scale, Series};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_engine::{Level, Stats, Submission};
use rialto_model::Seq;
use rialto_workload::{FEES, MarketFlow, paired_round};

const TENTHS: usize = 10;
/// Orders of a round, before those against them, and the rounds of a tenth: 1.007 M orders.
const ROUND: usize = 10_000;
const ROUNDS: usize = 53;

/// The targets: orders per second, the rate of the last tenth over that of the first, and resident
/// memory at the end over that after the first tenth.
const RATE: f64 = 2e6;
const LAST_OVER_FIRST: f64 = 0.95;
const MEMORY_OVER_FIRST: f64 = 1.05;

const BOUNDED: &str = "The books hold at most 9,000 orders and are empty after each round.";
const ONE_WRITER: &str = "One thread submits everything at once and takes the replies. Between two \
    tenths it waits for all answers.";
const STAMPED: &str = "From the stamp of a command to its release. Unpaced, so it is the depth of the \
    queue more than the speed of the engine.";
const RESIDENT: &str = "Resident memory of the whole process, the load program included, whose orders \
    are made before.";

/// The measurements of a tenth.
#[derive(Clone, Copy)]
struct Tenth {
    rate: f64,
    p99_ns: u64,
    resident_bytes: Option<f64>,
}

/// The measurements of a run.
struct Run {
    rate: f64,
    tenths: Vec<Tenth>,
    groups: u64,
}

pub(super) fn measure(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let flow = paired_round(context.sized(ROUND, 200));
    let rounds = context.sized(ROUNDS, 2);
    let in_all = (flow.placed as usize * rounds * TENTHS) as f64 / 1e6;
    let work = format!("engine, {in_all:.2} M orders in bounded books");
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let submissions = submissions(flow.commands.clone());
    let mut runs = Vec::new();
    for run in 1..=context.sized(5, 1) {
        context.progress(&format!("  {}, run {run}", case.work));
        runs.push(run_tenths(context, &case.to_string(), &flow, &submissions, rounds)?);
    }
    let mut outcome = Outcome::from(rows(&case, &flow, rounds, &runs));
    let points = |value: fn(&Tenth) -> f64| {
        let median = |at: usize| Spread::over(&runs, |run| value(&run.tenths[at])).median;
        (0..TENTHS).map(|at| ((at + 1) as f64, median(at))).collect()
    };
    let series = vec![Series { name: "p99, synced".into(), points: points(|it| it.p99_ns as f64) }];
    outcome.plot(Figure::Lines {
        title: "Engine: acknowledgement by tenth of the run".into(),
        x: Axis::new("tenth", Scale::Linear),
        y: Axis::new("ns", Scale::Linear),
        series,
    });
    Ok(outcome)
}

fn run_tenths(
    context: &mut Context<'_>,
    name: &str,
    flow: &MarketFlow,
    submissions: &[Submission],
    rounds: usize,
) -> Result<Run, BenchError> {
    let directory = context.fresh_directory()?;
    let settings = VenueSettings::at(context, Level::Synced);
    let Venue { engine, mut producer } =
        Venue::open(name, settings, directory.path(), flow.opening())?;
    let mut tenths = Vec::new();
    let (mut elapsed_ns, mut answered, mut last) = (0, 0, Seq::ZERO);
    let mut before = engine.stats();
    for _ in 0..TENTHS {
        let fed = feed_rounds(name, &mut producer, submissions, rounds)?;
        let after = engine.stats();
        tenths.push(Tenth {
            rate: fed.answered as f64 * 1e9 / fed.elapsed_ns as f64,
            p99_ns: acknowledged(&before, &after).p99,
            resident_bytes: resident_bytes(),
        });
        (elapsed_ns, answered) = (elapsed_ns + fed.elapsed_ns, answered + fed.answered);
        (before, last) = (after, fed.last);
    }
    let rounds = (rounds * TENTHS) as u64;
    verify(name, "answers", answered, flow.commands.len() as u64 * rounds)?;
    drop(producer);
    let groups = engine.stats().groups;
    let (events, core) = read_back_core(name, engine, last)?;
    verify_core(name, flow, rounds, events.tally.into(), &core)?;
    Ok(Run { rate: answered as f64 * 1e9 / elapsed_ns as f64, tenths, groups })
}

fn acknowledged(before: &Stats, after: &Stats) -> Percentiles {
    let mut between = after.acknowledge_ns.clone();
    between
        .subtract(&before.acknowledge_ns)
        .expect("the later histogram counts all that the earlier one does");
    Percentiles::of(&between)
}

fn rows(case: &Case, flow: &MarketFlow, rounds: usize, runs: &[Run]) -> Vec<Row> {
    let row = |metric: String, spread: Spread, unit: Unit| {
        Row::of_spread(case, metric, spread, unit)
            .level(Level::Synced.name())
            .checks(&flow.checks((rounds * TENTHS) as u64))
            .check("resting_max", flow.resting_max)
            .check("journal_groups", runs[runs.len() / 2].groups)
            .footnote(BOUNDED)
            .footnote(ONE_WRITER)
            .footnote(FEES)
    };
    let whole = Work::Market(MarketWork::Sustained);
    let rate = Spread::over(runs, |run| run.rate);
    let last = TENTHS - 1;
    let over = Spread::over(runs, |run| run.tenths[last].rate / run.tenths[0].rate);
    let mut rows = vec![
        row("throughput".into(), rate, Unit::OrdersPerSecond)
            .beside(whole, Metric::Throughput)
            .target(RATE),
        row("throughput of the last tenth over that of the first".into(), over, Unit::Ratio)
            .beside(whole, Metric::Throughput)
            .target(LAST_OVER_FIRST),
    ];
    for at in 0..TENTHS {
        let spread = Spread::over(runs, |run| run.tenths[at].p99_ns as f64);
        let metric = format!("acknowledgement p99, tenth {}", at + 1);
        let part = Work::Market(MarketWork::SustainedPart(at as u64 + 1));
        let row = row(metric, spread, Unit::Nanoseconds).beside(part, Metric::P99);
        rows.push(row.footnote(STAMPED));
    }
    let resident = |at: usize| {
        let bytes: Vec<f64> = runs.iter().filter_map(|run| run.tenths[at].resident_bytes).collect();
        Spread::of(&bytes)
    };
    for (what, at) in [("after the first tenth", 0), ("at the end", last)] {
        let part = Work::Market(MarketWork::SustainedPart(at as u64 + 1));
        rows.extend(resident(at).map(|spread| {
            let row = row(format!("resident memory {what}"), spread, Unit::Bytes);
            row.beside(part, Metric::Allocated).footnote(RESIDENT)
        }));
    }
    let grown: Vec<f64> = runs
        .iter()
        .filter_map(|run| Some(run.tenths[last].resident_bytes? / run.tenths[0].resident_bytes?))
        .collect();
    rows.extend(Spread::of(&grown).map(|spread| {
        let metric = "resident memory at the end over that after the first tenth";
        let row = row(metric.into(), spread, Unit::Growth).beside(whole, Metric::Allocated);
        row.target(MEMORY_OVER_FIRST).footnote(RESIDENT)
    }));
    rows
}
