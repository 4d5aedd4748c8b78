//! What a pool does with the bytes of its files by itself: probes, searches, checks and moves.

use crate::support::{Bench, acme, named, one};
use crate::upkeep_stage::{HOUR, leave_orphan, search, shelf_of_new_tenant, spec, stored_path};
use rialto_clock::Timestamp;
use rialto_depot::{
    ClaimOptions, Depot, DepotError, DepotOptions, FileId, FileState, NewFile, NotAdopted,
    VolumeSpec, VolumeState,
};
use rialto_disk::SimDisk;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn a_failed_volume_is_used_again_after_a_probe() {
    let bench = Bench::new();
    let depot = bench.open();
    let (volume, away) = (bench.dir.path().join("volume"), bench.dir.path().join("away"));
    std::fs::rename(&volume, &away).unwrap();
    assert!(depot.put_bytes(&acme(), NewFile::default(), &[1; 50_000]).is_err());
    assert_eq!(depot.volumes()[0].state, VolumeState::Failed);
    std::fs::rename(&away, &volume).unwrap();
    bench.until(&depot, || {
        bench.clock.advance(Duration::from_secs(5));
        depot.volumes()[0].state == VolumeState::Up
    });
    depot.put_bytes(&acme(), NewFile::default(), &[1; 50_000]).unwrap();
}

#[test]
fn a_device_that_hangs_in_a_probe_holds_up_nothing_else() {
    let bench = Bench::new();
    let disk = SimDisk::new(7);
    let mut options = DepotOptions::at("/pool");
    options.disk = Arc::new(disk.clone());
    options.clock = Arc::new(bench.clock.clone());
    options.volumes.free_bytes_min = 0;
    let depot = Depot::open(options).unwrap();
    let expires_at = Some(bench.now().after(HOUR));
    depot.put_bytes(&acme(), NewFile { expires_at, ..NewFile::default() }, b"x").unwrap();
    disk.fail_write(1);
    assert!(depot.put_bytes(&acme(), NewFile::default(), &[1; 50_000]).is_err());
    assert_eq!(depot.volumes()[0].state, VolumeState::Failed);
    // A failed volume is written to by its probe.
    let (hangs, goes_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (is_hanging, may_go_on) = (hangs.clone(), goes_on.clone());
    disk.hang(Path::new("/pool/volume"), 1, move || {
        is_hanging.store(true, Ordering::SeqCst);
        let end = Instant::now() + Duration::from_secs(20);
        while !may_go_on.load(Ordering::SeqCst) && Instant::now() < end {
            std::thread::yield_now();
        }
    });
    bench.clock.advance(Duration::from_secs(5));
    bench.until(&depot, || hangs.load(Ordering::SeqCst));
    bench.clock.advance(HOUR);
    bench.until(&depot, || depot.tenant(&acme()).unwrap().files == 0);
    assert_eq!(depot.volumes()[0].state, VolumeState::Failed);
    goes_on.store(true, Ordering::SeqCst);
    bench.until(&depot, || depot.volumes()[0].state == VolumeState::Up);
}

#[test]
fn old_bytes_without_a_record_are_quarantined_and_no_others() {
    let bench = Bench::new();
    let depot = bench.open();
    shelf_of_new_tenant(&depot, "out");
    depot.put_bytes(&acme(), named("in", "a"), &[1; 50_000]).unwrap();
    depot.put_bytes(&acme(), named("out", "b"), b"kept").unwrap();
    let volume = bench.dir.path().join("volume");
    let ended = depot.put_bytes(&acme(), named("in", "c"), &[1; 50_000]).unwrap();
    depot.delete(&acme(), ended.file.id).unwrap();
    // The search advances the time by more than an hour, and by less than five.
    let old = leave_orphan(&volume, FileId(1 << 64), Timestamp(1));
    let young = leave_orphan(&volume, FileId(2 << 64), bench.now().after(5 * HOUR));
    search(&bench, &depot);
    assert!(!old.exists() && young.exists());
    assert!(volume.join("quarantine").join(FileId(1 << 64).to_string()).exists());
    let status = depot.orphans();
    assert_eq!((status.found, status.quarantined, status.failed), (1, 1, 0));
    assert_eq!(depot.open_file(&acme(), one(&depot).file().id).unwrap().file().bytes, 50_000);
    assert!(depot.file_at(&acme(), "out/b").is_ok());
    assert_eq!(bench.stored_files(), 3);
}

#[test]
fn an_upload_in_progress_is_not_quarantined_whatever_its_age() {
    let bench = Bench::new();
    let mut options = bench.options();
    options.upkeep.orphan_age_min = Duration::ZERO;
    let depot = Depot::open(options).unwrap();
    let mut upload = depot.begin(&acme(), NewFile::default()).unwrap();
    upload.write(&vec![7; 3 << 20]).unwrap();
    search(&bench, &depot);
    search(&bench, &depot);
    let stored = upload.finish().unwrap();
    search(&bench, &depot);
    assert_eq!(depot.orphans().found, 0);
    let content = depot.open_file(&acme(), stored.file.id).unwrap().read_all().unwrap();
    assert_eq!(content, vec![7; 3 << 20]);
}

#[test]
fn quarantined_bytes_become_files_again_when_they_are_adopted() {
    let bench = Bench::new();
    let depot = bench.open();
    shelf_of_new_tenant(&depot, "out");
    let work = NewFile {
        content_type: "text/csv".to_owned(),
        metadata: vec![("from".to_owned(), "b".to_owned())],
        ..named("in/deep", "a.csv")
    };
    let work = depot.put_bytes(&acme(), work, &[3; 50_000]).unwrap();
    let kept = depot.put_bytes(&acme(), named("out", "statement"), b"closing").unwrap();
    let damaged = depot.put_bytes(&acme(), named("in", "damaged"), &[4; 50_000]).unwrap();
    depot.close().unwrap();
    drop(depot);
    // Everything but the bytes is lost.
    for lost in ["queue", "history"] {
        std::fs::remove_dir_all(bench.dir.path().join(lost)).unwrap();
    }
    let volume = bench.dir.path().join("volume");
    let text = std::fs::read_to_string(volume.join("VOLUME")).unwrap();
    let identity = text.lines().find_map(|line| line.strip_prefix("identity ")).unwrap();
    let depot = Depot::open(DepotOptions { first_volume: None, ..bench.options() }).unwrap();
    let identity = Some(identity.parse().unwrap());
    depot.mount(VolumeSpec { identity, ..spec("main", &volume) }).unwrap();
    shelf_of_new_tenant(&depot, "out");
    let path = stored_path(&volume, damaged.file.id);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[30_000] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    leave_orphan(&volume, FileId(1 << 64), Timestamp(0));
    search(&bench, &depot);
    assert_eq!(depot.orphans().quarantined, 4);
    assert_eq!(depot.tenant(&acme()).unwrap().files, 0);

    let dry = depot.adopt(true, |_| {}).unwrap();
    assert_eq!((dry.adopted, dry.bytes), (2, 50_007));
    assert_eq!(depot.tenant(&acme()).unwrap().files, 0);
    let mut adoptions = Vec::new();
    let report = depot.adopt(false, |adoption| adoptions.push(adoption.clone())).unwrap();
    assert_eq!((report.adopted, report.not_adopted[&NotAdopted::Damaged]), (2, 2));
    assert!(adoptions.iter().any(|it| it.file == Some((acme(), "in/deep/a.csv".to_owned()))));
    let claim = one(&depot);
    assert_eq!(claim.file().id, work.file.id);
    assert_eq!(claim.file().metadata, work.file.metadata);
    assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), [3; 50_000]);
    assert_eq!(depot.file_at(&acme(), "out/statement").unwrap().record.id, kept.file.id);
    // What is adopted has left the quarantine.
    let again = depot.adopt(false, |_| {}).unwrap();
    assert_eq!((again.adopted, again.not_adopted[&NotAdopted::Damaged]), (0, 2));
}

#[test]
fn bytes_of_files_that_exist_or_have_ended_are_not_adopted() {
    let bench = Bench::new();
    let depot = bench.open();
    let quarantine = bench.dir.path().join("volume/quarantine");
    std::fs::create_dir_all(&quarantine).unwrap();
    let volume = bench.dir.path().join("volume");
    let mut copies = Vec::new();
    for (key, name) in [("k1", "a"), ("k2", "b")] {
        let file = NewFile { submit_key: Some(key.to_owned()), ..named("in", name) };
        let stored = depot.put_bytes(&acme(), file, &[1; 50_000]).unwrap();
        let id = stored.file.id;
        std::fs::copy(stored_path(&volume, id), quarantine.join(id.to_string())).unwrap();
        copies.push(id);
    }
    let claim = one(&depot);
    depot.complete(claim.token()).unwrap();
    // The end is confirmed and forgotten; the submit key is remembered.
    (0..3).for_each(|_| depot.step().unwrap());
    let report = depot.adopt(false, |_| {}).unwrap();
    assert_eq!((report.adopted, &report.not_adopted[&NotAdopted::Ended]), (0, &1));
    assert_eq!(report.not_adopted[&NotAdopted::Present], 1);
}

#[test]
fn damage_is_found_reported_and_told_to_the_worker() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), named("in", "whole"), &[1; 50_000]).unwrap();
    let damaged = depot.put_bytes(&acme(), named("in", "damaged"), &vec![2; 3 << 20]).unwrap();
    let path = stored_path(&bench.dir.path().join("volume"), damaged.file.id);
    let whole = std::fs::read(&path).unwrap();
    let mut bytes = whole.clone();
    bytes[2 << 20] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    bench.until(&depot, || {
        bench.clock.advance(Duration::from_secs(10));
        depot.scrub().passes == 1
    });
    let damage = depot.damage().unwrap();
    assert_eq!(damage.len(), 1);
    assert_eq!((damage[0].id, damage[0].path.as_str()), (damaged.file.id, "in/damaged"));
    assert!(damage[0].problem.starts_with("block 2 of"), "{}", damage[0].problem);
    let status = depot.scrub();
    assert_eq!((status.files, status.damaged, status.unreadable), (1, 1, 0));

    let claims = depot.claim(&acme(), &ClaimOptions::up_to(2)).unwrap();
    assert_eq!(claims[0].problem(), None);
    assert_eq!(claims[1].problem(), Some(damage[0].problem.as_str()));
    assert!(matches!(depot.complete(claims[1].token()), Err(DepotError::Bytes { .. })));
    let mut told = Vec::new();
    let report = depot.verify(|_, damaged| told.extend(damaged.cloned())).unwrap();
    assert_eq!((report.files, report.bytes, report.damaged), (2, 50_000, 1));
    assert_eq!(told[0].id, damaged.file.id);
    // It is restored from a copy.
    std::fs::write(&path, whole).unwrap();
    assert_eq!(depot.verify(|_, _| {}).unwrap().damaged, 0);
    assert!(depot.damage().unwrap().is_empty());
    depot.complete(claims[1].token()).unwrap();
}

#[test]
fn the_scrub_reads_no_faster_than_it_may_and_not_at_all_at_zero() {
    let bench = Bench::new();
    let mut options = bench.options();
    options.upkeep.scrub_bytes_per_second = 1 << 20;
    let depot = Depot::open_stepped(options).unwrap();
    for _ in 0..4 {
        depot.put_bytes(&acme(), NewFile::default(), &vec![1; 1 << 20]).unwrap();
    }
    bench.clock.advance(Duration::from_secs(60));
    (0..100).for_each(|_| depot.step().unwrap());
    // One step reads a block at least; the next waits until that is paid for.
    assert_eq!(depot.scrub().bytes, 0, "the pass is due a minute after its first step");
    bench.clock.advance(Duration::from_secs(60));
    (0..100).for_each(|_| depot.step().unwrap());
    assert_eq!(depot.scrub().bytes, 1 << 20);
    bench.clock.advance(Duration::from_secs(2));
    (0..100).for_each(|_| depot.step().unwrap());
    assert_eq!(depot.scrub().bytes, 2 << 20);
    drop(depot);

    let mut options = bench.options();
    options.upkeep.scrub_bytes_per_second = 0;
    let depot = Depot::open_stepped(options).unwrap();
    bench.clock.advance(100 * HOUR);
    (0..100).for_each(|_| depot.step().unwrap());
    assert_eq!(depot.scrub().bytes, 0);
}

/// Waits until this number of files is on the first volume.
fn until_stored(bench: &Bench, depot: &Depot, files: usize) {
    bench.until(depot, || {
        bench.clock.advance(Duration::from_secs(5));
        bench.stored_files() == files
    });
}

#[test]
fn an_inline_file_that_waits_long_moves_to_a_volume() {
    let bench = Bench::new();
    let depot = bench.open();
    let low = depot.put_bytes(&acme(), named("in", "low"), b"low").unwrap();
    let high = NewFile { priority: 2, ..named("in", "high") };
    let high = depot.put_bytes(&acme(), high, b"high").unwrap();
    assert_eq!(bench.stored_files(), 0);
    // A crash of an earlier try left bytes.
    let volume = bench.dir.path().join("volume");
    leave_orphan(&volume, low.file.id, bench.now().after(5 * HOUR));
    bench.clock.advance(HOUR);
    bench.until(&depot, || {
        bench.clock.advance(Duration::from_secs(5));
        let is_stored = |id| depot.file(&acme(), id).unwrap().record.place.stored().is_some();
        is_stored(low.file.id) && is_stored(high.file.id)
    });
    assert_eq!(bench.stored_files(), 2);
    assert_eq!(depot.open_file(&acme(), low.file.id).unwrap().read_all().unwrap(), b"low");
    drop(depot);
    let depot = bench.open();
    assert_eq!(depot.report().waiting, 2);
    for (file, content) in [(&high.file, "high"), (&low.file, "low")] {
        let claim = bench.claim_soon(&depot);
        assert_eq!((claim.file().id, claim.attempt()), (file.id, 1));
        assert_eq!(claim.file().created_at, file.created_at);
        assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), content.as_bytes());
        depot.complete(claim.token()).unwrap();
    }
    bench.until(&depot, || bench.stored_files() == 0);
}

#[test]
fn an_inline_file_that_was_handed_out_stays_in_its_message() {
    let bench = Bench::new();
    let depot = bench.open();
    let stored = depot.put_bytes(&acme(), NewFile::default(), b"x").unwrap();
    let claim = one(&depot);
    depot.fail(claim.token(), "later", Some(Duration::from_secs(3 * 3_600))).unwrap();
    depot.put_bytes(&acme(), NewFile::default(), b"y").unwrap();
    bench.clock.advance(HOUR);
    // The other one moves in the same pass.
    until_stored(&bench, &depot, 1);
    let info = depot.file(&acme(), stored.file.id).unwrap();
    assert_eq!((info.record.place.stored(), info.attempts), (None, 1));
}

#[test]
fn a_volume_that_drains_becomes_empty_while_its_files_live_on() {
    let bench = Bench::new();
    let mut options = bench.options();
    options.attempts_max = 2;
    let depot = Depot::open(options).unwrap();
    shelf_of_new_tenant(&depot, "out");
    let dead = depot.put_bytes(&acme(), named("in", "dead"), &[1; 50_000]).unwrap();
    depot.refuse(one(&depot).token(), "not a CSV").unwrap();
    bench.until(&depot, || depot.file(&acme(), dead.file.id).unwrap().state == FileState::Dead);
    depot.put_bytes(&acme(), named("in", "claimed"), &[2; 50_000]).unwrap();
    let claimed = one(&depot);
    depot.put_bytes(&acme(), named("in", "waiting"), &[3; 50_000]).unwrap();
    let kept = depot.put_bytes(&acme(), named("out", "kept"), &[4; 50_000]).unwrap();
    assert_eq!(bench.stored_files(), 4);
    let other = tempfile::tempdir().unwrap();
    depot.mount(spec("other", other.path())).unwrap();
    depot.drain_volume("main", true).unwrap();
    bench.until(&depot, || {
        bench.clock.advance(Duration::from_secs(1));
        depot.renew(claimed.token(), HOUR).unwrap();
        bench.stored_files() == 1
    });
    assert!(matches!(depot.unmount("main"), Err(DepotError::VolumeInUse { files: 1, .. })));
    depot.complete(claimed.token()).unwrap();
    bench.until(&depot, || depot.unmount("main").is_ok());
    // The old bytes were removed, not found as bytes without a record.
    assert_eq!(depot.orphans().found, 0);

    let read = |id| depot.open_file(&acme(), id).unwrap().read_all().unwrap();
    assert_eq!(read(kept.file.id), [4; 50_000]);
    assert_eq!(read(dead.file.id), [1; 50_000]);
    let letters = depot.dead_files(&acme(), 10).unwrap();
    assert_eq!((letters.len(), letters[0].detail.as_str()), (1, "not a CSV"));
    let waiting = bench.claim_soon(&depot);
    assert_eq!(depot.read_claimed(&waiting).unwrap().read_all().unwrap(), [3; 50_000]);
    depot.complete(waiting.token()).unwrap();
    assert_eq!(depot.redrive(&acme(), 10).unwrap(), 1);
    let again = bench.claim_soon(&depot);
    assert_eq!((again.file().id, again.attempt()), (dead.file.id, 1));
    depot.complete(again.token()).unwrap();
    assert_eq!(depot.tenant(&acme()).unwrap().files, 1);
    drop(depot);
    let depot = bench.open();
    assert_eq!((depot.report().kept, depot.report().waiting, depot.report().dead), (1, 0, 0));
    assert_eq!(depot.open_file(&acme(), kept.file.id).unwrap().read_all().unwrap(), [4; 50_000]);
}

#[test]
fn a_pool_that_is_closed_leaves_no_old_bytes_of_files_that_moved() {
    let bench = Bench::new();
    let depot = Depot::open_stepped(bench.options()).unwrap();
    depot.put_bytes(&acme(), named("in", "a"), &[1; 50_000]).unwrap();
    let other = tempfile::tempdir().unwrap();
    depot.mount(spec("other", other.path())).unwrap();
    depot.drain_volume("main", true).unwrap();
    let begun = std::time::Instant::now();
    let moved = || depot.volumes().iter().any(|it| it.name == "other" && it.files_written > 0);
    while !moved() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the file does not move");
        bench.clock.advance(Duration::from_secs(1));
        depot.step().unwrap();
    }
    depot.close().unwrap();
    drop(depot);
    assert_eq!(bench.stored_files(), 0);
    let depot = bench.open();
    depot.unmount("main").unwrap();
    assert_eq!(depot.read_claimed(&one(&depot)).unwrap().read_all().unwrap(), [1; 50_000]);
}

#[test]
fn a_file_that_moves_keeps_the_delay_after_its_failure() {
    let bench = Bench::new();
    let depot = Depot::open_stepped(bench.options()).unwrap();
    let stored = depot.put_bytes(&acme(), named("in", "a"), &[1; 50_000]).unwrap();
    depot.fail(one(&depot).token(), "later", Some(HOUR)).unwrap();
    let other = tempfile::tempdir().unwrap();
    depot.mount(spec("other", other.path())).unwrap();
    depot.drain_volume("main", true).unwrap();
    let moved_at = bench.now();
    until_stored(&bench, &depot, 0);
    assert!(bench.now() < moved_at.after(HOUR / 2));
    let claims = || depot.claim(&acme(), &ClaimOptions::default()).unwrap();
    assert!(claims().is_empty());
    bench.clock.advance(HOUR);
    let claim = bench.claim_soon(&depot);
    assert_eq!(claim.file().id, stored.file.id);
    assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), [1; 50_000]);
}
