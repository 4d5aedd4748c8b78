//! Orders of a venue while others fill the depot on the same disk.

use super::pool::{Pool, Setup, content};
use crate::drive::{Venue, VenueSettings, both, joined, open_loop, read_back, submissions};
use crate::error::{BenchError, verify};
use crate::measure::{Percentiles, Spread, side_by_side};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::Context;
use rialto_depot::TenantName;
use rialto_engine::{Level, Submission};
use rialto_gateway::GatewayConfig;
use rialto_threads::lower_priority;
use rialto_workload::{FEES, Form, Workload, commands, opening, random_prices};
use std::sync::atomic::{AtomicBool, Ordering};

/// Orders per second.
const RATE: u64 = 20_000;
/// The threads that fill the depot, each for a tenant of its own.
const WRITERS: u64 = 16;
/// The least throughput, and the largest p99, over those without writers.
const THROUGHPUT: f64 = 0.95;
const SLOWER_MAX: f64 = 2.0;
/// The arms.
const ALONE: usize = 0;
const BESIDE: usize = 1;

const OPEN_LOOP: &str = "Open loop: from the scheduled arrival to the acknowledgement in the client's \
    hands. Client, engine and writers share the processors; writers and the threads of the pool have \
    the lower priority that a venue gives them.";
const OVER: &str = "Over the round without writers; the median of the rounds, which take turns.";

/// What writers do.
struct Writing {
    name: &'static str,
    bytes: usize,
    inline_bytes_max: usize,
}

const WRITINGS: [Writing; 2] = [
    Writing { name: "4 KiB in records", bytes: 4 << 10, inline_bytes_max: 16 << 10 },
    Writing { name: "1 MiB on a volume", bytes: 1 << 20, inline_bytes_max: 0 },
];

/// The measurements of a round.
struct Round {
    rate: f64,
    percentiles: Percentiles,
    /// Bytes a second that were stored meanwhile.
    stored_rate: f64,
}

pub(super) fn rows(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let rate = context.sized(RATE, 1_000);
    let seconds = context.sized(4, 1);
    let workload = random_prices(Form::A, (rate * seconds) as usize);
    let submissions = submissions(commands(&workload));
    let mut rows = Vec::new();
    for writing in &WRITINGS {
        let work = format!(
            "engine, orders at {} K orders/s while {WRITERS} writers store files of {}",
            RATE / 1_000,
            writing.name
        );
        let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
        context.progress(&format!("  {}", case.work));
        let mut rounds: [Vec<Round>; 2] = [Vec::new(), Vec::new()];
        side_by_side(2, context.sized(5, 1), |arm| {
            let writing = (arm == BESIDE).then_some(writing);
            let round = run(context, &case.to_string(), writing, &workload, &submissions, rate)?;
            let rate = round.rate;
            rounds[arm].push(round);
            Ok::<_, BenchError>(rate)
        })?;
        rows.extend(of_rounds(&case, &rounds, submissions.len() as u64));
    }
    Ok(rows)
}

fn run(
    context: &mut Context<'_>,
    case: &str,
    writing: Option<&Writing>,
    workload: &Workload,
    submissions: &[Submission],
    rate: u64,
) -> Result<Round, BenchError> {
    let directory = context.fresh_directory()?;
    let settings = VenueSettings::at(context, Level::Synced);
    let Venue { engine, producer } =
        Venue::open(case, settings, directory.path(), opening(workload))?;
    let warm_up = submissions.len() as u64 / 6;
    let orders = || open_loop(case, producer, submissions, rate, warm_up);
    let (open, stored_rate) = match writing {
        None => (both(orders, || ()).0?, 0.0),
        Some(writing) => {
            let setup = Setup {
                inline_bytes_max: writing.inline_bytes_max,
                ..Setup::at(rialto_queue::Level::Synced)
            };
            // The threads of the pool inherit the priority of the one that opens it.
            let fresh = context.fresh_directory()?;
            let open = || {
                lower_priority(GatewayConfig::default().shared_nice);
                Pool::open_in(fresh, case, setup)
            };
            let pool = both(open, || ()).0?;
            let tenants = pool.tenants(WRITERS)?;
            let ended = AtomicBool::new(false);
            let (open, stored) = both(
                || {
                    let open = orders();
                    ended.store(true, Ordering::Relaxed);
                    open
                },
                || fill(&pool, &tenants, writing.bytes, &ended),
            );
            let (open, stored) = (open?, stored?);
            let infos = tenants.iter().map(|tenant| pool.depot.used(tenant.as_str()));
            let held: u64 = infos.flatten().map(|(files, _)| files).sum();
            verify(case, "files of the pool", held, stored)?;
            verify(case, "whether each writer stored a file", stored >= WRITERS, true)?;
            let seconds = submissions.len() as f64 / open.rate;
            (open, stored as f64 * writing.bytes as f64 / seconds)
        }
    };
    let totals = read_back(case, engine, open.last)?;
    verify(case, "the result", totals, workload.expected)?;
    Ok(Round { rate: open.rate, percentiles: open.latencies.percentiles(), stored_rate })
}

/// Stores files until it is ended. Returns how many.
fn fill(
    pool: &Pool,
    tenants: &[TenantName],
    bytes: usize,
    ended: &AtomicBool,
) -> Result<u64, BenchError> {
    let (content, nice) = (content(bytes, 7), GatewayConfig::default().shared_nice);
    std::thread::scope(|scope| {
        let writers: Vec<_> = tenants
            .iter()
            .map(|tenant| {
                let content = &content;
                scope.spawn(move || {
                    lower_priority(nice);
                    let mut stored = 0;
                    // The first file is stored in any case.
                    while stored == 0 || !ended.load(Ordering::Relaxed) {
                        pool.put(tenant, content)?;
                        stored += 1;
                    }
                    Ok(stored)
                })
            })
            .collect();
        writers.into_iter().map(joined).sum::<Result<u64, BenchError>>()
    })
}

fn of_rounds(case: &Case, rounds: &[Vec<Round>; 2], orders: u64) -> Vec<Row> {
    let row = |metric: String, spread: Spread, unit: Unit| {
        let row = Row::of_spread(case, metric, spread, unit).level(Level::Synced.name());
        row.check("orders", orders).footnote(OPEN_LOOP).footnote(FEES)
    };
    let spread = |arm: usize, value: fn(&Round) -> f64| Spread::over(&rounds[arm], value);
    let over = |value: fn(&Round) -> f64| {
        let pairs = rounds[BESIDE].iter().zip(&rounds[ALONE]);
        Spread::over(pairs, |(beside, alone)| value(beside) / value(alone).max(1.0))
    };
    let p99 = |round: &Round| round.percentiles.p99 as f64;
    let p50 = |round: &Round| round.percentiles.p50 as f64;
    let stored = spread(BESIDE, |round| round.stored_rate);
    vec![
        row("bytes stored meanwhile".into(), stored, Unit::BytesPerSecond),
        row("throughput".into(), spread(BESIDE, |round| round.rate), Unit::OrdersPerSecond),
        row("throughput over that without".into(), over(|round| round.rate), Unit::Ratio)
            .target(THROUGHPUT)
            .footnote(OVER),
        row("latency p50".into(), spread(BESIDE, p50), Unit::Nanoseconds),
        row("latency p50 over that without".into(), over(p50), Unit::Slowdown).footnote(OVER),
        row("latency p99, without".into(), spread(ALONE, p99), Unit::Nanoseconds),
        row("latency p99".into(), spread(BESIDE, p99), Unit::Nanoseconds),
        row("latency p99 over that without".into(), over(p99), Unit::Slowdown)
            .target(SLOWER_MAX)
            .footnote(OVER),
    ]
}
