//! What happens while a write of another call hangs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod simulated;

use rialto_depot::{ClaimOptions, Depot, DepotError, Level, NewFile, Quota, TenantName};
use simulated::{Stage, at, content, settle, tenant};
use std::path::Path;

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
