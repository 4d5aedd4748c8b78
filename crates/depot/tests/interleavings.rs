//! What happens while a write of another call hangs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod simulated;

use rialto_depot::{ClaimOptions, Depot, DepotError, Level, NewFile, Quota, TenantName};
use simulated::{Stage, at, content, settle, tenant};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Deletes a tenant with everything in it.
fn delete(depot: &Depot, name: &TenantName) {
    depot.delete_tenant(name).unwrap();
    for _ in 0..100 {
        if !depot.has_tenant(name) {
            return;
        }
        depot.step().unwrap();
    }
    panic!("the tenant is still there");
}

#[test]
fn a_file_that_is_written_while_its_tenant_is_deleted_is_not_of_the_next_tenant_of_the_name() {
    let mut refused = 0;
    for nth in 1..=6 {
        let stage = Stage::new(nth, Level::Synced);
        let depot = stage.open().unwrap();
        let acme = tenant("acme");
        depot.create_tenant(&acme, Quota::default()).unwrap();
        let (deletes, name) = (depot.clone(), acme.clone());
        stage.disk.hang(Path::new("/pool/volume"), nth, move || delete(&deletes, &name));
        let stored = depot.put_bytes(&acme, at("in/old"), &content(30_000, nth));
        stage.disk.hang_never();
        if stored.is_err() {
            refused += 1;
        }
        if !depot.has_tenant(&acme) {
            depot.create_tenant(&acme, Quota::default()).unwrap();
            let claims = depot.claim(&acme, &ClaimOptions::default()).unwrap();
            assert!(claims.is_empty(), "hang {nth}: {claims:?}");
            depot.put_bytes(&acme, at("in/new"), b"new").unwrap();
            let claims = depot.claim(&acme, &ClaimOptions::up_to(9)).unwrap();
            let paths: Vec<_> = claims.iter().map(|claim| claim.file().path()).collect();
            assert_eq!(paths, ["in/new"], "hang {nth}");
        }
        settle(&depot).unwrap();
        assert!(stored.is_err() || depot.has_tenant(&acme));
    }
    // At the last of these places the file is about to be published.
    assert!(refused > 1, "{refused}");
}

#[test]
fn a_message_is_not_acknowledged_before_the_end_of_its_file_is_durable() {
    let stage = Stage::new(1, Level::Synced);
    let mut options = stage.options();
    // The next write of the history is that of the end.
    options.checkpoint_bytes = 1 << 30;
    let depot = Depot::open(options).unwrap();
    let acme = tenant("acme");
    depot.put_bytes(&acme, at("in/a"), b"content").unwrap();
    let claim = depot.claim(&acme, &ClaimOptions::default()).unwrap().remove(0);
    // The history has nothing to sync by itself while the clock stands.
    depot.step().unwrap();
    let (other, clock, disk) = (depot.clone(), stage.clock.clone(), stage.disk.clone());
    let (sender, receiver) = mpsc::channel();
    let name = acme.clone();
    let has_waited = Arc::new(AtomicBool::new(false));
    let waits = has_waited.clone();
    stage.disk.hang(Path::new("/pool/history"), 1, move || {
        std::thread::spawn(move || {
            // The end of the lease is noticed by a thread of the queue.
            let end = Instant::now() + Duration::from_millis(700);
            while Instant::now() < end {
                // The lease of a file that is being completed ends, and then the delay after it.
                clock.advance(Duration::from_secs(10));
                if other.claim(&name, &ClaimOptions::default()).is_err() {
                    break;
                }
                std::thread::yield_now();
            }
            sender.send(()).unwrap();
        });
        // A claim that waits for the end of the file does not return before this does.
        let waited = receiver.recv_timeout(Duration::from_secs(1)).is_err();
        waits.store(waited, Ordering::SeqCst);
        // The power fails before the end is durable.
        disk.crash_after(0);
    });
    assert!(depot.complete(claim.token()).is_err());
    assert!(has_waited.load(Ordering::SeqCst), "the message was acknowledged");
    drop((depot, claim));
    stage.disk.restart();
    let depot = stage.open().unwrap();
    let files = depot.work_files(&acme, "", None, 10).unwrap();
    // The power may fail behind the write of the end. Its message is there in both cases.
    assert_eq!(files.len() + depot.report().ended, 1, "the file is lost, and has not ended");
}

#[test]
fn a_volume_is_not_unmounted_while_a_file_is_written_to_it() {
    let stage = Stage::new(1, Level::Synced);
    let depot = stage.open().unwrap();
    let mut upload = depot.begin(&tenant("acme"), NewFile::default()).unwrap();
    upload.write(&content(30_000, 1)).unwrap();
    assert!(matches!(depot.unmount("main"), Err(DepotError::Volume(_))));
    let stored = upload.finish().unwrap();
    assert!(matches!(depot.unmount("main"), Err(DepotError::VolumeInUse { files: 1, .. })));
    let mut reader = depot.open_file(&tenant("acme"), stored.file.id).unwrap();
    assert_eq!(reader.read_all().unwrap(), content(30_000, 1));
}
