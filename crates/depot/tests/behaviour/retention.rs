//! How long files stay: kept ones, dead letters, and completed ones.

use crate::support::{Bench, acme, named, one};
use crate::upkeep_stage::{HOUR, search, shelf, shelf_of_new_tenant};
use rialto_depot::{
    ClaimOptions, Depot, Directory, DirectoryKind, FailedDisposition, FileId, FileState, NewFile,
};
use std::time::Duration;

#[test]
fn files_of_a_shelf_expire_as_their_directory_says_or_earlier() {
    let bench = Bench::new();
    let depot = bench.open();
    shelf_of_new_tenant(&depot, "out");
    let out = Directory::new("out").unwrap();
    depot.put_bytes(&acme(), named("out", "before"), b"x").unwrap();
    depot.set_expiry(&acme(), &out, Some(HOUR)).unwrap();
    let at = |path: &str| depot.file_at(&acme(), path).unwrap().record.expires_at;
    let put = |directory, name, after: Option<Duration>| {
        let expires_at = after.map(|after| bench.now().after(after));
        let file = NewFile { expires_at, ..named(directory, name) };
        depot.put_bytes(&acme(), file, b"x").unwrap().file.expires_at
    };
    assert_eq!(put("out/deep", "ruled", None), Some(bench.now().after(HOUR)));
    assert_eq!(put("out", "later", Some(2 * HOUR)), Some(bench.now().after(HOUR)));
    assert_eq!(put("out", "earlier", Some(HOUR / 2)), Some(bench.now().after(HOUR / 2)));
    assert_eq!(put("in", "work", None), None);
    assert_eq!(at("out/before"), None);
    // A change of its kind or quota keeps the rule.
    shelf(&depot, "out");
    drop(depot);
    let depot = bench.open();
    let info = depot.tenant(&acme()).unwrap().directories.remove(0);
    assert_eq!((info.expires_after, info.kind), (Some(HOUR), Some(DirectoryKind::Shelf)));
    bench.clock.advance(HOUR);
    bench.until(&depot, || depot.tenant(&acme()).unwrap().files == 2);
    for wrong in [Duration::ZERO, 24 * 3_651 * HOUR] {
        assert!(depot.set_expiry(&acme(), &out, Some(wrong)).is_err());
    }
    depot.set_expiry(&acme(), &out, None).unwrap();
    let kept = depot.put_bytes(&acme(), named("out", "x"), b"x").unwrap();
    assert_eq!(kept.file.expires_at, None);
}

/// A pool with a small and a large dead letter, with this disposition.
fn with_dead_letters(bench: &Bench, failed_disposition: FailedDisposition) -> (Depot, Vec<FileId>) {
    let mut options = bench.options();
    options.upkeep.failed_disposition = failed_disposition;
    let depot = Depot::open(options).unwrap();
    let mut ids = Vec::new();
    for content in [&b"small"[..], &[1; 50_000]] {
        let key = Some(content.len().to_string());
        let file = NewFile { submit_key: key, ..named("in/deep", "a") };
        let id = depot.put_bytes(&acme(), file, content).unwrap().file.id;
        depot.refuse(one(&depot).token(), "no such\ncolumn").unwrap();
        bench.until(&depot, || depot.file(&acme(), id).unwrap().state == FileState::Dead);
        ids.push(id);
    }
    (depot, ids)
}

/// Lets three days and a pass through the dead letters go by.
fn outlast_retention(bench: &Bench, depot: &Depot, mut condition: impl FnMut() -> bool) {
    bench.clock.advance(71 * HOUR);
    for _ in 0..20 {
        bench.clock.advance(Duration::from_secs(61));
        depot.step().unwrap();
    }
    assert_eq!(depot.dead_files(&acme(), 10).unwrap().len(), 2);
    bench.clock.advance(HOUR);
    bench.until(depot, || {
        bench.clock.advance(Duration::from_secs(61));
        condition()
    });
}

#[test]
fn dead_letters_are_deleted_after_three_days_if_the_pool_says_so() {
    let bench = Bench::new();
    let (depot, _) = with_dead_letters(&bench, FailedDisposition::Delete);
    outlast_retention(&bench, &depot, || depot.tenant(&acme()).unwrap().files == 0);
    bench.until(&depot, || bench.stored_files() == 0);
    assert!(depot.dead_files(&acme(), 10).unwrap().is_empty());
}

#[test]
fn dead_letters_are_shelved_after_three_days_if_the_pool_says_so() {
    let bench = Bench::new();
    let (depot, ids) = with_dead_letters(&bench, FailedDisposition::Shelve);
    outlast_retention(&bench, &depot, || {
        depot.kept_files(&acme(), "dead-letter/", None, 10).unwrap().len() == 2
    });
    let check = |depot: &Depot| {
        assert!(depot.dead_files(&acme(), 10).unwrap().is_empty());
        let info = depot.tenant(&acme()).unwrap();
        assert_eq!((info.files, info.bytes), (2, 50_005));
        let small = depot.file_at(&acme(), "dead-letter/in/deep/a").unwrap().record;
        assert_eq!(small.id, ids[0]);
        assert_eq!(small.metadata, [("dead-letter-detail".to_owned(), "no suchcolumn".to_owned())]);
        // The name was taken.
        let path = format!("dead-letter/in/deep/{}", ids[1]);
        assert_eq!(depot.file_at(&acme(), &path).unwrap().record.id, ids[1]);
        let read = |id| depot.open_file(&acme(), id).unwrap().read_all().unwrap();
        assert_eq!(read(ids[0]), b"small");
        assert_eq!(read(ids[1]), [1; 50_000]);
    };
    check(&depot);
    let again = NewFile { submit_key: Some("5".to_owned()), ..named("in/deep", "a") };
    assert!(depot.put_bytes(&acme(), again, b"small").unwrap().is_repeat);
    drop(depot);
    check(&bench.open());
}

#[test]
fn dead_letters_stay_by_default() {
    let bench = Bench::new();
    let (depot, _) = with_dead_letters(&bench, FailedDisposition::default());
    bench.clock.advance(1_000 * HOUR);
    for _ in 0..20 {
        bench.clock.advance(Duration::from_secs(61));
        depot.step().unwrap();
    }
    assert_eq!(depot.dead_files(&acme(), 10).unwrap().len(), 2);
}

#[test]
fn a_completed_file_stays_readable_for_its_retention_and_is_claimed_by_nobody() {
    let bench = Bench::new();
    let options = || {
        let mut options = bench.options();
        options.upkeep.completed_retention = 100 * HOUR;
        options
    };
    let depot = Depot::open(options()).unwrap();
    let small = depot.put_bytes(&acme(), named("in", "small"), b"small").unwrap().file.id;
    let large = depot.put_bytes(&acme(), named("in", "large"), &[1; 50_000]).unwrap().file.id;
    let tokens: Vec<_> = depot
        .claim(&acme(), &ClaimOptions::up_to(2))
        .unwrap()
        .iter()
        .map(|claim| claim.token().clone())
        .collect();
    depot.complete_all(&tokens).into_iter().for_each(Result::unwrap);
    let check = |depot: &Depot| {
        let read = |id| depot.open_file(&acme(), id).unwrap().read_all().unwrap();
        assert_eq!(read(small), b"small");
        assert_eq!(read(large), [1; 50_000]);
        assert!(depot.claim(&acme(), &ClaimOptions::default()).unwrap().is_empty());
        assert_eq!(depot.file(&acme(), small).unwrap().state, FileState::Completed);
        let page = depot.completed_files(&acme(), Some(small), 10).unwrap();
        assert_eq!(page.iter().map(|it| it.record.id).collect::<Vec<_>>(), [large]);
        let info = depot.tenant(&acme()).unwrap();
        assert_eq!((info.files, info.bytes), (2, 50_005));
        assert_eq!(bench.stored_files(), 2);
    };
    check(&depot);
    (0..5).for_each(|_| depot.step().unwrap());
    search(&bench, &depot);
    assert_eq!(depot.orphans().found, 0);
    drop(depot);
    let depot = Depot::open(options()).unwrap();
    assert_eq!((depot.report().completed, depot.report().waiting), (2, 0));
    check(&depot);
    depot.delete(&acme(), large).unwrap();
    bench.clock.advance(200 * HOUR);
    assert!(depot.file(&acme(), small).is_err());
    bench.until(&depot, || bench.stored_files() == 0);
    assert_eq!(depot.tenant(&acme()).unwrap().files, 0);
    drop(depot);
    assert_eq!(Depot::open(options()).unwrap().report().completed, 0);
}
