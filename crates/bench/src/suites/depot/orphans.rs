//! The memory of a search for bytes without a record.

use super::history::{KEPT, append, encoded};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, PeakMemory};
use crate::report::{Case, Row, Unit};
use crate::suite::Context;
use rialto_depot::{
    Depot, DepotOptions, Directory, FileId, FileName, FileRecord, Place, Quota, StoredBytes,
    TenantName, Timestamp, VolumeNumber,
};
use rialto_queue::{Level, ManualClock};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The target of the search's memory.
const MEMORY_BYTES: f64 = (16 << 20) as f64;
/// Of this many stored files, one has no record.
const ORPHAN_EVERY: u64 = 100;
/// Longer than a search waits before it looks at suspects again.
const STEP: Duration = Duration::from_secs(3);
/// The most steps, after which something is wrong.
const STEPS_MAX: u32 = 10_000;
/// A time after that of every file: the year 2038.
const NOW: Timestamp = Timestamp(2_150_000_000_000_000_000);

const SETUP: &str = "Empty stored files in the 256 directories of a new volume, a hundredth of them \
    without a record. Resident memory of the process at the peak, over that of the opened pool.";

/// An id that is spread over the directories of the volume as those of a pool are.
fn id(nth: u64) -> FileId {
    FileId(u128::from(1_700_000_000_000_000_000 + nth * 1_000) << 64 | u128::from(nth))
}

fn record(nth: u64, volume: VolumeNumber) -> Result<FileRecord, rialto_depot::InvalidDepotName> {
    let stored = StoredBytes { volume, bytes: 0, stored_bytes: 0, footer_crc: 0, sha256: None };
    Ok(FileRecord {
        id: id(nth),
        directory: Directory::new("kept")?,
        name: FileName::new(&format!("file-{nth:07}"))?,
        bytes: 0,
        content_type: String::new(),
        metadata: Vec::new(),
        created_at: Timestamp(1_700_000_000_000_000_000 + nth),
        expires_at: None,
        crc32c: 0,
        sha256: None,
        submit_key: None,
        place: Place::Volume(stored),
    })
}

/// Makes stored files where a volume has them. format: docs/formats/depot.md
fn store(case: &str, volume: &Path, files: u64) -> Result<(), BenchError> {
    let stored = volume.join("files");
    for nth in 0..files {
        let shard = stored.join(format!("{:02x}", id(nth).shard()));
        if nth < 4_096 {
            fs::create_dir_all(&shard).map_err(broken(case, "make a directory of a volume"))?;
        }
        let file = File::create(shard.join(id(nth).to_string()));
        file.map_err(broken(case, "make a stored file"))?;
    }
    Ok(())
}

pub(super) fn rows(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let files: u64 = context.sized(120_000, 3_000);
    let work = format!("search for bytes without a record among {files} stored files");
    context.progress(&format!("  {work}"));
    let directory = context.fresh_directory()?;
    let clock = ManualClock::new(NOW);
    let options = || {
        let mut options = DepotOptions::at(directory.path()).level(Level::Buffered);
        options.clock = Arc::new(clock.clone());
        // The first search is due a period after the opening.
        options.upkeep.orphan_period = Duration::from_secs(60);
        options.upkeep.orphan_age_min = Duration::ZERO;
        options
    };
    let open = || Depot::open_stepped(options()).map_err(broken(&work, "open a pool"));
    let depot = open()?;
    let tenant = TenantName::new("acme").map_err(broken(&work, "name a tenant"))?;
    let made = depot.create_tenant(&tenant, Quota::default());
    made.map_err(broken(&work, "make a tenant"))?;
    let volumes = depot.volumes();
    verify(&work, "volumes", volumes.len(), 1)?;
    depot.close().map_err(broken(&work, "close a pool"))?;
    drop(depot);
    store(&work, &volumes[0].dir, files)?;
    let orphans = files.div_ceil(ORPHAN_EVERY);
    append(&work, directory.path(), files - orphans, |nth| {
        // The first of each group of stored files has no record.
        let nth = nth + nth / (ORPHAN_EVERY - 1) + 1;
        let file = record(nth, volumes[0].number).map_err(|error| error.to_string())?;
        encoded(&(KEPT, 0_u32, file))
    })?;
    // Makes the index and saves it.
    open()?.close().map_err(broken(&work, "close a pool"))?;
    let depot = open()?;
    verify(&work, "kept files", depot.report().kept as u64, files - orphans)?;

    let memory = PeakMemory::start();
    let began = Clock::start();
    let mut steps = 0;
    while depot.orphans().searches == 0 && steps < STEPS_MAX {
        clock.advance(STEP);
        depot.step().map_err(broken(&work, "search"))?;
        steps += 1;
    }
    let elapsed_ns = began.now_ns() as f64;
    let growth = memory.and_then(|memory| memory.growth_bytes());
    let status = depot.orphans();
    verify(&work, "searches", status.searches, 1)?;
    verify(&work, "files that were looked at", status.searched, files)?;
    verify(&work, "files without a record", status.found, orphans)?;
    verify(&work, "quarantined files", status.quarantined, orphans)?;
    depot.close().map_err(broken(&work, "close a pool"))?;
    let case = Case::without_orders(&work);
    let row = |metric: &str, value, unit| {
        let row = Row::new(&case, metric, value, unit).level("buffered");
        row.check("files_searched", files).check("files_quarantined", orphans).footnote(SETUP)
    };
    let mut rows = vec![row("time of the search", elapsed_ns, Unit::Nanoseconds)];
    rows.extend(
        growth.map(|bytes| row("memory more at the peak", bytes, Unit::Bytes).target(MEMORY_BYTES)),
    );
    Ok(rows)
}
