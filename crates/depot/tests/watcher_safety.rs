//! No file of a watched folder is lost, imported twice or read through a link.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;
mod watcher_stage;

use rialto_depot::{AfterImport, Depot, Level};
use rialto_disk::SimDisk;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use watcher_stage::{Stage, contents, names_in, paths, scan, status};

const SETTLE: Duration = Duration::from_millis(500);

#[test]
fn a_file_that_is_being_written_is_imported_when_it_is_whole() {
    let mut stage = Stage::new();
    stage.options.watcher.settle = SETTLE;
    let depot = stage.watching(|_| {});
    let mut file = std::fs::File::create(stage.path("a")).unwrap();
    file.write_all(b"first,").unwrap();
    for piece in ["second,", "third"] {
        assert_eq!((scan(&depot).imported, status(&depot).candidates), (0, 1));
        file.write_all(piece.as_bytes()).unwrap();
        stage.bench.clock.advance(SETTLE);
    }
    assert_eq!(scan(&depot).imported, 0, "it has changed since it was seen");
    stage.bench.clock.advance(SETTLE - Duration::from_nanos(1));
    assert_eq!(scan(&depot).imported, 0);
    stage.bench.clock.advance(Duration::from_nanos(1));
    assert_eq!(scan(&depot).imported, 1);
    assert_eq!(contents(&depot), [b"first,second,third"]);
}

#[test]
fn a_file_that_vanishes_while_it_settles_is_no_error() {
    let mut stage = Stage::new();
    stage.options.watcher.settle = SETTLE;
    let depot = stage.watching(|_| {});
    stage.write("a", "1");
    scan(&depot);
    std::fs::remove_file(stage.path("a")).unwrap();
    stage.bench.clock.advance(SETTLE);
    let report = scan(&depot);
    assert_eq!((report.imported, report.failed, report.pending), (0, 0, 0));
}

#[test]
fn a_source_whose_removal_did_not_happen_is_not_imported_again() {
    let stage = Stage::new();
    let aside = tempfile::tempdir_in(stage.bench.dir.path()).unwrap();
    let same = aside.path().join("same");
    let depot = stage.watching(|_| {});
    stage.write("a", "1");
    // Another name of the same inode, from which the source comes back, as after a kill or a loss of
    // power between import and removal.
    std::fs::hard_link(stage.path("a"), &same).unwrap();
    assert_eq!(scan(&depot).imported, 1);
    depot.close().unwrap();
    drop(depot);

    for is_completed in [false, true] {
        std::fs::hard_link(&same, stage.path("a")).unwrap();
        let depot = stage.open();
        let report = scan(&depot);
        assert_eq!((report.imported, report.repeats), (0, 1), "completed: {is_completed}");
        assert!(stage.names().is_empty());
        assert_eq!(contents(&depot).len(), usize::from(!is_completed));
        depot.close().unwrap();
    }
}

#[test]
fn a_removal_that_was_interrupted_is_ended() {
    let stage = Stage::new();
    let aside = tempfile::tempdir_in(stage.bench.dir.path()).unwrap();
    let same = aside.path().join("same");
    let depot = stage.watching(|_| {});
    stage.write("a", "1");
    std::fs::hard_link(stage.path("a"), &same).unwrap();
    scan(&depot);
    // The source was renamed, and not deleted.
    std::fs::hard_link(&same, stage.path(".rialto-done-a")).unwrap();
    assert_eq!((scan(&depot).repeats, stage.names().len()), (1, 0));
    // A file that was never imported has the name of one.
    stage.write(".rialto-done-b", "2");
    scan(&depot);
    assert_eq!(stage.names(), ["b"]);
    assert_eq!(scan(&depot).imported, 1);
    assert_eq!(contents(&depot), [b"1", b"2"]);
}

#[test]
fn a_source_that_cannot_be_removed_is_remembered_and_removed_later() {
    let stage = Stage::new();
    let done = tempfile::tempdir_in(stage.folder.path().parent().unwrap()).unwrap();
    // In the way of the folder that the source is to be moved to.
    std::fs::write(done.path().join("x"), "").unwrap();
    let depot = stage.watching(|spec| {
        spec.after = AfterImport::Move(done.path().to_owned());
        spec.recursive = true;
    });
    stage.write("x/a", "1");
    let report = scan(&depot);
    assert_eq!((report.imported, report.failed), (1, 1));
    assert!(status(&depot).last_error.unwrap().1.contains("cannot be removed"));
    assert_eq!(contents(&depot), [b"1"]);
    depot.close().unwrap();
    drop(depot);

    let depot = stage.open();
    let report = scan(&depot);
    assert_eq!((report.imported, report.failed, report.kept), (0, 1, 1));
    std::fs::remove_file(done.path().join("x")).unwrap();
    assert_eq!((scan(&depot).repeats, status(&depot).remembered), (1, 0));
    assert_eq!(names_in(&done.path().join("x")), ["a"]);
    assert!(contents(&depot).is_empty());
}

#[test]
fn a_source_is_removed_when_its_file_survives_a_loss_of_power_whatever_the_level() {
    for bytes in [10, 100_000] {
        let mut stage = Stage::new();
        let disk = SimDisk::new(7);
        stage.options.disk = Arc::new(disk.clone());
        stage.options.dir = "/pool".into();
        stage.options.first_volume = Some("/volume".into());
        stage.options.level = Level::Buffered;
        let depot = stage.watching(|_| {});
        stage.write("a", vec![7; bytes]);
        assert_eq!(scan(&depot).imported, 1);
        assert!(stage.names().is_empty());
        disk.crash();
        drop(depot);

        let depot = stage.open();
        assert!(contents(&depot) == [vec![7; bytes]], "{bytes} bytes");
    }
}

#[test]
fn links_and_pipes_are_never_followed() {
    let stage = Stage::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "secret").unwrap();
    let depot = stage.watching(|spec| spec.recursive = true);
    std::os::unix::fs::symlink(outside.path().join("secret"), stage.path("link")).unwrap();
    std::os::unix::fs::symlink(outside.path(), stage.path("folder")).unwrap();
    std::os::unix::fs::symlink("/nowhere", stage.path("broken")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(stage.path("pipe")).status().unwrap();
    assert!(pipe.success());
    let _socket = std::os::unix::net::UnixListener::bind(stage.path("socket")).unwrap();
    let report = scan(&depot);
    assert_eq!((report.imported, report.skipped, report.failed), (0, 5, 0));
    assert_eq!(stage.names().len(), 5);
    assert!(outside.path().join("secret").exists());
}

#[test]
fn a_file_that_becomes_a_link_while_it_settles_is_not_read() {
    let mut stage = Stage::new();
    stage.options.watcher.settle = SETTLE;
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("x")).unwrap();
    std::fs::write(outside.path().join("x/a"), "secret").unwrap();
    let depot = stage.watching(|spec| spec.recursive = true);
    stage.write("x/a", "1");
    stage.write("b", "2");
    scan(&depot);
    std::fs::remove_dir_all(stage.path("x")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("x"), stage.path("x")).unwrap();
    std::fs::remove_file(stage.path("b")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("x/a"), stage.path("b")).unwrap();
    stage.bench.clock.advance(SETTLE);
    assert_eq!(scan(&depot).imported, 0);
    assert!(outside.path().join("x/a").exists());
    assert!(paths(&depot, "acme").is_empty());
}

#[test]
fn a_folder_that_becomes_a_link_to_the_same_files_is_not_entered() {
    let mut stage = Stage::new();
    stage.options.watcher.settle = SETTLE;
    let outside = tempfile::tempdir_in(stage.folder.path().parent().unwrap()).unwrap();
    let depot = stage.watching(|spec| spec.recursive = true);
    stage.write("x/a", "1");
    scan(&depot);
    // The file is the same in every respect, but its path leads through a link.
    std::fs::rename(stage.path("x"), outside.path().join("x")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("x"), stage.path("x")).unwrap();
    stage.bench.clock.advance(SETTLE);
    assert_eq!(scan(&depot).imported, 0);
    assert_eq!(names_in(&outside.path().join("x")), ["a"]);
}

#[test]
fn names_that_the_pool_does_not_accept_stay_and_are_counted() {
    let stage = Stage::new();
    let depot = stage.watching(|spec| spec.recursive = true);
    let hostile: [&[u8]; 5] = [b"a\\b", b"a\nb", b"\xff\xfe", b"a\x7fb", b"\x1b[31m"];
    for name in hostile {
        let path = stage.folder.path().join(Path::new(OsStr::from_bytes(name)));
        std::fs::write(path, "x").unwrap();
    }
    std::fs::create_dir(stage.path("bad\\folder")).unwrap();
    stage.write("bad\\folder/a", "x");
    stage.write("good", "1");
    for imported in [1, 0] {
        let report = scan(&depot);
        assert_eq!((report.imported, report.refused_names, report.failed), (imported, 6, 0));
    }
    assert_eq!(stage.names().len(), 6);
}

#[test]
fn folders_deeper_than_directories_go_are_left_alone() {
    let stage = Stage::new();
    let depot = stage.watching(|spec| spec.recursive = true);
    let deep = vec!["d"; 17].join("/");
    stage.write(&format!("{deep}/a"), "1");
    stage.write("a", "1");
    let report = scan(&depot);
    assert_eq!((report.imported, report.refused_names), (1, 1));
    assert!(stage.path(&format!("{deep}/a")).exists());
}

#[test]
fn an_import_that_cannot_be_remembered_waits_and_nothing_is_imported_twice() {
    let mut stage = Stage::new();
    stage.options.watcher.remembered_max = 3;
    let depot = stage.watching(|spec| spec.after = AfterImport::Keep);
    (0..5).for_each(|nth| stage.write(&format!("{nth}"), "x"));
    let report = scan(&depot);
    assert_eq!((report.imported, report.pending), (3, 2));
    assert!(report.paused.unwrap().contains("which is the most"));
    assert_eq!(scan(&depot).imported, 0);
    let imported = paths(&depot, "acme");

    // A folder that looks empty, as one whose file system is not mounted does, forgets nothing.
    let away = stage.bench.dir.path().join("away");
    std::fs::create_dir(&away).unwrap();
    let names = stage.names();
    let carry = |from: &Path, to: &Path| {
        names.iter().for_each(|name| std::fs::rename(from.join(name), to.join(name)).unwrap());
    };
    carry(stage.folder.path(), &away);
    assert_eq!((scan(&depot).imported, status(&depot).remembered), (0, 3));
    carry(&away, stage.folder.path());
    assert_eq!(scan(&depot).imported, 0);

    // A source that is gone makes room for another.
    std::fs::remove_file(stage.path(&imported[0])).unwrap();
    scan(&depot);
    assert_eq!((scan(&depot).imported, status(&depot).remembered), (1, 3));
    assert_eq!(contents(&depot).len(), 4);
}

#[test]
fn a_pool_that_is_closed_stops_a_scan_and_keeps_the_sources() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    stage.write("a", "1");
    let other: Depot = depot.clone();
    other.close().unwrap();
    assert!(depot.scan_watch("in").is_err());
    assert_eq!(stage.names(), ["a"]);
}

/// A file that is deleted by its name may be another one by then.
#[test]
fn a_source_whose_name_leaves_no_room_to_rename_it_is_not_deleted() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    let name = "n".repeat(243);
    stage.write(&name, "x");
    for _ in 0..3 {
        scan(&depot);
    }
    assert_eq!(paths(&depot, "acme"), std::slice::from_ref(&name));
    assert_eq!(stage.names(), [name]);
    let (_, why) = status(&depot).last_error.expect("it is reported");
    assert!(why.contains("more than 242 bytes"), "{why}");
}
