//! The latency of a durable acknowledgement at a steady rate, in disk syncs.

use crate::drive::{
    OpenLoop, Schedule, Venue, VenueSettings, control, control_rows, disk_sync, median_group_bytes,
    open_loop, read_back, submissions,
};
use crate::error::{BenchError, verify};
use crate::measure::{Latencies, Spread, percentile_spreads};
use crate::references::{Metric, Work};
use crate::report::figure::{Figure, Series};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_engine::{Level, Submission};
use rialto_workload::{FEES, Form, Workload, commands, opening, random_prices};

/// Orders per second.
const RATE: u64 = 100_000;
/// The approximate length of an order in the journal.
const ORDER_BYTES: usize = 100;
/// The target of the median, in disk syncs. The target of the p99 is a multiple of a control's.
const P50_SYNCS: f64 = 2.5;

const OPEN_LOOP: &str = "Open loop: from the scheduled arrival to the acknowledgement in the \
    client's hands. One thread submits and one takes the replies; both share the processors with \
    the engine and sleep whenever they have nothing to do.";
const ONE_SYNC: &str = "One disk sync: the median synchronous write of this run's median group \
    size, over space written before, on the same disk right after the run.";

/// The measurements of one pass.
struct Pass {
    open: OpenLoop,
    control: Latencies,
    sync: Latencies,
    group_bytes: u64,
    write_p50_ns: u64,
}

/// Acknowledgements at `synced` at a steady rate.
pub(super) fn measure(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let seconds = context.sized(6, 1);
    let rate = context.sized(RATE, 2_000);
    let workload = random_prices(Form::A, (rate * seconds) as usize);
    let submissions = submissions(commands(&workload));
    let work = format!("engine, {} at {} K orders/s", workload.name, RATE / 1_000);
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let mut passes = Vec::new();
    for pass in 1..=context.sized(3, 1) {
        context.progress(&format!("  {}: pass {pass}", case.work));
        let is_control_first = pass % 2 == 0;
        let name = case.to_string();
        passes.push(run(context, &name, &workload, &submissions, rate, is_control_first)?);
    }
    let mut outcome = Outcome::from(rows(&case, &workload, &passes));
    outcome.plot(Figure::percentiles("Engine: acknowledgement", curves(&passes)));
    Ok(outcome)
}

fn run(
    context: &mut Context<'_>,
    case: &str,
    workload: &Workload,
    submissions: &[Submission],
    rate: u64,
    is_control_first: bool,
) -> Result<Pass, BenchError> {
    let directory = context.fresh_directory()?;
    let settings = VenueSettings::at(context, Level::Synced);
    // The first sixth runs with cold caches and an empty book.
    let count = submissions.len() as u64;
    let schedule = Schedule { per_second: rate, count, warm_up: count / 6, bytes: ORDER_BYTES };
    let beside = || control(case, schedule, Some(directory.path()));
    let control_before = is_control_first.then(beside).transpose()?;
    let Venue { engine, producer } =
        Venue::open(case, settings, &directory.path().join("venue"), opening(workload))?;
    let open = open_loop(case, producer, submissions, rate, schedule.warm_up)?;
    let stats = engine.stats();
    let totals = read_back(case, engine, open.last)?;
    verify(case, "the result", totals, workload.expected)?;
    let control = control_before.map_or_else(beside, Ok)?;
    let group_bytes = median_group_bytes(&stats.group_bytes);
    let writes = context.sized(2_000, 50);
    let sync = disk_sync(case, directory.path(), group_bytes as usize, writes)?;
    Ok(Pass {
        open,
        control,
        sync,
        group_bytes,
        write_p50_ns: stats.write_ns.value_at_quantile(0.5),
    })
}

fn rows(case: &Case, workload: &Workload, passes: &[Pass]) -> Vec<Row> {
    let spread = |value: fn(&Pass) -> f64| Spread::over(passes, value);
    let row = |metric: String, spread: Spread, unit: Unit| {
        let late = passes.iter().map(|pass| pass.open.late_ns_max).max();
        Row::of_spread(case, metric, spread, unit)
            .level(Level::Synced.name())
            .checks(&workload.checks())
            .check("median_group_bytes", passes[0].group_bytes)
            .check("engine_write_p50_ns", passes[0].write_p50_ns)
            .check("client_late_ns_max", late.unwrap_or(0))
            .footnote(OPEN_LOOP)
    };
    let mut rows = vec![
        row("throughput".into(), spread(|pass| pass.open.rate), Unit::OrdersPerSecond)
            .footnote(FEES),
        row("one disk sync".into(), spread(sync_ns), Unit::Nanoseconds).footnote(ONE_SYNC),
        row("latency mean".into(), spread(|pass| pass.open.latencies.mean_ns()), Unit::Nanoseconds)
            .beside(Work::RandomPrices, Metric::Mean),
    ];
    let p50 = |pass: &Pass| pass.open.latencies.percentiles().p50 as f64 / sync_ns(pass);
    let p99 = |pass: &Pass| pass.open.latencies.percentiles().p99 as f64 / sync_ns(pass);
    let percentiles: Vec<_> = passes.iter().map(|pass| pass.open.latencies.percentiles()).collect();
    for (name, of) in percentile_spreads(percentiles.iter()) {
        let metric = Metric::of_percentile(name);
        let ns = row(format!("latency {name}"), of, Unit::Nanoseconds);
        rows.push(ns.beside(Work::RandomPrices, metric));
        let syncs = match name {
            "p50" => Some((spread(p50), Some(P50_SYNCS))),
            "p99" => Some((spread(p99), None)),
            _ => None,
        };
        rows.extend(syncs.map(|(syncs, target)| {
            let metric = format!("latency {name} in disk syncs");
            row(metric, syncs, Unit::DiskSyncs).target(target).footnote(ONE_SYNC)
        }));
    }
    let pairs: Vec<_> = passes.iter().map(|pass| (&pass.open.latencies, &pass.control)).collect();
    rows.extend(control_rows(case, Level::Synced.name(), &pairs, true));
    rows
}

fn sync_ns(pass: &Pass) -> f64 {
    pass.sync.percentiles().p50.max(1) as f64
}

fn curves(passes: &[Pass]) -> Vec<Series> {
    let merged = |of: fn(&Pass) -> &Latencies| {
        let mut all = Latencies::new();
        passes.iter().for_each(|pass| all.merge(of(pass)));
        all.curve()
    };
    vec![
        Series {
            name: format!("acknowledgement at {} K orders/s, synced", RATE / 1_000),
            points: merged(|pass| &pass.open.latencies),
        },
        Series { name: "the control".into(), points: merged(|pass| &pass.control) },
        Series { name: "one disk sync".into(), points: merged(|pass| &pass.sync) },
    ]
}
