//! Segments that are made of the files of dropped ones.

use rialto_disk::{Disk, Faults, RealDisk, SimDisk};
use rialto_log::{
    Cipher, Commit, Group, KeyRing, MappedRecords, Maps, OpenError, OpenReport, Options, Reader,
    Sealing, Space, SpareFiles, Verify, WriteError, Writer, open,
};
use std::path::Path;
use std::sync::Arc;

const DIR: &str = "/log";
const SEGMENT_BYTES: u64 = 32 << 10;
/// Groups take a block each, and the header one.
const GROUPS: u64 = 7;
const GROUND_AT: usize = 94;
const GROUND_USED: u8 = 2;

fn options(salt: u8, spares: &SpareFiles) -> Options {
    Options {
        segment_bytes: SEGMENT_BYTES,
        spares: spares.clone(),
        verify: Verify::Whole,
        ..Options::new([salt; 16])
    }
}

fn spares() -> SpareFiles {
    SpareFiles::up_to(2 * SEGMENT_BYTES)
}

fn reopen(disk: &SimDisk, options: Options) -> Result<(Writer, OpenReport), OpenError> {
    open(Arc::new(disk.clone()), Path::new(DIR), options)
}

fn new_log(spares: &SpareFiles) -> (SimDisk, Writer) {
    let disk = SimDisk::new(1);
    let writer = reopen(&disk, options(1, spares)).unwrap().0;
    (disk, writer)
}

/// Text of which the sequence and the number of times that it was written can be told.
fn record(seq: u64, life: u8) -> Vec<u8> {
    format!("record {seq} of life {life} ").repeat(40).into_bytes()
}

fn write(writer: &mut Writer, life: u8) -> Result<u64, WriteError> {
    let mut group = Group::new(4096);
    group.begin(writer.next_seq());
    group.append(&record(writer.next_seq(), life)).unwrap();
    writer.write(&mut group, Commit::Synced).map(|position| position.seq)
}

fn fill(writer: &mut Writer, groups: u64) {
    for _ in 0..groups {
        write(writer, 1).unwrap();
    }
}

/// Which of the live segments stand in files that were used before.
fn used(disk: &SimDisk, writer: &Writer) -> Vec<bool> {
    let paths = writer.segments().paths();
    paths.iter().map(|path| disk.bytes_of(path).unwrap()[GROUND_AT] == GROUND_USED).collect()
}

fn tmp_files(disk: &dyn Disk, dir: &Path) -> Vec<String> {
    disk.list(dir).unwrap().into_iter().filter(|name| name.ends_with(".tmp")).collect()
}

/// As an operator might who lacks room, because they are not part of the log.
fn remove_tmp_files(disk: &SimDisk) {
    let dir = Path::new(DIR);
    tmp_files(disk, dir).iter().for_each(|name| disk.remove(&dir.join(name)).unwrap());
}

fn read_all(writer: &Writer, from: u64) -> Vec<(u64, Vec<u8>)> {
    let mut reader = Reader::open(&writer.segments(), from).unwrap();
    let mut records = Vec::new();
    while let Some(group) = reader.next_group().unwrap() {
        records.extend(group.records().map(|(seq, record)| (seq, record.to_vec())));
    }
    records
}

#[test]
fn the_next_segments_are_made_of_the_files_of_dropped_ones() {
    let spares = spares();
    let (disk, mut writer) = new_log(&spares);
    fill(&mut writer, 3 * GROUPS);
    let retained = writer.retain_from(2 * GROUPS + 1).unwrap();
    assert_eq!((retained.removed.len(), spares.bytes()), (2, 2 * SEGMENT_BYTES));
    assert!(retained.removed.iter().all(|path| disk.bytes_of(path).is_none()));
    // Nothing is left to do for the one, and the writer takes the other by itself.
    assert_eq!(writer.preparer().begin().unwrap().done_bytes(), SEGMENT_BYTES);
    fill(&mut writer, GROUPS);
    assert_eq!(used(&disk, &writer), [false, true]);
    assert_eq!(spares.bytes(), 0);
    let found = read_all(&writer, 2 * GROUPS + 1);
    let expected: Vec<_> = (2 * GROUPS + 1..=4 * GROUPS).map(|seq| (seq, record(seq, 1))).collect();
    assert!(found == expected);
}

#[test]
fn data_of_an_earlier_segment_is_neither_read_nor_reported_as_cut() {
    for groups in 1..=GROUPS {
        let spares = spares();
        let (disk, mut writer) = new_log(&spares);
        fill(&mut writer, 2 * GROUPS);
        writer.retain_from(GROUPS + 1).unwrap();
        fill(&mut writer, groups);
        assert_eq!(used(&disk, &writer), [false, true]);
        disk.kill();
        let (writer, report) = reopen(&disk, options(2, &spares)).unwrap();
        assert_eq!((report.last_seq, report.cut), (2 * GROUPS + groups, None));
        assert_eq!(read_all(&writer, GROUPS + 1).len() as u64, GROUPS + groups);
    }
}

#[test]
fn a_torn_group_in_a_recycled_file_is_cut_and_reported() {
    let (disk, mut writer) = new_log(&spares());
    fill(&mut writer, 2 * GROUPS);
    writer.retain_from(GROUPS + 1).unwrap();
    fill(&mut writer, 3);
    let newest = writer.segments().paths().pop().unwrap();
    disk.flip_bit(&newest, 3 * 4096 + 500, 1);
    disk.kill();
    let (_, report) = reopen(&disk, options(2, &SpareFiles::none())).unwrap();
    let cut = report.cut.unwrap();
    assert_eq!((report.last_seq, cut.offset, cut.bytes), (2 * GROUPS + 2, 3 * 4096, 4096));
}

#[test]
fn a_flipped_bit_in_the_last_group_of_a_recycled_file_is_reported() {
    for at in 0..140 {
        let (disk, mut writer) = new_log(&spares());
        fill(&mut writer, 2 * GROUPS);
        writer.retain_from(GROUPS + 1).unwrap();
        fill(&mut writer, 3);
        let newest = writer.segments().paths().pop().unwrap();
        disk.flip_bit(&newest, 3 * 4096 + at, 1);
        disk.kill();
        let (_, report) = reopen(&disk, options(2, &SpareFiles::none())).unwrap();
        let cut = report.cut.map(|cut| (cut.offset, cut.bytes));
        assert_eq!((report.last_seq, cut), (2 * GROUPS + 2, Some((3 * 4096, 4096))), "byte {at}");
    }
}

/// A log that is crashed at a change while files are recycled must open and hold what was confirmed.
/// Says whether it crashed.
fn crash_at(point: u64, faults: &Faults) -> bool {
    let disk = SimDisk::new(point);
    disk.set_faults(faults.clone());
    let spares = spares();
    let (mut writer, _) = reopen(&disk, options(1, &spares)).unwrap();
    fill(&mut writer, 3 * GROUPS);
    disk.crash_after(point);
    let mut confirmed = 3 * GROUPS;
    let has_crashed = recycle(&mut writer, &mut confirmed).is_err();
    assert_eq!(has_crashed, disk.is_down());
    if !has_crashed {
        assert!(used(&disk, &writer).iter().all(|is_used| *is_used));
    }
    drop(writer);
    disk.restart();
    let (mut writer, report) = reopen(&disk, options(2, &spares)).unwrap();
    assert!(report.last_seq >= confirmed, "crash {point}: {report:?}");
    assert!(report.first_seq <= confirmed + 1 - GROUPS, "crash {point}: {report:?}");
    for (seq, found) in read_all(&writer, report.first_seq) {
        assert!(found == record(seq, 1), "crash {point}: record {seq}");
    }
    assert_eq!(tmp_files(&disk, Path::new(DIR)), [""; 0]);
    let first = report.last_seq + 1;
    for _ in 0..GROUPS {
        write(&mut writer, 2).unwrap();
        writer.retain_from(writer.next_seq() - GROUPS).unwrap();
    }
    for (seq, found) in read_all(&writer, writer.segments().first_seq()) {
        assert!(found == record(seq, if seq < first { 1 } else { 2 }), "crash {point}: {seq}");
    }
    has_crashed
}

/// Goes on until every file has been used twice.
fn recycle(writer: &mut Writer, confirmed: &mut u64) -> Result<(), WriteError> {
    for nth in 0..4 * GROUPS {
        writer.retain_from((*confirmed + 1).saturating_sub(GROUPS))?;
        if nth % 3 == 0 && writer.wants_segment() {
            let prepared = writer.preparer().prepare()?;
            assert!(writer.accept(prepared).is_ok());
        }
        *confirmed = write(writer, 1)?;
    }
    Ok(())
}

#[test]
fn a_crash_at_any_change_loses_nothing_confirmed_and_brings_nothing_back() {
    for (stale_bytes, direct_refused) in [(false, false), (true, false), (true, true)] {
        let faults = Faults { stale_bytes, direct_refused, ..Faults::default() };
        let mut point = 0;
        while crash_at(point, &faults) {
            point += 1;
        }
        assert!(point > 60, "only {point} crashes");
    }
}

#[test]
fn a_file_that_a_reader_is_in_is_not_used_again() {
    let spares = spares();
    let (_, mut writer) = new_log(&spares);
    fill(&mut writer, 3 * GROUPS);
    let reader = Reader::open(&writer.segments(), 1).unwrap().unpinned();
    assert_eq!(writer.retain_from(GROUPS + 1).unwrap().removed.len(), 1);
    assert_eq!(spares.bytes(), 0);
    drop(reader);
    assert_eq!(writer.retain_from(2 * GROUPS + 1).unwrap().removed.len(), 1);
    assert_eq!(spares.bytes(), SEGMENT_BYTES);
}

#[test]
fn a_file_of_which_records_are_held_is_not_used_again() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (spares, maps) = (spares(), Maps::keeping(8));
    let opened = open(Arc::new(RealDisk), dir.path(), options(1, &spares));
    let mut writer = opened.unwrap().0;
    fill(&mut writer, 3 * GROUPS);
    let held: MappedRecords = {
        let mut reader = Reader::open_mapped(&writer.segments(), 1, &maps).unwrap();
        let held = reader.next_group().unwrap().unwrap().mapped().unwrap();
        // The second segment is kept mapped for readers to come, and no record of it is held.
        while reader.next_seq() <= 2 * GROUPS {
            let _ = reader.next_group().unwrap();
        }
        held
    };
    assert_eq!(writer.retain_from(2 * GROUPS + 1).unwrap().removed.len(), 2);
    assert_eq!(spares.bytes(), SEGMENT_BYTES);
    fill(&mut writer, 3 * GROUPS);
    let expected = record(1, 1);
    assert!(held[4..][..expected.len()] == expected);
}

#[test]
fn an_unencrypted_file_is_not_recycled_for_an_encrypted_segment() {
    let spares = spares();
    let (disk, mut writer) = new_log(&spares);
    fill(&mut writer, 3 * GROUPS);
    writer.close().unwrap();
    let key = format!("1: {}", "a".repeat(64));
    let sealed = Options {
        sealing: Sealing { encryption: Some(Cipher::Aes256Gcm), ..Sealing::NONE },
        keys: KeyRing::parse(&key, "the test").unwrap(),
        ..options(2, &spares)
    };
    let (mut writer, _) = reopen(&disk, sealed).unwrap();
    fill(&mut writer, 2 * GROUPS);
    writer.retain_from(3 * GROUPS + 1).unwrap();
    assert_eq!(spares.bytes(), 0);
    writer.retain_from(4 * GROUPS + 1).unwrap();
    assert_eq!(spares.bytes(), SEGMENT_BYTES);
    let is_told = |path: &Path| {
        let bytes = disk.bytes_of(path).unwrap();
        bytes.windows(6).any(|window| window == b"record")
    };
    assert!(disk.paths().iter().all(|path| !is_told(path)));
}

#[test]
fn files_of_earlier_openings_are_used_again_if_they_have_their_length() {
    let spares = SpareFiles::up_to(8 * SEGMENT_BYTES);
    let (disk, mut writer) = new_log(&spares);
    fill(&mut writer, 2 * GROUPS + 2);
    writer.close().unwrap();
    let (mut writer, _) = reopen(&disk, options(2, &spares)).unwrap();
    write(&mut writer, 1).unwrap();
    // Of three segments, the opening has shortened the last.
    assert_eq!(writer.retain_from(2 * GROUPS + 3).unwrap().removed.len(), 3);
    assert_eq!(spares.bytes(), 2 * SEGMENT_BYTES);
}

#[test]
fn space_that_was_only_reserved_is_not_kept() {
    let spares = spares();
    let reserving = |salt| Options { space: Space::Reserved, ..options(salt, &spares) };
    let disk = SimDisk::new(1);
    let (mut writer, _) = reopen(&disk, reserving(1)).unwrap();
    fill(&mut writer, 2 * GROUPS);
    writer.retain_from(GROUPS + 1).unwrap();
    assert_eq!(spares.bytes(), 0);
    writer.close().unwrap();
    // Nor by a writer that wants space written.
    let (mut writer, _) = reopen(&disk, options(2, &spares)).unwrap();
    write(&mut writer, 1).unwrap();
    writer.retain_from(2 * GROUPS + 1).unwrap();
    assert_eq!(spares.bytes(), 0);
}

#[test]
fn spare_files_are_bounded_and_go_with_their_writer() {
    let spares = SpareFiles::up_to(3 * SEGMENT_BYTES);
    let disk = SimDisk::new(1);
    let dirs = [Path::new("/a"), Path::new("/b")];
    let [mut a, mut b] = [1, 2].map(|nth| {
        let dir = dirs[nth as usize - 1];
        open(Arc::new(disk.clone()), dir, options(nth, &spares)).unwrap().0
    });
    let left = || dirs.map(|dir| tmp_files(&disk, dir).len());
    for writer in [&mut a, &mut b] {
        fill(writer, 3 * GROUPS);
        writer.retain_from(2 * GROUPS + 1).unwrap();
    }
    // The file that was kept first has made room for that which was kept last.
    assert_eq!((left(), spares.bytes()), ([1, 2], 3 * SEGMENT_BYTES));
    drop(b);
    assert_eq!((left(), spares.bytes()), ([1, 0], SEGMENT_BYTES));
    a.close().unwrap();
    assert_eq!((left(), spares.bytes()), ([0, 0], 0));
}

#[test]
fn spare_files_are_deleted_before_the_disk_counts_as_full() {
    let spares = spares();
    let disk = SimDisk::new(1);
    let [mut a, mut b] = ["/a", "/b"]
        .map(|dir| open(Arc::new(disk.clone()), Path::new(dir), options(1, &spares)).unwrap().0);
    fill(&mut a, 3 * GROUPS);
    a.retain_from(2 * GROUPS + 1).unwrap();
    assert_eq!(spares.bytes(), 2 * SEGMENT_BYTES);
    let used: usize = disk.paths().iter().map(|path| disk.bytes_of(path).unwrap().len()).sum();
    disk.set_faults(Faults { capacity_bytes: Some(used as u64), ..Faults::default() });
    // Both find room for a segment where the spare files were, and there is none for a third.
    fill(&mut b, GROUPS + 1);
    assert_eq!(spares.bytes(), 0);
    fill(&mut a, 1);
    fill(&mut b, GROUPS - 1);
    let full = write(&mut b, 1).unwrap_err();
    assert!(matches!(&full, WriteError::Disk(error) if error.is_out_of_space()), "{full}");
}

#[test]
fn a_removed_spare_file_is_replaced_by_a_new_one() {
    let spares = spares();
    let (disk, mut writer) = new_log(&spares);
    fill(&mut writer, 3 * GROUPS);
    writer.retain_from(2 * GROUPS + 1).unwrap();
    remove_tmp_files(&disk);
    fill(&mut writer, 2 * GROUPS);
    assert_eq!((used(&disk, &writer), spares.bytes()), (vec![false; 3], 0));
}

#[test]
fn a_removed_prepared_segment_is_made_again() {
    let (disk, mut writer) = new_log(&spares());
    let lose_prepared = |writer: &mut Writer| {
        let prepared = writer.preparer().prepare().unwrap();
        assert!(writer.accept(prepared).is_ok());
        remove_tmp_files(&disk);
    };
    lose_prepared(&mut writer);
    fill(&mut writer, 2 * GROUPS);
    assert_eq!(read_all(&writer, 1).len() as u64, 2 * GROUPS);
    lose_prepared(&mut writer);
    writer.close().unwrap();
}

#[test]
fn a_record_of_an_earlier_segment_that_looks_like_a_group_refuses_nothing() {
    let spares = spares();
    let (disk, mut writer) = new_log(&spares);
    // A whole header of a codec that no program knows, where a group may come to stand.
    let mut header = [0; 136];
    header[..4].copy_from_slice(b"RGRP");
    header[84..86].copy_from_slice(&0x0909_u16.to_le_bytes());
    let checksum = crc32c::crc32c(&header[8..]);
    header[4..8].copy_from_slice(&checksum.to_le_bytes());
    let mut looks = vec![b'.'; 4096 - 136 - 4];
    looks.extend_from_slice(&header);
    let mut group = Group::new(16 << 10);
    group.begin(1);
    group.append(&looks).unwrap();
    writer.write(&mut group, Commit::Synced).unwrap();
    fill(&mut writer, 2 * GROUPS);
    let kept_from = writer.segments().beginnings()[1].0;
    writer.retain_from(kept_from).unwrap();
    while !used(&disk, &writer).last().unwrap() {
        write(&mut writer, 1).unwrap();
    }
    let newest = writer.segments().paths().pop().unwrap();
    assert!(disk.bytes_of(&newest).unwrap()[2 * 4096..].starts_with(&header));
    let last = writer.position().seq;
    disk.kill();
    let (_, report) = reopen(&disk, options(2, &spares)).unwrap();
    assert_eq!((report.last_seq, report.cut), (last, None));
}
