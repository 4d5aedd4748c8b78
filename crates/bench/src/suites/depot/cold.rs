//! A pool of many kept files: opening it, and finding them.

use super::history::{KEPT, append, encoded};
use super::pool::{Pool, Setup};
use crate::error::{BenchError, verify};
use crate::measure::{Clock, PeakMemory, Spread};
use crate::references::{DepotWork, Metric, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_depot::{
    Directory, FileId, FileName, FileRecord, NewFile, Place, TenantName, Timestamp,
};
use rialto_queue::Level;
use std::hint::black_box;
use std::path::Path;

/// Targets, in nanoseconds and bytes.
const OPENING_NS: f64 = 100e6;
const MEMORY_BYTES: f64 = 48e6;

fn name(nth: u64) -> String {
    format!("statement-{nth:07}.csv")
}

fn kept(nth: u64) -> Result<FileRecord, rialto_depot::InvalidDepotName> {
    Ok(FileRecord {
        id: FileId(u128::from(nth) << 32 | 1),
        directory: Directory::new("kept")?,
        name: FileName::new(&name(nth))?,
        bytes: 0,
        content_type: "text/csv".to_owned(),
        metadata: Vec::new(),
        created_at: Timestamp(1_800_000_000_000_000_000 + nth),
        expires_at: None,
        crc32c: 0,
        sha256: Some([nth as u8; 32]),
        submit_key: None,
        place: Place::Inline,
    })
}

/// Appends the records of kept files to a pool that is closed. Their bytes would take hours to write,
/// and no opening reads them.
fn keep(case: &str, pool: &Path, files: u64) -> Result<(), BenchError> {
    append(case, pool, files, |nth| {
        let file = kept(nth).map_err(|error| error.to_string())?;
        encoded(&(KEPT, 0_u32, file))
    })
}

pub(super) fn rows(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let files: u64 = context.sized(900_000, 2_000);
    let waiting: u64 = context.sized(100, 10);
    let work = format!("open a pool of {files} kept and {waiting} waiting files");
    context.progress(&format!("  {work}"));
    let setup = Setup::at(Level::Buffered);
    let mut pool = Pool::open(context, &work, setup)?;
    let tenant = pool.tenant("acme")?;
    for _ in 0..waiting {
        pool.put(&tenant, b"x")?;
    }
    let case = Case::without_orders(&work);
    let mut clock = Clock::start();
    pool = pool.reopen_after(setup, |case, directory| {
        keep(case, directory, files)?;
        clock = Clock::start();
        Ok(())
    })?;
    let made_ns = clock.now_ns() as f64;
    verify(&work, "kept files", pool.depot.report().kept as u64, files)?;
    let made = Row::new(&case, "time with the index made", made_ns, Unit::Nanoseconds);
    let mut rows = vec![made.level("buffered").check("files", files)];

    let (mut times, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..context.sized(5, 1) {
        let depot = pool.depot.clone();
        depot.close().map_err(pool.failed("close a pool"))?;
        drop(depot);
        let memory = PeakMemory::start();
        let clock = Clock::start();
        pool = pool.reopen(setup)?;
        times.push(clock.now_ns() as f64);
        peaks.extend(memory.and_then(|memory| memory.growth_bytes()));
        let report = pool.depot.report();
        verify(&work, "kept files", report.kept as u64, files)?;
        verify(&work, "waiting files", report.waiting as u64, waiting)?;
    }
    let spread = Spread::over(&times, |time| *time);
    let row = Row::of_spread(&case, "time of the opening", spread, Unit::Nanoseconds);
    let row = row.level("buffered").beside(Work::Depot(DepotWork::ColdStart), Metric::Mean);
    rows.push(row.target(OPENING_NS).check("files", files));
    if !peaks.is_empty() {
        let spread = Spread::over(&peaks, |bytes| *bytes);
        let row = Row::of_spread(&case, "memory more at the peak", spread, Unit::Bytes);
        rows.push(row.target(MEMORY_BYTES).check("files", files));
    }
    rows.extend(lookups(context, &pool, &tenant, files)?);
    Ok(Outcome::from(rows))
}

/// Finds files by path, known ones and others, and stores new ones.
fn lookups(
    context: &Context<'_>,
    pool: &Pool,
    tenant: &TenantName,
    files: u64,
) -> Result<Vec<Row>, BenchError> {
    let rounds: u64 = context.sized(100_000, 500);
    let work = format!("find one of {files} kept files");
    let case = Case::without_orders(&work);
    let mut rows = Vec::new();
    for (what, beyond) in [("hit", 0), ("miss", files)] {
        let mut found = 0;
        let clock = Clock::start();
        for nth in 0..rounds {
            let nth = beyond + nth.wrapping_mul(0x9e37_79b9) % files;
            let path = format!("kept/{}", name(nth));
            found += u64::from(black_box(pool.depot.file_at(tenant, &path)).is_ok());
        }
        let each = clock.now_ns() as f64 / rounds as f64;
        verify(&work, what, found, if beyond == 0 { rounds } else { 0 })?;
        rows.push(Row::new(&case, what, each, Unit::Nanoseconds).check("files", files));
    }
    let inserts: u64 = context.sized(500, 10);
    let clock = Clock::start();
    for nth in 0..inserts {
        let directory = Directory::new("kept").map_err(pool.failed("name a directory"))?;
        let name = FileName::new(&format!("new-{nth}")).map_err(pool.failed("name a file"))?;
        let stored = pool.depot.put_bytes(tenant, NewFile::new(directory, name), b"");
        stored.map_err(pool.failed("store a file"))?;
    }
    let each = clock.now_ns() as f64 / inserts as f64;
    rows.push(Row::new(&case, "an empty file more", each, Unit::Nanoseconds).check("files", files));
    Ok(rows)
}
