//! Readers beside a writer, retention, and prepared segments.

use proptest::prelude::*;
use rialto_disk::{Access, Disk, RealDisk, SimDisk};
use rialto_log::{
    AppendError, Commit, Group, Options, ReadError, Reader, Records, Space, WriteError, Writer,
    open,
};
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/log";

fn options(salt: u8, segment_bytes: u64) -> Options {
    Options { segment_bytes, ..Options::new([salt; 16]) }
}

fn new_log(segment_bytes: u64) -> (SimDisk, Writer) {
    let disk = SimDisk::new(1);
    let opened = open(Arc::new(disk.clone()), Path::new(DIR), options(1, segment_bytes));
    (disk, opened.unwrap().0)
}

fn record(seq: u64) -> Vec<u8> {
    seq.to_le_bytes().repeat(1 + seq as usize % 90)
}

/// Writes records until `last`, `per_group` in each group.
fn fill(writer: &mut Writer, last: u64, per_group: u32) {
    let mut group = Group::new(64 << 10);
    while writer.next_seq() <= last {
        group.begin(writer.next_seq());
        while group.records() < per_group && group.next_seq() <= last {
            group.append(&record(group.next_seq())).unwrap();
        }
        writer.write(&mut group, Commit::Synced).unwrap();
    }
}

fn read_all(reader: &mut Reader) -> Vec<(u64, Vec<u8>)> {
    let mut records = Vec::new();
    while let Some(group) = reader.next_group().unwrap() {
        records.extend(group.records().map(|(seq, record)| (seq, record.to_vec())));
    }
    records
}

fn expected(range: std::ops::RangeInclusive<u64>) -> Vec<(u64, Vec<u8>)> {
    range.map(|seq| (seq, record(seq))).collect()
}

#[test]
fn reading_begins_at_any_sequence_across_segments() {
    let (_, mut writer) = new_log(64 << 10);
    fill(&mut writer, 600, 7);
    assert!(writer.segments().count() > 3);
    for from in 1..=601 {
        let mut reader = Reader::open(&writer.segments(), from).unwrap();
        let group = reader.next_group().unwrap();
        assert_eq!(group.map(|group| group.first_seq()), (from <= 600).then_some(from));
    }
    let mut reader = Reader::open(&writer.segments(), 123).unwrap();
    assert_eq!(read_all(&mut reader), expected(123..=600));
}

#[test]
fn a_reader_stops_at_its_end_even_inside_a_group_and_continues_from_there() {
    let (_, mut writer) = new_log(64 << 10);
    fill(&mut writer, 20, 10);
    let mut reader = Reader::open(&writer.segments(), 1).unwrap();
    reader.set_end(4);
    assert_eq!(read_all(&mut reader), expected(1..=4));
    reader.set_end(15);
    assert_eq!(read_all(&mut reader), expected(5..=15));
}

#[test]
fn a_reader_of_the_tail_sees_what_is_written_later() {
    let (_, mut writer) = new_log(64 << 10);
    let mut reader = Reader::open(&writer.segments(), 1).unwrap();
    assert!(reader.next_group().unwrap().is_none());
    for last in (10..=400).step_by(10) {
        fill(&mut writer, last, 3);
        reader.set_end(writer.durable_seq());
        assert_eq!(read_all(&mut reader), expected(last - 9..=last));
    }
}

#[test]
fn a_reader_on_another_thread_follows_a_writer() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = open(Arc::new(RealDisk::new()), dir.path(), options(1, 1 << 20)).unwrap();
    let segments = writer.segments();
    let last = 20_000;
    let follower = std::thread::spawn(move || {
        let mut reader = Reader::open(&segments, 1).unwrap();
        while reader.next_seq() <= last {
            reader.set_end(segments.durable_seq());
            while let Some(group) = reader.next_group().unwrap() {
                for (seq, bytes) in group {
                    assert_eq!(bytes, record(seq));
                }
            }
            std::thread::yield_now();
        }
    });
    fill(&mut writer, last, 100);
    follower.join().unwrap();
}

#[test]
fn an_unpinned_reader_blocks_nothing_and_gets_an_error_for_its_lost_segment() {
    let (_, mut writer) = new_log(64 << 10);
    fill(&mut writer, 600, 7);
    let open = |seq| Reader::open(&writer.segments(), seq).unwrap().unpinned();
    let (mut early, mut late) = (open(1), open(590));
    assert_eq!(early.next_group().unwrap().unwrap().first_seq(), 1);
    let retained = writer.retain_from(300).unwrap();
    assert!(!retained.removed.is_empty() && retained.pinned.is_none());
    let error = early.next_group().map(drop).unwrap_err();
    assert!(matches!(error, ReadError::Superseded { .. }), "{error}");
    assert_eq!(read_all(&mut late), expected(590..=600));
    // It continues from segment to segment as any.
    let mut all = Reader::open(&writer.segments(), retained.first_seq).unwrap().unpinned();
    assert_eq!(read_all(&mut all), expected(retained.first_seq..=600));
}

#[test]
fn retention_deletes_whole_segments_and_spares_the_pinned() {
    let (disk, mut writer) = new_log(64 << 10);
    fill(&mut writer, 600, 7);
    let before = writer.segments().count();
    let reader = Reader::open(&writer.segments(), 1).unwrap();
    let retained = writer.retain_from(300).unwrap();
    assert_eq!((retained.removed.len(), retained.first_seq), (0, 1));
    assert!(retained.pinned.is_some());

    drop(reader);
    let retained = writer.retain_from(300).unwrap();
    assert!(!retained.removed.is_empty() && retained.pinned.is_none());
    assert!(retained.first_seq > 1 && retained.first_seq <= 300);
    assert_eq!(writer.segments().count(), before - retained.removed.len());
    for path in retained.removed {
        assert!(disk.bytes_of(&path).is_none());
    }
    let below = Reader::open(&writer.segments(), 1).err().unwrap();
    assert!(matches!(below, ReadError::BelowOldest { requested: 1, .. }), "{below}");
    let mut reader = Reader::open(&writer.segments(), 300).unwrap();
    assert_eq!(read_all(&mut reader), expected(300..=600));
}

#[test]
fn a_prepared_segment_is_used_and_an_unused_one_removed() {
    let (disk, mut writer) = new_log(16 << 10);
    let preparer = writer.preparer();
    let prepared = std::thread::spawn(move || preparer.prepare().unwrap()).join().unwrap();
    assert!(writer.wants_segment());
    assert!(writer.accept(prepared).is_ok());
    assert!(!writer.wants_segment());
    fill(&mut writer, 12, 3);
    assert!(writer.segments().count() > 1 && writer.wants_segment());
    let spare = writer.preparer().prepare().unwrap();
    assert!(writer.accept(spare).is_ok());
    writer.close().unwrap();
    let names = disk.list(Path::new(DIR)).unwrap();
    assert!(names.iter().all(|name| !name.ends_with(".tmp")), "{names:?}");
}

#[test]
fn a_segment_that_could_not_be_prepared_leaves_nothing_behind() {
    let (disk, mut writer) = new_log(16 << 10);
    for fail in [SimDisk::fail_write, SimDisk::fail_sync] {
        fail(&disk, 1);
        assert!(writer.preparer().prepare().is_err());
        let names = disk.list(Path::new(DIR)).unwrap();
        assert!(names.iter().all(|name| !name.ends_with(".tmp")), "{names:?}");
    }
    fill(&mut writer, 12, 3);
}

#[test]
fn a_segment_of_reserved_space_is_made_without_writing_and_used_like_any_other() {
    let disk = SimDisk::new(1);
    let reserving = |salt| Options { space: Space::Reserved, ..options(salt, 16 << 10) };
    let (mut writer, _) = open(Arc::new(disk.clone()), Path::new(DIR), reserving(1)).unwrap();
    // The first write from here on fails, and preparing does not come to it.
    disk.fail_write(1);
    let prepared = writer.preparer().prepare().unwrap();
    assert!(
        disk.create(&Path::new(DIR).join("x"), Access::Buffered)
            .unwrap()
            .write_at(0, b"x")
            .is_err()
    );
    assert!(writer.accept(prepared).is_ok());
    fill(&mut writer, 100, 3);
    assert!(writer.segments().count() > 2);
    drop(writer);
    let (writer, _) = open(Arc::new(disk), Path::new(DIR), reserving(2)).unwrap();
    let mut reader = Reader::open(&writer.segments(), 1).unwrap();
    assert_eq!(read_all(&mut reader), expected(1..=100));
}

#[test]
fn a_group_out_of_order_or_too_large_is_refused_without_harm() {
    let (_, mut writer) = new_log(16 << 10);
    let mut group = Group::new(64 << 10);
    group.begin(2);
    group.append(b"x").unwrap();
    let refused = writer.write(&mut group, Commit::Synced);
    assert!(matches!(refused, Err(WriteError::OutOfOrder { expected: 1, got: 2 })));
    group.begin(1);
    group.append(&[1; 20_000]).unwrap();
    let refused = writer.write(&mut group, Commit::Synced);
    assert!(matches!(refused, Err(WriteError::GroupTooLarge { .. })));
    fill(&mut writer, 1, 1);
    assert_eq!(writer.position().seq, 1);
}

#[test]
fn a_record_that_contains_a_group_does_not_confuse_recovery() {
    let (disk, mut writer) = new_log(1 << 20);
    fill(&mut writer, 30, 10);
    let path = writer.segments().paths().pop().unwrap();
    let copy = disk.bytes_of(&path).unwrap()[..64 << 10].to_vec();
    let mut group = Group::new(128 << 10);
    group.begin(31);
    // Shifted so that the copied groups begin on block boundaries of the file again.
    group.append(&copy[140..]).unwrap();
    writer.write(&mut group, Commit::Synced).unwrap();
    group.begin(32);
    group.append(&record(32)).unwrap();
    writer.write(&mut group, Commit::Synced).unwrap();
    drop(writer);
    disk.kill();
    let (writer, report) = open(Arc::new(disk), Path::new(DIR), options(2, 1 << 20)).unwrap();
    assert_eq!((report.last_seq, report.cut), (32, None));
    let mut reader = Reader::open(&writer.segments(), 32).unwrap();
    assert_eq!(read_all(&mut reader), expected(32..=32));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is appended in whatever groups, over any number of openings, is read back from any
    /// sequence.
    #[test]
    fn the_log_is_a_list(
        lives in prop::collection::vec(
            prop::collection::vec(
                (prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 0..20), any::<bool>()),
                0..8,
            ),
            1..5,
        ),
        from in any::<prop::sample::Index>(),
    ) {
        let disk = SimDisk::new(1);
        let mut model: Vec<Vec<u8>> = Vec::new();
        for (nth, groups) in lives.iter().enumerate() {
            let (mut writer, report) =
                open(Arc::new(disk.clone()), Path::new(DIR), options(nth as u8 + 1, 24 << 10)).unwrap();
            prop_assert_eq!(report.last_seq, model.len() as u64);
            let mut group = Group::new(16 << 10);
            for (records, synced) in groups {
                group.begin(writer.next_seq());
                for record in records {
                    if group.append(record).is_ok() {
                        model.push(record.clone());
                    }
                }
                let commit = if *synced { Commit::Synced } else { Commit::Written };
                writer.write(&mut group, commit).unwrap();
            }
            writer.sync().unwrap();
            let from = 1 + from.index(model.len() + 1) as u64;
            let mut reader = Reader::open(&writer.segments(), from).unwrap();
            let read: Vec<Vec<u8>> = read_all(&mut reader).into_iter().map(|it| it.1).collect();
            prop_assert_eq!(&read[..], &model[from as usize - 1..]);
            writer.close().unwrap();
        }
    }
}

#[test]
fn a_group_is_refilled_with_what_was_read_of_another() {
    let (_, mut writer) = new_log(64 << 10);
    fill(&mut writer, 60, 10);
    let mut reader = Reader::open(&writer.segments(), 13).unwrap();
    reader.set_end(18);
    let view = reader.next_group().unwrap().unwrap();
    let mut group = Group::new(64 << 10);
    group.begin(1);
    group.append(&[7; 5_000]).unwrap();
    group.refill(&view).unwrap();
    assert_eq!((group.first_seq(), group.last_seq()), (13, 18));
    let records = Records::of_body(group.body(), 13, 18);
    let refilled: Vec<_> = records.map(|(seq, record)| (seq, record.to_vec())).collect();
    assert_eq!(refilled, expected(13..=18));
    // What does not fit is refused, and leaves nothing.
    let mut small = Group::new(0);
    let mut reader = Reader::open(&writer.segments(), 51).unwrap();
    let view = reader.next_group().unwrap().unwrap();
    assert_eq!(small.refill(&view), Err(AppendError::Full));
    assert!(small.is_empty());
}
