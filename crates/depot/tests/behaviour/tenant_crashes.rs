//! A loss of power after every operation of the making of a tenant.

use crate::simulated::{Stage, dir, tenant};
use rialto_depot::{DirectoryKind, Level, Quota};

/// The fates that a write has which was not confirmed.
const SEEDS: u64 = 16;

/// Whether the tenant was there after the crash; `None` if it was made before it.
fn is_there_after(operations: u64, seed: u64) -> Option<bool> {
    let (stage, bucket) = (Stage::new(seed, Level::Synced), tenant("bucket"));
    let depot = stage.open().unwrap();
    stage.disk.crash_after(operations);
    let made = depot.create_shelf(&bucket, Quota::default());
    let is_down = stage.disk.is_down();
    assert!(is_down || made.is_ok(), "{made:?}");
    drop(depot);
    stage.disk.restart();
    let depot = stage.open().unwrap();
    let is_there = depot.has_tenant(&bucket);
    if !is_there {
        depot.create_shelf(&bucket, Quota::default()).unwrap();
    }
    let kind = depot.directory_kind(&bucket, &dir("in")).unwrap();
    assert_eq!(kind, DirectoryKind::Shelf, "after {operations} operations, seed {seed}");
    is_down.then_some(is_there)
}

#[test]
fn a_tenant_that_keeps_its_files_is_made_whole_or_not_at_all() {
    let mut there = Vec::new();
    for operations in 0.. {
        let fates: Vec<_> = (0..SEEDS).map_while(|seed| is_there_after(operations, seed)).collect();
        if fates.is_empty() {
            break;
        }
        there.extend(fates);
    }
    assert!(there.contains(&true) && there.contains(&false), "{there:?}");
}
