//! What the simulated disk keeps, loses and breaks.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_disk::{Access, AlignedBuf, BLOCK_BYTES, Disk, Faults, SimDisk};
use std::path::Path;

const DIR: &str = "/data";

fn disk(seed: u64) -> SimDisk {
    let disk = SimDisk::new(seed);
    disk.create_dir_all(Path::new(DIR)).unwrap();
    disk
}

fn path(name: &str) -> std::path::PathBuf {
    Path::new(DIR).join(name)
}

fn filled(byte: u8, blocks: usize) -> AlignedBuf {
    let mut buf = AlignedBuf::zeroed(blocks * BLOCK_BYTES);
    buf.fill(byte);
    buf
}

/// A disk with one durable file of two blocks of ones.
fn with_file(seed: u64) -> SimDisk {
    let disk = disk(seed);
    let file = disk.create(&path("a"), Access::DirectSync).unwrap();
    file.write_all_at(0, &filled(1, 2)).unwrap();
    disk.sync_dir(Path::new(DIR)).unwrap();
    disk
}

#[test]
fn synced_bytes_and_names_survive_every_crash() {
    for seed in 0..200 {
        let disk = with_file(seed);
        disk.crash();
        assert_eq!(disk.bytes_of(&path("a")), Some(vec![1; 2 * BLOCK_BYTES]), "seed {seed}");
    }
}

#[test]
fn unsynced_sectors_are_old_or_new_and_every_outcome_occurs() {
    let (mut lost, mut kept, mut torn) = (0, 0, 0);
    for seed in 0..300 {
        let disk = with_file(seed);
        let file = disk.open(&path("a"), Access::Direct).unwrap();
        file.write_all_at(0, &filled(2, 2)).unwrap();
        disk.crash();
        let bytes = disk.bytes_of(&path("a")).unwrap();
        for sector in bytes.chunks(512) {
            assert!(sector.iter().all(|byte| *byte == sector[0]), "seed {seed}");
        }
        let new = bytes.iter().filter(|byte| **byte == 2).count();
        match new {
            0 => lost += 1,
            all if all == bytes.len() => kept += 1,
            _ => torn += 1,
        }
    }
    assert!(lost > 30 && kept > 30 && torn > 30, "{lost} lost, {kept} kept, {torn} torn");
}

#[test]
fn writes_reach_the_medium_out_of_order() {
    let reordered = (0..300).any(|seed| {
        let disk = with_file(seed);
        let file = disk.open(&path("a"), Access::Direct).unwrap();
        file.write_all_at(0, &filled(2, 1)).unwrap();
        file.write_all_at(BLOCK_BYTES as u64, &filled(2, 1)).unwrap();
        disk.crash();
        let bytes = disk.bytes_of(&path("a")).unwrap();
        bytes[0] == 1 && bytes[BLOCK_BYTES] == 2
    });
    assert!(reordered);
}

#[test]
fn a_new_name_needs_the_directory_synced() {
    let outcomes: Vec<bool> = (0..100)
        .map(|seed| {
            let disk = disk(seed);
            let file = disk.create(&path("a"), Access::Buffered).unwrap();
            file.write_all_at(0, b"x").unwrap();
            file.sync_data().unwrap();
            disk.crash();
            disk.bytes_of(&path("a")).is_some()
        })
        .collect();
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
}

#[test]
fn a_rename_is_whole_or_absent() {
    for seed in 0..200 {
        let disk = with_file(seed);
        disk.rename(&path("a"), &path("b")).unwrap();
        disk.crash();
        assert_eq!(disk.list(Path::new(DIR)).unwrap().len(), 1, "seed {seed}");
    }
}

#[test]
fn the_operation_after_the_last_allowed_one_crashes_and_so_do_all_later() {
    let disk = with_file(3);
    let file = disk.open(&path("a"), Access::Direct).unwrap();
    disk.crash_after(1);
    file.write_all_at(0, &filled(2, 1)).unwrap();
    assert!(file.sync_data().unwrap_err().is_crash());
    assert!(disk.open(&path("a"), Access::Read).err().unwrap().is_crash());
    disk.restart();
    assert!(file.sync_data().unwrap_err().is_crash(), "an old handle stays dead");
    disk.open(&path("a"), Access::Read).unwrap();
}

#[test]
fn a_failed_sync_is_not_mended_by_the_next_one() {
    let lost = (0..100).any(|seed| {
        let disk = with_file(seed);
        let file = disk.open(&path("a"), Access::Direct).unwrap();
        file.write_all_at(0, &filled(2, 1)).unwrap();
        disk.fail_sync(1);
        assert!(file.sync_data().is_err());
        file.sync_data().unwrap();
        disk.crash();
        disk.bytes_of(&path("a")).unwrap()[0] == 1
    });
    assert!(lost);
}

#[test]
fn a_lying_sync_loses_what_it_promised() {
    let lost = (0..100).any(|seed| {
        let disk = with_file(seed);
        let file = disk.open(&path("a"), Access::DirectSync).unwrap();
        disk.lie_at_sync(1);
        file.write_all_at(0, &filled(2, 1)).unwrap();
        assert_eq!(disk.lies_told(), 1);
        disk.crash();
        disk.bytes_of(&path("a")).unwrap()[0] == 1
    });
    assert!(lost);
}

#[test]
fn a_full_disk_refuses_growth_and_allows_overwriting() {
    let disk = with_file(1);
    disk.set_faults(Faults { capacity_bytes: Some(2 * BLOCK_BYTES as u64), ..Faults::default() });
    let file = disk.open(&path("a"), Access::Direct).unwrap();
    file.write_all_at(0, &filled(2, 2)).unwrap();
    let full = file.write_all_at(2 * BLOCK_BYTES as u64, &filled(2, 1)).unwrap_err();
    assert!(full.is_out_of_space(), "{full}");
    let full = file.reserve(3 * BLOCK_BYTES as u64).unwrap_err();
    assert!(full.is_out_of_space(), "{full}");
    assert_eq!(disk.free_bytes(Path::new(DIR)).unwrap(), 0);
}

#[test]
fn errors_strike_the_nth_operation_only() {
    let disk = with_file(1);
    let file = disk.open(&path("a"), Access::Direct).unwrap();
    disk.fail_write(2);
    file.write_all_at(0, &filled(2, 1)).unwrap();
    assert!(file.write_all_at(0, &filled(2, 1)).is_err());
    file.write_all_at(0, &filled(2, 1)).unwrap();
    disk.fail_read(1);
    assert!(file.read_full_at(0, &mut filled(0, 1)).is_err());
    file.read_full_at(0, &mut filled(0, 1)).unwrap();
}

#[test]
fn short_writes_are_continued() {
    let disk = with_file(5);
    disk.set_faults(Faults { short_write_per_mille: 500, ..Faults::default() });
    let file = disk.open(&path("a"), Access::Buffered).unwrap();
    file.write_all_at(0, &filled(2, 2)).unwrap();
    assert_eq!(disk.bytes_of(&path("a")), Some(vec![2; 2 * BLOCK_BYTES]));
}

#[test]
fn unaligned_direct_writes_are_refused() {
    let disk = with_file(1);
    let file = disk.open(&path("a"), Access::Direct).unwrap();
    assert!(file.write_at(512, &filled(2, 1)).is_err());
    assert!(file.write_at(0, &filled(2, 1)[..100]).is_err());
}

#[test]
fn refused_direct_access_is_reported() {
    let disk = with_file(1);
    disk.set_faults(Faults { direct_refused: true, ..Faults::default() });
    let file = disk.open(&path("a"), Access::DirectSync).unwrap();
    assert_eq!(file.mode(), rialto_disk::IoMode::Buffered);
}

#[test]
fn a_read_only_disk_refuses_every_change() {
    let disk = with_file(1);
    disk.set_faults(Faults { read_only: true, ..Faults::default() });
    assert!(disk.create(&path("b"), Access::Buffered).is_err());
    assert!(disk.remove(&path("a")).is_err());
    assert!(disk.open(&path("a"), Access::Buffered).unwrap().write_at(0, b"x").is_err());
}

#[test]
fn stale_bytes_show_where_a_new_file_was_not_stored() {
    let stale = (0..300).any(|seed| {
        let disk = with_file(seed);
        disk.set_faults(Faults { stale_bytes: true, ..Faults::default() });
        disk.remove(&path("a")).unwrap();
        let file = disk.create(&path("b"), Access::Direct).unwrap();
        disk.sync_dir(Path::new(DIR)).unwrap();
        file.write_all_at(0, &filled(2, 2)).unwrap();
        disk.crash();
        let bytes = disk.bytes_of(&path("b")).unwrap();
        bytes.contains(&1)
    });
    assert!(stale);
}

#[test]
fn a_killed_process_leaves_its_writes_and_drops_its_locks() {
    let disk = with_file(1);
    let _lock = disk.lock(Path::new(DIR)).unwrap();
    let file = disk.open(&path("a"), Access::Direct).unwrap();
    file.write_all_at(0, &filled(2, 1)).unwrap();
    disk.kill();
    assert_eq!(disk.bytes_of(&path("a")).unwrap()[0], 2);
    disk.lock(Path::new(DIR)).unwrap();
    assert!(disk.flip_bit(&path("a"), 0, 0));
    assert_eq!(disk.bytes_of(&path("a")).unwrap()[0], 3);
}

#[test]
fn the_same_seed_gives_the_same_crash() {
    let run = || {
        let disk = with_file(99);
        let file = disk.open(&path("a"), Access::Direct).unwrap();
        for round in 0..10 {
            file.write_all_at(0, &filled(round, 2)).unwrap();
        }
        disk.crash();
        disk.bytes_of(&path("a"))
    };
    assert_eq!(run(), run());
}

#[test]
fn a_misdirected_write_reports_success_and_lands_elsewhere() {
    let disk = with_file(1);
    let file = disk.open(&path("a"), Access::Direct).unwrap();
    let mut wrong = 0;
    for round in 2..20 {
        disk.misdirect_write(2);
        file.write_all_at(0, &filled(round, 1)).unwrap();
        file.write_all_at(0, &filled(round + 100, 1)).unwrap();
        let bytes = disk.bytes_of(&path("a")).unwrap();
        let landed = bytes.iter().position(|byte| *byte == round + 100).unwrap();
        assert!([0, BLOCK_BYTES].contains(&landed));
        wrong += u64::from(landed != 0);
    }
    assert!(wrong > 0 && disk.misdirected() == wrong, "{wrong}");
}

#[test]
fn a_stale_read_sees_the_file_before_the_last_write_once() {
    let disk = with_file(1);
    let file = disk.open(&path("a"), Access::Direct).unwrap();
    file.write_all_at(BLOCK_BYTES as u64, &filled(2, 1)).unwrap();
    let mut read = filled(0, 2);
    disk.stale_read(1);
    file.read_full_at(0, &mut read).unwrap();
    assert_eq!((read[0], read[BLOCK_BYTES]), (1, 1));
    file.read_full_at(0, &mut read).unwrap();
    assert_eq!((read[0], read[BLOCK_BYTES]), (1, 2));
    assert_eq!(disk.stale_reads(), 1);
}

#[test]
fn an_operation_that_hangs_waits_and_others_do_not() {
    let disk = with_file(1);
    let others = disk.clone();
    let file = disk.open(&path("a"), Access::Direct).unwrap();
    disk.hang(&path("a"), 2, move || {
        assert_eq!(others.bytes_of(&path("a")).unwrap()[0], 2, "the second write has not begun");
    });
    file.write_all_at(0, &filled(2, 1)).unwrap();
    file.write_all_at(0, &filled(3, 1)).unwrap();
    assert_eq!(disk.bytes_of(&path("a")).unwrap()[0], 3);
}
