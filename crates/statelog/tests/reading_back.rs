//! The next process finds the state that this one left.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use rialto_clock::Timestamp;
use rialto_disk::{Disk, SimDisk};
use rialto_statelog::{Level, StateLog, StateLogError, StateLogOptions};
use std::path::Path;
use std::sync::Arc;
use support::{Counters, DIR, add, open, options, try_open, value};

#[test]
fn an_orderly_end_loses_nothing_at_any_level() {
    for level in Level::ALL {
        let disk = SimDisk::new(1);
        add(&open(&disk, level, 1), 5).unwrap();
        disk.crash();
        let log = open(&disk, level, 2);
        assert_eq!(value(&log), 5, "{level}");
        add(&log, 2).unwrap();
        drop(log);
        assert_eq!(value(&open(&disk, level, 3)), 7, "{level}");
    }
}

#[test]
fn committed_changes_survive_a_power_failure_when_synced_and_a_kill_when_buffered() {
    for (level, end) in
        [(Level::Synced, SimDisk::crash as fn(&SimDisk)), (Level::Buffered, SimDisk::kill)]
    {
        let disk = SimDisk::new(1);
        let log = open(&disk, level, 1);
        let ticket = add(&log, 5).unwrap();
        assert!(log.confirmed() < ticket);
        log.commit(ticket).unwrap();
        assert_eq!(log.confirmed(), ticket);
        end(&disk);
        assert_eq!(value(&open(&disk, level, 2)), 5, "{level}");
    }
}

#[test]
fn a_commit_in_memory_does_not_write_and_a_sync_does() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Memory, 1);
    let before = disk.operations();
    let ticket = add(&log, 5).unwrap();
    log.commit(ticket).unwrap();
    assert_eq!((log.confirmed(), disk.operations()), (ticket, before));
    log.sync().unwrap();
    disk.crash();
    assert_eq!(value(&open(&disk, Level::Memory, 2)), 5);
}

#[test]
fn maintenance_syncs_what_was_written_longer_ago_than_the_time_to_flush() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Buffered, 1);
    let at = |milliseconds: u64| Timestamp(milliseconds * 1_000_000);
    log.maintain(at(1_000)).unwrap();
    let before = disk.operations();
    add(&log, 5).unwrap();
    log.maintain(at(1_099)).unwrap();
    assert_eq!(disk.operations(), before + 1, "a write");
    log.maintain(at(1_100)).unwrap();
    assert_eq!(disk.operations(), before + 2, "and a sync");
    disk.crash();
    assert_eq!(value(&open(&disk, Level::Buffered, 2)), 5);
}

#[test]
fn more_changes_than_wait_in_memory_are_written_by_the_threads_that_make_them() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Memory, 1);
    add(&log, 0).unwrap();
    for _ in 0..200 {
        let added = log.change(|counters, records| counters.add(records, 0, 1, 100_000));
        let _: rialto_statelog::Ticket = added.map_err(|error: StateLogError| error).unwrap();
    }
    // Four groups of 1 MiB wait at most, one is open.
    let stored: usize = disk.paths().iter().map(|path| disk.bytes_of(path).unwrap().len()).sum();
    assert!(stored > 15_000_000, "{stored} bytes of 20 MB");
    drop(log);
    assert_eq!(value(&open(&disk, Level::Memory, 2)), 200);
}

#[test]
fn a_change_that_is_refused_leaves_no_record() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Synced, 1);
    add(&log, 5).unwrap();
    let before = log.taken().unwrap();
    let too_large = log.change(|counters, records| counters.add(records, 0, 1, 2 << 20));
    assert!(matches!(too_large, Err(StateLogError::TooLarge { bytes }) if bytes > 2 << 20));
    let unencodable = log.change(|_, records| records.append(10, |_| None));
    assert!(matches!(unencodable, Err(StateLogError::Encoding { len_max: 10 })));
    let overlong = log.change(|_, records| records.append(10, |_| Some(11)));
    assert!(matches!(overlong, Err(StateLogError::Encoding { len_max: 10 })));
    assert_eq!(log.taken().unwrap(), before);
    drop(log);
    assert_eq!(value(&open(&disk, Level::Synced, 2)), 5);
}

#[test]
fn the_epoch_grows_with_every_opening() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(1));
    for life in 1..4_u8 {
        let mut given = 0;
        let empty = |epoch| {
            given = epoch;
            Counters::default()
        };
        let options = options(Level::Synced, life);
        let log = StateLog::open_with(disk.clone(), Path::new(DIR), options, empty);
        drop(log.unwrap());
        assert_eq!(given, u64::from(life));
    }
}

fn segments(disk: &SimDisk) -> usize {
    let names = disk.list(Path::new(DIR)).unwrap();
    names.iter().filter(|name| name.ends_with(".log")).count()
}

#[test]
fn the_log_is_rewritten_when_it_has_grown() {
    let disk = SimDisk::new(1);
    let options = StateLogOptions { checkpoint_bytes: 4 << 20, ..options(Level::Buffered, 1) };
    let log = try_open(&disk, options).unwrap();
    // The first counter is never touched again: only its images keep it.
    add(&log, 7).unwrap();
    for nth in 0..1_000_u64 {
        let changed = log.change(|counters, records| {
            counters.open(records)?;
            let number = counters.next - 1;
            counters.add(records, number, 1, 50_000)?;
            if nth >= 3 { counters.close(records, number - 3).map(drop) } else { Ok(()) }
        });
        changed.map_err(|error: StateLogError| error).unwrap();
        if nth % 10 == 0 {
            log.maintain(Timestamp(nth)).unwrap();
        }
    }
    assert!(segments(&disk) <= 6, "{} segments of at most 2 MiB, of 50 MB", segments(&disk));
    drop(log);
    let log = open(&disk, Level::Buffered, 2);
    let found = log.read(|counters| (counters.values.clone(), counters.next)).unwrap();
    let kept = [(0, 7), (998, 1), (999, 1), (1_000, 1)];
    assert_eq!(found, (kept.into_iter().collect(), 1_001));
}

#[test]
fn a_log_that_is_opened_often_does_not_collect_segments() {
    let disk = SimDisk::new(1);
    for life in 1..40_u8 {
        let options = StateLogOptions { checkpoint_bytes: 8 << 20, ..options(Level::Synced, life) };
        let log = try_open(&disk, options).unwrap();
        add(&log, 1).unwrap();
        log.maintain(Timestamp(0)).unwrap();
    }
    assert!(segments(&disk) <= 10, "{} segments", segments(&disk));
    assert_eq!(value(&open(&disk, Level::Synced, 40)), 39);
}
