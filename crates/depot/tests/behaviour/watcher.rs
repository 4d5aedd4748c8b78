//! The files of a folder are imported as its watch says.

use crate::support::acme;
use crate::watcher_stage::{Stage, contents, names_in, paths, scan, status};
use rialto_depot::{
    AfterImport, DepotError, Directory, DirectoryKind, Level, Quota, WATCHES_MAX, WatchSpec,
    WatchState,
};
use std::time::Duration;

#[test]
fn files_are_imported_and_their_sources_deleted() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    stage.write("a.csv", "1,2");
    stage.write("b.csv", vec![7; 3_000_000]);
    stage.write("empty", "");
    let report = scan(&depot);
    assert_eq!((report.imported, report.pending, report.is_complete), (3, 0, true));
    assert!(stage.names().is_empty());
    assert_eq!(paths(&depot, "acme"), ["a.csv", "b.csv", "empty"]);
    assert!(contents(&depot) == [Vec::new(), vec![7; 3_000_000], b"1,2".to_vec()]);
    let status = status(&depot);
    assert_eq!((status.imported, status.imported_bytes), (3, 3_000_003));
    assert_eq!((status.state, status.remembered), (WatchState::Watching, 0));
    assert_eq!(status.last_scan, Some(stage.bench.now()));
}

#[test]
fn sources_are_moved_under_their_paths_and_replace_nothing() {
    let stage = Stage::new();
    let done = stage.path("done");
    std::fs::create_dir(&done).unwrap();
    let depot = stage.watching(|spec| {
        spec.after = AfterImport::Move(done.clone());
        spec.recursive = true;
    });
    stage.write("a", "1");
    stage.write("x/a", "2");
    assert_eq!(scan(&depot).imported, 2);
    stage.write("a", "3");
    assert_eq!(scan(&depot).imported, 1);
    assert_eq!(scan(&depot).imported, 0, "the folder that they are moved to is not watched");
    assert_eq!(contents(&depot), [b"1", b"2", b"3"]);
    assert_eq!(std::fs::read(done.join("a")).unwrap(), b"1");
    assert_eq!(std::fs::read(done.join("x/a")).unwrap(), b"2");
    let names = names_in(&done);
    assert!(names.len() == 3 && names[1].starts_with("a."), "{names:?}");
}

#[test]
fn a_file_that_is_kept_is_imported_once_and_again_when_it_changes() {
    let stage = Stage::new();
    let depot = stage.watching(|spec| spec.after = AfterImport::Keep);
    stage.write("a", "1");
    stage.write("b", "2");
    assert_eq!(scan(&depot).imported, 2);
    let again = scan(&depot);
    assert_eq!((again.imported, again.kept, again.repeats), (0, 2, 0));
    assert_eq!(contents(&depot), [b"1", b"2"]);
    depot.close().unwrap();
    drop(depot);

    let depot = stage.open();
    assert_eq!((scan(&depot).imported, status(&depot).remembered), (0, 2));
    stage.write("a", "changed");
    assert_eq!(scan(&depot).imported, 1);
    // The same length, and another time.
    stage.write("b", "3");
    stage.set_age("b", Duration::from_secs(5));
    assert_eq!(scan(&depot).imported, 1);
    assert_eq!(contents(&depot), [b"3".to_vec(), b"changed".to_vec()]);
    assert_eq!(stage.names(), ["a", "b"]);
}

#[test]
fn patterns_and_sizes_select_files() {
    let stage = Stage::new();
    let depot = stage.watching(|spec| {
        spec.include = vec!["*.csv".to_owned()];
        spec.exclude = vec!["old-*".to_owned()];
        (spec.bytes_min, spec.bytes_max) = (2, 4);
    });
    for (name, content) in
        [("a.csv", "ok"), ("a.txt", "ok"), ("old-1.csv", "ok"), ("b.csv", "x"), ("c.csv", "12345")]
    {
        stage.write(name, content);
    }
    let report = scan(&depot);
    assert_eq!((report.imported, report.skipped), (1, 4));
    assert_eq!(stage.names(), ["a.txt", "b.csv", "c.csv", "old-1.csv"]);
}

#[test]
fn folders_in_the_folder_are_directories_below_the_target() {
    let stage = Stage::new();
    let target = Directory::new("in/orders").unwrap();
    let depot = stage.watching(|spec| {
        spec.directory = target.clone();
        spec.recursive = true;
    });
    stage.write("a", "1");
    stage.write("x/y/b", "2");
    stage.write(".hidden/c", "3");
    assert_eq!(scan(&depot).imported, 2);
    assert_eq!(paths(&depot, "acme"), ["in/orders/a", "in/orders/x/y/b"]);
    assert!(stage.path(".hidden/c").exists(), "an excluded folder is not entered");
}

#[test]
fn a_watch_that_is_not_recursive_leaves_folders_alone() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    stage.write("x/b", "2");
    assert_eq!(scan(&depot).imported, 0);
    assert!(stage.path("x/b").exists());
}

#[test]
fn a_shelf_keeps_the_newest_file_of_a_path() {
    let stage = Stage::new();
    let out = Directory::new("out").unwrap();
    let depot = stage.watching(|spec| spec.directory = out.clone());
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    depot.set_directory(&acme(), &out, Some(DirectoryKind::Shelf), Quota::default()).unwrap();
    for content in ["1", "22"] {
        stage.write("a", content);
        assert_eq!(scan(&depot).imported, 1);
    }
    assert_eq!(depot.file_at(&acme(), "out/a").unwrap().record.bytes, 2);
}

#[test]
fn young_files_wait_for_their_age() {
    let stage = Stage::new();
    let depot = stage.watching(|spec| spec.age_min = Duration::from_secs(60));
    stage.write("old", "1");
    stage.set_age("old", Duration::from_secs(60));
    stage.write("young", "2");
    stage.set_age("young", Duration::from_secs(59));
    let report = scan(&depot);
    assert_eq!((report.imported, report.pending), (1, 1));
    stage.bench.clock.advance(Duration::from_secs(1));
    assert_eq!(scan(&depot).imported, 1);
}

#[test]
fn a_disabled_watch_leaves_its_folder_alone_also_after_a_restart() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    depot.disable_watch("in").unwrap();
    stage.write("a", "1");
    assert!(matches!(depot.scan_watch("in"), Err(DepotError::Invalid { .. })));
    depot.close().unwrap();
    drop(depot);

    let depot = stage.open();
    assert_eq!(status(&depot).state, WatchState::Disabled);
    assert_eq!(status(&depot).spec, stage.spec(|_| {}));
    depot.enable_watch("in").unwrap();
    assert_eq!(scan(&depot).imported, 1);
    depot.remove_watch("in").unwrap();
    assert!(matches!(depot.scan_watch("in"), Err(DepotError::UnknownWatch(_))));
    depot.close().unwrap();
    drop(depot);
    assert!(stage.open().watches().is_empty());
}

#[test]
fn a_folder_that_is_missing_fails_alone_and_is_tried_again() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    let missing = tempfile::tempdir().unwrap();
    let folder = missing.path().join("later");
    depot.add_watch(WatchSpec::new("later", &folder, acme())).unwrap();
    let failed = depot.scan_watch("later").unwrap_err();
    assert!(matches!(failed, DepotError::WatchFailed { .. }), "{failed}");
    let later = || depot.watches().into_iter().find(|it| it.spec.name == "later").unwrap();
    assert!(matches!(later().state, WatchState::Failed(_)));
    assert!(later().last_error.is_some());
    stage.write("a", "1");
    assert_eq!(scan(&depot).imported, 1);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("b"), "2").unwrap();
    assert_eq!(depot.scan_watch("later").unwrap().imported, 1);
    assert_eq!(later().state, WatchState::Watching);
}

#[test]
fn watches_that_could_do_harm_are_refused() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    let refused = |change: &dyn Fn(&mut WatchSpec)| {
        let mut spec = stage.spec(|spec| spec.name = "other".to_owned());
        change(&mut spec);
        depot.add_watch(spec).unwrap_err().to_string()
    };
    let own = stage.bench.dir.path().to_owned();
    for (change, words) in [
        (&(|_: &mut WatchSpec| {}) as &dyn Fn(&mut WatchSpec), "already"),
        (&|spec| spec.folder = own.join("volume"), "overlap"),
        (&|spec| (spec.folder, spec.recursive) = (own.parent().unwrap().into(), true), "overlap"),
        (&|spec| spec.folder = "relative".into(), "absolute"),
        (&|spec| spec.folder = "/tmp/../etc".into(), "absolute"),
        (&|spec| spec.after = AfterImport::Move(spec.folder.clone()), "already"),
        (&|spec| spec.name = "../x".to_owned(), "name of a watch"),
        (&|spec| spec.include = vec!["*".to_owned(); 33], "at most 32"),
        (&|spec| spec.exclude = vec!["*".repeat(256)], "1 to 255"),
        (&|spec| (spec.bytes_min, spec.bytes_max) = (2, 1), "above"),
    ] {
        let error = refused(change);
        assert!(error.contains(words), "{error} should say {words:?}");
    }
    let again = depot.add_watch(stage.spec(|_| {}));
    assert!(matches!(again, Err(DepotError::WatchExists(_))));
}

#[test]
fn a_pool_that_makes_nothing_durable_watches_no_folder() {
    let mut stage = Stage::new();
    stage.options.level = Level::Memory;
    let depot = stage.open();
    let refused = depot.add_watch(stage.spec(|_| {})).unwrap_err();
    assert!(refused.to_string().contains("memory"), "{refused}");
}

#[test]
fn the_number_of_watches_is_bounded() {
    let stage = Stage::new();
    let depot = stage.open();
    let spec = |nth: usize| WatchSpec::new(&format!("w{nth}"), format!("/nowhere/{nth}"), acme());
    (0..WATCHES_MAX).for_each(|nth| depot.add_watch(spec(nth)).unwrap());
    let refused = depot.add_watch(spec(WATCHES_MAX));
    assert!(matches!(refused, Err(DepotError::TooMany { limit: WATCHES_MAX, .. })));
}
