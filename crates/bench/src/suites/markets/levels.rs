//! An order against one at the same price, by the depth of the book.

use super::check::{Traded, refused, verify_core, verify_flow};
use crate::drive::FundedCore;
use crate::error::BenchError;
use crate::measure::{Clock, CoreWait, Latencies, percentile_spreads};
use crate::references::{MarketWork, Metric, Work};
use crate::report::figure::{Figure, Series};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use crate::suites::matching::CLOCK_NOTE;
use rialto_workload::{FEES, MarketFlow, crossed_levels};

/// Price levels on each side of the book.
const LEVELS: [u64; 4] = [10, 100, 1_000, 10_000];

const PAIRS: &str = "One order at one of eight prices between the best bid and the best ask, and one \
    against it: every other order rests, and every other trades. Each is a latency.";

/// The target of a percentile, in nanoseconds.
fn target(percentile: &str) -> Option<f64> {
    match percentile {
        "p50" => Some(150.0),
        "p99" => Some(500.0),
        "p99.9" => Some(1_000.0),
        _ => None,
    }
}

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    for levels in LEVELS {
        outcome.take(at_depth(context, levels));
    }
}

fn at_depth(context: &mut Context<'_>, levels: u64) -> Result<Outcome, BenchError> {
    let flow = crossed_levels(levels, context.sized(500_000, 200));
    let work = format!("core, {}", flow.name);
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let name = case.to_string();
    context.progress(&format!("  {}", case.work));
    verify_flow(&name, &flow)?;
    let clock = Clock::start();
    let (mut all, mut passes, mut waited) = (Latencies::new(), Vec::new(), None);
    for _ in 0..context.sized(5, 1) {
        let wait = CoreWait::start();
        let pass = latencies(&name, &flow, clock)?;
        waited = wait.longest(waited);
        passes.push(pass.percentiles());
        all.merge(&pass);
    }
    let row = |(percentile, spread)| {
        Row::of_spread(&case, format!("latency {percentile}"), spread, Unit::Nanoseconds)
            .beside(Work::Market(MarketWork::Levels(levels)), Metric::of_percentile(percentile))
            .checks(&flow.checks(1))
            .check("clock_ns", clock.cost_ns())
            .waited_for_core(waited)
            .target(target(percentile))
            .footnote(PAIRS)
            .footnote(CLOCK_NOTE)
            .footnote(FEES)
    };
    let rows: Vec<Row> = percentile_spreads(passes.iter()).map(row).collect();
    let mut outcome = Outcome::from(rows);
    let curve = Series { name: format!("{levels} levels"), points: all.curve() };
    outcome.plot(Figure::percentiles("Core: an order against one at the same price", vec![curve]));
    Ok(outcome)
}

/// Times each command behind the prefill on a new core, and verifies what it comes to.
fn latencies(case: &str, flow: &MarketFlow, clock: Clock) -> Result<Latencies, BenchError> {
    let mut core = FundedCore::open(flow.resting_max, &flow.opening());
    let mut traded = Traded::default();
    let (prefill, measured) = flow.commands.split_at(flow.prefill);
    for (position, command) in prefill.iter().enumerate() {
        core.apply(command, &mut |fill| traded.take(fill)).map_err(refused(case, position))?;
    }
    let mut latencies = Latencies::new();
    for (position, command) in measured.iter().enumerate() {
        let before = clock.now_ns();
        let done = core.apply(command, &mut |fill| traded.take(fill));
        latencies.record(clock.now_ns() - before);
        done.map_err(refused(case, flow.prefill + position))?;
    }
    verify_core(case, flow, 1, traded, &core.core)?;
    Ok(latencies)
}
