//! Files that are adopted after their history has seen them end.

use crate::support::{Bench, acme, named, one};
use crate::upkeep_stage::{search, stored_path};
use rialto_depot::{Depot, FileId, FileState, NewFile, NotAdopted};
use std::time::Duration;

/// Completes the oldest file, whose bytes come back without a record, and lets the search quarantine
/// them.
fn end_and_quarantine(bench: &Bench, depot: &Depot) -> FileId {
    let claim = one(depot);
    let id = claim.file().id;
    let path = stored_path(&bench.dir.path().join("volume"), id);
    let bytes = std::fs::read(&path).unwrap();
    depot.complete(claim.token()).unwrap();
    bench.until(depot, || !path.exists());
    std::fs::write(&path, bytes).unwrap();
    let quarantined = depot.orphans().quarantined;
    // The bytes have to be older than the search asks for, by the clock of the disk.
    while depot.orphans().quarantined == quarantined {
        search(bench, depot);
    }
    id
}

#[test]
fn an_adopted_file_that_had_ended_is_there_after_a_restart() {
    let bench = Bench::new();
    let depot = bench.open();
    depot.put_bytes(&acme(), named("in", "a"), &[3; 50_000]).unwrap();
    let id = end_and_quarantine(&bench, &depot);
    assert_eq!(depot.adopt(false, |_| {}).unwrap().adopted, 1);
    depot.close().unwrap();
    drop(depot);
    let depot = bench.open();
    assert_eq!(depot.file(&acme(), id).unwrap().state, FileState::Waiting);
    let claim = one(&depot);
    assert_eq!(depot.read_claimed(&claim).unwrap().read_all().unwrap(), [3; 50_000]);
    depot.complete(claim.token()).unwrap();
    depot.close().unwrap();
    drop(depot);
    // Its second end counts.
    assert!(bench.open().file(&acme(), id).is_err());
}

#[test]
fn bytes_whose_file_is_a_completed_one_stay_in_the_quarantine() {
    let bench = Bench::new();
    let mut options = bench.options();
    options.upkeep.completed_retention = Duration::from_secs(300 * 24 * 3_600);
    let depot = Depot::open(options).unwrap();
    let file = depot.put_bytes(&acme(), named("in", "a"), &[3; 50_000]).unwrap().file;
    depot.complete(one(&depot).token()).unwrap();
    let volume = bench.dir.path().join("volume");
    let bytes = volume.join("quarantine").join(file.id.to_string());
    std::fs::create_dir_all(bytes.parent().unwrap()).unwrap();
    std::fs::copy(stored_path(&volume, file.id), &bytes).unwrap();
    // Until its acknowledgement is durable, it is known as an ended file.
    bench.until(&depot, || {
        depot.adopt(true, |_| {}).unwrap().not_adopted.contains_key(&NotAdopted::Present)
    });
    let report = depot.adopt(false, |_| {}).unwrap();
    assert_eq!((report.adopted, report.not_adopted[&NotAdopted::Present]), (0, 1));
    assert!(bytes.exists());
    assert_eq!(depot.file(&acme(), file.id).unwrap().state, FileState::Completed);
}

#[test]
fn bytes_whose_submit_key_is_that_of_another_file_stay_in_the_quarantine() {
    let bench = Bench::new();
    let depot = bench.open();
    let file = NewFile { submit_key: Some("k".to_owned()), ..named("in", "a") };
    let first = depot.put_bytes(&acme(), file.clone(), &[3; 50_000]).unwrap().file;
    let volume = bench.dir.path().join("volume");
    let bytes = volume.join("quarantine").join(first.id.to_string());
    std::fs::create_dir_all(bytes.parent().unwrap()).unwrap();
    depot.close().unwrap();
    drop(depot);
    std::fs::rename(stored_path(&volume, first.id), &bytes).unwrap();
    // The history is lost, and the client repeats its request.
    for lost in ["queue", "history"] {
        std::fs::remove_dir_all(bench.dir.path().join(lost)).unwrap();
    }
    let text = std::fs::read_to_string(volume.join("VOLUME")).unwrap();
    let identity = text.lines().find_map(|line| line.strip_prefix("identity ")).unwrap();
    let depot =
        Depot::open(rialto_depot::DepotOptions { first_volume: None, ..bench.options() }).unwrap();
    let spec = crate::upkeep_stage::spec("main", &volume);
    let identity = Some(identity.parse().unwrap());
    depot.mount(rialto_depot::VolumeSpec { identity, ..spec }).unwrap();
    depot.put_bytes(&acme(), file, &[3; 50_000]).unwrap();
    let mut reasons = Vec::new();
    let report = depot.adopt(false, |it| reasons.push(it.not_adopted.clone())).unwrap();
    let present = report.not_adopted.get(&NotAdopted::Present);
    assert_eq!((report.adopted, present), (0, Some(&1)), "{reasons:?}");
    assert!(bytes.exists());
}
