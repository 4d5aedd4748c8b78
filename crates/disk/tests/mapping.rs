//! What a mapped file promises: the system does its part of `File::map`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(target_os = "linux")]

use rialto_disk::{Access, Disk, Mapping, RealDisk, SimDisk};
use std::path::Path;

const BYTES: usize = 100_000;

fn pattern() -> Vec<u8> {
    (0..BYTES).map(|at| (at % 251) as u8).collect()
}

fn map(disk: &dyn Disk, path: &Path) -> Option<Mapping> {
    let file = disk.open(path, Access::Read).unwrap();
    // SAFETY: no test writes to the file or cuts it once it is mapped.
    unsafe { file.map() }
}

fn mapped(path: &Path) -> Mapping {
    std::fs::write(path, pattern()).unwrap();
    map(&RealDisk, path).unwrap()
}

#[test]
fn a_mapping_holds_the_bytes_of_the_file() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mapping = mapped(&dir.path().join("a"));
    assert!(mapping.fetch(0..BYTES));
    assert!(*mapping == pattern()[..]);
}

#[test]
fn a_mapping_outlives_the_handle_and_the_name_of_its_file() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (first, second) = (dir.path().join("a"), dir.path().join("b"));
    let mapping = mapped(&first);
    RealDisk.rename(&first, &second).unwrap();
    RealDisk.remove(&second).unwrap();
    let there = std::thread::spawn(move || mapping.fetch(0..BYTES) && *mapping == pattern()[..]);
    assert!(there.join().unwrap());
}

#[test]
fn bytes_beyond_the_file_are_not_prefetched() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mapping = mapped(&dir.path().join("a"));
    assert!(!mapping.fetch(0..BYTES + 1));
    assert!(!mapping.fetch(BYTES + 1..2 * BYTES));
    // It is only a hint, whatever it says.
    mapping.read_ahead(0..2 * BYTES);
    assert_eq!(mapping[BYTES - 1], pattern()[BYTES - 1]);
}

#[test]
fn a_simulated_disk_has_no_mappings() {
    let disk = SimDisk::new(1);
    disk.create_dir_all(Path::new("/data")).unwrap();
    let path = Path::new("/data/a");
    disk.create(path, Access::Buffered).unwrap();
    assert!(map(&disk, path).is_none());
}
