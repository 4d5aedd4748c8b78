//! Files go in, are handed to workers, and end.

use crate::support::{Bench, acme, named, one};
use rialto_depot::{
    ClaimOptions, Depot, DepotError, DepotOptions, Directory, DirectoryKind, FileName, FileState,
    NewFile, Quota, TenantName, VolumePlace, VolumeSpec,
};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

#[test]
fn a_file_is_handed_to_one_worker_and_ends_when_it_is_completed() {
    let bench = Bench::new();
    let depot = bench.open();
    let stored = depot.put_bytes(&acme(), named("in", "a.csv"), b"1,2,3").unwrap();
    let claim = one(&depot);
    assert_eq!(claim.file().id, stored.file.id);
    assert_eq!(claim.file().path(), "in/a.csv");
    assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), b"1,2,3");
    assert!(depot.claim(&acme(), &ClaimOptions::default()).unwrap().is_empty());
    depot.complete(claim.token()).unwrap();
    assert!(matches!(depot.file(&acme(), stored.file.id), Err(DepotError::UnknownFile { .. })));
    assert!(matches!(depot.complete(claim.token()), Err(DepotError::ClaimLost(_))));
    assert_eq!(depot.tenant(&acme()).unwrap().files, 0);
}

#[test]
fn large_files_are_on_a_volume_and_their_bytes_are_removed_with_them() {
    let bench = Bench::new();
    let depot = bench.open();
    let content: Vec<u8> = (0..3_000_000_u32).map(|nth| (nth % 251) as u8).collect();
    let stored = depot.put_bytes(&acme(), NewFile::default(), &content).unwrap();
    assert!(stored.file.place.stored().is_some());
    assert_eq!(bench.stored_files(), 1);
    let claim = one(&depot);
    assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), content);
    let mut tail = [0; 10];
    let mut reader = depot.open_file(&acme(), stored.file.id).unwrap();
    assert_eq!(reader.read_at(2_999_995, &mut tail).unwrap(), 5);
    assert_eq!(tail[..5], content[2_999_995..]);
    depot.complete(claim.token()).unwrap();
    bench.until(&depot, || bench.stored_files() == 0);
}

#[test]
fn what_is_acknowledged_is_there_after_reopening() {
    let bench = Bench::new();
    let depot = bench.open();
    let small = depot.put_bytes(&acme(), named("in", "small"), b"abc").unwrap();
    let large = depot.put_bytes(&acme(), named("in", "large"), &[7; 100_000]).unwrap();
    depot
        .set_directory(&acme(), &dir("out"), Some(DirectoryKind::Shelf), Quota::default())
        .unwrap();
    let kept = depot.put_bytes(&acme(), named("out", "kept"), b"statement").unwrap();
    let done = one(&depot);
    assert_eq!(done.file().id, small.file.id);
    depot.complete(done.token()).unwrap();
    depot.close().unwrap();
    drop(depot);

    let depot = bench.open();
    let report = depot.report();
    assert_eq!((report.waiting, report.kept, report.tenants), (1, 1, 1));
    let info = depot.tenant(&acme()).unwrap();
    assert_eq!((info.files, info.bytes), (2, 100_009));
    assert_eq!(depot.file_at(&acme(), "out/kept").unwrap().record, kept.file);
    let claim = one(&depot);
    assert_eq!(*claim.file(), *large.file);
    assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), [7; 100_000]);
}

#[test]
fn a_claim_whose_deadline_passes_is_handed_to_another_worker() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
    let first = one(&depot);
    bench.clock.advance(Duration::from_secs(61));
    // The deadline is noticed, and then the delay before the next attempt passes.
    let noticed = || depot.tenant(&acme()).unwrap().work.claimed == 0;
    bench.until(&depot, noticed);
    let second = bench.claim_later(&depot, Duration::from_secs(5));
    assert_eq!((second.attempt(), second.file().id), (2, first.file().id));
    assert!(matches!(depot.complete(first.token()), Err(DepotError::ClaimLost(_))));
    depot.complete(second.token()).unwrap();
}

#[test]
fn a_claim_lasts_as_long_as_its_worker_asks_for_and_is_renewed() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
    let options = ClaimOptions::default().lasting(Duration::from_secs(600));
    let claim = depot.claim(&acme(), &options).unwrap().remove(0);
    bench.clock.advance(Duration::from_secs(590));
    assert!(depot.claim(&acme(), &options).unwrap().is_empty());
    depot.renew(claim.token(), Duration::from_secs(600)).unwrap();
    bench.clock.advance(Duration::from_secs(590));
    depot.step().unwrap();
    assert!(depot.claim(&acme(), &options).unwrap().is_empty());
    depot.complete(claim.token()).unwrap();
}

#[test]
fn a_file_that_fails_too_often_becomes_a_dead_letter_and_can_be_redriven() {
    let bench = Bench::new();
    let depot = bench.open();
    let stored = depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
    for attempt in 1..=5 {
        let claim = bench.claim_soon(&depot);
        assert_eq!(claim.attempt(), attempt);
        depot.fail(claim.token(), "no such column", None).unwrap();
        bench.clock.advance(Duration::from_secs(400));
    }
    bench.until(&depot, || depot.file(&acme(), stored.file.id).unwrap().state == FileState::Dead);
    let dead = depot.dead_files(&acme(), 10).unwrap();
    assert_eq!((dead.len(), dead[0].detail.as_str(), dead[0].attempts), (1, "no such column", 5));
    assert_eq!(depot.open_file(&acme(), stored.file.id).unwrap().read_all().unwrap(), b"x");

    assert_eq!(depot.redrive(&acme(), 10).unwrap(), 1);
    let claim = bench.claim_soon(&depot);
    assert_eq!(claim.attempt(), 1);
    depot.complete(claim.token()).unwrap();
    assert!(depot.dead_files(&acme(), 10).unwrap().is_empty());
}

#[test]
fn a_waiting_file_that_is_deleted_is_handed_to_nobody() {
    let bench = Bench::new();
    let depot = bench.open();
    let gone = depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
    let claimed = depot.put_bytes(&acme(), NewFile::default(), &[1; 50_000]).unwrap();
    depot.delete(&acme(), gone.file.id).unwrap();
    let claim = one(&depot);
    assert_eq!(claim.file().id, claimed.file.id);
    assert!(matches!(depot.delete(&acme(), claimed.file.id), Err(DepotError::Claimed(_))));
    depot.close().unwrap();
    drop(depot);
    let depot = bench.open();
    assert_eq!(depot.report().waiting, 1);
    assert_eq!(one(&depot).file().id, claimed.file.id);
}

#[test]
fn results_exist_when_their_file_is_completed_and_not_before() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    depot
        .set_directory(&acme(), &dir("out"), Some(DirectoryKind::Shelf), Quota::default())
        .unwrap();
    depot.put_bytes(&acme(), named("in", "a"), b"input").unwrap();
    let claim = one(&depot);
    let result = |directory: &str, name: &str| {
        let mut upload = depot.begin_result(claim.token(), named(directory, name)).unwrap();
        upload.write(b"result").unwrap();
        upload.finish_result().unwrap()
    };
    let results = vec![result("out", "kept"), result("next", "work")];
    assert!(depot.file_at(&acme(), "out/kept").is_err());
    depot.complete_with(claim.token(), results).unwrap();
    assert_eq!(depot.file_at(&acme(), "out/kept").unwrap().record.bytes, 6);
    let next = bench.claim_soon(&depot);
    assert_eq!(next.file().path(), "next/work");
    assert_eq!(depot.tenant(&acme()).unwrap().files, 2);

    // A result of a claim that was lost leaves nothing behind.
    let lost = depot.begin_result(next.token(), named("out", "lost")).unwrap();
    let lost = lost.finish_result().unwrap();
    depot.give_back(next.token()).unwrap();
    assert!(depot.complete_with(next.token(), vec![lost]).is_err());
    assert!(depot.file_at(&acme(), "out/lost").is_err());
    assert_eq!(bench.stored_files(), 2);
    assert_eq!(depot.tenant(&acme()).unwrap().files, 2);
}

#[test]
fn a_file_that_is_kept_is_replaced_under_its_path() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    depot
        .set_directory(&acme(), &dir("out"), Some(DirectoryKind::Shelf), Quota::default())
        .unwrap();
    depot.put_bytes(&acme(), named("out", "a"), b"first").unwrap();
    let refused = NewFile { if_absent: true, ..named("out", "a") };
    assert!(matches!(
        depot.put_bytes(&acme(), refused, b"other"),
        Err(DepotError::FileExists { .. })
    ));
    let second = depot.put_bytes(&acme(), named("out", "a"), b"second").unwrap();
    bench.until(&depot, || bench.stored_files() == 1);
    assert_eq!(depot.file_at(&acme(), "out/a").unwrap().record, second.file);
    assert_eq!(depot.tenant(&acme()).unwrap().bytes, 6);
    depot.put_bytes(&acme(), named("out", "b"), b"").unwrap();
    let page = depot.kept_files(&acme(), "out/", Some("out/a"), 10).unwrap();
    assert_eq!(page.iter().map(|it| it.record.path()).collect::<Vec<_>>(), ["out/b"]);
}

#[test]
fn quotas_hold_for_tenants_and_directories_and_refuse_in_mid_stream() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.create_tenant(&acme(), Quota { files_max: 3, bytes_max: 100_000 }).unwrap();
    depot.set_directory(&acme(), &dir("in"), None, Quota { files_max: 1, bytes_max: 0 }).unwrap();
    depot.put_bytes(&acme(), named("in/deep", "a"), b"1").unwrap();
    let error = depot.put_bytes(&acme(), named("in", "b"), b"1").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the quota of the directory \"in\" of the tenant \"acme\" is reached: it holds 1 files of \
         at most 1; complete or delete files, or raise the quota"
    );
    let mut upload = depot.begin(&acme(), named("other", "c")).unwrap();
    upload.write(&[0; 90_000]).unwrap();
    assert!(matches!(upload.write(&[0; 20_000]), Err(DepotError::Quota { what: "bytes", .. })));
    drop(upload);
    assert_eq!(bench.stored_files(), 0);
    let info = depot.tenant(&acme()).unwrap();
    assert_eq!((info.files, info.bytes), (1, 1));
}

#[test]
fn room_for_a_longer_file_than_the_pool_takes_is_refused_at_once() {
    let bench = Bench::new();
    let depot = Depot::open(DepotOptions { file_bytes_max: 1_000, ..bench.options() }).unwrap();
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    let mut upload = depot.begin(&acme(), named("in", "a")).unwrap();
    for bytes in [1_001, u64::MAX] {
        assert!(matches!(upload.reserve(bytes), Err(DepotError::TooLarge { max: 1_000 })));
    }
    assert_eq!(depot.tenant(&acme()).unwrap().bytes, 0);
    // The upload goes on, and grows to the limit and not beyond, also within room that it has.
    upload.reserve(1_000).unwrap();
    upload.write(&[1; 1_000]).unwrap();
    assert!(matches!(upload.write(&[1]), Err(DepotError::TooLarge { max: 1_000 })));
    drop(upload);
    let longer = NewFile { bytes: Some(1_001), ..named("in", "a") };
    assert!(matches!(depot.begin(&acme(), longer), Err(DepotError::TooLarge { max: 1_000 })));
    assert_eq!(depot.tenant(&acme()).unwrap().files, 0);
}

#[test]
fn a_tenant_that_is_disabled_accepts_and_hands_out_nothing() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
    let mut upload = depot.begin(&acme(), NewFile::default()).unwrap();
    upload.write(&[0; 50_000]).unwrap();
    depot.disable_tenant(&acme()).unwrap();
    assert!(matches!(upload.finish(), Err(DepotError::TenantStage { .. })));
    assert_eq!(bench.stored_files(), 0);
    assert!(depot.claim(&acme(), &ClaimOptions::default()).is_err());
    assert!(depot.claim_any(&ClaimOptions::default(), |_| true).unwrap().is_empty());
    drop(depot);
    let depot = bench.open();
    assert!(!depot.is_enabled("acme"));
    depot.drain_tenant(&acme()).unwrap();
    assert!(depot.put_bytes(&acme(), NewFile::default(), b"x").is_err());
    let claim = one(&depot);
    depot.complete(claim.token()).unwrap();
    depot.enable_tenant(&acme()).unwrap();
    depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
}

#[test]
fn a_deleted_tenant_leaves_nothing_and_its_name_is_free() {
    let bench = Bench::new();
    let depot = bench.open();
    for size in [10, 50_000, 20] {
        depot.put_bytes(&acme(), NewFile::default(), &vec![1; size]).unwrap();
    }
    let claim = one(&depot);
    depot.delete_tenant(&acme()).unwrap();
    bench.until(&depot, || depot.tenant(&acme()).is_err() && bench.stored_files() == 0);
    assert!(matches!(depot.complete(claim.token()), Err(DepotError::ClaimLost(_))));
    depot.put_bytes(&acme(), NewFile::default(), b"new").unwrap();
    drop(depot);
    assert_eq!(bench.open().report().waiting, 1);
}

#[test]
fn a_submit_key_makes_a_repeat_harmless_even_after_the_file_has_ended() {
    let bench = Bench::new();
    let depot = bench.open();
    let file = || NewFile { submit_key: Some("k1".to_owned()), ..named("in", "a") };
    let first = depot.put_bytes(&acme(), file(), b"same").unwrap();
    let again = depot.put_bytes(&acme(), file(), b"same").unwrap();
    assert_eq!((again.is_repeat, again.file.id), (true, first.file.id));
    assert!(matches!(
        depot.put_bytes(&acme(), file(), b"other"),
        Err(DepotError::SubmitConflict { .. })
    ));
    depot.complete(one(&depot).token()).unwrap();
    drop(depot);
    let depot = bench.open();
    let again = depot.put_bytes(&acme(), file(), b"same").unwrap();
    assert_eq!((again.is_repeat, again.file.id), (true, first.file.id));
    assert_eq!(depot.tenant(&acme()).unwrap().files, 0);
}

#[test]
fn what_was_declared_and_did_not_arrive_leaves_nothing() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    let wrong = [
        NewFile { bytes: Some(4), ..NewFile::default() },
        NewFile { bytes: Some(6), ..NewFile::default() },
        NewFile { crc32c: Some(1), ..NewFile::default() },
        NewFile { sha256: Some([1; 32]), ..NewFile::default() },
    ];
    for file in wrong {
        let mut content: &[u8] = b"12345";
        let error = depot.put(&acme(), file.clone(), &mut content).unwrap_err();
        assert!(matches!(error, DepotError::Mismatch { .. }), "{file:?}: {error}");
        let mut content = &vec![5; 40_000][..];
        let file = NewFile { bytes: file.bytes.map(|bytes| bytes + 39_995), ..file };
        assert!(depot.put(&acme(), file, &mut content).is_err());
    }
    assert_eq!((bench.stored_files(), depot.tenant(&acme()).unwrap().files), (0, 0));
}

#[test]
fn a_file_that_expired_is_neither_handed_out_nor_kept() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    depot
        .set_directory(&acme(), &dir("out"), Some(DirectoryKind::Shelf), Quota::default())
        .unwrap();
    let expires_at = Some(bench.now().after(Duration::from_secs(10)));
    for (directory, content) in [("in", &b"x"[..]), ("in", &[1; 50_000]), ("out", b"kept")] {
        let file = NewFile { expires_at, ..named(directory, "a") };
        depot.put_bytes(&acme(), file, content).unwrap();
    }
    bench.clock.advance(Duration::from_secs(10));
    assert!(depot.claim(&acme(), &ClaimOptions::default()).unwrap().is_empty());
    assert!(depot.file_at(&acme(), "out/a").is_err());
    bench.until(&depot, || depot.tenant(&acme()).unwrap().files == 0 && bench.stored_files() == 0);
    assert_eq!(depot.tenant(&acme()).unwrap().work.expired, 3);
}

#[test]
fn tenants_take_turns_when_a_worker_claims_of_all() {
    let bench = Bench::new();
    let depot = bench.open();
    for (tenant, files) in [("a", 50), ("b", 2), ("c", 2)] {
        for _ in 0..files {
            let tenant = tenant.parse().unwrap();
            depot.put_bytes(&tenant, NewFile::default(), b"x").unwrap();
        }
    }
    let mut order = Vec::new();
    for _ in 0..6 {
        let claim = depot.claim_any(&ClaimOptions::default(), |_| true).unwrap().remove(0);
        order.push(claim.tenant().to_string());
        depot.complete(claim.token()).unwrap();
    }
    order.sort();
    assert_eq!(order, ["a", "a", "b", "b", "c", "c"]);
    let only_b = depot.claim_any(&ClaimOptions::default(), |tenant| tenant.as_str() == "b");
    assert!(only_b.unwrap().is_empty());
}

#[test]
fn a_worker_waits_for_files_of_the_tenants_that_it_works_for() {
    let bench = Bench::new();
    let depot = bench.open();
    let is_ready = |name: &str| {
        let name = name.to_owned();
        let mut ready = pin!(depot.claimable(move |tenant| tenant.as_str() == name));
        ready.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    };
    let claim_of = |name: &str| {
        depot.claim_any(&ClaimOptions::default(), |tenant| tenant.as_str() == name).unwrap()
    };
    let tenant = TenantName::new("b").unwrap();
    depot.put_bytes(&tenant, NewFile::default(), b"x").unwrap();
    assert!(is_ready("b") && !is_ready("a"));
    assert!(claim_of("a").is_empty());
    let claim = claim_of("b").remove(0);
    depot.complete(claim.token()).unwrap();
    bench.until(&depot, || claim_of("b").is_empty() && !is_ready("b"));
    depot.put_bytes(&tenant, NewFile::default(), b"y").unwrap();
    assert!(is_ready("b") && !is_ready("a"));
}

#[test]
fn while_the_disk_has_little_room_no_file_is_accepted_and_files_end() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
    let mut upload = depot.begin(&acme(), NewFile::default()).unwrap();
    depot.set_refusing(true);
    assert!(matches!(upload.write(b"y"), Err(DepotError::StorageLow)));
    drop(upload);
    let refused = depot.put_bytes(&acme(), NewFile::default(), b"y");
    assert!(matches!(refused, Err(DepotError::StorageLow)));
    depot.complete(one(&depot).token()).unwrap();
    assert_eq!(depot.tenant(&acme()).unwrap().files, 0);
    depot.set_refusing(false);
    depot.put_bytes(&acme(), NewFile::default(), b"y").unwrap();
}

#[test]
fn a_second_process_is_refused() {
    let bench = Bench::new();
    let _depot = bench.open();
    assert!(Depot::open(bench.options()).is_err());
}

fn dir(path: &str) -> Directory {
    Directory::new(path).unwrap()
}

#[test]
fn a_file_without_a_name_is_named_after_its_id() {
    let bench = Bench::new();
    let depot = bench.open();
    let stored = depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
    assert_eq!(stored.file.name, FileName::new(&stored.file.id.to_string()).unwrap());
}

#[test]
fn a_pool_that_is_moved_finds_the_volume_below_it() {
    let mut bench = Bench::new();
    let depot = bench.open();
    let stored = depot.put_bytes(&acme(), NewFile::default(), &[3; 50_000]).unwrap();
    depot.close().unwrap();
    drop(depot);
    let moved = tempfile::tempdir().unwrap();
    std::fs::remove_dir(moved.path()).unwrap();
    std::fs::rename(bench.dir.path(), moved.path()).unwrap();
    bench.dir = moved;
    let depot = bench.open();
    assert!(depot.report().absent_volumes.is_empty());
    let mut reader = depot.open_file(&acme(), stored.file.id).unwrap();
    assert_eq!(reader.read_all().unwrap(), [3; 50_000]);
}

#[test]
fn a_volume_without_files_is_unmounted_even_just_after_the_opening() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), NewFile::default(), &[3; 50_000]).unwrap();
    depot.complete(one(&depot).token()).unwrap();
    depot.close().unwrap();
    drop(depot);
    let depot = bench.open();
    depot.unmount("main").unwrap();
    assert!(depot.volumes().is_empty());
}

#[test]
fn a_refused_upload_makes_no_tenant() {
    let bench = Bench::new();
    let depot = bench.open();
    let refused = |file: NewFile| {
        depot.put_bytes(&acme(), file, b"content").unwrap_err();
        assert!(!depot.has_tenant(&acme()));
    };
    refused(NewFile { sha256: Some([0; 32]), ..NewFile::default() });
    refused(NewFile { bytes: Some(8), ..NewFile::default() });
    refused(NewFile { priority: 200, ..NewFile::default() });
    let mut upload = depot.begin(&acme(), NewFile::default()).unwrap();
    upload.write(&[1; 50_000]).unwrap();
    drop(upload);
    depot.close().unwrap();
    drop(depot);
    let depot = bench.open();
    assert!(!depot.has_tenant(&acme()));

    // One that somebody else meets meanwhile stays.
    let upload = depot.begin(&acme(), NewFile::default()).unwrap();
    depot.tenant(&acme()).unwrap();
    drop(upload);
    assert!(depot.has_tenant(&acme()));
    depot.put_bytes(&acme(), NewFile::default(), b"content").unwrap();
}

#[test]
fn what_has_no_effect_in_a_directory_is_refused() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    let out = Directory::new("out").unwrap();
    let shelf = Some(DirectoryKind::Shelf);
    depot.set_directory(&acme(), &out, shelf, Quota::default()).unwrap();
    let day = Duration::from_secs(86_400);
    let in_days = |days| Some(bench.now().after(day * days));
    let refused = [
        ("if_absent", NewFile { if_absent: true, ..named("in", "a") }),
        ("priority", NewFile { priority: 1, ..named("out", "a") }),
        ("deliver_at", NewFile { deliver_at: in_days(1), ..named("out", "a") }),
        ("deliver_at", NewFile { deliver_at: in_days(367), ..named("in", "a") }),
    ];
    for (expected, file) in refused {
        match depot.put_bytes(&acme(), file, b"x") {
            Err(DepotError::Invalid { field, .. }) => assert_eq!(field, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    depot.put_bytes(&acme(), NewFile { if_absent: true, ..named("out", "a") }, b"x").unwrap();
    let late = NewFile { deliver_at: in_days(366), ..named("in", "a") };
    depot.put_bytes(&acme(), late, b"x").unwrap();
}

#[test]
fn a_volume_inside_another_or_around_one_is_refused() {
    let bench = Bench::new();
    let depot = bench.open();
    let main = bench.dir.path().join("volume");
    let mount = |dir: std::path::PathBuf| {
        depot.mount(VolumeSpec {
            name: "more".to_owned(),
            place: VolumePlace::Directory(dir),
            weight: 1,
            identity: None,
        })
    };
    for (dir, how) in [
        (main.join("deep"), "inside"),
        (main.join("../other/../volume/deep"), "inside"),
        (bench.dir.path().to_owned(), "around"),
    ] {
        let refused = mount(dir.clone()).unwrap_err().to_string();
        assert!(refused.contains(&format!("{how} the directory of the volume main")), "{refused}");
        assert!(!dir.join("VOLUME").exists());
    }
    assert_eq!(depot.volumes().len(), 1);
    mount(bench.dir.path().join("volume-2")).unwrap();
}

#[test]
fn a_refused_unmount_leaves_the_volume_as_it_was() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), NewFile::default(), &[3; 50_000]).unwrap();
    let in_use = |result| matches!(result, Err(DepotError::VolumeInUse { files: 1, .. }));
    assert!(in_use(depot.unmount("main")));
    depot.put_bytes(&acme(), NewFile::default(), &[4; 50_000]).unwrap();
    depot.close().unwrap();
    drop(depot);
    let depot = bench.open();
    depot.put_bytes(&acme(), NewFile::default(), &[5; 50_000]).unwrap();

    // A volume that drained before goes on.
    depot.drain_volume("main", true).unwrap();
    assert!(depot.unmount("main").is_err());
    assert!(depot.put_bytes(&acme(), NewFile::default(), &[6; 50_000]).is_err());
}

#[test]
fn an_upload_with_a_gap_cannot_be_finished() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    let mut upload = depot.begin(&acme(), named("in", "a")).unwrap();
    upload.write(b"first,").unwrap();
    depot.set_refusing(true);
    assert!(matches!(upload.write(b"second,"), Err(DepotError::StorageLow)));
    depot.set_refusing(false);
    let again = upload.write(b"third");
    assert!(matches!(again, Err(DepotError::Invalid { field: "content", .. })));
    let finished = upload.finish();
    assert!(matches!(finished, Err(DepotError::Invalid { field: "content", .. })));
    assert!(depot.work_files(&acme(), "", None, 10).unwrap().is_empty());
}

#[test]
fn a_pool_whose_work_queues_are_gone_is_not_opened() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), named("in", "a"), &[1; 50_000]).unwrap();
    depot.close().unwrap();
    drop(depot);
    let (queue, aside) = (bench.dir.path().join("queue"), bench.dir.path().join("aside"));
    for lost in [queue.clone(), queue.join("control"), queue.join("topics")] {
        std::fs::rename(&lost, &aside).unwrap();
        let refused = Depot::open(bench.options()).map(drop);
        match refused {
            Err(DepotError::WorkLost { dir }) => assert!(dir.starts_with(&lost), "{dir:?}"),
            other => panic!("{lost:?}: {other:?}"),
        }
        let _ = std::fs::remove_dir(&lost);
        std::fs::rename(&aside, &lost).unwrap();
    }
    let depot = bench.open();
    assert_eq!(depot.work_files(&acme(), "", None, 10).unwrap().len(), 1);
}
