//! What a log refuses, and what it says.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use rialto_clock::Timestamp;
use rialto_disk::{Disk, SimDisk};
use rialto_log::{Commit, Group, Options};
use rialto_statelog::{Level, StateLog, StateLogError, StateLogOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use support::{Counters, DIR, FORMAT_VERSION, add, open, options, try_open, value};

fn every_call_fails(log: &StateLog<Counters>) {
    let ticket = rialto_statelog::Ticket(1);
    let failed = [
        add(log, 1).err(),
        log.read(|_| ()).err(),
        log.change_unlogged(|_| ()).err(),
        log.commit(ticket).err(),
        log.taken().err(),
        log.sync().err(),
        log.maintain(Timestamp(1)).err(),
    ];
    for (nth, error) in failed.into_iter().enumerate() {
        assert!(matches!(error, Some(StateLogError::Failed { .. })), "call {nth}: {error:?}");
    }
    assert!(log.failure().is_some());
}

#[test]
fn a_failed_write_fails_every_later_call() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Synced, 1);
    log.commit(add(&log, 5).unwrap()).unwrap();
    assert_eq!(log.failure(), None);
    let lost = add(&log, 7).unwrap();
    disk.fail_write(1);
    let failed = log.commit(lost).unwrap_err().to_string();
    assert!(failed.starts_with("the log /counters accepts no more changes since one failed ("));
    assert!(log.confirmed() < lost);
    every_call_fails(&log);
    drop(log);
    // The write was not confirmed: it is there as a whole or not at all.
    let found = value(&open(&disk, Level::Synced, 2));
    assert!(found == 5 || found == 12, "{found}");
}

#[test]
fn a_failed_sync_fails_every_later_call() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Buffered, 1);
    log.commit(add(&log, 5).unwrap()).unwrap();
    disk.fail_sync(1);
    assert!(matches!(log.sync(), Err(StateLogError::Failed { .. })));
    every_call_fails(&log);
}

#[test]
fn a_change_that_panics_is_not_followed_by_others() {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Synced, 1);
    log.commit(add(&log, 5).unwrap()).unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        log.change::<(), StateLogError>(|counters, records| {
            counters.add(records, 0, 1, 0)?;
            panic!("half of a change");
        })
    }));
    assert!(panicked.is_err());
    every_call_fails(&log);
    assert_eq!(log.failure().as_deref(), Some("a change of the state panicked"));
    drop(log);
    assert_eq!(value(&open(&disk, Level::Synced, 2)), 5);
}

#[test]
fn a_second_opening_of_a_directory_is_refused() {
    let disk = SimDisk::new(1);
    let _log = open(&disk, Level::Synced, 1);
    assert!(matches!(try_open(&disk, options(Level::Synced, 2)), Err(StateLogError::Open(_))));
}

#[test]
fn a_log_of_a_newer_format_is_refused() {
    let disk = SimDisk::new(1);
    let newer = StateLogOptions { format_version: FORMAT_VERSION + 1, ..options(Level::Synced, 1) };
    add(&try_open(&disk, newer).unwrap(), 5).unwrap();
    let refused = try_open(&disk, options(Level::Synced, 2)).err().unwrap();
    let StateLogError::Version { file, found, known } = &refused else { panic!("{refused}") };
    assert_eq!((*found, *known), (FORMAT_VERSION + 1, FORMAT_VERSION));
    assert!(disk.bytes_of(file).is_some(), "{}", file.display());
    assert!(refused.to_string().ends_with("up to 3; use a newer program"), "{refused}");
}

#[test]
fn a_log_of_an_older_format_is_read() {
    let disk = SimDisk::new(1);
    let older = StateLogOptions { format_version: FORMAT_VERSION - 1, ..options(Level::Synced, 1) };
    add(&try_open(&disk, older).unwrap(), 5).unwrap();
    assert_eq!(value(&open(&disk, Level::Synced, 2)), 5);
}

/// A directory with this record behind three sound ones, in a segment of its own.
fn with_record(record: &[u8]) -> SimDisk {
    let disk = SimDisk::new(1);
    let log = open(&disk, Level::Synced, 1);
    add(&log, 5).unwrap();
    add(&log, 2).unwrap();
    drop(log);
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let options = Options { segment_bytes: 2 << 20, ..Options::new([2; 16]) };
    let (mut writer, _) = rialto_log::open(shared, Path::new(DIR), options).unwrap();
    let mut group = Group::new(4096);
    group.begin(writer.next_seq());
    assert_eq!(group.append(record), Ok(4));
    writer.write(&mut group, Commit::Synced).unwrap();
    writer.close().unwrap();
    disk
}

fn newest_segment(disk: &SimDisk) -> String {
    let names = disk.list(Path::new(DIR)).unwrap();
    names.into_iter().filter(|name| name.ends_with(".log")).max().unwrap()
}

#[test]
fn an_invalid_record_is_named_with_its_file_and_sequence() {
    let disk = with_record(b"nonsense");
    let newest = newest_segment(&disk);
    let refused = try_open(&disk, options(Level::Synced, 3)).err().unwrap().to_string();
    let said = format!(
        "record 4 in {DIR}/{newest} is invalid: it is too short; restore the log from a copy"
    );
    assert_eq!(refused, said);
}

#[test]
fn a_change_of_what_was_never_begun_is_named_with_its_file_and_sequence() {
    let mut of_counter_9 = [0; 13];
    (of_counter_9[0], of_counter_9[1]) = (1, 9);
    let disk = with_record(&of_counter_9);
    let newest = newest_segment(&disk);
    let refused = try_open(&disk, options(Level::Synced, 3)).err().unwrap();
    let StateLogError::InvalidRecord { file, seq, reason } = refused else { panic!("{refused}") };
    assert_eq!((file, seq), (Path::new(DIR).join(newest), 4));
    assert_eq!(reason, "counter 9 has no beginning");
}

#[test]
fn damage_of_the_log_is_named_with_its_file_and_offset() {
    let disk = with_record(&[2; 13]);
    let names = disk.list(Path::new(DIR)).unwrap();
    let oldest = names.into_iter().filter(|name| name.ends_with(".log")).min().unwrap();
    assert!(disk.flip_bit(&Path::new(DIR).join(&oldest), 4096 + 100, 3));
    let refused = try_open(&disk, options(Level::Synced, 3)).err().unwrap().to_string();
    let said = format!("{DIR}/{oldest} is damaged at offset 4096: ");
    assert!(refused.starts_with(&said), "{refused}");
}
