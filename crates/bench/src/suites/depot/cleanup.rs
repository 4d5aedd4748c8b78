//! Files whose workers are gone wait again; files that nobody could process are shelved or deleted.

use super::pool::content;
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Spread};
use crate::report::{Case, Row, Unit};
use crate::suite::Context;
use rialto_depot::{ClaimOptions, Depot, DepotOptions, FailedDisposition, NewFile, TenantName};
use rialto_queue::{Level, ManualClock, Timestamp};
use std::sync::Arc;
use std::time::Duration;

const STUCK: u64 = 1_200;
const FAILED: u64 = 800;

/// The lengths of claims and of the time that a dead letter stays one.
const CLAIM: Duration = Duration::from_secs(60);
const RETENTION: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// The most steps of housekeeping, after which something is wrong.
const STEPS_MAX: u32 = 10_000;

/// What becomes of failed files, how its rows name that, and the target in milliseconds.
struct Put {
    away: FailedDisposition,
    name: &'static str,
    target_ms: f64,
}

const PUT: [Put; 2] = [
    Put { away: FailedDisposition::Shelve, name: "put on a shelf", target_ms: 60.0 },
    Put { away: FailedDisposition::Delete, name: "deleted", target_ms: 50.0 },
];

pub(super) fn rows(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    PUT.iter().map(|put| row(context, put)).collect()
}

fn row(context: &mut Context<'_>, put: &Put) -> Result<Row, BenchError> {
    let rounds: u64 = context.sized(5, 1);
    let (stuck, failed) = (context.sized(STUCK, 12), context.sized(FAILED, 8));
    let work = format!(
        "clean up {stuck} files of workers that are gone and {failed} failed, {}",
        put.name
    );
    context.progress(&format!("  {work}"));
    let mut times = Vec::with_capacity(rounds as usize);
    for _ in 0..rounds {
        times.push(clean_up(context, &work, put, (stuck, failed))?);
    }
    let spread = Spread::over(&times, |time| *time);
    let row = Row::of_spread(&Case::without_orders(work), "time of all", spread, Unit::Nanoseconds);
    Ok(row.level("buffered").target(put.target_ms * 1e6).check("files", stuck + failed))
}

/// Returns how long the housekeeping took, on one thread. Time passes when the clock is set, so that
/// nothing is waited for.
fn clean_up(
    context: &mut Context<'_>,
    case: &str,
    put: &Put,
    (stuck, failed): (u64, u64),
) -> Result<f64, BenchError> {
    let directory = context.fresh_directory()?;
    let clock = ManualClock::new(Timestamp(1_800_000_000_000_000_000));
    let mut options = DepotOptions::at(directory.path()).level(Level::Buffered);
    options.clock = Arc::new(clock.clone());
    options.claim_duration = CLAIM;
    options.retry_delay = Duration::ZERO;
    options.upkeep.failed_disposition = put.away;
    options.upkeep.failed_retention = RETENTION;
    let depot = Depot::open_stepped(options).map_err(broken(case, "open a pool"))?;
    let tenant = TenantName::new("acme").map_err(broken(case, "name a tenant"))?;
    let step = || depot.step().map_err(broken(case, "keep house"));
    let content = content(4 << 10, 1);
    for _ in 0..stuck + failed {
        let stored = depot.put_bytes(&tenant, NewFile::default(), &content);
        stored.map_err(broken(case, "store a file"))?;
    }
    let claim = |count: u64| {
        let mut claims = Vec::new();
        while (claims.len() as u64) < count {
            let missing = (count - claims.len() as u64).min(500) as usize;
            let some = depot.claim(&tenant, &ClaimOptions::up_to(missing));
            let some = some.map_err(broken(case, "claim files"))?;
            verify(case, "files of a claim", some.len(), missing)?;
            claims.extend(some);
        }
        Ok::<_, BenchError>(claims)
    };
    for claim in claim(failed)? {
        depot.refuse(claim.token(), "no such format").map_err(broken(case, "refuse a file"))?;
    }
    let work = || depot.tenant(&tenant).map(|info| info.work).map_err(broken(case, "count"));
    for _ in 0..STEPS_MAX {
        step()?;
        if work()?.dead == failed {
            break;
        }
    }
    verify(case, "dead letters before", work()?.dead, failed)?;
    clock.advance(RETENTION);
    // Their workers are gone from here on.
    drop(claim(stuck)?);
    clock.advance(CLAIM + Duration::from_secs(1));
    let began = Clock::start();
    let mut steps = 0;
    while steps < STEPS_MAX {
        step()?;
        steps += 1;
        let now = work()?;
        if now.dead == 0 && now.claimed == 0 {
            break;
        }
    }
    let elapsed_ns = began.now_ns();
    verify(case, "steps within bounds", steps < STEPS_MAX, true)?;
    verify(case, "files that wait again", claim(stuck)?.len() as u64, stuck)?;
    let shelved = depot.kept_files(&tenant, "dead-letter/", None, usize::MAX);
    let shelved = shelved.map_err(broken(case, "list the shelf"))?.len() as u64;
    let expected = if put.away == FailedDisposition::Shelve { failed } else { 0 };
    verify(case, "files on the shelf", shelved, expected)?;
    Ok(elapsed_ns as f64)
}
