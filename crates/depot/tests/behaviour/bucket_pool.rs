//! A pool with a volume in a bucket: restarts, absence, orphans, drains.

use crate::bucket_stage::{Asked, MemoryBucket, MemoryBuckets, place_at};
use crate::support::{Bench, acme, named, one};
use crate::upkeep_stage::{search, shelf_of_new_tenant};
use rialto_clock::Timestamp;
use rialto_depot::{Depot, DepotError, DepotOptions, FileId, NotAdopted, VolumeSpec, VolumeState};
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Stage {
    bench: Bench,
    buckets: MemoryBuckets,
}

impl Stage {
    fn new() -> Self {
        Self { bench: Bench::new(), buckets: MemoryBuckets::default() }
    }

    fn bucket(&self) -> &MemoryBucket {
        &self.buckets.bucket
    }

    fn options(&self) -> DepotOptions {
        let mut options = self.bench.options();
        options.volumes.buckets = Some(Arc::new(self.buckets.clone()));
        options
    }

    fn open(&self) -> Depot {
        Depot::open(self.options()).unwrap()
    }

    /// A pool whose files are in the bucket, with a directory that takes none.
    fn open_in_bucket(&self) -> Depot {
        let depot = self.open();
        depot.mount(cold()).unwrap();
        depot.drain_volume("main", true).unwrap();
        depot
    }
}

fn cold() -> VolumeSpec {
    VolumeSpec { name: "cold".to_owned(), place: place_at("pool"), weight: 1, identity: None }
}

fn stored_in(bucket: &MemoryBucket) -> usize {
    bucket.keys("pool/files/").len()
}

#[test]
fn files_in_a_bucket_are_there_after_a_restart_and_end_there() {
    let stage = Stage::new();
    let depot = stage.open_in_bucket();
    shelf_of_new_tenant(&depot, "out");
    let work = depot.put_bytes(&acme(), named("in", "work"), &[1; 50_000]).unwrap();
    depot.put_bytes(&acme(), named("out", "kept"), &vec![2; 9 << 20]).unwrap();
    assert_eq!((stored_in(stage.bucket()), stage.bench.stored_files()), (2, 0));
    depot.close().unwrap();
    drop(depot);
    // The level of the history is synced; a checkpoint repeats its volumes.
    for checkpoint_bytes in [0, 1 << 30] {
        let depot = Depot::open(DepotOptions { checkpoint_bytes, ..stage.options() }).unwrap();
        assert_eq!(depot.report().absent_volumes, Vec::<String>::new());
        assert_eq!(depot.volumes()[1].bucket, depot.volumes().pop().unwrap().bucket);
        let kept = depot.file_at(&acme(), "out/kept").unwrap().record.id;
        let mut reader = depot.open_file(&acme(), kept).unwrap();
        assert!(reader.read_all().unwrap() == vec![2; 9 << 20]);
        assert_eq!(depot.verify(|_, _| {}).unwrap().damaged, 0);
        depot.close().unwrap();
    }
    let depot = stage.open();
    let claim = one(&depot);
    assert_eq!(claim.file().id, work.file.id);
    assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), [1; 50_000]);
    depot.complete(claim.token()).unwrap();
    stage.bench.until(&depot, || stored_in(stage.bucket()) == 1);
}

#[test]
fn a_bucket_that_is_absent_at_the_opening_is_reported_and_nothing_is_lost() {
    let stage = Stage::new();
    let depot = stage.open_in_bucket();
    let work = depot.put_bytes(&acme(), named("in", "work"), &[1; 50_000]).unwrap();
    depot.close().unwrap();
    drop(depot);
    stage.bucket().fail_all();
    let depot = stage.open();
    let absent = &depot.report().absent_volumes;
    assert!(absent.len() == 1 && absent[0].contains("503 Slow Down"), "{absent:?}");
    let claim = one(&depot);
    assert!(claim.problem().is_some());
    assert!(depot.complete(claim.token()).is_err());
    depot.close().unwrap();
    drop(depot);
    stage.bucket().fail(&[]);
    stage.buckets.refuse(Some("its bucket has no credentials"));
    let depot = stage.open();
    assert!(depot.report().absent_volumes[0].contains("no credentials"));
    depot.close().unwrap();
    drop(depot);
    stage.buckets.refuse(None);
    let depot = stage.open();
    let claim = one(&depot);
    assert_eq!(claim.file().id, work.file.id);
    assert!(claim.problem().is_none());
}

#[test]
fn what_is_acknowledged_is_there_whichever_operation_fails() {
    use Asked::{Begin, Complete, Copy, Head, List, Part, Put, Read, Remove};
    for failing in [Put, Begin, Part, Complete, Copy, Head, List, Read, Remove] {
        let stage = Stage::new();
        let depot = stage.open_in_bucket();
        let mut acknowledged = Vec::new();
        for nth in 0..8_u8 {
            // Every second attempt fails, with and without the answer alone being lost.
            stage.bucket().fail(if nth % 2 == 0 { &[] } else { std::slice::from_ref(&failing) });
            stage.bucket().lose_answers(nth % 4 == 3);
            let bytes = vec![nth; if nth < 4 { 50_000 } else { 9 << 20 }];
            match depot.put_bytes(&acme(), named("in", &format!("{nth}")), &bytes) {
                Ok(stored) => acknowledged.push((stored.file.id, bytes)),
                Err(error) => {
                    let told = matches!(error, DepotError::Volume(_));
                    assert!(told && nth % 2 == 1, "{failing:?}: {error}");
                }
            }
            stage.bucket().fail(&[]);
            stage.bench.until(&depot, || {
                stage.bench.clock.advance(Duration::from_secs(5));
                depot.volumes()[1].state == VolumeState::Up
            });
        }
        assert!(acknowledged.len() >= 4, "{failing:?}");
        depot.close().unwrap();
        drop(depot);
        let depot = stage.open();
        assert_eq!(depot.tenant(&acme()).unwrap().files, acknowledged.len() as u64);
        for (id, bytes) in &acknowledged {
            let back = depot.open_file(&acme(), *id).unwrap().read_all().unwrap();
            assert!(back == *bytes, "{failing:?}");
        }
        assert_eq!(stored_in(stage.bucket()), acknowledged.len(), "{failing:?}");
        assert_eq!(stage.bucket().open_parts(), 0, "{failing:?}");
    }
}

#[test]
fn objects_without_a_record_are_quarantined_and_adopted() {
    let stage = Stage::new();
    let depot = stage.open_in_bucket();
    let work = depot.put_bytes(&acme(), named("in", "a.csv"), &[3; 50_000]).unwrap();
    // A put whose answer was lost, and whose removal failed: the object stays without a record.
    stage.bucket().lose_answers(true);
    stage.bucket().fail(&[Asked::Put, Asked::Remove]);
    stage.bucket().set_now(Timestamp(1));
    let refused = depot.put_bytes(&acme(), named("in", "b.csv"), &[4; 50_000]);
    assert!(refused.is_err());
    stage.bucket().fail(&[]);
    stage.bucket().set("pool/files/00000000000000010000000000000000", vec![0; 500]);
    stage.bucket().set_now(stage.bench.now().after(Duration::from_secs(1 << 20)));
    stage.bucket().set("pool/files/00000000000000020000000000000000", vec![0; 500]);
    search(&stage.bench, &depot);
    let young = "pool/files/00000000000000020000000000000000";
    let recorded = format!("pool/files/{}", work.file.id);
    assert_eq!(stage.bucket().keys("pool/files/"), [young, &recorded]);
    let quarantined = stage.bucket().keys("pool/quarantine/");
    assert!(quarantined[0].ends_with(&FileId(1 << 64).to_string()), "{quarantined:?}");
    assert_eq!((depot.orphans().quarantined, quarantined.len()), (2, 2));
    // A probe in a thread of its own lets the volume that failed take files again.
    let deadline = Instant::now() + Duration::from_secs(20);
    while depot.volumes().iter().any(|volume| volume.state == VolumeState::Failed) {
        assert!(Instant::now() < deadline, "the volume is not probed");
        std::thread::yield_now();
    }
    let report = depot.adopt(false, |_| {}).unwrap();
    assert_eq!((report.adopted, report.not_adopted[&NotAdopted::Damaged]), (1, 1));
    assert_eq!(stage.bucket().keys("pool/quarantine/").len(), 1);
    assert_eq!(depot.tenant(&acme()).unwrap().files, 2);
    let claim = one(&depot);
    assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), [3; 50_000]);
}

#[test]
fn a_drain_moves_files_from_a_directory_to_a_bucket_and_back() {
    let stage = Stage::new();
    let depot = stage.open();
    shelf_of_new_tenant(&depot, "out");
    let contents: Vec<Vec<u8>> = vec![vec![1; 50_000], vec![2; 3 << 20], vec![3; 9 << 20]];
    for (nth, content) in contents.iter().enumerate() {
        depot.put_bytes(&acme(), named("out", &format!("{nth}")), content).unwrap();
        depot.put_bytes(&acme(), named("in", &format!("{nth}")), content).unwrap();
    }
    depot.mount(cold()).unwrap();
    let are_whole = || {
        for (nth, content) in contents.iter().enumerate() {
            let kept = depot.file_at(&acme(), &format!("out/{nth}")).unwrap().record.id;
            assert!(depot.open_file(&acme(), kept).unwrap().read_all().unwrap() == *content);
        }
        assert_eq!(depot.verify(|_, _| {}).unwrap().damaged, 0);
    };
    depot.drain_volume("main", true).unwrap();
    stage.bench.until(&depot, || {
        stage.bench.clock.advance(Duration::from_secs(1));
        stored_in(stage.bucket()) == 6 && stage.bench.stored_files() == 0
    });
    are_whole();
    depot.drain_volume("main", false).unwrap();
    depot.drain_volume("cold", true).unwrap();
    // Each request may fail once more: the files stay where they are, or move.
    stage.bucket().fail(&[Asked::Read]);
    stage.bench.clock.advance(Duration::from_secs(5));
    depot.step().unwrap();
    stage.bucket().fail(&[]);
    stage.bench.until(&depot, || {
        stage.bench.clock.advance(Duration::from_secs(1));
        stored_in(stage.bucket()) == 0 && stage.bench.stored_files() == 6
    });
    are_whole();
    depot.unmount("cold").unwrap();
    depot.close().unwrap();
    assert_eq!(stage.bucket().keys("pool/"), ["pool/VOLUME"]);
}
