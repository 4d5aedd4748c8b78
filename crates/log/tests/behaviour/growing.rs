//! Segments that begin short and grow.

use rialto_disk::{Disk, SimDisk};
use rialto_log::{Commit, Group, OpenError, Options, Reader, Verify, WriteError, Writer, open};
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/log";
const BLOCK: u64 = 4096;
const FIRST: u64 = 2 * BLOCK;
const LARGEST: u64 = 16 * BLOCK;

fn growing(salt: u8) -> Options {
    Options {
        segment_bytes: LARGEST,
        first_segment_bytes: Some(FIRST),
        verify: Verify::Whole,
        ..Options::new([salt; 16])
    }
}

fn opened(disk: &SimDisk, options: Options) -> Result<Writer, OpenError> {
    open(Arc::new(disk.clone()), Path::new(DIR), options).map(|(writer, _)| writer)
}

/// Writes a record in a group of a block.
fn write(writer: &mut Writer) {
    let mut group = Group::new(BLOCK as usize);
    group.begin(writer.next_seq());
    group.append(&[writer.next_seq() as u8; 1_000]).unwrap();
    writer.write(&mut group, Commit::Synced).unwrap();
}

/// The sizes of all files that are segments or are to become some, oldest first.
fn sizes(disk: &SimDisk) -> Vec<u64> {
    let names = disk.list(Path::new(DIR)).unwrap();
    let is_segment = |name: &&String| name.ends_with(".log") || name.ends_with(".tmp");
    let size = |name: &String| disk.bytes_of(&Path::new(DIR).join(name)).unwrap().len() as u64;
    names.iter().filter(is_segment).map(size).collect()
}

#[test]
fn each_segment_is_twice_as_long_as_the_one_before_up_to_the_largest() {
    let disk = SimDisk::new(1);
    let mut writer = opened(&disk, growing(1)).unwrap();
    // A header, and groups of a block: 1, 3, 7, 15 and 15 of them.
    for _ in 0..1 + 3 + 7 + 15 + 15 {
        write(&mut writer);
    }
    assert_eq!(sizes(&disk), [2, 4, 8, 16, 16].map(|blocks| blocks * BLOCK));
    assert_eq!(writer.segment_bytes(), LARGEST);
    drop(writer);
    // An opening begins with a short one again, and all are read.
    let mut writer = opened(&disk, growing(2)).unwrap();
    assert_eq!(sizes(&disk).last(), Some(&FIRST));
    write(&mut writer);
    let mut reader = Reader::open(&writer.segments(), 1).unwrap();
    let mut read = Vec::new();
    while let Some(group) = reader.next_group().unwrap() {
        read.extend(group.records().map(|(seq, record)| (seq, record[0])));
    }
    assert_eq!(read, (1..=42).map(|seq| (seq, seq as u8)).collect::<Vec<_>>());
}

#[test]
fn a_segment_that_was_made_ahead_has_the_size_of_the_next() {
    let disk = SimDisk::new(1);
    let mut writer = opened(&disk, growing(1)).unwrap();
    let prepared = writer.preparer().prepare().unwrap();
    assert!(writer.accept(prepared).is_ok());
    assert_eq!(sizes(&disk).iter().sum::<u64>(), FIRST + 2 * FIRST);
    for _ in 0..1 + 3 {
        write(&mut writer);
    }
    assert_eq!(sizes(&disk), [FIRST, 2 * FIRST]);
}

#[test]
fn a_group_that_the_first_segment_cannot_hold_is_refused() {
    let disk = SimDisk::new(1);
    let mut writer = opened(&disk, growing(1)).unwrap();
    let mut group = Group::new(3 * BLOCK as usize);
    group.begin(1);
    group.append(&[1; 2 * BLOCK as usize]).unwrap();
    let refused = writer.write(&mut group, Commit::Synced);
    assert!(matches!(refused, Err(WriteError::GroupTooLarge { segment_bytes: FIRST, .. })));
    write(&mut writer);
    assert_eq!(sizes(&disk), [FIRST]);
}

#[test]
fn a_first_size_is_checked_as_the_largest_is() {
    let disk = SimDisk::new(1);
    let with = |first| Options { first_segment_bytes: Some(first), ..growing(1) };
    for bad in [0, BLOCK, 3 * BLOCK + 1, 1 << 41] {
        let refused = opened(&disk, with(bad)).map(drop);
        assert!(matches!(refused, Err(OpenError::SegmentBytes(bytes)) if bytes == bad));
    }
    // One above the largest is the largest.
    drop(opened(&disk, with(2 * LARGEST)).unwrap());
    assert_eq!(sizes(&disk), [LARGEST]);
}
