//! Callers that meet each other between two steps of the pool, which only a test from inside brings
//! about every time.

use crate::history::record::Ending;
use crate::reading::FileReader;
use crate::{
    ClaimOptions, Depot, DepotError, DepotOptions, Directory, FileId, FileName, NewFile, TenantName,
};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn acme() -> TenantName {
    TenantName::new("acme").unwrap()
}

fn named(name: &str) -> NewFile {
    NewFile::new(Directory::root(), FileName::new(name).unwrap())
}

fn open(change: impl FnOnce(&mut DepotOptions)) -> (tempfile::TempDir, Depot) {
    let dir = tempfile::tempdir().unwrap();
    let mut options = DepotOptions::at(dir.path());
    options.volumes.free_bytes_min = 0;
    change(&mut options);
    let depot = Depot::open_stepped(options).unwrap();
    (dir, depot)
}

fn put(depot: &Depot, name: &str, bytes: usize) -> FileId {
    depot.put_bytes(&acme(), named(name), &vec![7; bytes]).unwrap().file.id
}

/// Housekeeping finds a file expired, and so does the worker to whom it is delivered.
#[test]
fn two_callers_that_end_a_file_end_it_once() {
    let (_dir, depot) = open(|_| {});
    let id = put(&depot, "a", 10);
    put(&depot, "b", 10);
    let tenant = depot.pool.tenant(&acme()).unwrap();
    let record = tenant.files().get(id).unwrap().record.clone();
    for _ in 0..2 {
        depot.pool.end(&tenant, &record, Ending::Expired).unwrap();
    }
    let info = depot.tenant(&acme()).unwrap();
    assert_eq!((info.files, info.bytes, info.work.expired), (1, 10, 1));
}

/// The deletion has looked at the file, and a worker claims it before it ends.
#[test]
fn a_file_that_is_claimed_while_it_is_deleted_stays_with_its_worker() {
    let (_dir, depot) = open(|_| {});
    let id = put(&depot, "a", 10);
    let tenant = depot.pool.tenant(&acme()).unwrap();
    let record = tenant.files().get(id).unwrap().record.clone();
    let claim = depot.claim(&acme(), &ClaimOptions::default()).unwrap().remove(0);
    let is_unclaimed = depot.pool.end_unclaimed(&tenant, &record, Ending::Deleted);
    assert!(matches!(is_unclaimed, Err(DepotError::Claimed(claimed)) if claimed == id));
    depot.complete(claim.token()).unwrap();
}

/// The file is handed out before its upload returns.
#[test]
fn an_inline_file_can_be_completed_while_its_upload_returns() {
    let (_dir, depot) = open(|options| {
        options.upkeep.completed_retention = Duration::from_secs(3_600);
    });
    let id = put(&depot, "a", 10);
    let claim = depot.claim(&acme(), &ClaimOptions::default()).unwrap().remove(0);
    let uploading = depot.pool.upkeep.in_hand.hold(id);
    depot.complete(claim.token()).unwrap();
    drop(uploading);
    assert_eq!(depot.open_file(&acme(), id).unwrap().read_all().unwrap(), [7; 10]);
}

#[test]
fn a_copy_to_another_volume_ends_when_the_pool_is_closed() {
    let (_dir, depot) = open(|_| {});
    let id = put(&depot, "a", 4 << 20);
    let (pool, tenant) = (&depot.pool, depot.pool.tenant(&acme()).unwrap());
    let record = tenant.files().get(id).unwrap().record.clone();
    let mut source = FileReader::stored(pool, record.clone()).unwrap();
    let other = tempfile::tempdir().unwrap();
    let spec = crate::VolumeSpec {
        name: "other".to_owned(),
        place: other.path().into(),
        weight: 1,
        identity: None,
    };
    depot.mount(spec).unwrap();
    let mut pieces = 0;
    let close = || {
        pieces += 1;
        pool.is_closed.store(true, Ordering::Release);
        Ok(())
    };
    let copied = pool.store_again(&tenant, &record, &mut source, close);
    assert!(matches!(copied, Err(DepotError::Closed)));
    assert_eq!(pieces, 1);
}

/// A device that hangs in a removal keeps no record from changing.
#[test]
fn bytes_are_not_removed_where_records_change() {
    let (_dir, depot) = open(|_| {});
    let id = put(&depot, "a", 100_000);
    let record = depot.file(&acme(), id).unwrap().record;
    let stored = record.place.stored().unwrap();
    depot.delete(&acme(), id).unwrap();
    depot.pool.keep_house().unwrap();
    assert!(depot.pool.volumes.open(id, stored).is_ok());
    assert!(!depot.pool.remove_some());
    assert!(depot.pool.volumes.open(id, stored).is_err());
}

#[test]
fn a_look_through_the_queue_for_a_message_notes_those_that_it_meets() {
    let (_dir, depot) = open(|_| {});
    let ids = ["a", "b", "c"].map(|name| put(&depot, name, 10));
    for claim in depot.claim(&acme(), &ClaimOptions::up_to(3)).unwrap() {
        depot.refuse(claim.token(), "no such column").unwrap();
    }
    (0..4).for_each(|_| depot.step().unwrap());
    assert_eq!(depot.redrive(&acme(), 10).unwrap(), 3);
    let tenant = depot.pool.tenant(&acme()).unwrap();
    let known = || ids.map(|id| tenant.files().get(id).unwrap().message.is_some());
    assert_eq!(known(), [false; 3]);
    depot.open_file(&acme(), ids[2]).unwrap();
    assert_eq!(known(), [true; 3]);
    for id in ids {
        assert_eq!(depot.open_file(&acme(), id).unwrap().read_all().unwrap(), [7; 10]);
    }
}
