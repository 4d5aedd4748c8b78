//! Many writers and many workers share one pool.

use crate::support::{Bench, acme, named};
use rialto_depot::{ClaimOptions, Depot, DepotError, Directory, DirectoryKind, Level, Quota};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const WRITERS: u64 = 16;
const WORKERS: u64 = 16;
const FILES_PER_WRITER: u64 = 60;
/// A bound on the whole test, so that a defect does not let it wait forever.
const TIME_MAX: Duration = Duration::from_secs(60);

/// Every seventh is on a volume.
fn content(name: &str, number: u64) -> Vec<u8> {
    name.as_bytes().repeat(if number.is_multiple_of(7) { 6_000 } else { 3 })
}

fn all_files_are_completed_once(level: Level) {
    let bench = Bench::new();
    let mut options = bench.options();
    options.level = level;
    let depot = Depot::open(options).unwrap();
    depot.create_tenant(&acme(), Quota { files_max: 200, bytes_max: 0 }).unwrap();
    let (shelf, quota) = (Some(DirectoryKind::Shelf), Quota { files_max: 0, bytes_max: 1 << 30 });
    depot.set_directory(&acme(), &Directory::new("out").unwrap(), shelf, quota).unwrap();
    let in_quota = Quota { files_max: 150, bytes_max: 0 };
    depot.set_directory(&acme(), &Directory::new("in").unwrap(), None, in_quota).unwrap();
    let (written, completed) = (AtomicU64::new(0), AtomicU64::new(0));
    let seen: Mutex<HashMap<String, u32>> = Mutex::default();
    let end = Instant::now() + TIME_MAX;
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (depot, written) = (&depot, &written);
            scope.spawn(move || {
                for number in 0..FILES_PER_WRITER {
                    let name = format!("{writer}.{number}");
                    // The quota holds writers back until workers have made room.
                    loop {
                        assert!(Instant::now() < end, "the quota was never free again");
                        let content = content(&name, number);
                        match depot.put_bytes(&acme(), named("in", &name), &content) {
                            Ok(_) => break,
                            Err(DepotError::Quota { .. }) => std::thread::yield_now(),
                            Err(error) => panic!("{error}"),
                        }
                    }
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for _ in 0..WORKERS {
            let (depot, completed, seen) = (&depot, &completed, &seen);
            scope.spawn(move || {
                while completed.load(Ordering::Relaxed) < WRITERS * FILES_PER_WRITER {
                    assert!(Instant::now() < end, "files are missing");
                    let wait = Duration::from_millis(50);
                    let options = ClaimOptions::up_to(3);
                    for claim in depot.claim_within(&acme(), &options, wait).unwrap() {
                        let name = claim.file().name.to_string();
                        let number = name.rsplit('.').next().unwrap().parse().unwrap();
                        let read = depot.read_claimed(&claim).unwrap().read_all().unwrap();
                        assert_eq!(read, content(&name, number), "{name}");
                        let mut results = Vec::new();
                        if number % 10 == 0 {
                            // Results of many workers replace each other.
                            let result = named("out", "last");
                            let mut upload = depot.begin_result(claim.token(), result).unwrap();
                            upload.write(name.as_bytes()).unwrap();
                            results.push(upload.finish_result().unwrap());
                        }
                        depot.complete_with(claim.token(), results).unwrap();
                        *seen.lock().unwrap().entry(name).or_insert(0) += 1;
                        completed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len() as u64, WRITERS * FILES_PER_WRITER);
    assert!(seen.values().all(|count| *count == 1), "a file was completed twice");
    let last = depot.file_at(&acme(), "out/last").unwrap();
    depot.open_file(&acme(), last.record.id).unwrap().read_all().unwrap();
    let info = depot.tenant(&acme()).unwrap();
    assert_eq!((info.files, info.bytes), (1, last.record.bytes));
    let counted: Vec<_> =
        info.directories.iter().map(|it| (it.directory.to_string(), it.files, it.bytes)).collect();
    let expected = [("in".to_owned(), 0, 0), ("out".to_owned(), 1, last.record.bytes)];
    assert_eq!(counted, expected);
    depot.delete(&acme(), last.record.id).unwrap();
    bench.until(&depot, || bench.stored_files() == 0);
    let info = depot.tenant(&acme()).unwrap();
    assert_eq!((info.files, info.bytes), (0, 0));
    assert_eq!(info.work.completed, WRITERS * FILES_PER_WRITER);
    depot.close().unwrap();
}

#[test]
fn every_file_of_many_writers_is_completed_once_by_many_workers() {
    all_files_are_completed_once(Level::Buffered);
}

#[test]
fn every_synced_file_of_many_writers_is_completed_once_by_many_workers() {
    all_files_are_completed_once(Level::Synced);
}
