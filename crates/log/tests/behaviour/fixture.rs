//! Logs that were written by version 1 of the format open for ever.
//!
//! `RIALTO_BLESS=1 cargo test -p rialto-log --test behaviour the_same_calls` writes the files again; that is
//! right only for a new version of the format beside the old one.

use rialto_disk::{Disk, SimDisk};
use rialto_log::{
    Commit, Group, KeyRing, Options, Reader, Statistics, Verify, inspect, open, verify,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DIR: &str = "/log";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1")
}

fn record(seq: u64) -> Vec<u8> {
    format!("record {seq} {}", "x".repeat(seq as usize * 7)).into_bytes()
}

/// Two epochs, a lost tail between them, and a closed end.
fn write_log() -> SimDisk {
    let disk = SimDisk::new(1);
    for epoch in 1..=2 {
        let options =
            Options { segment_bytes: 20 << 10, rules_version: 7, ..Options::new([epoch; 16]) };
        let (mut writer, _) = open(Arc::new(disk.clone()), Path::new(DIR), options).unwrap();
        let mut group = Group::new(4096);
        for _ in 0..2 {
            group.begin(writer.next_seq());
            group.set_caller([epoch + 100; rialto_log::CALLER_BYTES]);
            for _ in 0..3 {
                group.append(&record(group.next_seq())).unwrap();
            }
            writer.write(&mut group, Commit::Synced).unwrap();
        }
        if epoch == 2 {
            writer.close().unwrap();
        }
        disk.kill();
    }
    disk
}

fn files(disk: &SimDisk) -> Vec<(String, Vec<u8>)> {
    let names = disk.list(Path::new(DIR)).unwrap();
    names
        .into_iter()
        .map(|name| {
            let bytes = disk.bytes_of(&Path::new(DIR).join(&name)).unwrap();
            (name, bytes)
        })
        .collect()
}

fn stored_fixture() -> SimDisk {
    let disk = SimDisk::new(1);
    disk.create_dir_all(Path::new(DIR)).unwrap();
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        disk.put_bytes(&Path::new(DIR).join(name), std::fs::read(&path).unwrap());
    }
    disk
}

#[test]
fn the_same_calls_still_write_the_same_bytes() {
    let written = files(&write_log());
    if std::env::var_os("RIALTO_BLESS").is_some() {
        for (name, bytes) in &written {
            std::fs::write(fixtures().join(name), bytes).unwrap();
        }
    }
    for ((name, bytes), (stored_name, stored)) in written.iter().zip(files(&stored_fixture())) {
        assert_eq!(*name, stored_name);
        let differs = bytes.iter().zip(&stored).position(|(new, old)| new != old);
        assert_eq!((differs, bytes.len()), (None, stored.len()), "{name}");
    }
    assert_eq!(written.len(), files(&stored_fixture()).len());
}

#[test]
fn version_1_is_read() {
    let disk = Arc::new(stored_fixture());
    let (segments, report) =
        inspect(disk, Path::new(DIR), Verify::Whole, &KeyRing::empty()).unwrap();
    assert_eq!((report.first_seq, report.last_seq, report.epoch), (1, 12, 2));
    let counted = verify(&segments).unwrap();
    let expected = Statistics {
        first_seq: 1,
        last_seq: 12,
        segments: 2,
        groups: 4,
        records: 12,
        record_bytes: (1..=12).map(|seq| record(seq).len() as u64).sum(),
    };
    assert_eq!(counted, expected);

    let mut reader = Reader::open(&segments, 5).unwrap();
    let group = reader.next_group().unwrap().unwrap();
    let records: Vec<_> = group.records().map(|(seq, bytes)| (seq, bytes.to_vec())).collect();
    assert_eq!(records, [(5, record(5)), (6, record(6))]);
    assert_eq!((group.epoch(), group.caller()[0]), (1, 101));
    assert_eq!(segments.rules_version_of(12), Some(7));
}

#[test]
fn version_1_is_continued() {
    let disk = Arc::new(stored_fixture());
    let options = Options { segment_bytes: 20 << 10, ..Options::new([9; 16]) };
    let (mut writer, _) = open(disk, Path::new(DIR), options).unwrap();
    let mut group = Group::new(4096);
    group.begin(writer.next_seq());
    group.append(&record(13)).unwrap();
    let position = writer.write(&mut group, Commit::Synced).unwrap();
    assert_eq!((position.epoch, position.seq), (3, 13));
    assert_eq!(verify(&writer.segments()).unwrap().records, 13);
}
