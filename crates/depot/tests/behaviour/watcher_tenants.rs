//! Folders of tenants, tenants that are disabled, and quotas that are reached.

use crate::support::acme;
use crate::watcher_stage::{Stage, contents, paths, scan, status};
use rialto_depot::{Quota, TenantName, WatchState, WatchTenants};

fn name(text: &str) -> TenantName {
    TenantName::new(text).unwrap()
}

#[test]
fn each_folder_in_the_folder_is_a_tenants_and_unknown_ones_stay() {
    let stage = Stage::new();
    let depot = stage.watching(|spec| {
        spec.tenants = WatchTenants::FirstLevel { create: false };
        spec.recursive = true;
    });
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    stage.write("acme/in/a", "1");
    stage.write("bolt/b", "2");
    stage.write("Not a tenant/c", "3");
    stage.write("beside", "4");
    for imported in [1, 0] {
        let report = scan(&depot);
        assert_eq!((report.imported, report.skipped, report.refused_names), (imported, 3, 1));
        assert_eq!(report.failed, 0);
    }
    assert_eq!(paths(&depot, "acme"), ["in/a"]);
    assert!(stage.path("bolt/b").exists() && stage.path("beside").exists());
    depot.create_tenant(&name("bolt"), Quota::default()).unwrap();
    assert_eq!(scan(&depot).imported, 1);
    assert_eq!(paths(&depot, "bolt"), ["b"]);
}

#[test]
fn unknown_tenants_are_created_if_the_watch_says_so() {
    let mut stage = Stage::new();
    stage.options.create_tenants = false;
    let depot = stage.watching(|spec| spec.tenants = WatchTenants::FirstLevel { create: true });
    (0..10).for_each(|nth| stage.write(&format!("t{}/f{nth}", nth % 2), "x"));
    assert_eq!(scan(&depot).imported, 10);
    assert_eq!((paths(&depot, "t0").len(), paths(&depot, "t1").len()), (5, 5));
}

#[test]
fn the_folder_of_a_disabled_tenant_is_left_alone() {
    let stage = Stage::new();
    let depot = stage.watching(|spec| spec.tenants = WatchTenants::FirstLevel { create: false });
    for tenant in ["acme", "bolt"] {
        depot.create_tenant(&name(tenant), Quota::default()).unwrap();
        stage.write(&format!("{tenant}/a"), "1");
    }
    depot.disable_tenant(&acme()).unwrap();
    let report = scan(&depot);
    assert_eq!((report.imported, report.failed), (1, 0));
    assert_eq!(report.paused.unwrap(), "the tenant \"acme\" is disabled");
    assert!(stage.path("acme/a").exists());
    assert_eq!(status(&depot).state, WatchState::Watching);
    depot.enable_tenant(&acme()).unwrap();
    assert_eq!(scan(&depot).imported, 1);
}

#[test]
fn a_tenant_that_is_disabled_while_its_files_settle_keeps_them_outside() {
    let mut stage = Stage::new();
    stage.options.watcher.settle = std::time::Duration::from_secs(1);
    let depot = stage.watching(|spec| spec.tenants = WatchTenants::FirstLevel { create: true });
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    stage.write("acme/a", "1");
    scan(&depot);
    depot.disable_tenant(&acme()).unwrap();
    stage.bench.clock.advance(stage.options.watcher.settle);
    let report = scan(&depot);
    assert_eq!((report.imported, report.failed), (0, 0));
    assert!(stage.path("acme/a").exists());
}

#[test]
fn a_quota_that_is_reached_pauses_imports_until_there_is_room() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    depot.create_tenant(&acme(), Quota { files_max: 2, bytes_max: 0 }).unwrap();
    (0..5).for_each(|nth| stage.write(&format!("{nth}"), "x"));
    let report = scan(&depot);
    assert_eq!((report.imported, report.failed, report.pending), (2, 0, 3));
    assert!(report.paused.unwrap().contains("quota"));
    assert_eq!(stage.names().len(), 3);
    assert_eq!(contents(&depot).len(), 2);
    assert_eq!(scan(&depot).imported, 2);
}

#[test]
fn a_file_that_is_too_large_for_a_quota_does_not_stop_smaller_ones() {
    let stage = Stage::new();
    let depot = stage.watching(|_| {});
    depot.create_tenant(&acme(), Quota { files_max: 0, bytes_max: 100 }).unwrap();
    stage.write("large", vec![0; 101]);
    (0..10).for_each(|nth| stage.write(&format!("small{nth}"), "x"));
    let report = scan(&depot);
    assert_eq!((report.imported, report.pending), (10, 1));
    assert_eq!(stage.names(), ["large"]);
}
