//! A prefix in which other programs have stored objects.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod object_server;

use object_server::{ObjectServer, PAGE_MAX};
use rialto_depot::FileId;
use rialto_depot::volume::{
    ScanCursor, VolumeNumber, VolumeOptions, VolumePlace, VolumeSpec, Volumes,
};
use rialto_disk::SimDisk;
use std::sync::Arc;

const ONE: VolumeNumber = VolumeNumber(1);

/// Names that no path of `object_store` has, and others that no file has.
const OTHERS: [&str; 12] =
    ["", "/", "//", "a//b", "a/", "..", "../..", ".", "a\\b", "a b", "caf\u{e9}&<", "%2F"];

fn mounted(server: &ObjectServer) -> Volumes {
    let buckets = Arc::new(ObjectServer::buckets());
    let options = VolumeOptions { buckets: Some(buckets), ..VolumeOptions::default() };
    let volumes = Volumes::new(Arc::new(SimDisk::new(1)), options);
    let place = VolumePlace::Bucket(server.spec("p"));
    let spec = VolumeSpec { name: "cold".to_owned(), place, weight: 1, identity: None };
    volumes.mount(ONE, &spec).unwrap();
    volumes
}

#[test]
fn the_search_counts_the_objects_of_other_programs_and_finds_every_file() {
    let server = ObjectServer::start();
    let volumes = mounted(&server);
    // They are before, between and behind those of others.
    let ids: Vec<_> = (1..=16_u128).map(|nth| FileId(nth << 124 | nth)).take(15).collect();
    for id in &ids {
        volumes.begin(*id, None, &[]).unwrap().finish(b"").unwrap();
    }
    OTHERS.iter().for_each(|name| server.set(&format!("p/files/{name}")));
    server.set("p/files2/a");
    for max in [1, 3, 1_000] {
        let (mut cursor, mut found) = (ScanCursor::default(), Vec::new());
        loop {
            let page = volumes.scan(ONE, &mut cursor, max).unwrap();
            if page.is_empty() {
                break;
            }
            found.extend(page.into_iter().map(|file| file.id));
        }
        assert_eq!(found, ids, "{max}");
        assert_eq!(cursor.foreign(), OTHERS.len() as u64, "{max}");
    }
}

#[test]
fn a_list_goes_on_behind_the_pages_of_the_store() {
    let server = ObjectServer::start();
    let volumes = mounted(&server);
    let others = 5 * PAGE_MAX;
    (0..others).for_each(|nth| server.set(&format!("p/quarantine/{nth:03}//")));
    let id = FileId(u128::MAX);
    volumes.begin(id, None, &[]).unwrap().finish(b"").unwrap();
    volumes.quarantine(id, ONE).unwrap();
    assert_eq!(volumes.quarantined(ONE, None).unwrap(), [id]);
}
