//! Watched folders, beside scans that remember nothing and do one thing after the other.

mod folder;
mod history;
mod imports;
mod tenants;

use crate::error::{BenchError, broken};
use crate::measure::SideBySide;
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, FreshDirectory, Outcome};
use rialto_depot::{Depot, DepotOptions, Quota, TenantName};
use rialto_queue::Level;
use std::time::Duration;

/// The least ratio of the time of the naive scan to ours.
const RATIO: f64 = 2.0;

pub(super) fn rows(context: &mut Context<'_>, outcome: &mut Outcome) {
    outcome.take(imports::one_at_once(context));
    for level in super::pool::LEVELS {
        outcome.take(imports::eight_at_once(context, level));
    }
    for tenants in [40, 160] {
        for disabled_percent in [0, 50] {
            outcome.take(tenants::rows(context, tenants, disabled_percent));
        }
    }
    for remembered in [60_000, 120_000] {
        outcome.take(history::rows(context, remembered));
    }
}

/// A pool, and a folder beside it.
struct Place {
    case: String,
    /// Goes before its directory does.
    depot: Depot,
    directory: FreshDirectory,
}

impl Place {
    /// A pool whose folders are scanned when the caller says so.
    fn stepped(
        context: &mut Context<'_>,
        case: &str,
        imports_at_once: usize,
    ) -> Result<Place, BenchError> {
        Place::open_in(case, context.fresh_directory()?, imports_at_once)
    }

    fn open_in(
        case: &str,
        directory: FreshDirectory,
        imports_at_once: usize,
    ) -> Result<Place, BenchError> {
        let options = options(&directory, Level::Buffered, imports_at_once);
        let depot = Depot::open_stepped(options).map_err(broken(case, "open a pool"))?;
        Ok(Place { case: case.to_owned(), depot, directory })
    }

    fn tenant(&self, name: &str) -> Result<TenantName, BenchError> {
        let tenant = TenantName::new(name).map_err(broken(&self.case, "name a tenant"))?;
        let made = self.depot.create_tenant(&tenant, Quota::default());
        made.map_err(broken(&self.case, "make a tenant"))?;
        Ok(tenant)
    }

    fn folder(&self) -> std::path::PathBuf {
        self.directory.path().join("in")
    }
}

fn options(directory: &FreshDirectory, level: Level, imports_at_once: usize) -> DepotOptions {
    let mut options = DepotOptions::at(directory.path().join("pool")).level(level);
    options.watcher.imports_at_once = imports_at_once;
    // The files are there before the scan.
    options.watcher.settle = Duration::ZERO;
    options
}

/// The rows of a scan, which is the first arm, and of the naive one.
fn beside_naive(work: &str, done: &SideBySide, files: u64, naive: &str) -> Vec<Row> {
    let case = Case::without_orders(work);
    let row = |metric: &str, spread, unit| {
        let row = Row::of_spread(&case, metric, spread, unit).level("buffered");
        row.check("files_a_scan", files).footnote(naive)
    };
    vec![
        row("time of the scan", done.spread(0), Unit::Nanoseconds),
        row("time of the naive scan", done.spread(1), Unit::Nanoseconds),
        row("time of the naive scan, over it", done.ratio(1, 0), Unit::Ratio).target(RATIO),
    ]
}
