//! A pool whose upkeep is watched.

#![allow(unreachable_pub, reason = "a test program has no public interface")]

use crate::support::{Bench, acme};
use rialto_clock::Timestamp;
use rialto_depot::{Depot, Directory, DirectoryKind, FileId, Quota, VolumeSpec};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub const HOUR: Duration = Duration::from_secs(3_600);

/// The stored file of an id on a volume with one level of shards.
pub fn stored_path(volume: &Path, id: FileId) -> PathBuf {
    volume.join(format!("files/{:02x}/{id}", id.shard()))
}

/// Bytes of this id that no pool wrote, last written at a time of the pool's clock.
pub fn leave_orphan(volume: &Path, id: FileId, modified: Timestamp) -> PathBuf {
    let path = stored_path(volume, id);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = std::fs::File::create(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(modified.0)).unwrap();
    path
}

/// Lets a search of all volumes happen.
pub fn search(bench: &Bench, depot: &Depot) {
    let searches = depot.orphans().searches;
    bench.clock.advance(HOUR);
    bench.until(depot, || {
        bench.clock.advance(Duration::from_secs(1));
        depot.orphans().searches > searches
    });
}

pub fn shelf(depot: &Depot, directory: &str) {
    let directory = Directory::new(directory).unwrap();
    let kind = Some(DirectoryKind::Shelf);
    depot.set_directory(&acme(), &directory, kind, Quota::default()).unwrap();
}

pub fn spec(name: &str, dir: &Path) -> VolumeSpec {
    VolumeSpec { name: name.to_owned(), place: dir.into(), weight: 1, identity: None }
}

pub fn shelf_of_new_tenant(depot: &Depot, directory: &str) {
    depot.create_tenant(&acme(), Quota::default()).unwrap();
    shelf(depot, directory);
}
