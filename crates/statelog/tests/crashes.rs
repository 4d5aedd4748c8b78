//! A power failure at any operation, also in the middle of a checkpoint, loses nothing confirmed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use rialto_clock::Timestamp;
use rialto_disk::{Disk, SimDisk};
use rialto_statelog::{Level, StateLog, StateLogError, StateLogOptions, Ticket};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use support::{Counters, DIR, options};

const CHANGES: u64 = 90;
/// The images of this many counters take three pieces of a checkpoint, and more than half a segment.
const COUNTERS: u64 = 30;
const IMAGE_PADDING: usize = 40_000;

fn open(disk: &SimDisk, level: Level, life: u8) -> Result<StateLog<Counters>, StateLogError> {
    // A checkpoint begins with every piece of housekeeping that finds none.
    let options = StateLogOptions { checkpoint_bytes: 0, ..options(level, life) };
    let counters = Counters { image_padding: IMAGE_PADDING, ..Counters::default() };
    StateLog::open(Arc::new(disk.clone()), Path::new(DIR), options, counters)
}

/// The change of this number: each is one record.
fn change(log: &StateLog<Counters>, nth: u64) -> Result<Ticket, StateLogError> {
    log.change(|counters, records| {
        let oldest = counters.values.keys().next().copied();
        match (oldest, nth) {
            (_, ..COUNTERS) => counters.open(records),
            // The oldest is not changed for long, and then closed.
            (Some(oldest), _) if nth % 30 == 29 => counters.close(records, oldest),
            _ if nth % 30 == 28 => counters.open(records),
            (oldest, _) => {
                let changed = oldest.unwrap_or(0) + 1 + (nth % 7) as u32;
                counters.add(records, changed, nth, 4_000)
            }
        }
    })
}

/// The counters after each number of changes.
fn models() -> Vec<(BTreeMap<u32, u64>, u32)> {
    let log = open(&SimDisk::new(0), Level::Memory, 1).unwrap();
    let mut models = vec![(BTreeMap::new(), 0)];
    for nth in 0..CHANGES {
        change(&log, nth).unwrap();
        models.push(log.read(|counters| (counters.values.clone(), counters.next)).unwrap());
    }
    models
}

/// Makes changes from a number on, with housekeeping; returns how many are confirmed.
fn work(log: &StateLog<Counters>, from: u64, confirmed: &mut u64) -> Result<(), StateLogError> {
    for nth in from..CHANGES {
        let ticket = change(log, nth)?;
        // Some changes are confirmed by the housekeeping, if at all.
        if nth % 3 != 1 {
            log.commit(ticket)?;
            *confirmed = nth + 1;
        }
        if nth % 2 == 0 {
            log.maintain(Timestamp(nth))?;
            *confirmed = nth + 1;
        }
    }
    Ok(())
}

fn segments(disk: &SimDisk) -> Vec<String> {
    let names = disk.list(Path::new(DIR)).unwrap();
    names.into_iter().filter(|name| name.ends_with(".log")).collect()
}

/// Cuts the power at each of these operations of a run, and continues in the next process, which
/// must find what the run had confirmed, or more of it.
fn cut_at_operations(level: Level, step: usize) {
    let models = models();
    let whole = SimDisk::new(0);
    work(&open(&whole, level, 1).unwrap(), 0, &mut 0).unwrap();
    let operations = whole.operations();
    // The log is rewritten several times meanwhile, or this tests nothing.
    let kept = segments(&whole);
    assert!(kept.len() <= 4 && operations > 100, "{kept:?}, {operations} operations");
    for operation in (0..operations).step_by(step) {
        let disk = SimDisk::new(operation);
        disk.crash_after(operation);
        let mut confirmed = 0;
        let cut = open(&disk, level, 1).and_then(|log| work(&log, 0, &mut confirmed));
        assert!(cut.is_err() || confirmed == CHANGES, "operation {operation}");
        if level < Level::Synced {
            confirmed = 0;
        }
        disk.restart();
        let log = open(&disk, level, 2);
        let log = log.unwrap_or_else(|error| panic!("operation {operation}: {error}"));
        let found = log.read(|counters| (counters.values.clone(), counters.next)).unwrap();
        let at = (confirmed..=CHANGES).find(|at| models[*at as usize] == found);
        let at = at.unwrap_or_else(|| panic!("operation {operation}: {confirmed}, {found:?}"));
        if operation % 4 != 0 {
            continue;
        }
        // The next process goes on, and its checkpoints hold what it found.
        work(&log, at, &mut confirmed).unwrap();
        drop(log);
        let log = open(&disk, level, 3).unwrap();
        let found = log.read(|counters| (counters.values.clone(), counters.next)).unwrap();
        assert_eq!(found, models[CHANGES as usize], "operation {operation}");
    }
}

#[test]
fn a_power_failure_at_any_operation_loses_nothing_confirmed() {
    cut_at_operations(Level::Synced, 1);
}

/// The newest changes may be lost, but no older one: a checkpoint is durable before what it repeats
/// is deleted.
#[test]
fn a_power_failure_below_synced_leaves_the_state_after_some_change() {
    cut_at_operations(Level::Buffered, 3);
}

#[test]
fn a_kill_at_any_change_loses_nothing_confirmed() {
    let models = models();
    for until in 0..CHANGES {
        let disk = SimDisk::new(until);
        let log = open(&disk, Level::Buffered, 1).unwrap();
        let mut confirmed = 0;
        for nth in 0..until {
            let ticket = change(&log, nth).unwrap();
            if nth % 3 == 0 {
                log.commit(ticket).unwrap();
                confirmed = nth + 1;
            }
            if nth % 4 == 0 {
                log.maintain(Timestamp(nth)).unwrap();
                confirmed = nth + 1;
            }
        }
        disk.kill();
        let log = open(&disk, Level::Buffered, 2).unwrap();
        let found = log.read(|counters| (counters.values.clone(), counters.next)).unwrap();
        let at = (confirmed..=until).find(|at| models[*at as usize] == found);
        assert!(at.is_some(), "change {until}: {confirmed} are confirmed, {found:?}");
    }
}
