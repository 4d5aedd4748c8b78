//! A few new files in a folder of which many imports are remembered.

use super::folder::{fill, import, listed};
use super::{Place, beside_naive};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, side_by_side};
use crate::report::Row;
use crate::suite::Context;
use crate::suites::depot::history::{IMPORTED, append, encoded};
use rialto_depot::WatchSpec;
use std::path::PathBuf;

const NEW: [u64; 2] = [256, 1_024];
const FILE_BYTES: usize = 4 << 10;
/// The remembered imports of a record.
const MARKS_PER_RECORD: u64 = 4_000;

const NAIVE: &str = "The naive scan lists the folder, stores and removes the new files one after the \
    other, and looks whether the source of each remembered import is still there. The scan imports 8 \
    at once, and forgets imports only when half of the most are remembered.";

pub(super) fn rows(context: &mut Context<'_>, remembered: u64) -> Result<Vec<Row>, BenchError> {
    let remembered = context.sized(remembered, remembered / 15);
    let rounds = context.sized(3, 1);
    let case = format!("a folder with {remembered} remembered imports");
    context.progress(&format!("  {case}"));
    let place = Place::stepped(context, &case, 8)?;
    let (tenant, folder) = (place.tenant("acme")?, place.folder());
    let watch = WatchSpec::new("in", &folder, tenant.clone());
    place.depot.add_watch(watch).map_err(broken(&case, "add a watch"))?;
    place.depot.close().map_err(broken(&case, "close a pool"))?;
    let Place { depot, directory, .. } = place;
    drop(depot);
    let pool = directory.path().join("pool");
    append(&case, &pool, remembered / MARKS_PER_RECORD, |nth| {
        let first = u128::from(nth * MARKS_PER_RECORD);
        let marks = (first..first + u128::from(MARKS_PER_RECORD)).map(|mark| mark << 64 | 1);
        encoded(&(IMPORTED, "in", marks.collect::<Vec<u128>>()))
    })?;
    let place = Place::open_in(&case, directory, 8)?;
    let known = place.depot.watches().first().map(|watch| watch.remembered as u64);
    verify(&case, "remembered imports", known, Some(remembered))?;
    let gone: Vec<PathBuf> = (0..remembered).map(|nth| folder.join(format!("old-{nth}"))).collect();

    let mut rows = Vec::new();
    for new in NEW {
        let new = context.sized(new, new / 16);
        let work = format!("import {new} new files beside {remembered} remembered imports");
        context.progress(&format!("  {work}"));
        let done = side_by_side(2, rounds, |arm| {
            fill(&work, &folder, new, FILE_BYTES)?;
            let clock = Clock::start();
            let imported = match arm {
                0 => {
                    let report = place.depot.scan_watch("in").map_err(broken(&work, "scan"))?;
                    report.imported
                }
                _ => {
                    let imported = import(&work, &place.depot, &tenant, &folder)?;
                    let there = gone.iter().filter(|path| path.symlink_metadata().is_ok()).count();
                    verify(&work, "sources of remembered imports", there, 0)?;
                    imported
                }
            };
            let elapsed_ns = clock.now_ns();
            verify(&work, "imported files", imported, new)?;
            verify(&work, "sources that are left", listed(&work, &folder)?.len(), 0)?;
            Ok::<_, BenchError>(elapsed_ns as f64)
        })?;
        rows.extend(beside_naive(&work, &done, new, NAIVE));
    }
    Ok(rows)
}
