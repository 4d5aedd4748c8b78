//! The threads of a pool import what arrives, from folders of any size, in bounded memory.

use crate::watcher_stage::{Stage, paths, scan, status};
use rialto_depot::{Depot, WatchTenants};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A pool with its threads and the clocks of the machine.
fn open(stage: &mut Stage) -> Depot {
    stage.options.clock = Arc::new(rialto_clock::SystemClock);
    Depot::open(stage.options.clone()).unwrap()
}

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < end, "{what} did not come about");
        std::thread::yield_now();
    }
}

#[cfg(feature = "events")]
#[test]
fn a_file_is_imported_when_the_system_reports_it() {
    let mut stage = Stage::new();
    stage.options.watcher.period = Duration::from_secs(3_600);
    stage.options.watcher.settle = Duration::from_millis(20);
    let depot = open(&mut stage);
    depot.add_watch(stage.spec(|spec| spec.recursive = true)).unwrap();
    until("reports", || status(&depot).has_events);
    stage.write("a", "1");
    until("the import", || paths(&depot, "acme") == ["a"]);
    stage.write("x/y/b", "2");
    until("the import from a new folder", || paths(&depot, "acme") == ["a", "x/y/b"]);
    until("the removal", || stage.names() == ["x"]);
}

#[cfg(feature = "events")]
#[test]
fn more_reports_than_are_held_lose_no_file() {
    let mut stage = Stage::new();
    stage.options.watcher.period = Duration::from_secs(3_600);
    stage.options.watcher.hints_max = 1;
    // Without it a file could be imported between its creation and its content.
    stage.options.watcher.settle = Duration::from_millis(20);
    let depot = open(&mut stage);
    depot.add_watch(stage.spec(|_| {})).unwrap();
    until("reports", || status(&depot).has_events);
    (0..200).for_each(|nth| stage.write(&format!("{nth}"), "x"));
    until("the imports", || status(&depot).imported == 200 && stage.names().is_empty());
}

#[test]
fn files_that_arrived_while_the_pool_was_closed_are_imported_at_its_start() {
    let mut stage = Stage::new();
    stage.options.watcher.period = Duration::from_secs(3_600);
    let depot = open(&mut stage);
    depot.add_watch(stage.spec(|_| {})).unwrap();
    depot.close().unwrap();
    drop(depot);
    stage.write("a", "1");
    let depot = open(&mut stage);
    until("the import", || status(&depot).imported == 1);
}

#[test]
fn a_folder_that_appears_is_found_by_period() {
    let mut stage = Stage::new();
    stage.options.watcher.period = Duration::from_millis(20);
    let depot = open(&mut stage);
    let folder = stage.path("later");
    depot.add_watch(stage.spec(|spec| spec.folder = folder.clone())).unwrap();
    until("the failure", || status(&depot).last_error.is_some());
    stage.write("later/a", "1");
    until("the import", || status(&depot).imported == 1);
    std::fs::remove_dir(&folder).unwrap();
    stage.write("later/b", "1");
    until("the import from a new folder of the name", || status(&depot).imported == 2);
    depot.remove_watch("in").unwrap();
    assert!(depot.watches().is_empty());
}

#[test]
fn ten_thousand_files_are_imported_with_a_bounded_number_of_candidates() {
    let mut stage = Stage::new();
    stage.options.watcher.candidates_max = 512;
    stage.options.watcher.settle = Duration::from_millis(5);
    let content = vec![7; 4_096];
    (0..10_000).for_each(|nth| stage.write(&format!("{nth}"), &content));
    let depot = open(&mut stage);
    let began = Instant::now();
    depot.add_watch(stage.spec(|_| {})).unwrap();
    until("the imports", || status(&depot).imported == 10_000 && status(&depot).candidates == 0);
    println!("10,000 files of 4 KiB in {:?}", began.elapsed());
    until("the removals", || stage.names().is_empty());
    let status = status(&depot);
    assert!(status.candidates_largest <= 512, "{}", status.candidates_largest);
    assert_eq!((status.failed, status.repeats), (0, 0));
}

#[test]
fn a_full_folder_of_a_tenant_leaves_room_for_the_others() {
    let mut stage = Stage::new();
    stage.options.watcher.candidates_max = 64;
    stage.options.watcher.settle = Duration::from_secs(1);
    let depot = stage.watching(|spec| spec.tenants = WatchTenants::FirstLevel { create: true });
    for tenant in ["a", "b", "c"] {
        (0..100).for_each(|nth| stage.write(&format!("{tenant}/{nth}"), "x"));
    }
    let report = scan(&depot);
    assert!(!report.is_complete);
    stage.bench.clock.advance(stage.options.watcher.settle);
    scan(&depot);
    for tenant in ["a", "b", "c"] {
        assert_eq!(paths(&depot, tenant).len(), 4, "{tenant}");
    }
}
