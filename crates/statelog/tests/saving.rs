//! A state that was saved outside the log is opened from its image and the records since.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use rialto_clock::Timestamp;
use rialto_disk::SimDisk;
use rialto_log::SEGMENT_BYTES_FOR_ANY_GROUP;
use rialto_statelog::{Level, SavePoint, StateLog, StateLogError, StateLogOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use support::{Counters, DIR, add, open, options, value};

/// The counters of an image.
type Image = (BTreeMap<u32, u64>, u32);

fn save(log: &StateLog<Counters>) -> (Image, SavePoint) {
    log.save(|counters| (counters.values.clone(), counters.next)).unwrap().unwrap()
}

/// Opens from an image if the log holds its save point; the image is false by 1000, so that its use
/// shows.
fn open_saved(disk: &SimDisk, life: u8, (image, saved): &(Image, SavePoint)) -> u64 {
    let disk = Arc::new(disk.clone());
    let log = StateLog::open_saved(disk, Path::new(DIR), options(Level::Synced, life), |log| {
        if !log.holds(saved) {
            return (Counters::default(), None);
        }
        let (mut values, next) = image.clone();
        values.values_mut().for_each(|value| *value += 1000);
        (Counters { values, next, ..Counters::default() }, Some(*saved))
    });
    value(&log.unwrap())
}

#[test]
fn only_the_records_since_the_save_point_are_read() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Synced, 1);
    add(&log, 5).unwrap();
    let saved = save(&log);
    add(&log, 2).unwrap();
    drop(log);
    assert_eq!(open_saved(&disk, 2, &saved), 1007);
    assert_eq!(open_saved(&disk, 3, &saved), 1007, "openings without a change do not matter");
}

#[test]
fn a_save_makes_the_log_durable_at_any_level() {
    for level in Level::ALL {
        let disk = SimDisk::new(1);
        let log = open(&disk, level, 1);
        add(&log, 5).unwrap();
        let saved = save(&log);
        disk.crash();
        drop(log);
        assert_eq!(open_saved(&disk, 2, &saved), 1005, "{level}");
    }
}

#[test]
fn a_log_without_records_has_no_save_point() {
    let disk = SimDisk::new(1);
    assert!(open(&disk, Level::Synced, 1).save(|_| ()).unwrap().is_none());
}

#[test]
fn an_image_of_another_log_or_ahead_of_this_one_is_not_used() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Synced, 1);
    add(&log, 5).unwrap();
    let saved = save(&log);
    drop(log);
    // The same epoch and as many records, in another log.
    let other = SimDisk::new(2);
    add(&open(&other, Level::Synced, 9), 6).unwrap();
    assert_eq!(open_saved(&other, 2, &saved), 6);

    let (image, mut ahead) = saved;
    ahead.seq += 1;
    assert_eq!(open_saved(&disk, 2, &(image.clone(), ahead)), 5);
    let begin = |_: &_| (Counters::default(), Some(ahead));
    let opened = StateLog::open_saved(
        Arc::new(disk.clone()),
        Path::new(DIR),
        options(Level::Synced, 3),
        begin,
    );
    assert!(matches!(opened.err(), Some(StateLogError::Unsaved { .. })));
}

#[test]
fn an_image_older_than_the_last_checkpoint_is_not_used() {
    let disk = SimDisk::new(1);
    let small = |life| StateLogOptions {
        checkpoint_bytes: SEGMENT_BYTES_FOR_ANY_GROUP,
        ..options(Level::Synced, life)
    };
    let log = support::try_open(&disk, small(1)).unwrap();
    add(&log, 5).unwrap();
    let saved = save(&log);
    // Enough for several checkpoints, which delete the record of the save point.
    for _ in 0..60 {
        log.change(|counters, records| counters.add(records, 0, 1, 100_000)).unwrap();
        log.maintain(Timestamp(0)).unwrap();
    }
    drop(log);
    assert_eq!(open_saved(&disk, 2, &saved), 65);
}

#[test]
fn a_checkpoint_is_due_as_if_the_log_had_been_read() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Synced, 1);
    add(&log, 5).unwrap();
    log.change(|counters, records| counters.add(records, 0, 1, 500_000)).unwrap();
    log.sync().unwrap();
    let (_, saved) = save(&log);
    assert!(saved.grown_bytes > 500_000);
}
