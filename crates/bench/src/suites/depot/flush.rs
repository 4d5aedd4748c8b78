//! Changes of the usages of a few directories among many become durable.
//!
//! The pool keeps no table of usages on disk: a change is durable with the record of the file that
//! makes it. So the time of the records is measured, and that of the saving of the index, which holds
//! the settings of all directories.

use super::history::{DIRECTORY, append, encoded};
use super::pool::{Pool, Setup};
use crate::error::{BenchError, verify};
use crate::measure::{Clock, side_by_side};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_depot::{Directory, DirectoryKind, FileName, NewFile, Quota, TenantName};
use rialto_queue::Level;
use std::time::Duration;

/// The directories of the two pools, and how many of them change.
const DIRECTORIES: [u64; 2] = [20_000, 100_000];
const DIRTY: [u64; 3] = [32, 128, 512];

/// The largest ratio of the time with many directories to that with fewer.
const SLOWER_MAX: f64 = 1.3;

const WORK: &str = "A usage has no place of its own on disk: it is durable with the record of the \
    file. The time of one empty file in each changed directory, acknowledged at `synced`, one after \
    the other.";
const SAVING: &str = "The index is saved when a pool is closed, and when its history has grown by a \
    fixed amount; usages are durable without it. It holds the settings of all directories.";

/// A pool whose directories have a quota each.
struct Arm {
    pool: Pool,
    tenant: TenantName,
    directories: u64,
    /// The files of a directory, by position of the round.
    stored: u64,
}

fn directory(nth: u64) -> String {
    format!("directory-{nth:06}")
}

impl Arm {
    fn open(context: &mut Context<'_>, directories: u64) -> Result<Arm, BenchError> {
        let case = format!("a pool of {directories} directories");
        context.progress(&format!("  {case} with quotas"));
        let setup = Setup::at(Level::Synced);
        let pool = Pool::open(context, &case, setup)?;
        let tenant = TenantName::new("acme").map_err(pool.failed("name a tenant"))?;
        let made = pool.depot.create_tenant(&tenant, Quota::default());
        made.map_err(pool.failed("make a tenant"))?;
        let quota = Quota { files_max: 1_000_000, bytes_max: 0 };
        let pool = pool.reopen_after(setup, |case, path| {
            append(case, path, directories, |nth| {
                let directory = Directory::new(&directory(nth)).map_err(|it| it.to_string())?;
                let settings = (Some(DirectoryKind::Shelf), quota, None::<Duration>);
                encoded(&(DIRECTORY, 0_u32, directory, settings))
            })
        })?;
        Ok(Arm { pool, tenant, directories, stored: 0 })
    }

    /// Changes the usages of some directories, far from each other.
    fn change(&mut self, dirty: u64) -> Result<f64, BenchError> {
        let Arm { pool, tenant, directories, stored } = self;
        let (before, _) = pool.depot.used(tenant.as_str()).unwrap_or_default();
        *stored += 1;
        let files = (0..dirty).map(|nth| {
            let directory = Directory::new(&directory(nth * (*directories / dirty)));
            let directory = directory.map_err(pool.failed("name a directory"))?;
            let name = FileName::new(&format!("file-{stored}"));
            Ok(NewFile::new(directory, name.map_err(pool.failed("name a file"))?))
        });
        let files = files.collect::<Result<Vec<_>, BenchError>>()?;
        let clock = Clock::start();
        for file in files {
            let stored = pool.depot.put_bytes(tenant, file, b"");
            stored.map_err(pool.failed("store a file"))?;
        }
        let elapsed_ns = clock.now_ns();
        let (after, _) = pool.depot.used(tenant.as_str()).unwrap_or_default();
        verify(&pool.case, "files that a usage has more", after - before, dirty)?;
        Ok(elapsed_ns as f64)
    }
}

pub(super) fn rows(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let sizes = DIRECTORIES.map(|directories| context.sized(directories, directories / 100));
    let mut arms = [Arm::open(context, sizes[0])?, Arm::open(context, sizes[1])?];
    let rounds = context.sized(7, 1) as usize;
    let mut outcome = Outcome::default();
    for dirty in DIRTY {
        let dirty = context.sized(dirty, dirty / 16);
        context.progress(&format!("  change the usages of {dirty} directories"));
        let done = side_by_side(arms.len(), rounds, |arm| arms[arm].change(dirty))?;
        let case = |directories| {
            Case::without_orders(format!(
                "make changed usages of {dirty} of {directories} directories durable"
            ))
        };
        let row = |arm: usize| {
            let time = done.spread(arm);
            let row = Row::of_spread(&case(sizes[arm]), "time of all", time, Unit::Nanoseconds);
            row.level("synced").check("directories_changed", dirty).footnote(WORK)
        };
        let metric = format!("time over that of {} directories", sizes[0]);
        let ratio = Row::of_spread(&case(sizes[1]), metric, done.ratio(1, 0), Unit::Slowdown);
        let ratio = ratio.level("synced").target(SLOWER_MAX).check("directories_changed", dirty);
        outcome.extend(Outcome::from(vec![row(0), row(1), ratio]));
    }
    for Arm { pool, tenant, directories, .. } in arms {
        let before = pool.depot.used(tenant.as_str());
        let clock = Clock::start();
        pool.depot.close().map_err(pool.failed("close a pool"))?;
        let elapsed_ns = clock.now_ns();
        let pool = pool.reopen(Setup::at(Level::Synced))?;
        // What was acknowledged is what the next opening counts.
        verify(&pool.case, "usage behind an opening", pool.depot.used(tenant.as_str()), before)?;
        let case = Case::without_orders(format!("close a pool of {directories} directories"));
        let row = Row::new(
            &case,
            "time, the saving of the index included",
            elapsed_ns as f64,
            Unit::Nanoseconds,
        );
        let row = row.level("synced").check("directories", directories).footnote(SAVING);
        outcome.extend(Outcome::from(row));
    }
    Ok(outcome)
}
