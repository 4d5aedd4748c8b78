//! Grouped syncs: what they make durable, and how they fail.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use rialto_disk::{Access, Disk, Faults, File, GroupedSync, RealDisk, SimDisk};
use std::path::{Path, PathBuf};

const FILES: usize = 5;
const SEEDS: u64 = 200;

/// Files of a depot: spread over two directories, written and not synced.
struct Written {
    disk: SimDisk,
    group: Box<dyn GroupedSync>,
    files: Vec<Box<dyn File>>,
}

fn dir(nth: usize) -> PathBuf {
    Path::new("/data").join((nth % 2).to_string())
}

fn path(nth: usize) -> PathBuf {
    dir(nth).join(format!("file-{nth}"))
}

fn content(nth: usize) -> Vec<u8> {
    vec![nth as u8 + 1; 1500]
}

fn write(disk: &SimDisk, nth: usize) -> Box<dyn File> {
    let file = disk.create(&path(nth), Access::Buffered).unwrap();
    file.write_all_at(0, &content(nth)).unwrap();
    file
}

fn written(seed: u64) -> Written {
    let disk = SimDisk::new(seed);
    (0..2).for_each(|nth| disk.create_dir_all(&dir(nth)).unwrap());
    let group = disk.grouped_sync(Path::new("/data")).unwrap();
    let files = (0..FILES).map(|nth| write(&disk, nth)).collect();
    Written { disk, group, files }
}

fn is_whole(disk: &SimDisk, nth: usize) -> bool {
    disk.bytes_of(&path(nth)) == Some(content(nth))
}

fn whole(disk: &SimDisk) -> usize {
    (0..FILES).filter(|nth| is_whole(disk, *nth)).count()
}

/// What a caller must do after a grouped sync failed. Returns the files whose own sync failed.
fn sync_one_by_one(written: &Written) -> Vec<usize> {
    let failed = (0..FILES).filter(|nth| written.files[*nth].sync_data().is_err()).collect();
    (0..2).for_each(|nth| written.disk.sync_dir(&dir(nth)).unwrap());
    failed
}

#[test]
fn bytes_and_names_survive_every_crash_after_a_grouped_sync() {
    for seed in 0..SEEDS {
        let Written { disk, mut group, .. } = written(seed);
        group.sync().unwrap();
        disk.crash();
        assert_eq!(whole(&disk), FILES, "seed {seed}");
    }
}

#[test]
fn removals_of_files_and_directories_survive_every_crash_after_a_grouped_sync() {
    for seed in 0..SEEDS {
        let Written { disk, mut group, .. } = written(seed);
        group.sync().unwrap();
        (0..FILES).for_each(|nth| disk.remove(&path(nth)).unwrap());
        (0..2).for_each(|nth| disk.remove_dir(&dir(nth)).unwrap());
        group.sync().unwrap();
        disk.crash();
        assert!(disk.paths().is_empty(), "seed {seed}");
        assert_eq!(disk.list_dirs(Path::new("/data")).unwrap(), [""; 0], "seed {seed}");
    }
}

#[test]
fn after_a_failed_grouped_sync_only_the_damaged_file_fails_and_the_others_are_saved() {
    let mut damaged = std::collections::BTreeSet::new();
    let mut is_lost = false;
    for seed in 0..SEEDS {
        let mut written = written(seed);
        written.disk.fail_sync(1);
        let error = written.group.sync().unwrap_err();
        assert!(error.to_string().starts_with("cannot sync the file system of /data"), "{error}");
        let failed = sync_one_by_one(&written);
        assert_eq!(failed.len(), 1, "seed {seed}");
        written.disk.crash();
        let others = (0..FILES).filter(|nth| *nth != failed[0]);
        assert!(others.into_iter().all(|nth| is_whole(&written.disk, nth)), "seed {seed}");
        is_lost |= !is_whole(&written.disk, failed[0]);
        damaged.insert(failed[0]);
    }
    assert_eq!(damaged.len(), FILES, "every file is damaged under some seed");
    assert!(is_lost);
}

#[test]
fn a_failed_grouped_sync_saves_nothing_by_itself() {
    let lost = |seed| {
        let Written { disk, mut group, .. } = written(seed);
        disk.fail_sync(1);
        group.sync().unwrap_err();
        disk.crash();
        FILES - whole(&disk)
    };
    assert!((0..SEEDS).any(|seed| lost(seed) == FILES));
}

#[test]
fn repeating_a_failed_grouped_sync_succeeds_and_loses_the_damaged_file() {
    let mut lost = 0;
    for seed in 0..SEEDS {
        let Written { disk, mut group, .. } = written(seed);
        disk.fail_sync(1);
        group.sync().unwrap_err();
        group.sync().unwrap();
        disk.crash();
        let kept = whole(&disk);
        assert!(kept >= FILES - 1, "seed {seed}: {kept} kept");
        lost += FILES - kept;
    }
    assert!(lost > 0);
}

#[test]
fn the_damaged_file_fails_once_through_each_handle_that_was_open() {
    let mut found = 0;
    for seed in 0..SEEDS {
        let mut written = written(seed);
        let second = written.disk.open(&path(0), Access::Buffered).unwrap();
        written.disk.fail_sync(1);
        written.group.sync().unwrap_err();
        if sync_one_by_one(&written) == [0] {
            found += 1;
            second.sync_data().unwrap_err();
            second.sync_data().unwrap();
            written.files[0].sync_data().unwrap();
            let late = written.disk.open(&path(0), Access::Buffered).unwrap();
            late.sync_data().unwrap();
        }
    }
    assert!(found > 0);
}

#[test]
fn a_handle_opened_after_the_failure_reports_it_only_if_no_other_has() {
    let mut written = written(3);
    written.disk.fail_sync(1);
    written.group.sync().unwrap_err();
    let reopened = |nth| written.disk.open(&path(nth), Access::Buffered).unwrap();
    let failures = || (0..FILES).filter(|nth| reopened(*nth).sync_data().is_err()).count();
    assert_eq!([failures(), failures()], [1, 0]);
}

#[test]
fn each_grouped_sync_reports_an_error_once_unless_it_is_younger() {
    let mut written = written(1);
    let mut other = written.disk.grouped_sync(Path::new("/data/0")).unwrap();
    written.disk.fail_sync(1);
    written.group.sync().unwrap_err();
    let mut younger = written.disk.grouped_sync(Path::new("/data")).unwrap();
    other.sync().unwrap_err();
    younger.sync().unwrap();
    other.sync().unwrap();
    written.group.sync().unwrap();
}

#[test]
fn an_error_that_a_single_sync_met_fails_the_next_grouped_one_without_more_damage() {
    let mut written = written(1);
    written.disk.fail_sync(1);
    written.files[0].sync_data().unwrap_err();
    written.group.sync().unwrap_err();
    assert_eq!(sync_one_by_one(&written), [0; 0]);
    written.group.sync().unwrap();
}

#[test]
fn a_synchronous_write_to_the_damaged_file_fails_once() {
    let disk = SimDisk::new(1);
    let mut group = disk.grouped_sync(Path::new("/")).unwrap();
    let file = disk.create(Path::new("/a"), Access::DirectSync).unwrap();
    file.set_len(4096).unwrap();
    disk.fail_sync(1);
    group.sync().unwrap_err();
    let block = rialto_disk::AlignedBuf::zeroed(4096);
    file.write_all_at(0, &block).unwrap_err();
    file.write_all_at(0, &block).unwrap();
}

#[test]
fn with_nothing_unsynced_a_grouped_sync_fails_without_damage() {
    let mut written = written(1);
    written.group.sync().unwrap();
    written.disk.fail_sync(1);
    written.group.sync().unwrap_err();
    assert_eq!(sync_one_by_one(&written), [0; 0]);
    written.disk.crash();
    assert_eq!(whole(&written.disk), FILES);
}

#[test]
fn standing_faults_fail_grouped_syncs_and_make_them_lie() {
    let mut written = written(1);
    written.disk.set_faults(Faults { sync_error_per_mille: 1000, ..Faults::default() });
    written.group.sync().unwrap_err();
    written.disk.set_faults(Faults { lying_sync_per_mille: 1000, ..Faults::default() });
    written.group.sync().unwrap();
    assert_eq!(written.disk.lies_told(), 1);
    written.disk.set_faults(Faults { read_only: true, ..Faults::default() });
    written.group.sync().unwrap_err();
}

#[test]
fn a_lying_grouped_sync_loses_what_it_promised() {
    let lost = |seed| {
        let Written { disk, mut group, .. } = written(seed);
        disk.lie_at_sync(1);
        group.sync().unwrap();
        assert_eq!(disk.lies_told(), 1);
        disk.crash();
        FILES - whole(&disk)
    };
    assert!((0..SEEDS).any(|seed| lost(seed) == FILES));
}

#[test]
fn a_crash_in_the_middle_leaves_some_files_durable() {
    let mut kept = std::collections::BTreeSet::new();
    for seed in 0..SEEDS {
        let Written { disk, mut group, files } = written(seed);
        let before = disk.operations();
        disk.crash_after(0);
        assert!(group.sync().unwrap_err().is_crash());
        assert_eq!(disk.operations(), before + 1, "a grouped sync is a changing operation");
        disk.restart();
        assert!(group.sync().unwrap_err().is_crash(), "an old grouped sync stays dead");
        assert!(files[0].sync_data().unwrap_err().is_crash());
        kept.insert(whole(&disk));
    }
    assert!(kept.len() >= FILES, "{kept:?}");
}

#[test]
fn a_grouped_sync_hangs_on_command() {
    let Written { disk, mut group, .. } = written(1);
    let (sender, hung) = std::sync::mpsc::channel();
    disk.hang(Path::new("/data"), 1, move || sender.send(()).unwrap());
    group.sync().unwrap();
    hung.try_recv().unwrap();
}

#[test]
fn a_missing_directory_has_no_grouped_sync() {
    let missing = SimDisk::new(1).grouped_sync(Path::new("/missing")).err().unwrap();
    assert!(missing.is_not_found());
    let missing = RealDisk::new().grouped_sync(Path::new("/no such directory")).err().unwrap();
    assert!(missing.is_not_found());
}

#[test]
fn the_real_disk_syncs_a_group_or_says_that_it_cannot() {
    let dir = tempfile::tempdir().unwrap();
    let disk = RealDisk::new();
    let mut group = match disk.grouped_sync(dir.path()) {
        Ok(group) => group,
        Err(error) => return assert!(error.is_unsupported(), "{error}"),
    };
    for nth in 0..3 {
        let file = disk.create(&dir.path().join(nth.to_string()), Access::Buffered).unwrap();
        file.write_all_at(0, b"content").unwrap();
    }
    group.sync().unwrap();
    group.sync().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn the_real_disk_refuses_a_grouped_sync_that_would_hide_errors() {
    // A file system without data of its own, which no list of supported ones contains.
    let error = RealDisk::new().grouped_sync(Path::new("/proc")).err().unwrap();
    assert!(error.is_unsupported(), "{error}");
    assert!(error.to_string().ends_with("sync each file by itself"), "{error}");
}
