//! A log continues in its reserve when others have filled the disk.

use rialto_disk::{Disk, Faults, SimDisk};
use rialto_log::{Commit, Group, Options, WriteError, Writer};
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/log";
const SEGMENT_BYTES: u64 = 64 << 10;
const LARGE: u64 = 1 << 40;

fn open(disk: &SimDisk, salt: u8, reserve_segments: usize) -> Writer {
    let options =
        Options { segment_bytes: SEGMENT_BYTES, reserve_segments, ..Options::new([salt; 16]) };
    rialto_log::open(Arc::new(disk.clone()), Path::new(DIR), options).unwrap().0
}

/// Another process takes all that is free.
fn fill(disk: &SimDisk) {
    let free = |capacity| {
        disk.set_faults(Faults { capacity_bytes: Some(capacity), ..Faults::default() });
        disk.free_bytes(Path::new(DIR)).unwrap()
    };
    let used = LARGE - free(LARGE);
    assert_eq!(free(used), 0);
}

fn names(disk: &SimDisk) -> Vec<String> {
    disk.list(Path::new(DIR)).unwrap()
}

fn reserved(disk: &SimDisk) -> usize {
    names(disk).iter().filter(|name| name.starts_with("reserve-")).count()
}

/// Writes groups of 32 KiB until `segments` segments are live.
fn write_until(writer: &mut Writer, segments: usize) -> Result<(), WriteError> {
    let mut group = Group::new(40 << 10);
    while writer.segments().count() < segments {
        group.begin(writer.next_seq());
        group.append(&[7; 28 << 10]).unwrap();
        writer.write(&mut group, Commit::Synced)?;
    }
    Ok(())
}

#[test]
fn a_full_disk_ends_a_log_only_after_its_reserve() {
    let disk = SimDisk::new(1);
    let mut writer = open(&disk, 1, 2);
    assert_eq!(reserved(&disk), 2);
    fill(&disk);
    write_until(&mut writer, 3).unwrap();
    assert_eq!(reserved(&disk), 0);
    let failed = write_until(&mut writer, 4);
    assert!(matches!(failed, Err(WriteError::Disk(_))), "{failed:?}");
    drop(writer);

    disk.set_faults(Faults::default());
    let mut writer = open(&disk, 2, 2);
    assert_eq!(writer.next_seq(), 4);
    assert_eq!(reserved(&disk), 2, "there is room again");
    write_until(&mut writer, 5).unwrap();
}

#[test]
fn without_a_reserve_a_full_disk_ends_it_at_once() {
    let disk = SimDisk::new(1);
    let mut writer = open(&disk, 1, 0);
    fill(&disk);
    assert!(write_until(&mut writer, 2).is_err());
}

#[test]
fn a_log_on_a_full_disk_opens_and_its_reserve_is_made_whole_when_there_is_room() {
    let disk = SimDisk::new(1);
    let mut writer = open(&disk, 1, 1);
    write_until(&mut writer, 2).unwrap();
    drop(writer);
    fill(&disk);
    let mut writer = open(&disk, 2, 1);
    assert_eq!(reserved(&disk), 0, "the new segment of this opening took it");
    disk.set_faults(Faults::default());
    let segments = writer.segments().count();
    write_until(&mut writer, segments + 1).unwrap();
    assert_eq!(reserved(&disk), 1);
}

#[test]
fn reserved_files_of_another_setting_are_removed() {
    let disk = SimDisk::new(1);
    drop(open(&disk, 1, 3));
    assert_eq!(reserved(&disk), 3);
    drop(open(&disk, 2, 1));
    assert_eq!(reserved(&disk), 1);
    drop(open(&disk, 3, 0));
    assert_eq!(reserved(&disk), 0);
}

#[test]
fn a_crash_at_any_write_of_the_reserve_leaves_a_log_that_opens() {
    for crash_at in 0..40 {
        let disk = SimDisk::new(crash_at);
        let mut writer = open(&disk, 1, 1);
        write_until(&mut writer, 2).unwrap();
        fill(&disk);
        disk.crash_after(crash_at);
        let written = write_until(&mut writer, 3).is_ok();
        let acknowledged = writer.durable_seq();
        drop(writer);
        disk.crash();
        disk.set_faults(Faults::default());
        let mut writer = open(&disk, 2, 1);
        assert!(writer.next_seq() > acknowledged, "crash {crash_at}: {acknowledged} was lost");
        assert_eq!(reserved(&disk), 1);
        let segments = writer.segments().count();
        write_until(&mut writer, segments + 1).unwrap();
        if written {
            break;
        }
    }
}
