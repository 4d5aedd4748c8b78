//! What an encrypted pool leaves on the disk in clear.

use crate::simulated::{Stage, at, dir, settle, tenant};
use rialto_depot::{
    ClaimOptions, Depot, DepotOptions, DirectoryKind, Level, NewFile, Quota, VolumeOptions,
};
use rialto_disk::SimDisk;
use rialto_log::{Cipher, KeyRing};
use std::time::Duration;

const TEXTS: [&str; 6] = [
    "in/confidential",
    "kept-confidential",
    "metadata-confidential",
    "key-confidential",
    "content-confidential",
    "result-confidential",
];

fn options(stage: &Stage) -> DepotOptions {
    let mut options = stage.options();
    let VolumeOptions { keys, sealing, .. } = &mut options.volumes;
    *keys = KeyRing::parse(&format!("3: {}", "a7".repeat(32)), "the test").unwrap();
    sealing.encryption = Some(Cipher::Aes256Gcm);
    options.upkeep.completed_retention = Duration::from_secs(3_600);
    options
}

fn file(path: &str) -> NewFile {
    NewFile {
        metadata: vec![("note".to_owned(), "metadata-confidential".to_owned())],
        submit_key: Some(format!("key-confidential-{path}")),
        ..at(path)
    }
}

/// The files on the disk that hold a text.
fn with_text(disk: &SimDisk, text: &[u8]) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    let paths = disk.paths().into_iter();
    let holding = paths.filter(|path| disk.bytes_of(path).is_some_and(|bytes| holds(&bytes)));
    holding.map(|path| path.display().to_string()).collect()
}

/// A day with work, kept files, results, completed files and a checkpoint.
fn live(depot: &Depot) {
    let acme = tenant("acme");
    depot.create_tenant(&acme, Quota::default()).unwrap();
    let shelf = Some(DirectoryKind::Shelf);
    depot.set_directory(&acme, &dir("out"), shelf, Quota::default()).unwrap();
    let long = b"content-confidential".repeat(1_000);
    depot.put_bytes(&acme, file("in/confidential"), &long).unwrap();
    depot.put_bytes(&acme, file("out/kept-confidential"), &long).unwrap();
    let claim = depot.claim(&acme, &ClaimOptions::default()).unwrap().remove(0);
    let mut upload = depot.begin_result(claim.token(), at("out/result-confidential")).unwrap();
    upload.write(&long).unwrap();
    depot.complete_with(claim.token(), vec![upload.finish_result().unwrap()]).unwrap();
    settle(depot).unwrap();
}

#[test]
fn the_history_of_an_encrypted_pool_is_encrypted() {
    let stage = Stage::new(1, Level::Synced);
    let depot = Depot::open_stepped(options(&stage)).unwrap();
    live(&depot);
    for text in TEXTS {
        assert_eq!(with_text(&stage.disk, text.as_bytes()), Vec::<String>::new(), "{text}");
    }
    depot.close().unwrap();
    drop(depot);
    let depot = Depot::open_stepped(options(&stage)).unwrap();
    assert!(depot.file_at(&tenant("acme"), "out/result-confidential").is_ok());
}

#[test]
fn a_history_that_was_written_in_clear_is_read_and_goes_on_encrypted() {
    let stage = Stage::new(1, Level::Synced);
    let mut clear = options(&stage);
    clear.volumes.sealing.encryption = None;
    let depot = Depot::open_stepped(clear).unwrap();
    live(&depot);
    depot.close().unwrap();
    drop(depot);
    assert!(!with_text(&stage.disk, b"kept-confidential").is_empty());
    let depot = Depot::open_stepped(options(&stage)).unwrap();
    let acme = tenant("acme");
    assert!(depot.file_at(&acme, "out/kept-confidential").is_ok());
    depot.put_bytes(&acme, at("out/later-confidential"), b"x").unwrap();
    assert!(with_text(&stage.disk, b"later-confidential").is_empty());
}

#[test]
fn the_index_of_an_encrypted_pool_is_not_stored() {
    let root = tempfile::tempdir().unwrap();
    let index = root.path().join("index");
    let open = |is_encrypted| {
        let mut options = DepotOptions::at(root.path());
        if is_encrypted {
            let VolumeOptions { keys, sealing, .. } = &mut options.volumes;
            *keys = KeyRing::parse(&format!("3: {}", "a7".repeat(32)), "the test").unwrap();
            sealing.encryption = Some(Cipher::Aes256Gcm);
        }
        Depot::open(options).unwrap()
    };
    let acme = tenant("acme");
    let depot = open(false);
    depot.create_tenant(&acme, Quota::default()).unwrap();
    depot.set_directory(&acme, &dir("out"), Some(DirectoryKind::Shelf), Quota::default()).unwrap();
    depot.put_bytes(&acme, at("out/first"), b"x").unwrap();
    depot.close().unwrap();
    drop(depot);
    assert!(index.exists());
    for _ in 0..2 {
        let depot = open(true);
        assert!(!index.exists());
        depot.put_bytes(&acme, at("out/later"), b"x").unwrap();
        for path in ["out/first", "out/later"] {
            assert!(depot.file_at(&acme, path).is_ok(), "{path}");
        }
        depot.close().unwrap();
    }
}
