//! Logs that were compressed and encrypted once open for ever.
//!
//! `RIALTO_BLESS=1 cargo test -p rialto-log --test behaviour sealed_fixture` writes the files again, which is
//! right only for a way of sealing that is new. The bytes are not compared with what is written
//! today: a newer library may compress otherwise.

use rialto_disk::{Disk, SimDisk};
use rialto_log::{
    Cipher, Commit, Compression, Group, KeyRing, Options, Reader, Sealing, Verify, inspect, open,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DIR: &str = "/log";

fn sealings() -> [(&'static str, Sealing); 4] {
    let sealing = |compression, encryption| Sealing { compression, encryption };
    let zstd = Compression::Zstd { level: 3 };
    let gzip = Compression::Gzip { level: 6 };
    [
        ("lz4", sealing(Compression::Lz4, None)),
        ("zstd-aes-128-gcm", sealing(zstd, Some(Cipher::Aes128Gcm))),
        ("gzip-aes-256-gcm", sealing(gzip, Some(Cipher::Aes256Gcm))),
        ("chacha20-poly1305", sealing(Compression::None, Some(Cipher::ChaCha20Poly1305))),
    ]
}

fn keys() -> KeyRing {
    let hex: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
    KeyRing::parse(&format!("3: {hex}"), "the fixture").unwrap()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sealed").join(name)
}

fn record(seq: u64) -> Vec<u8> {
    format!("record {seq} of a sealed log; ").repeat(8).into_bytes()
}

/// Two groups, the second of which cannot be compressed, and a closed end.
fn bless(name: &str, sealing: Sealing) {
    let disk = SimDisk::new(1);
    let options =
        Options { segment_bytes: 24 << 10, sealing, keys: keys(), ..Options::new([7; 16]) };
    let (mut writer, _) = open(Arc::new(disk.clone()), Path::new(DIR), options).unwrap();
    let mut group = Group::new(16 << 10);
    for records in [30, 1] {
        group.begin(writer.next_seq());
        group.set_caller([9; rialto_log::CALLER_BYTES]);
        for _ in 0..records {
            group.append(&record(group.next_seq())).unwrap();
        }
        writer.write(&mut group, Commit::Synced).unwrap();
    }
    writer.close().unwrap();
    std::fs::create_dir_all(folder(name)).unwrap();
    for file in disk.list(Path::new(DIR)).unwrap().iter().filter(|file| *file != "LOCK") {
        let bytes = disk.bytes_of(&Path::new(DIR).join(file)).unwrap();
        std::fs::write(folder(name).join(file), bytes).unwrap();
    }
}

#[test]
fn sealed_logs_of_version_1_are_read_and_continued() {
    for (name, sealing) in sealings() {
        if std::env::var_os("RIALTO_BLESS").is_some() {
            bless(name, sealing);
        }
        let disk = SimDisk::new(1);
        disk.create_dir_all(Path::new(DIR)).unwrap();
        for entry in std::fs::read_dir(folder(name)).unwrap() {
            let path = entry.unwrap().path();
            let file = Path::new(DIR).join(path.file_name().unwrap());
            disk.put_bytes(&file, std::fs::read(&path).unwrap());
        }
        let (segments, report) =
            inspect(Arc::new(disk.clone()), Path::new(DIR), Verify::Whole, &keys()).unwrap();
        assert_eq!((report.first_seq, report.last_seq, report.cut), (1, 31, None), "{name}");
        let mut reader = Reader::open(&segments, 1).unwrap();
        let mut next = 1;
        while let Some(group) = reader.next_group().unwrap() {
            assert_eq!(group.caller(), &[9; rialto_log::CALLER_BYTES]);
            for (seq, bytes) in group {
                assert_eq!((seq, bytes), (next, record(next).as_slice()), "{name}");
                next += 1;
            }
        }
        assert_eq!(next, 32, "{name}");

        let options = Options { segment_bytes: 24 << 10, keys: keys(), ..Options::new([8; 16]) };
        let (writer, _) = open(Arc::new(disk), Path::new(DIR), options).unwrap();
        assert_eq!(writer.next_seq(), 32, "{name}");
    }
}
