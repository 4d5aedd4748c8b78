//! `match`: the speed of matching, without a journal.

mod books;
mod core;
mod passes;

use crate::drive::FundedCore;
use crate::error::{BenchError, verify};
use crate::measure::{Clock, Latencies, Percentiles, Spread, percentile_spreads};
use crate::references::{self, Metric, Work};
use crate::report::figure::{Axis, Bar, Figure, Scale, Series};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome, Suite, part};
use books::{LimitBook, MovableBook};
use passes::Matcher;
use rialto_model::Command;
use rialto_workload::{Cycle, FEES, Form, Workload, exchange_core_mix, obw, random_prices};

/// The depth of a stream, and its targets: operations per second, and nanoseconds at 99.9 %.
const DEPTHS: [(u64, f64, f64); 3] =
    [(1_000, 24e6, 300.0), (10_000, 24e6, 300.0), (100_000, 18e6, 600.0)];
/// The targets of the core, in commands per second, at one depth and on exchange-core's mix.
const CORE_DEPTH: u64 = 10_000;
const CORE_RATE: f64 = 8e6;
/// The seed of every workload here, as in the figures of other systems.
const SEED: u64 = 1;

pub(crate) const CLOCK_NOTE: &str = "Latencies contain one pair of clock readings (`clock_ns` in the checks) \
    and come from passes of their own: the clock would cost as much as the operation.";
const SECOND_HALF: &str = "Counted by the program's allocator over the second half of the stream; \
    the first half brings every table to its size.";
pub(crate) const SECOND_ROUND: &str = "Counted by the program's allocator over a second round of the same \
    commands; the first brings every table to its size.";
const LEVELS_NOTE: &str = "Nearly every order opens a price level of its own.";

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "match",
    about: "order books alone and the core without a journal, on OBW1 streams, exchange-core's mix and perpetual-exchange's orders at random prices",
    parts: &[
        part("streams", streams),
        part("mix", |context, outcome| outcome.take(mix(context))),
        part("prices", prices),
    ],
};

fn streams(context: &mut Context<'_>, outcome: &mut Outcome) {
    for (depth, rate, p99_9_ns) in DEPTHS {
        outcome.take(at_depth(context, depth, rate, p99_9_ns));
    }
}

fn at_depth(
    context: &mut Context<'_>,
    depth: u64,
    rate: f64,
    p99_9_ns: f64,
) -> Result<Outcome, BenchError> {
    let workload = stream(context, depth)?;
    let targets = Targets { rate: Some(rate), p99_9_ns: Some(p99_9_ns) };
    let mut outcome = Outcome::default();
    let book = measure::<LimitBook>(context, &workload)?;
    book.of_book(&mut outcome, &workload, Work::Obw { depth }, targets);
    let core = measure::<FundedCore>(context, &workload)?;
    let rate = (depth == CORE_DEPTH).then_some(CORE_RATE);
    core.of_core(&mut outcome, &workload, Work::ObwCore, Targets { rate, p99_9_ns: None });
    if depth == CORE_DEPTH {
        outcome.rows.extend(stream_allocations(&workload)?);
    }
    Ok(outcome)
}

fn mix(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    context.progress("  exchange-core's mix: generating");
    let workload =
        exchange_core_mix(SEED, context.sized(1_000, 100), context.sized(3_000_000, 3_000));
    let mut outcome = Outcome::default();
    let book = measure::<MovableBook>(context, &workload)?;
    book.of_book(&mut outcome, &workload, Work::MixBook, Targets::default());
    let core = measure::<FundedCore>(context, &workload)?;
    let targets = Targets { rate: Some(CORE_RATE), p99_9_ns: None };
    core.of_core(&mut outcome, &workload, Work::MixCore, targets);
    outcome.rows.extend(mix_allocations(context)?);
    Ok(outcome)
}

fn prices(context: &mut Context<'_>, outcome: &mut Outcome) {
    for (form, orders) in [(Form::A, 5_000_000), (Form::A, 50_000), (Form::B, 50_000)] {
        outcome.take(at_prices(context, form, orders));
    }
}

fn at_prices(context: &mut Context<'_>, form: Form, orders: usize) -> Result<Vec<Row>, BenchError> {
    context.progress("  random prices: generating");
    let workload = random_prices(form, context.sized(orders, orders / 50_000 * 20));
    let measured = measure::<LimitBook>(context, &workload)?;
    let mut rows = measured.rows(Work::RandomPricesBook, Targets::default());
    let core = measure::<FundedCore>(context, &workload)?;
    rows.extend(core.rows(Work::RandomPricesBook, Targets::default()));
    Ok(rows.into_iter().map(|row| row.footnote(LEVELS_NOTE)).collect())
}

/// Generates a stream; at the small size, of a fiftieth of the depth.
fn stream(context: &mut Context<'_>, depth: u64) -> Result<Workload, BenchError> {
    context.progress(&format!("  OBW1 depth {depth}: generating"));
    let depth = context.sized(depth, depth / 50);
    let stream = obw::generate(SEED, depth, context.sized(1_000_000, 2_000));
    let workload = stream.workload();
    let header = &stream.header;
    let (tally, standing) = (&workload.expected.tally, &workload.expected.standing);
    verify(&workload.name, "trades of the header", header.trades, tally.trades)?;
    verify(&workload.name, "resting orders of the header", header.resting, standing.resting())?;
    verify(&workload.name, "digest of the header", header.digest, tally.digest)?;
    Ok(workload)
}

/// The allocations of a command of a stream, if they are counted: over its second half.
fn stream_allocations(workload: &Workload) -> Result<Option<Row>, BenchError> {
    let steps = FundedCore::steps(workload);
    let warm_up = workload.prefill + (steps.len() - workload.prefill) / 2;
    let trades = workload.expected.tally.trades;
    allocations(workload, &steps, warm_up, trades, SECOND_HALF)
}

/// The allocations of a command of exchange-core's mix, if they are counted: over a second round of
/// the same, in which nothing grows.
fn mix_allocations(context: &mut Context<'_>) -> Result<Option<Row>, BenchError> {
    let (resting, commands) = context.sized((1_000, 1_000_000), (100, 3_000));
    let mut cycle = Cycle::of_mix(SEED, resting, commands);
    let mut steps: Vec<_> = cycle.next_round().collect();
    let warm_up = steps.len();
    steps.extend(cycle.next_round());
    let (trades, _) = cycle.trades(2);
    allocations(&cycle.round, &steps, warm_up, trades, SECOND_ROUND)
}

fn allocations(
    workload: &Workload,
    steps: &[Command],
    warm_up: usize,
    trades: u64,
    note: &str,
) -> Result<Option<Row>, BenchError> {
    let work = format!("{}, {}", FundedCore::NAME, workload.name);
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let core = FundedCore::fresh(workload);
    let counted = passes::allocations(&case.to_string(), core, steps, warm_up, trades)?;
    Ok(counted.map(|(allocations, operations)| {
        let each = allocations as f64 / operations.max(1) as f64;
        Row::new(&case, "allocations in the steady state", each, Unit::AllocationsPerOrder)
            .check("allocations", allocations)
            .check("operations", operations)
            .footnote(note)
            .target(0.0)
    }))
}

/// The targets of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Targets {
    rate: Option<f64>,
    p99_9_ns: Option<f64>,
}

/// The measurements of the passes over one workload.
struct Measured {
    case: Case,
    /// The fees, if there are any.
    fees: Option<&'static str>,
    checks: std::collections::BTreeMap<String, serde_json::Value>,
    rate: Spread,
    /// The largest share of a timed run that was spent waiting for a processor.
    waited: Option<f64>,
    latencies: Latencies,
    passes: Vec<Percentiles>,
    clock_ns: u64,
}

/// Verifies a matcher on a workload, then times it, then times each of its operations.
fn measure<M: Matcher>(
    context: &mut Context<'_>,
    workload: &Workload,
) -> Result<Measured, BenchError> {
    let work = format!("{}, {}", M::NAME, workload.name);
    let case = Case { work, risk: M::RISK, transport: Transport::InProcess };
    let name = case.to_string();
    let steps = M::steps(workload);
    let (runs, passes) = context.sized((5, 3), (2, 1));
    context.progress(&format!("  {}: verifying", case.work));
    passes::verified::<M>(&name, workload, &steps)?;
    let mut rates = Vec::with_capacity(runs);
    let mut waited: Option<f64> = None;
    for run in 1..=runs {
        context.progress(&format!("  {}: run {run} of {runs}", case.work));
        let run = passes::timed::<M>(&name, workload, &steps)?;
        rates.push(run.rate);
        waited = run.waited.map(|share| share.max(waited.unwrap_or(0.0)));
    }
    let clock = Clock::start();
    let mut latencies = Latencies::new();
    let mut percentiles = Vec::with_capacity(passes);
    for pass in 1..=passes {
        context.progress(&format!("  {}: latencies, pass {pass} of {passes}", case.work));
        let pass = passes::latencies::<M>(&name, workload, &steps, clock)?;
        percentiles.push(pass.percentiles());
        latencies.merge(&pass);
    }
    Ok(Measured {
        case,
        fees: (M::RISK == Risk::On).then_some(FEES),
        checks: workload.checks(),
        rate: Spread::over(rates, |rate| rate),
        waited,
        latencies,
        passes: percentiles,
        clock_ns: clock.cost_ns(),
    })
}

impl Measured {
    fn rows(&self, work: Work, targets: Targets) -> Vec<Row> {
        let unit = Unit::OperationsPerSecond;
        let rate = Row::of_spread(&self.case, "throughput", self.rate, unit)
            .beside(work, Metric::Throughput)
            .checks(&self.checks)
            .waited_for_core(self.waited)
            .footnotes(self.fees)
            .target(targets.rate);
        let latency = |(name, spread)| {
            let metric = format!("latency {name}");
            Row::of_spread(&self.case, metric, spread, Unit::Nanoseconds)
                .check("operations", self.latencies.count())
                .check("clock_ns", self.clock_ns)
                .footnote(CLOCK_NOTE)
                .beside(work, Metric::of_percentile(name))
                .target(targets.p99_9_ns.filter(|_| name == "p99.9"))
        };
        let latencies = percentile_spreads(self.passes.iter()).map(latency);
        std::iter::once(rate).chain(latencies).collect()
    }

    /// Rows, a curve and bars of a book alone.
    fn of_book(&self, outcome: &mut Outcome, workload: &Workload, work: Work, targets: Targets) {
        outcome.rows.extend(self.rows(work, targets));
        outcome.plot(Figure::Bars {
            title: "Books alone: operations a second".into(),
            value: Axis::new("op/s", Scale::Linear),
            bars: rate_bars(workload, work, self.rate.median),
        });
        self.plot(outcome, "Books alone: one operation", workload);
    }

    /// Rows and a curve of the core.
    fn of_core(&self, outcome: &mut Outcome, workload: &Workload, work: Work, targets: Targets) {
        outcome.rows.extend(self.rows(work, targets));
        self.plot(outcome, "Core: one command", workload);
    }

    fn plot(&self, outcome: &mut Outcome, title: &str, workload: &Workload) {
        let curve = Series { name: workload.name.clone(), points: self.latencies.curve() };
        outcome.plot(Figure::percentiles(title, vec![curve]));
    }
}

/// Our rate on a workload, with the rates of other systems.
fn rate_bars(workload: &Workload, work: Work, rate: f64) -> Vec<Bar> {
    let ours = Bar { name: format!("Rialto, {}", workload.name), value: rate, ours: true };
    let others = references::of(work, Metric::Throughput).map(|figure| Bar {
        name: figure.name.to_string(),
        value: figure.value,
        ours: false,
    });
    std::iter::once(ours).chain(others).collect()
}
