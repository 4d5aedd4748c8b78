//! Tenants come, are used, disabled and enabled; each is a durable record.

use super::pool::{Pool, Setup};
use crate::error::BenchError;
use crate::measure::{Clock, Spread};
use crate::references::{DepotWork, Metric, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_depot::{Directory, NewFile, Quota, TenantName};
use rialto_queue::Level;

/// The target of each, in nanoseconds.
const CALL_NS: f64 = 500_000.0;

pub(super) fn rows(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let count: u64 = context.sized(200, 5);
    let pool = Pool::open(context, "tenants", Setup::at(Level::Synced))?;
    let name = |kind: &str, nth: u64| {
        TenantName::new(&format!("{kind}-{nth}")).map_err(pool.failed("name a tenant"))
    };
    let depot = &pool.depot;
    let mut outcome = Outcome::default();
    let mut timed = |what: &str, work, call: &dyn Fn(u64) -> Result<(), BenchError>| {
        let mut times = Vec::with_capacity(count as usize);
        for nth in 0..count {
            let clock = Clock::start();
            call(nth)?;
            times.push(clock.now_ns() as f64);
        }
        let spread = Spread::over(&times, |time| *time);
        let case = Case::without_orders(what);
        let row = Row::of_spread(&case, "time of a call", spread, Unit::Nanoseconds);
        let row = row.level("synced").beside(Work::Depot(work), Metric::Mean).target(CALL_NS);
        outcome.rows.push(row.check("calls", count));
        Ok::<_, BenchError>(())
    };
    timed("create a tenant", DepotWork::TenantCreate, &|nth| {
        depot.create_tenant(&name("made", nth)?, Quota::default()).map_err(pool.failed("create"))
    })?;
    timed(
        "a tenant's first file, which makes its work queue",
        DepotWork::TenantFirstUse,
        &|nth| {
            let stored = depot.put_bytes(&name("used", nth)?, NewFile::default(), b"x");
            stored.map(drop).map_err(pool.failed("store a file"))
        },
    )?;
    timed("disable a tenant", DepotWork::TenantDisable, &|nth| {
        depot.disable_tenant(&name("made", nth)?).map_err(pool.failed("disable"))
    })?;
    timed("enable a tenant", DepotWork::TenantEnable, &|nth| {
        depot.enable_tenant(&name("made", nth)?).map_err(pool.failed("enable"))
    })?;
    timed("set the quota of a directory", DepotWork::QuotaSet, &|nth| {
        let directory = Directory::new(&format!("d{nth}")).map_err(pool.failed("name it"))?;
        let quota = Quota { files_max: 10, bytes_max: 0 };
        depot.set_directory(&name("made", 0)?, &directory, None, quota).map_err(pool.failed("set"))
    })?;
    let made = depot.tenants(None, usize::MAX).len() as u64;
    crate::error::verify("tenants", "the number of tenants", made, 2 * count)?;
    Ok(outcome)
}
