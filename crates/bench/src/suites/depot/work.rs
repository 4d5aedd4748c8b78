//! The whole life of files: written, claimed and completed by 64 workers.

use super::pool::{LEVELS, Pool, Setup, content};
use crate::drive::joined;
use crate::error::{BenchError, verify};
use crate::measure::{Clock, CoreWait, Spread};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_depot::{ClaimOptions, TenantName};
use rialto_queue::Level;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const WORKERS: u64 = 64;

/// A life of files, and its targets in files per second.
struct Life {
    bytes: usize,
    inline_bytes_max: usize,
    place: &'static str,
    tenants: u64,
    files: u64,
    buffered: f64,
    synced: f64,
}

const LIVES: [Life; 4] = [
    Life {
        bytes: 4 << 10,
        inline_bytes_max: 16 << 10,
        place: "in records",
        tenants: 1,
        files: 200_000,
        buffered: 50e3,
        synced: 30e3,
    },
    Life {
        bytes: 4 << 10,
        inline_bytes_max: 16 << 10,
        place: "in records",
        tenants: 64,
        files: 200_000,
        buffered: 50e3,
        synced: 30e3,
    },
    Life {
        bytes: 4 << 10,
        inline_bytes_max: 0,
        place: "on a volume",
        tenants: 1,
        files: 40_000,
        buffered: 12e3,
        synced: 4e3,
    },
    Life {
        bytes: 1 << 20,
        inline_bytes_max: 0,
        place: "on a volume",
        tenants: 1,
        files: 1_500,
        buffered: 500.0,
        synced: 400.0,
    },
];

/// Targets of claims per second, one and four at a time.
const SINGLE_CLAIMS: f64 = 400e3;
const CLAIMS_OF_FOUR: f64 = 1e6;

pub(super) fn rows(context: &mut Context<'_>, outcome: &mut Outcome) {
    for life in &LIVES {
        for level in LEVELS {
            outcome.take(whole_life(context, life, level));
        }
    }
    outcome.take(claims(context, 1, SINGLE_CLAIMS));
    outcome.take(claims(context, 4, CLAIMS_OF_FOUR));
}

fn whole_life(context: &mut Context<'_>, life: &Life, level: Level) -> Result<Row, BenchError> {
    let rounds: u64 = context.sized(3, 1);
    let files = context.sized(life.files, 2 * WORKERS);
    let size = if life.bytes < 1 << 20 { "4 KiB" } else { "1 MiB" };
    let work = format!(
        "write, claim, read and complete {size} {}, {WORKERS} workers, {} tenants",
        life.place, life.tenants
    );
    context.progress(&format!("  {work}, {}", level.name()));
    let setup = Setup { inline_bytes_max: life.inline_bytes_max, ..Setup::at(level) };
    let content = content(life.bytes, 7);
    let mut rates = Vec::with_capacity(rounds as usize);
    let wait = CoreWait::start();
    for _ in 0..rounds {
        let pool = Pool::open(context, &work, setup)?;
        let tenants = pool.tenants(life.tenants)?;
        for tenant in &tenants {
            pool.put(tenant, b"the first file makes the work queue")?;
            let claims = pool.depot.claim(tenant, &ClaimOptions::default());
            for claim in claims.map_err(pool.failed("claim a file"))? {
                pool.depot.complete(claim.token()).map_err(pool.failed("complete a file"))?;
            }
        }
        let elapsed_ns = at_work(&pool, &tenants, &content, files / WORKERS)?;
        let done = files / WORKERS * WORKERS;
        rates.push(done as f64 * 1e9 / elapsed_ns as f64);
        // Nothing is left, and each was completed once.
        let infos = tenants.iter().map(|tenant| pool.depot.tenant(tenant));
        let infos =
            infos.collect::<Result<Vec<_>, _>>().map_err(pool.failed("look at a tenant"))?;
        let completed: u64 = infos.iter().map(|info| info.work.completed).sum();
        verify(&work, "completed files", completed, done + life.tenants)?;
        verify(&work, "files left", infos.iter().map(|info| info.files).sum::<u64>(), 0)?;
    }
    let spread = Spread::over(&rates, |rate| *rate);
    let target = if level == Level::Synced { life.synced } else { life.buffered };
    let row =
        Row::of_spread(&Case::without_orders(work), "throughput", spread, Unit::FilesPerSecond);
    let row = row.level(level.name()).target(target).waited_for_core(wait.longest(None));
    Ok(row.check("files_completed_a_round", files))
}

/// Each worker writes a file, claims one of the tenant's, reads and completes it. Returns the time
/// until all have done so.
fn at_work(
    pool: &Pool,
    tenants: &[TenantName],
    content: &[u8],
    each: u64,
) -> Result<u64, BenchError> {
    let start = Barrier::new(WORKERS as usize + 1);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS as usize)
            .map(|nth| {
                let (start, tenant) = (&start, &tenants[nth % tenants.len()]);
                scope.spawn(move || {
                    start.wait();
                    (0..each).try_for_each(|_| one_life(pool, tenant, content))
                })
            })
            .collect();
        // Before the wait: this thread may be the last to go on.
        let clock = Clock::start();
        start.wait();
        workers.into_iter().map(joined).collect::<Result<Vec<()>, BenchError>>()?;
        Ok(clock.now_ns())
    })
}

fn one_life(pool: &Pool, tenant: &TenantName, content: &[u8]) -> Result<(), BenchError> {
    let depot = &pool.depot;
    pool.put(tenant, content)?;
    // As many files are claimed as are written, so that there is one for each worker.
    let options = ClaimOptions::default();
    let claims = depot.claim_within(tenant, &options, Duration::from_secs(60));
    let claims = claims.map_err(pool.failed("claim a file"))?;
    verify(&pool.case, "files of a claim", claims.len(), 1)?;
    let mut reader = depot.read_claimed(&claims[0]).map_err(pool.failed("open a file"))?;
    let read = reader.read_all().map_err(pool.failed("read a file"))?;
    verify(&pool.case, "the content is the one written", read == content, true)?;
    depot.complete(claims[0].token()).map_err(pool.failed("complete a file"))
}

/// Claims of files that wait, by 64 workers.
fn claims(context: &mut Context<'_>, at_a_time: usize, target: f64) -> Result<Row, BenchError> {
    let files: u64 = context.sized(400_000, 4 * WORKERS);
    let rounds: u64 = context.sized(3, 1);
    let work = format!("claim {at_a_time} at a time, {WORKERS} workers");
    context.progress(&format!("  {work}"));
    let mut rates = Vec::with_capacity(rounds as usize);
    for _ in 0..rounds {
        let pool = Pool::open(context, &work, Setup::at(Level::Memory))?;
        let tenant = pool.tenant("acme")?;
        for _ in 0..files {
            pool.put(&tenant, b"x")?;
        }
        let (claimed, start) = (AtomicU64::new(0), Barrier::new(WORKERS as usize + 1));
        let elapsed_ns = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WORKERS)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        let options = ClaimOptions::up_to(at_a_time);
                        loop {
                            let claims = pool.depot.claim(&tenant, &options);
                            let claims = claims.map_err(pool.failed("claim files"))?;
                            if claims.is_empty() {
                                return Ok(());
                            }
                            claimed.fetch_add(claims.len() as u64, Ordering::Relaxed);
                        }
                    })
                })
                .collect();
            // Before the wait: this thread may be the last to go on.
            let clock = Clock::start();
            start.wait();
            workers.into_iter().map(joined).collect::<Result<Vec<()>, BenchError>>()?;
            Ok::<_, BenchError>(clock.now_ns())
        })?;
        // No more than a tenant's claimed files.
        let expected = files.min(65_536);
        let claimed = claimed.into_inner();
        verify(&work, "claimed files", claimed.min(expected), expected)?;
        rates.push(claimed as f64 * 1e9 / elapsed_ns as f64);
    }
    let spread = Spread::over(&rates, |rate| *rate);
    let row =
        Row::of_spread(&Case::without_orders(work), "throughput", spread, Unit::FilesPerSecond);
    Ok(row.level("memory").target(target).check("files", files))
}
