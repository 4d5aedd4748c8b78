//! Writing and reading files: one after the other, and many at once.

use super::pool::{LEVELS, Pool, Setup, content};
use crate::drive::joined;
use crate::error::{BenchError, verify};
use crate::measure::{Clock, CoreWait, Spread};
use crate::references::{DepotWork, Metric, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_depot::{FileId, NewFile, TenantName};
use rialto_queue::Level;
use std::sync::Barrier;

const MS: f64 = 1e6;

/// A file is written and completed; only the writing is timed.
struct OneByOne {
    bytes: usize,
    work: DepotWork,
    files: u64,
    buffered_ms: f64,
    synced_ms: f64,
}

const ONE_BY_ONE: [OneByOne; 3] = [
    OneByOne {
        bytes: 100 << 10,
        work: DepotWork::Write100K,
        files: 200,
        buffered_ms: 0.2,
        synced_ms: 0.6,
    },
    OneByOne {
        bytes: 1 << 20,
        work: DepotWork::Write1M,
        files: 100,
        buffered_ms: 1.0,
        synced_ms: 1.4,
    },
    OneByOne {
        bytes: 10 << 20,
        work: DepotWork::Write10M,
        files: 30,
        buffered_ms: 8.0,
        synced_ms: 8.5,
    },
];

/// The target of 10 MiB with CRC-32C alone.
const CRC_ONLY_MS: f64 = 4.7;

fn size(bytes: usize) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes => format!("{} KiB", bytes >> 10),
    }
}

pub(super) fn one_after_the_other(context: &mut Context<'_>, outcome: &mut Outcome) {
    for level in LEVELS {
        for write in &ONE_BY_ONE {
            let target = if level == Level::Synced { write.synced_ms } else { write.buffered_ms };
            outcome.take(one_by_one(context, write, Setup::at(level), target));
        }
    }
    let crc_only = Setup { has_sha256: false, ..Setup::at(Level::Buffered) };
    outcome.take(one_by_one(context, &ONE_BY_ONE[2], crc_only, CRC_ONLY_MS));
}

fn one_by_one(
    context: &mut Context<'_>,
    write: &OneByOne,
    setup: Setup,
    target_ms: f64,
) -> Result<Row, BenchError> {
    let files = context.sized(write.files, 2);
    let hash = if setup.has_sha256 { "" } else { ", CRC-32C alone" };
    let work = format!("write {}, one thread{hash}", size(write.bytes));
    context.progress(&format!("  {work}, {}", setup.level.name()));
    let pool = Pool::open(context, &work, setup)?;
    let tenant = pool.tenant("acme")?;
    let mut times = Vec::with_capacity(files as usize);
    let wait = CoreWait::start();
    for position in 0..=files {
        let content = content(write.bytes, position);
        let clock = Clock::start();
        let stored = pool.depot.put_bytes(&tenant, NewFile::default(), &content);
        let elapsed_ns = clock.now_ns();
        let file = stored.map_err(pool.failed("store a file"))?.file;
        // The first one makes the work queue.
        if position > 0 {
            times.push(elapsed_ns as f64);
        }
        check_content(&pool, &tenant, file.id, &content)?;
        pool.depot.delete(&tenant, file.id).map_err(pool.failed("delete a file"))?;
    }
    let spread = Spread::over(&times, |time| *time);
    let row =
        Row::of_spread(&Case::without_orders(work), "time of a write", spread, Unit::Nanoseconds);
    let row = row.level(setup.level.name()).beside(Work::Depot(write.work), Metric::Mean);
    let row = row.target(target_ms * MS).waited_for_core(wait.longest(None));
    Ok(row.check("files_read_back", files + 1))
}

fn check_content(
    pool: &Pool,
    tenant: &TenantName,
    id: FileId,
    content: &[u8],
) -> Result<(), BenchError> {
    let mut reader = pool.depot.open_file(tenant, id).map_err(pool.failed("open a file"))?;
    let read = reader.read_all().map_err(pool.failed("read a file"))?;
    verify(&pool.case, "the content is the one written", read == content, true)
}

/// Files that are written at once, each by a thread of its own.
struct AtOnce {
    files: u64,
    bytes: usize,
    inline_bytes_max: usize,
    buffered_ms: f64,
    synced_ms: f64,
}

const LARGE: [AtOnce; 4] = [
    AtOnce { files: 1, bytes: 1 << 20, inline_bytes_max: 0, buffered_ms: 1.2, synced_ms: 1.2 },
    AtOnce { files: 10, bytes: 1 << 20, inline_bytes_max: 0, buffered_ms: 9.0, synced_ms: 9.0 },
    AtOnce { files: 50, bytes: 1 << 20, inline_bytes_max: 0, buffered_ms: 45.0, synced_ms: 45.0 },
    AtOnce { files: 100, bytes: 1 << 20, inline_bytes_max: 0, buffered_ms: 90.0, synced_ms: 110.0 },
];

const fn small(files: u64, inline_bytes_max: usize, buffered_ms: f64, synced_ms: f64) -> AtOnce {
    AtOnce { files, bytes: 4 << 10, inline_bytes_max, buffered_ms, synced_ms }
}

const IN_RECORDS: usize = 16 << 10;

const SMALL: [AtOnce; 6] = [
    small(10, IN_RECORDS, 0.3, 1.0),
    small(50, IN_RECORDS, 1.0, 2.0),
    small(100, IN_RECORDS, 2.0, 3.0),
    small(10, 0, 0.3, 1.0),
    small(50, 0, 1.0, 2.0),
    small(100, 0, 2.0, 3.0),
];

pub(super) fn at_once(context: &mut Context<'_>, outcome: &mut Outcome) {
    for level in LEVELS {
        for write in LARGE.iter().chain(&SMALL) {
            outcome.take(at_once_of(context, write, level));
        }
    }
}

fn at_once_of(context: &mut Context<'_>, write: &AtOnce, level: Level) -> Result<Row, BenchError> {
    let rounds: u64 = context.sized(11, 2);
    let place = if write.inline_bytes_max > 0 { "in records" } else { "on a volume" };
    let work = format!("write {} x {} at once, {place}", write.files, size(write.bytes));
    context.progress(&format!("  {work}, {}", level.name()));
    let setup = Setup { inline_bytes_max: write.inline_bytes_max, ..Setup::at(level) };
    let pool = Pool::open(context, &work, setup)?;
    let tenant = pool.tenant("acme")?;
    pool.put(&tenant, b"the first file makes the work queue")?;
    let contents: Vec<_> = (0..write.files).map(|nth| content(write.bytes, nth)).collect();
    let mut times = Vec::with_capacity(rounds as usize);
    let wait = CoreWait::start();
    for _ in 0..rounds {
        let (elapsed_ns, ids) = write_at_once(&pool, &tenant, &contents)?;
        times.push(elapsed_ns as f64);
        for (id, content) in ids.iter().zip(&contents) {
            check_content(&pool, &tenant, *id, content)?;
            pool.depot.delete(&tenant, *id).map_err(pool.failed("delete a file"))?;
        }
    }
    let spread = Spread::over(&times, |time| *time);
    let row = Row::of_spread(&Case::without_orders(work), "time of all", spread, Unit::Nanoseconds);
    let known = if write.bytes == 1 << 20 {
        DepotWork::LargeAtOnce(write.files)
    } else {
        DepotWork::SmallAtOnce(write.files)
    };
    let target_ms = if level == Level::Synced { write.synced_ms } else { write.buffered_ms };
    let row = row.level(level.name()).beside(Work::Depot(known), Metric::Mean);
    let row = row.target(target_ms * MS).waited_for_core(wait.longest(None));
    Ok(row.check("files_read_back", write.files * rounds))
}

/// Writes each content on a thread of its own. Returns the time from the first call to the last
/// answer. The ends of the threads are not in it: of 100 they take longer than the writes.
fn write_at_once(
    pool: &Pool,
    tenant: &TenantName,
    contents: &[Vec<u8>],
) -> Result<(u64, Vec<FileId>), BenchError> {
    let (start, clock) = (Barrier::new(contents.len() + 1), Clock::start());
    std::thread::scope(|scope| {
        let threads: Vec<_> = contents
            .iter()
            .map(|content| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    let began = clock.now_ns();
                    let stored = pool.depot.put_bytes(tenant, NewFile::default(), content);
                    let ended = clock.now_ns();
                    let stored = stored.map_err(pool.failed("store a file"))?;
                    Ok((Called { began, ended }, stored.file.id))
                })
            })
            .collect();
        start.wait();
        let done = threads.into_iter().map(joined).collect::<Result<Vec<_>, BenchError>>()?;
        let (calls, ids): (Vec<_>, Vec<_>) = done.into_iter().unzip();
        Ok((from_first_to_last(&calls), ids))
    })
}

/// When a call began and ended, in nanoseconds.
struct Called {
    began: u64,
    ended: u64,
}

fn from_first_to_last(calls: &[Called]) -> u64 {
    let first = calls.iter().map(|call| call.began).min().unwrap_or_default();
    let last = calls.iter().map(|call| call.ended).max().unwrap_or_default();
    last - first
}

/// Ten files written and read, after each other and at the same time.
pub(super) fn with_reads(context: &mut Context<'_>, outcome: &mut Outcome) {
    outcome.take(reads(context));
}

fn reads(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    const FILES: u64 = 10;
    const TARGET_MS: f64 = 1.0;
    let rounds: u64 = context.sized(11, 2);
    let pool = Pool::open(context, "writes and reads", Setup::at(Level::Buffered))?;
    let tenant = pool.tenant("acme")?;
    pool.put(&tenant, b"the first file makes the work queue")?;
    let contents: Vec<_> = (0..FILES).map(|nth| content(4 << 10, nth)).collect();
    let (mut then, mut alone, mut mixed) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let (write_ns, ids) = write_at_once(&pool, &tenant, &contents)?;
        let read_ns = read_at_once(&pool, &tenant, &ids, &contents)?;
        then.push((write_ns + read_ns) as f64);
        alone.push(read_ns as f64);
        let clock = Clock::start();
        let others = std::thread::scope(|scope| {
            let reading = scope.spawn(|| read_at_once(&pool, &tenant, &ids, &contents));
            let written = write_at_once(&pool, &tenant, &contents);
            joined(reading)?;
            written.map(|(_, others)| others)
        })?;
        mixed.push(clock.now_ns() as f64);
        for id in ids.iter().chain(&others) {
            pool.depot.delete(&tenant, *id).map_err(pool.failed("delete a file"))?;
        }
    }
    let row = |work: &str, times: &[f64], known: Option<DepotWork>| {
        let spread = Spread::over(times, |time| *time);
        let case = Case::without_orders(work);
        let row = Row::of_spread(&case, "time of all", spread, Unit::Nanoseconds);
        let row = row.level("buffered").beside(known.map(Work::Depot), Metric::Mean);
        let target = known.map(|_| TARGET_MS * MS);
        row.target(target).check("files_read", FILES * rounds)
    };
    Ok(Outcome::from(vec![
        row(
            "write 10 x 4 KiB at once, then read them at once",
            &then,
            Some(DepotWork::WriteThenRead),
        ),
        row("write and read 10 x 4 KiB at the same time", &mixed, Some(DepotWork::Mixed)),
        row("read 10 x 4 KiB at once", &alone, None),
    ]))
}

fn read_at_once(
    pool: &Pool,
    tenant: &TenantName,
    ids: &[FileId],
    contents: &[Vec<u8>],
) -> Result<u64, BenchError> {
    let (start, clock) = (Barrier::new(ids.len() + 1), Clock::start());
    std::thread::scope(|scope| {
        let threads: Vec<_> = ids
            .iter()
            .zip(contents)
            .map(|(id, content)| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    let began = clock.now_ns();
                    check_content(pool, tenant, *id, content)?;
                    Ok(Called { began, ended: clock.now_ns() })
                })
            })
            .collect();
        start.wait();
        let calls = threads.into_iter().map(joined).collect::<Result<Vec<_>, BenchError>>()?;
        Ok(from_first_to_last(&calls))
    })
}
