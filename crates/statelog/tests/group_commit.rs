//! One write confirms the changes of many threads.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use rialto_clock::Timestamp;
use rialto_disk::SimDisk;
use rialto_statelog::{Level, StateLogError, StateLogOptions, Ticket};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use support::{DIR, add, open, options, try_open, value};

const THREADS: u64 = 64;

/// Fails a test that hangs.
fn within_a_minute(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel::<()>();
    let running = thread::spawn(move || {
        let _done = done;
        test();
    });
    let ended = is_done.recv_timeout(Duration::from_secs(60));
    assert_ne!(ended, Err(RecvTimeoutError::Timeout), "a thread hangs");
    running.join().unwrap();
}

#[test]
fn commits_of_64_threads_take_two_writes() {
    within_a_minute(|| {
        let disk = SimDisk::new(1);
        let log = open(&disk, Level::Synced, 1);
        log.commit(add(&log, 1).unwrap()).unwrap();
        let before = (log.taken().unwrap(), disk.operations());
        // The first write lasts until every thread has made its change.
        let (release, released) = mpsc::channel();
        disk.hang(Path::new(DIR), 1, move || released.recv().unwrap());
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| log.commit(add(&log, 1).unwrap()).unwrap());
            }
            while log.taken().unwrap().0 < before.0.0 + THREADS {
                thread::yield_now();
            }
            release.send(()).unwrap();
        });
        assert_eq!(disk.operations() - before.1, 2);
        assert_eq!(log.confirmed(), log.taken().unwrap());
        disk.crash();
        assert_eq!(value(&open(&disk, Level::Synced, 2)), 1 + THREADS);
    });
}

#[test]
fn no_commit_returns_before_its_write_and_none_is_left_waiting() {
    within_a_minute(|| {
        for level in [Level::Buffered, Level::Synced] {
            let disk = SimDisk::new(1);
            let log = open(&disk, level, 1);
            let before = disk.operations();
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for nth in 0..200 {
                            let ticket = add(&log, 1).unwrap();
                            log.commit(ticket).unwrap();
                            assert!(log.confirmed() >= ticket);
                            // Others write besides those that commit.
                            if nth % 50 == 0 {
                                log.maintain(Timestamp(nth)).unwrap();
                                log.sync().unwrap();
                            }
                        }
                    });
                }
            });
            let writes = disk.operations() - before;
            println!("{level}: {writes} writes and syncs for 1600 commits");
            assert!(writes <= 2 * 1_600, "{level}: {writes}");
            disk.kill();
            assert_eq!(value(&open(&disk, level, 2)), 1_600, "{level}");
        }
    });
}

#[test]
fn groups_that_fill_up_share_one_sync() {
    let disk = SimDisk::new(1);
    // All of it fits into one segment: a new one takes syncs of its own.
    let options = StateLogOptions { first_segment_bytes: None, ..options(Level::Synced, 1) };
    let log = try_open(&disk, options).unwrap();
    log.commit(add(&log, 1).unwrap()).unwrap();
    for _ in 0..3 {
        // A little more than half of a group each.
        let added = log.change(|counters, records| counters.add(records, 0, 1, 600_000));
        let _: Ticket = added.map_err(|error: StateLogError| error).unwrap();
    }
    disk.fail_sync(2);
    log.commit(log.taken().unwrap()).unwrap();
    // There was no second sync that could fail.
    disk.fail_sync(u64::MAX);
    disk.crash();
    assert_eq!(value(&open(&disk, Level::Synced, 2)), 4);
}

#[test]
fn a_failed_write_fails_every_thread_that_waits_for_it() {
    within_a_minute(|| {
        let disk = SimDisk::new(1);
        let log = open(&disk, Level::Synced, 1);
        log.commit(add(&log, 1).unwrap()).unwrap();
        let before = log.taken().unwrap();
        let (release, released) = mpsc::channel();
        let faulty = disk.clone();
        disk.hang(Path::new(DIR), 1, move || {
            released.recv().unwrap();
            faulty.fail_write(1);
        });
        thread::scope(|scope| {
            let commits: Vec<_> = (0..THREADS)
                .map(|_| scope.spawn(|| add(&log, 1).and_then(|ticket| log.commit(ticket))))
                .collect();
            while log.taken().unwrap().0 < before.0 + THREADS {
                thread::yield_now();
            }
            release.send(()).unwrap();
            for commit in commits {
                assert!(commit.join().unwrap().is_err());
            }
        });
        assert_eq!(log.confirmed(), before);
    });
}
