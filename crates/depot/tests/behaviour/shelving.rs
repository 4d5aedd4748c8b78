//! Many dead letters are shelved together: their bytes share a sync.

use crate::support::{acme, named};
use rialto_clock::{ManualClock, Timestamp};
use rialto_depot::{ClaimOptions, Depot, DepotOptions, FailedDisposition, FileId};
use rialto_disk::SimDisk;
use std::sync::Arc;
use std::time::Duration;

const FILES: usize = 8;

struct Stage {
    disk: SimDisk,
    clock: ManualClock,
}

impl Stage {
    fn new(seed: u64) -> Stage {
        let clock = ManualClock::new(Timestamp(1_800_000_000_000_000_000));
        Stage { disk: SimDisk::new(seed), clock }
    }

    fn open(&self) -> Depot {
        let mut options = DepotOptions::at("/pool");
        options.disk = Arc::new(self.disk.clone());
        options.clock = Arc::new(self.clock.clone());
        options.volumes.free_bytes_min = 0;
        options.upkeep.failed_retention = Duration::ZERO;
        options.upkeep.failed_disposition = FailedDisposition::Shelve;
        Depot::open_stepped(options).unwrap()
    }

    /// Dead letters in records, all of one name.
    fn dead_letters(&self, depot: &Depot, files: usize) -> Vec<FileId> {
        let put = |nth| depot.put_bytes(&acme(), named("in", "a"), &[nth as u8; 100]).unwrap();
        let ids = (0..files).map(|nth| put(nth).file.id).collect();
        for claim in depot.claim(&acme(), &ClaimOptions::up_to(files)).unwrap() {
            depot.refuse(claim.token(), "no").unwrap();
        }
        while depot.dead_files(&acme(), files).unwrap().len() < files {
            depot.step().unwrap();
        }
        ids
    }

    fn shelve(&self, depot: &Depot) {
        for _ in 0..40 {
            self.clock.advance(Duration::from_secs(21));
            // A step may meet the failure that a test asked for.
            let _ = depot.step();
        }
    }

    /// The changes of the disk while this many dead letters are shelved.
    fn operations(files: usize) -> u64 {
        let stage = Stage::new(1);
        let depot = stage.open();
        let ids = stage.dead_letters(&depot, files);
        let before = stage.disk.operations();
        stage.shelve(&depot);
        check(&depot, &ids);
        stage.disk.operations() - before
    }
}

/// Each file is on the shelf or a dead letter, and has its content. Returns how many are on the shelf.
fn check(depot: &Depot, ids: &[FileId]) -> usize {
    for (nth, id) in ids.iter().enumerate() {
        let read = depot.open_file(&acme(), *id).unwrap().read_all().unwrap();
        assert_eq!(read, [nth as u8; 100], "file {nth}");
    }
    let shelved = depot.kept_files(&acme(), "dead-letter/", None, 100).unwrap().len();
    let dead = depot.dead_files(&acme(), 100).unwrap().len();
    assert_eq!(shelved + dead, ids.len());
    assert_eq!(depot.tenant(&acme()).unwrap().files, ids.len() as u64);
    shelved
}

#[test]
fn files_that_are_shelved_together_share_a_sync() {
    let (few, many) = (Stage::operations(1), Stage::operations(1 + FILES));
    // Its directory, the file and its bytes: no file has a sync of its own.
    assert!(many - few <= 4 * FILES as u64, "{few} for one, {many} for {}", 1 + FILES);
}

#[test]
fn a_sync_that_fails_loses_no_dead_letter_and_the_others_are_shelved() {
    for failing in 1..=6 {
        let stage = Stage::new(failing);
        let depot = stage.open();
        let ids = stage.dead_letters(&depot, FILES);
        stage.disk.fail_sync(failing);
        stage.shelve(&depot);
        drop(depot);
        stage.disk.crash();
        let depot = stage.open();
        check(&depot, &ids);
        stage.shelve(&depot);
        assert_eq!(check(&depot, &ids), FILES, "the sync {failing} failed");
    }
}
