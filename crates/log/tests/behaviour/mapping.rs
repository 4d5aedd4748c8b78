//! Readers of finished segments, through mappings of real files.

use rialto_disk::{RealDisk, SimDisk};
use rialto_log::{
    Cipher, Commit, Compression, Flaw, Group, KeyRing, MappedRecords, Maps, Options, ReadError,
    Reader, Records, Sealing, Segments, Writer, open, recover,
};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const SEGMENT_BYTES: u64 = 4 << 20;
const RECORD_BYTES: usize = 30_000;
const PER_GROUP: u32 = 3;

fn options(salt: u8) -> Options {
    Options { segment_bytes: SEGMENT_BYTES, ..Options::new([salt; 16]) }
}

fn record(seq: u64) -> Vec<u8> {
    let mut bytes = vec![seq as u8; RECORD_BYTES];
    bytes[..8].copy_from_slice(&seq.to_le_bytes());
    bytes
}

fn fill(writer: &mut Writer, last: u64) {
    let mut group = Group::new(256 << 10);
    while writer.next_seq() <= last {
        group.begin(writer.next_seq());
        while group.records() < PER_GROUP && group.next_seq() <= last {
            group.append(&record(group.next_seq())).unwrap();
        }
        writer.write(&mut group, Commit::Written).unwrap();
    }
    writer.sync().unwrap();
}

/// A log of three segments and a bit, the last of which is still written.
fn log(options: Options) -> (TempDir, Writer) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (mut writer, _) = open(Arc::new(RealDisk), dir.path(), options).unwrap();
    fill(&mut writer, 450);
    assert_eq!(writer.segments().count(), 4);
    (dir, writer)
}

/// All groups from a sequence on, with what could be kept of them without a copy.
fn read(segments: &Segments, from: u64, maps: &Maps) -> Result<Vec<Read>, ReadError> {
    let mut reader = Reader::open_mapped(segments, from, maps)?;
    let mut groups = Vec::new();
    while let Some(view) = reader.next_group()? {
        for (seq, bytes) in view {
            assert!(bytes == record(seq), "record {seq}");
        }
        groups.push(Read { first: view.first_seq(), last: view.last_seq(), mapped: view.mapped() });
    }
    Ok(groups)
}

struct Read {
    first: u64,
    last: u64,
    mapped: Option<MappedRecords>,
}

impl Read {
    fn check(&self) {
        let mapped = self.mapped.as_ref().unwrap();
        let kept: Vec<_> = Records::of_body(mapped, self.first, self.last).collect();
        assert_eq!(kept.len() as u64, self.last + 1 - self.first);
        for (seq, bytes) in kept {
            assert!(bytes == record(seq), "record {seq}");
        }
    }
}

fn second_beginning(segments: &Segments) -> (u64, PathBuf) {
    segments.beginnings().swap_remove(1)
}

/// Turns a bit of the file, as a bad disk might.
fn damage(path: &Path, offset: u64) {
    let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).unwrap();
    file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
}

/// The offset of the group that is in the middle of the second segment, and its first sequence.
fn middle_group(segments: &Segments) -> (u64, u64) {
    let (first, _) = second_beginning(segments);
    // Its header and the lengths of the records take less than 512 bytes.
    let group_bytes = (512 + PER_GROUP as usize * RECORD_BYTES).next_multiple_of(4096) as u64;
    (4096 + 20 * group_bytes, first + 20 * u64::from(PER_GROUP))
}

#[test]
fn complete_segments_are_mapped_and_the_newest_is_not() {
    let (_dir, writer) = log(options(1));
    let segments = writer.segments();
    let newest = segments.beginnings().last().unwrap().0;
    for from in [1, 2, 3, 130, 131, 449, 450] {
        let groups = read(&segments, from, &Maps::keeping(4)).unwrap();
        assert_eq!(groups.first().map(|group| group.first), Some(from));
        assert_eq!(groups.last().map(|group| group.last), Some(450));
        for group in groups {
            assert_eq!(group.mapped.is_some(), group.first < newest, "from {}", group.first);
            if group.mapped.is_some() {
                group.check();
            }
        }
    }
}

#[test]
fn two_readers_look_at_the_same_bytes_and_one_checks_them() {
    let (_dir, writer) = log(options(1));
    let (segments, maps) = (writer.segments(), Maps::keeping(4));
    let once = read(&segments, 1, &maps).unwrap();
    let at = |groups: &[Read]| groups[0].mapped.as_ref().unwrap().as_ptr();
    assert_eq!(at(&once), at(&read(&segments, 1, &maps).unwrap()));
    let (offset, _) = middle_group(&segments);
    damage(&second_beginning(&segments).1, offset + 80_000);
    let mut reader = Reader::open_mapped(&segments, 1, &maps).unwrap();
    while reader.next_group().unwrap().is_some() {}

    // The next mapping is checked again.
    drop((once, reader, maps));
    let mut reader = Reader::open_mapped(&segments, 1, &Maps::keeping(4)).unwrap();
    let error = loop {
        match reader.next_group() {
            Ok(group) => assert!(group.is_some(), "the damage went unnoticed"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ReadError::Corrupt { offset: at, .. } if at == offset), "{error}");
}

#[test]
fn damage_is_reported_with_file_and_offset() {
    let (_dir, writer) = log(options(1));
    let segments = writer.segments();
    let (offset, seq) = middle_group(&segments);
    let (first, path) = second_beginning(&segments);
    damage(&path, offset + 80_000);
    let maps = Maps::keeping(4);
    let mut reader = Reader::open_mapped(&segments, first, &maps).unwrap();
    let error = loop {
        match reader.next_group() {
            Ok(group) => assert!(group.unwrap().last_seq() < seq),
            Err(error) => break error,
        }
    };
    match error {
        ReadError::Corrupt { file, offset: at, flaw: Flaw::BodyChecksum { .. } } => {
            assert_eq!((file, at), (path, offset));
        }
        error => panic!("{error}"),
    }
}

#[test]
fn a_truncated_mapped_file_is_damage_and_not_a_signal() {
    let (_dir, writer) = log(options(1));
    let (segments, maps) = (writer.segments(), Maps::keeping(4));
    let (first, path) = second_beginning(&segments);
    let mut reader = Reader::open_mapped(&segments, first, &maps).unwrap();
    assert!(reader.next_group().unwrap().unwrap().mapped().is_some());
    std::fs::File::options().write(true).open(&path).unwrap().set_len(2 << 20).unwrap();
    let error = loop {
        match reader.next_group() {
            Ok(group) => assert!(group.is_some(), "the cut went unnoticed"),
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, ReadError::Corrupt { file, .. } if *file == path), "{error}");
}

#[test]
fn records_outlive_the_segment_that_retention_deletes() {
    let (_dir, mut writer) = log(options(1));
    let (segments, maps) = (writer.segments(), Maps::keeping(4));
    let mut held = read(&segments, 1, &maps).unwrap();
    assert_eq!(maps.count(), 3);
    let retained = writer.retain_from(451).unwrap();
    assert_eq!((retained.removed.len(), retained.pinned), (3, None));
    assert!(retained.removed.iter().all(|path| !path.exists()));
    assert_eq!(maps.count(), 0, "what was deleted is kept for nobody");
    held.retain(|group| group.mapped.is_some());
    fill(&mut writer, 900);
    assert!(held.len() > 100);
    held.iter().for_each(Read::check);
}

#[test]
fn the_number_of_mapped_files_is_bounded() {
    let (_dir, writer) = log(options(1));
    let maps = Maps::keeping(2);
    let held = read(&writer.segments(), 1, &maps).unwrap();
    assert_eq!(maps.count(), 2);
    // The oldest mapping is there as long as its records are held, and is found again.
    let again = read(&writer.segments(), 1, &maps).unwrap();
    let at = |groups: &[Read]| groups[0].mapped.as_ref().unwrap().as_ptr();
    assert_eq!(at(&held), at(&again));
    drop((held, again));
    assert_eq!(read(&writer.segments(), 1, &Maps::keeping(0)).unwrap().len(), 150);
}

#[test]
fn sealed_groups_and_simulated_disks_are_read_without_a_mapping() {
    let keys = format!("1: {}", "ab".repeat(32));
    let keys = KeyRing::parse(&keys, "test").unwrap();
    for sealing in [
        Sealing { compression: Compression::Lz4, encryption: None },
        Sealing { compression: Compression::None, encryption: Some(Cipher::Aes128Gcm) },
    ] {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let options = Options { sealing, keys: keys.clone(), ..options(1) };
        let (mut writer, _) = open(Arc::new(RealDisk), dir.path(), options).unwrap();
        fill(&mut writer, 200);
        writer.close().unwrap();
        let options = Options { keys: keys.clone(), ..self::options(2) };
        let (writer, _) = open(Arc::new(RealDisk), dir.path(), options).unwrap();
        let maps = Maps::keeping(4);
        let groups = read(&writer.segments(), 1, &maps).unwrap();
        assert_eq!(groups.last().map(|group| group.last), Some(200));
        assert!(groups.iter().all(|group| group.mapped.is_none()), "{sealing:?}");
        assert_eq!(maps.count(), 0);
    }
    let (mut writer, _) = open(Arc::new(SimDisk::new(1)), Path::new("/log"), options(1)).unwrap();
    fill(&mut writer, 200);
    assert!(writer.segments().count() > 1);
    let groups = read(&writer.segments(), 1, &Maps::keeping(4)).unwrap();
    assert_eq!(groups.last().map(|group| group.last), Some(200));
    assert!(groups.iter().all(|group| group.mapped.is_none()));
}

#[test]
fn a_log_that_is_cut_back_leaves_finished_files_as_they_are() {
    let (dir, writer) = log(options(1));
    let segments = writer.segments();
    let (first, path) = second_beginning(&segments);
    let held = read(&segments, 1, &Maps::keeping(4)).unwrap();
    writer.close().unwrap();
    let mut recovered = recover(Arc::new(RealDisk), dir.path(), options(2)).unwrap();
    recovered.truncate_after(first).unwrap();
    let (mut writer, _) = recovered.start().unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), SEGMENT_BYTES);
    held.iter().filter(|group| group.mapped.is_some()).for_each(Read::check);

    fill(&mut writer, 300);
    let groups = read(&writer.segments(), 1, &Maps::keeping(4)).unwrap();
    assert_eq!(groups.last().map(|group| group.last), Some(300));
    writer.close().unwrap();
    let (writer, report) = open(Arc::new(RealDisk), dir.path(), options(3)).unwrap();
    assert_eq!((report.last_seq, report.cut), (300, None));
    assert_eq!(rialto_log::verify(&writer.segments()).unwrap().records, 300);
}
