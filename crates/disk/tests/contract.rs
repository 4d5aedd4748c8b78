//! The contract of a disk, checked on both implementations.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_disk::{Access, AlignedBuf, BLOCK_BYTES, Disk, DiskError, IoMode, RealDisk, SimDisk};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn on_both(check: impl Fn(&dyn Disk, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    check(&RealDisk::new(), dir.path());
    let disk = SimDisk::new(1);
    disk.create_dir_all(Path::new("/data")).unwrap();
    check(&disk, Path::new("/data"));
}

#[test]
fn written_data_is_read_back_in_every_mode() {
    on_both(|disk, dir| {
        for (name, access) in
            [("b", Access::Buffered), ("d", Access::Direct), ("s", Access::DirectSync)]
        {
            let path = dir.join(name);
            let file = disk.create(&path, access).unwrap();
            let mut block = AlignedBuf::zeroed(2 * BLOCK_BYTES);
            block[BLOCK_BYTES] = 7;
            file.write_all_at(BLOCK_BYTES as u64, &block).unwrap();
            file.sync_data().unwrap();
            assert_eq!(file.len().unwrap(), 3 * BLOCK_BYTES as u64);

            let reader = disk.open(&path, Access::Read).unwrap();
            let mut bytes = vec![1; 4 * BLOCK_BYTES];
            assert_eq!(reader.read_full_at(0, &mut bytes).unwrap(), 3 * BLOCK_BYTES);
            assert_eq!(bytes[2 * BLOCK_BYTES], 7);
            assert_eq!(bytes[2 * BLOCK_BYTES - 1], 0);
        }
    });
}

#[test]
fn creating_twice_opening_nothing_and_removing_nothing_name_the_path() {
    on_both(|disk, dir| {
        let path = dir.join("a");
        let missing = disk.open(&path, Access::Read).err().unwrap();
        assert!(missing.is_not_found());
        assert!(missing.to_string().contains(path.to_str().unwrap()), "{missing}");
        disk.create(&path, Access::DirectSync).unwrap();
        assert!(disk.create(&path, Access::DirectSync).is_err());
        assert!(disk.remove(&dir.join("b")).err().unwrap().is_not_found());
    });
}

#[test]
fn renaming_and_removing_show_in_the_list() {
    on_both(|disk, dir| {
        disk.create(&dir.join("a"), Access::Buffered).unwrap();
        disk.create(&dir.join("b"), Access::Buffered).unwrap();
        disk.rename(&dir.join("a"), &dir.join("c")).unwrap();
        disk.sync_dir(dir).unwrap();
        assert_eq!(disk.list(dir).unwrap(), ["b", "c"]);
        disk.remove(&dir.join("b")).unwrap();
        assert_eq!(disk.list(dir).unwrap(), ["c"]);
    });
}

#[test]
fn a_directory_is_locked_once_and_the_refusal_names_the_holder() {
    on_both(|disk, dir| {
        let lock = disk.lock(dir).unwrap();
        match disk.lock(dir) {
            Err(DiskError::Locked { holder, .. }) => assert_eq!(holder, Some(std::process::id())),
            _ => panic!("the second lock must be refused"),
        }
        drop(lock);
        disk.lock(dir).unwrap();
    });
}

#[test]
fn set_len_cuts_and_extends_with_zeros() {
    on_both(|disk, dir| {
        let file = disk.create(&dir.join("a"), Access::Buffered).unwrap();
        file.write_all_at(0, &[5; 10]).unwrap();
        file.set_len(4).unwrap();
        file.set_len(8).unwrap();
        let mut bytes = [9; 8];
        assert_eq!(file.read_full_at(0, &mut bytes).unwrap(), 8);
        assert_eq!(bytes, [5, 5, 5, 5, 0, 0, 0, 0]);
    });
}

#[test]
fn a_nested_directory_is_created_whole() {
    on_both(|disk, dir| {
        let nested = dir.join("x").join("y");
        disk.create_dir_all(&nested).unwrap();
        disk.create(&nested.join("a"), Access::Buffered).unwrap();
        assert_eq!(disk.list(&nested).unwrap(), ["a"]);
        assert!(disk.free_bytes(&nested).unwrap() > 0);
    });
}

#[test]
fn the_real_disk_reports_its_mode_of_writing() {
    let dir = tempfile::tempdir().unwrap();
    let file = RealDisk::new().create(&dir.path().join("a"), Access::DirectSync).unwrap();
    let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
    block[0] = 1;
    // Whichever mode the file system allows, the write must go through as it is.
    file.write_all_at(0, &block).unwrap();
    assert!(matches!(file.mode(), IoMode::DirectSync | IoMode::Buffered));
}

#[test]
fn reserved_space_reads_as_zeros_and_is_written_like_any_other() {
    on_both(|disk, dir| {
        let path = dir.join("a");
        let file = disk.create(&path, Access::Direct).unwrap();
        let bytes = 3 * BLOCK_BYTES;
        if !file.reserve(bytes as u64).unwrap() {
            // Not every file system can.
            assert!(file.is_empty().unwrap());
            return;
        }
        let mut block = AlignedBuf::zeroed(BLOCK_BYTES);
        block.fill(7);
        file.write_all_at(BLOCK_BYTES as u64, &block).unwrap();
        file.sync_data().unwrap();
        assert_eq!(file.len().unwrap(), bytes as u64);
        let mut read = vec![1; bytes];
        let reader = disk.open(&path, Access::Read).unwrap();
        assert_eq!(reader.read_full_at(0, &mut read).unwrap(), bytes);
        let parts: Vec<_> = read.chunks(BLOCK_BYTES).map(|part| (part[0], part[4095])).collect();
        assert_eq!(parts, [(0, 0), (7, 7), (0, 0)]);
    });
}

#[test]
fn directories_are_accessible_by_their_owner_only() {
    let dir = tempfile::tempdir().unwrap();
    RealDisk::new().create_dir_all(&dir.path().join("data/journal")).unwrap();
    for made in ["data", "data/journal"] {
        let mode = std::fs::metadata(dir.path().join(made)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{made}");
    }
}
