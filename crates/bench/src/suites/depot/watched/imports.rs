//! New files of one folder.

use super::folder::{fill, import, listed};
use super::{Place, beside_naive, options};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, CoreWait, Spread, side_by_side};
use crate::report::{Case, Row, Unit};
use crate::suite::Context;
use rialto_depot::{Depot, TenantName, WatchSpec};
use rialto_queue::Level;
use std::collections::HashSet;
use std::fs;
use std::time::Duration;

const FILE_BYTES: usize = 4 << 10;
/// Targets of 8 imports at once, in files per second.
const BUFFERED: f64 = 5_000.0;
const SYNCED: f64 = 3_000.0;
/// The longest wait for the imports.
const PATIENCE_NS: u64 = 120_000_000_000;

const NAIVE: &str = "The naive scan lists the folder, and reads, stores and removes one file after the \
    other through the library. Both make a file durable before its source goes.";
const ONCE: &str = "From the adding of the watch to the last import; by events and the thread of the \
    watch. The number of files of the pool, their names, and that no source is left are checked.";

/// 2,000 files, one import at a time.
pub(super) fn one_at_once(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let files: u64 = context.sized(2_000, 20);
    let rounds = context.sized(3, 1);
    let work = format!("import {files} files of 4 KiB, one at a time");
    context.progress(&format!("  {work}"));
    let place = Place::stepped(context, &work, 1)?;
    let (tenant, folder) = (place.tenant("acme")?, place.folder());
    let watch = WatchSpec::new("in", &folder, tenant.clone());
    place.depot.add_watch(watch).map_err(broken(&work, "add a watch"))?;
    let mut stored = 0;
    let done = side_by_side(2, rounds, |arm| {
        fill(&work, &folder, files, FILE_BYTES)?;
        let clock = Clock::start();
        let imported = match arm {
            0 => {
                let report = place.depot.scan_watch("in").map_err(broken(&work, "scan"))?;
                verify(&work, "files that failed or wait", report.failed + report.pending, 0)?;
                report.imported
            }
            _ => import(&work, &place.depot, &tenant, &folder)?,
        };
        let elapsed_ns = clock.now_ns();
        stored += files;
        verify(&work, "imported files", imported, files)?;
        verify(&work, "sources that are left", listed(&work, &folder)?.len(), 0)?;
        let held = place.depot.used(tenant.as_str()).map(|(files, _)| files);
        verify(&work, "files of the pool", held, Some(stored))?;
        Ok::<_, BenchError>(elapsed_ns as f64)
    })?;
    Ok(beside_naive(&work, &done, files, NAIVE))
}

/// 10,000 files, 8 imports at once.
pub(super) fn eight_at_once(context: &mut Context<'_>, level: Level) -> Result<Row, BenchError> {
    let files: u64 = context.sized(10_000, 50);
    let rounds: u64 = context.sized(3, 1);
    let work = format!("import {files} files of 4 KiB, 8 at once");
    context.progress(&format!("  {work}, {}", level.name()));
    let mut rates = Vec::with_capacity(rounds as usize);
    let wait = CoreWait::start();
    for _ in 0..rounds {
        rates.push(files as f64 * 1e9 / watched(context, &work, level, files)?);
    }
    let spread = Spread::over(&rates, |rate| *rate);
    let target = if level == Level::Synced { SYNCED } else { BUFFERED };
    let row =
        Row::of_spread(&Case::without_orders(work), "throughput", spread, Unit::FilesPerSecond);
    let row = row.level(level.name()).target(target).waited_for_core(wait.longest(None));
    Ok(row.check("files_accepted_once", files).footnote(ONCE))
}

/// Returns how long a pool in use took, in nanoseconds.
fn watched(
    context: &mut Context<'_>,
    case: &str,
    level: Level,
    files: u64,
) -> Result<f64, BenchError> {
    let directory = context.fresh_directory()?;
    let folder = directory.path().join("in");
    fill(case, &folder, files, FILE_BYTES)?;
    let depot = Depot::open(options(&directory, level, 8)).map_err(broken(case, "open a pool"))?;
    let tenant = TenantName::new("acme").map_err(broken(case, "name a tenant"))?;
    let clock = Clock::start();
    let watch = WatchSpec::new("in", &folder, tenant.clone());
    depot.add_watch(watch).map_err(broken(case, "add a watch"))?;
    let imported = loop {
        let imported = depot.watches().first().map_or(0, |watch| watch.imported);
        if imported >= files || clock.now_ns() > PATIENCE_NS {
            break imported;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let elapsed_ns = clock.now_ns() as f64;
    verify(case, "imported files", imported, files)?;
    depot.remove_watch("in").map_err(broken(case, "remove a watch"))?;
    let mut names = HashSet::new();
    let (mut after, mut accepted) = (None, 0);
    loop {
        let page = depot.work_files(&tenant, "", after, 1_000);
        let page = page.map_err(broken(case, "list the files"))?;
        let Some(last) = page.last() else { break };
        after = Some(last.record.id);
        accepted += page.len() as u64;
        names.extend(page.into_iter().map(|file| file.record.name.clone()));
    }
    verify(case, "accepted files", accepted, files)?;
    verify(case, "names of accepted files", names.len() as u64, files)?;
    let left = fs::read_dir(&folder).map_err(broken(case, "list a folder"))?.count();
    verify(case, "sources that are left", left, 0)?;
    depot.close().map_err(broken(case, "close a pool"))?;
    Ok(elapsed_ns)
}
