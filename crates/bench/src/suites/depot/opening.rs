//! Opening a pool.

use super::pool::{Pool, Setup};
use crate::error::{BenchError, verify};
use crate::measure::{Clock, Spread};
use crate::references::{DepotWork, Metric, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_queue::Level;
use std::fs;
use std::path::Path;

/// Targets, in nanoseconds and bytes.
const ACTIVE_NS: f64 = 20e6;
const TENANTS_NS: f64 = 2e9;
const TENANT_BYTES: f64 = (1 << 20) as f64;

pub(super) fn rows(context: &mut Context<'_>, outcome: &mut Outcome) {
    outcome.take(active_files(context));
    outcome.take(many_tenants(context));
}

/// Opens a pool several times. Each opening is from an orderly end.
fn openings(
    context: &mut Context<'_>,
    mut pool: Pool,
    setup: Setup,
    waiting: u64,
) -> Result<(Pool, Spread), BenchError> {
    let rounds: u64 = context.sized(5, 1);
    let mut times = Vec::with_capacity(rounds as usize);
    for _ in 0..rounds {
        let mut opening = None;
        pool = pool.reopen_after(setup, |_, _| {
            opening = Some(Clock::start());
            Ok(())
        })?;
        times.extend(opening.map(|clock| clock.now_ns() as f64));
        verify(&pool.case, "waiting files", pool.depot.report().waiting as u64, waiting)?;
    }
    Ok((pool, Spread::over(&times, |time| *time)))
}

fn active_files(context: &mut Context<'_>) -> Result<Row, BenchError> {
    let files: u64 = context.sized(20_000, 100);
    let work = format!("open a pool of {files} waiting files");
    context.progress(&format!("  {work}"));
    let setup = Setup::at(Level::Buffered);
    let pool = Pool::open(context, &work, setup)?;
    let tenant = pool.tenant("acme")?;
    for _ in 0..files {
        pool.put(&tenant, b"x")?;
    }
    let (_, spread) = openings(context, pool, setup, files)?;
    let case = Case::without_orders(work);
    let row = Row::of_spread(&case, "time of the opening", spread, Unit::Nanoseconds);
    let row = row.level("buffered").beside(Work::Depot(DepotWork::ColdStart), Metric::Mean);
    Ok(row.target(ACTIVE_NS).check("files", files))
}

fn many_tenants(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    const FILES_EACH: u64 = 10;
    let tenants: u64 = context.sized(1_000, 5);
    let work = format!("{tenants} tenants of {FILES_EACH} waiting files of 4 KiB");
    context.progress(&format!("  {work}"));
    let setup = Setup::at(Level::Buffered);
    let pool = Pool::open(context, &work, setup)?;
    let content = super::pool::content(4 << 10, 1);
    for tenant in pool.tenants(tenants)? {
        for _ in 0..FILES_EACH {
            pool.put(&tenant, &content)?;
        }
    }
    let (pool, spread) = openings(context, pool, setup, tenants * FILES_EACH)?;
    let case = Case::without_orders(work);
    let opening = Row::of_spread(&case, "time of the opening", spread, Unit::Nanoseconds);
    let opening = opening.level("buffered").target(TENANTS_NS).check("tenants", tenants);
    let used = disk_bytes(pool.path()).map_err(pool.failed("measure the directory"))?;
    let content_bytes = tenants * FILES_EACH * content.len() as u64;
    let each = used.saturating_sub(content_bytes) as f64 / tenants as f64;
    let disk = Row::new(&case, "disk besides the files, of a tenant", each, Unit::Bytes);
    let disk = disk.level("buffered").target(TENANT_BYTES).check("tenants", tenants);
    Ok(Outcome::from(vec![opening, disk]))
}

/// The blocks that the files below a directory occupy, in bytes.
fn disk_bytes(directory: &Path) -> std::io::Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += match metadata.is_dir() {
            true => disk_bytes(&entry.path())?,
            false => metadata.blocks() * 512,
        };
    }
    Ok(bytes)
}
