//! A pool on a real disk, with a clock that the test controls.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test uses a part of it")]

use rialto_clock::{Clock, ManualClock, Timestamp};
use rialto_depot::{
    Claim, ClaimOptions, Depot, DepotOptions, Directory, FileName, NewFile, TenantName,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub struct Bench {
    pub dir: tempfile::TempDir,
    pub clock: ManualClock,
}

impl Bench {
    pub fn new() -> Self {
        let clock = ManualClock::new(Timestamp(1_800_000_000_000_000_000));
        Self { dir: tempfile::tempdir().unwrap(), clock }
    }

    pub fn options(&self) -> DepotOptions {
        let mut options = DepotOptions::at(self.dir.path());
        options.clock = Arc::new(self.clock.clone());
        options.volumes.free_bytes_min = 0;
        options
    }

    pub fn open(&self) -> Depot {
        Depot::open(self.options()).unwrap()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The number of files on the first volume.
    pub fn stored_files(&self) -> usize {
        files_below(&self.dir.path().join("volume/files"))
    }

    /// Waits for a condition; the pool's own thread brings it about.
    pub fn until(&self, depot: &Depot, mut condition: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        while !condition() {
            assert!(Instant::now() < end, "the condition did not come about");
            depot.step().unwrap();
            std::thread::yield_now();
        }
    }

    /// A claim, as soon as there is one.
    pub fn claim_soon(&self, depot: &Depot) -> Claim {
        let mut claims = Vec::new();
        self.until(depot, || {
            claims = depot.claim(&acme(), &ClaimOptions::default()).unwrap();
            !claims.is_empty()
        });
        claims.remove(0)
    }
}

impl Bench {
    /// As [`Bench::claim_soon`], while the time goes on in these steps.
    pub fn claim_later(&self, depot: &Depot, step: Duration) -> Claim {
        let mut claims = Vec::new();
        self.until(depot, || {
            self.clock.advance(step);
            claims = depot.claim(&acme(), &ClaimOptions::default()).unwrap();
            !claims.is_empty()
        });
        claims.remove(0)
    }
}

fn files_below(dir: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { files_below(&path) } else { 1 }
        })
        .sum()
}

pub fn acme() -> TenantName {
    TenantName::new("acme").unwrap()
}

pub fn named(directory: &str, name: &str) -> NewFile {
    NewFile::new(Directory::new(directory).unwrap(), FileName::new(name).unwrap())
}

pub fn one(depot: &Depot) -> Claim {
    depot.claim(&acme(), &ClaimOptions::default()).unwrap().remove(0)
}
