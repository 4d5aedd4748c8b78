//! A million orders of 100 accounts on ten instruments, through the core and through the engine.

use super::check::{Traded, refused, verify_core, verify_flow, verify_tally};
use crate::drive::{
    FundedCore, Venue, VenueSettings, feed, median_group_bytes, read_back_core, submissions,
};
use crate::error::BenchError;
use crate::measure::{Clock, CoreWait, Percentiles, Spread};
use crate::references::{MarketWork, Metric, Work};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_engine::{Level, Submission};
use rialto_workload::{FEES, MarketFlow, qaexchange};

const CORE_RATE: f64 = 5e6;
const ENGINE_RATE: f64 = 2.5e6;

const SIDES: &str = "In QAExchange's program the side follows from the instrument, and nothing trades; \
    here it changes after every ten orders. The orders of the first instrument then trade in pairs; all \
    others rest.";
const ONE_WRITER: &str = "One thread submits everything at once and takes the replies.";

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let flow = qaexchange(context.sized(1_000_000, 2_000));
    outcome.take(core(context, &flow));
    outcome.take(engine(context, &flow));
}

fn case(what: &str, flow: &MarketFlow) -> Case {
    let work = format!("{what}, {}", flow.name);
    Case { work, risk: Risk::On, transport: Transport::InProcess }
}

fn row(case: &Case, rate: Spread, flow: &MarketFlow) -> Row {
    Row::of_spread(case, "throughput", rate, Unit::OrdersPerSecond)
        .beside(Work::Market(MarketWork::Million), Metric::Throughput)
        .checks(&flow.checks(1))
        .footnote(SIDES)
        .footnote(FEES)
}

fn core(context: &mut Context<'_>, flow: &MarketFlow) -> Result<Row, BenchError> {
    let case = case("core", flow);
    let name = case.to_string();
    context.progress(&format!("  {}", case.work));
    verify_flow(&name, flow)?;
    let (mut rates, mut waited) = (Vec::new(), None);
    for _ in 0..context.sized(5, 1) {
        let mut core = FundedCore::open(flow.resting_max, &flow.opening());
        let mut traded = Traded::default();
        let wait = CoreWait::start();
        let clock = Clock::start();
        for (position, command) in flow.commands.iter().enumerate() {
            if let Err(error) = core.apply(command, &mut |fill| traded.take(fill)) {
                return Err(refused(&name, position)(error));
            }
        }
        let elapsed_ns = clock.now_ns().max(1);
        waited = wait.longest(waited);
        verify_core(&name, flow, 1, traded, &core.core)?;
        rates.push(flow.commands.len() as f64 * 1e9 / elapsed_ns as f64);
    }
    let row = row(&case, Spread::over(rates, |rate| rate), flow);
    Ok(row.waited_for_core(waited).target(CORE_RATE))
}

/// The measurements of a run of the engine.
struct Run {
    rate: f64,
    groups: u64,
    group_bytes: u64,
    acknowledge: Percentiles,
}

fn engine(context: &mut Context<'_>, flow: &MarketFlow) -> Result<Row, BenchError> {
    let case = case("engine", flow);
    let name = case.to_string();
    let submissions = submissions(flow.commands.clone());
    let mut runs = Vec::new();
    for run in 1..=context.sized(5, 1) {
        context.progress(&format!("  {}, run {run}", case.work));
        runs.push(run_engine(context, &name, flow, &submissions)?);
    }
    let middle = &runs[runs.len() / 2];
    let row = row(&case, Spread::over(&runs, |run| run.rate), flow)
        .level(Level::Synced.name())
        .check("journal_groups", middle.groups)
        .check("median_group_bytes", middle.group_bytes)
        .check("acknowledge_p50_ns", middle.acknowledge.p50)
        .check("acknowledge_p99_ns", middle.acknowledge.p99);
    Ok(row.target(ENGINE_RATE).footnote(ONE_WRITER))
}

fn run_engine(
    context: &mut Context<'_>,
    name: &str,
    flow: &MarketFlow,
    submissions: &[Submission],
) -> Result<Run, BenchError> {
    let directory = context.fresh_directory()?;
    let settings = VenueSettings::at(context, Level::Synced);
    let mut venue = Venue::open(name, settings, directory.path(), flow.opening())?;
    let fed = feed(name, &mut venue.producer, submissions)?;
    let Venue { engine, producer } = venue;
    drop(producer);
    let stats = engine.stats();
    let (events, core) = read_back_core(name, engine, fed.last)?;
    verify_tally(name, flow, &events.tally)?;
    verify_core(name, flow, 1, events.tally.into(), &core)?;
    Ok(Run {
        rate: fed.answered as f64 * 1e9 / fed.elapsed_ns as f64,
        groups: stats.groups,
        group_bytes: median_group_bytes(&stats.group_bytes),
        acknowledge: Percentiles::of(&stats.acknowledge_ns),
    })
}
