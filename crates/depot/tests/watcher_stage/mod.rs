//! A pool, and a folder that it watches.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "each test uses a part of it")]

use crate::support::{Bench, acme};
use rialto_depot::{
    ClaimOptions, Depot, DepotOptions, ScanReport, TenantName, WatchSpec, WatchStatus,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub struct Stage {
    pub bench: Bench,
    pub folder: tempfile::TempDir,
    pub options: DepotOptions,
}

impl Stage {
    /// Files are settled at once; the test's clock shows a time behind that of the files.
    pub fn new() -> Self {
        let bench = Bench::new();
        let mut options = bench.options();
        options.watcher.settle = Duration::ZERO;
        Self { bench, folder: tempfile::tempdir().unwrap(), options }
    }

    /// A pool whose folders are scanned by the test alone.
    pub fn open(&self) -> Depot {
        Depot::open_stepped(self.options.clone()).unwrap()
    }

    /// One with the watch `in`.
    pub fn watching(&self, change: impl FnOnce(&mut WatchSpec)) -> Depot {
        let depot = self.open();
        depot.add_watch(self.spec(change)).unwrap();
        depot
    }

    pub fn spec(&self, change: impl FnOnce(&mut WatchSpec)) -> WatchSpec {
        let mut spec = WatchSpec::new("in", self.folder.path(), acme());
        change(&mut spec);
        spec
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Sets when a file was modified, as a time before the test's clock.
    pub fn set_age(&self, name: &str, age: Duration) {
        let now = SystemTime::UNIX_EPOCH + Duration::from_nanos(self.bench.now().0);
        let file = std::fs::File::options().write(true).open(self.path(name)).unwrap();
        file.set_modified(now - age).unwrap();
    }

    /// The names in a folder.
    pub fn names(&self) -> Vec<String> {
        names_in(self.folder.path())
    }
}

pub fn names_in(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.unwrap().file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

pub fn scan(depot: &Depot) -> ScanReport {
    depot.scan_watch("in").unwrap()
}

pub fn status(depot: &Depot) -> WatchStatus {
    depot.watches().into_iter().find(|watch| watch.spec.name == "in").unwrap()
}

/// The paths of a tenant's work files.
pub fn paths(depot: &Depot, tenant: &str) -> Vec<String> {
    let tenant = TenantName::new(tenant).unwrap();
    let Ok(files) = depot.work_files(&tenant, "", None, 1_000) else { return Vec::new() };
    let mut paths: Vec<_> = files.iter().map(|file| file.record.path()).collect();
    paths.sort();
    paths
}

/// The contents of acme's files, which are completed.
pub fn contents(depot: &Depot) -> Vec<Vec<u8>> {
    let mut contents = Vec::new();
    loop {
        let claims = depot.claim(&acme(), &ClaimOptions::default()).unwrap();
        if claims.is_empty() {
            contents.sort();
            return contents;
        }
        for claim in claims {
            contents.push(depot.read_claimed(&claim).unwrap().read_all().unwrap());
            depot.complete(claim.token()).unwrap();
        }
    }
}
