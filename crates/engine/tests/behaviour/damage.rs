//! Damaged, missing, newer or foreign files are refused by name.

use crate::stage::{Bench, finish, flow, limit, setting, settle, told};
use rialto_disk::Disk;
use rialto_engine::{Engine, KeyRing, Level, Sabotage, verify};
use rialto_model::{Seq, Side};
use std::path::PathBuf;

/// A closed venue with a snapshot at its end.
fn closed_venue(seed: u64) -> (Bench, Seq) {
    let bench = Bench::new(seed, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let last = settle(&mut producer, &mut stepped, &flow(300)).last().unwrap().answer.unwrap().seq;
    let ticket = engine.request_snapshot();
    stepped.run_until_idle();
    assert_eq!(ticket.wait(crate::stage::LONG), Ok(last));
    finish(&engine, &mut stepped);
    (bench, last)
}

/// The files of a directory of the venue with this suffix.
fn files(bench: &Bench, dir: &str, suffix: &str) -> Vec<PathBuf> {
    let dir = bench.config.data_dir.join(dir);
    let names = bench.disk.list(&dir).unwrap();
    names.iter().filter(|name| name.ends_with(suffix)).map(|name| dir.join(name)).collect()
}

#[test]
fn an_undamaged_venue_verifies() {
    let (bench, last) = closed_venue(1);
    let report =
        verify(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), |_, _| {}).unwrap();
    assert_eq!((report.last, report.events_last, report.commands), (last, last, last.0));
    let seqs: Vec<Seq> = report.snapshots.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, [Seq::ZERO, last]);
}

#[test]
fn verify_names_the_file_of_every_flipped_bit() {
    for (dir, suffix) in [("journal", ".log"), ("events", ".log"), ("snapshots", ".snapshot")] {
        let (bench, _) = closed_venue(2);
        let file = files(&bench, dir, suffix).pop().unwrap();
        assert!(bench.disk.flip_bit(&file, 5_000, 3));
        let error =
            verify(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), |_, _| {})
                .unwrap_err();
        let told = told(&error);
        assert!(told.contains(&*file.to_string_lossy()), "{dir}: {told}");
        assert!(told.contains("offset"), "{dir}: {told}");
    }
}

#[test]
fn a_damaged_journal_is_refused_with_file_and_offset() {
    let (bench, _) = closed_venue(3);
    let file = files(&bench, "journal", ".log").pop().unwrap();
    bench.disk.flip_bit(&file, 5_000, 0);
    let told = told(&bench.try_start().err().expect("acknowledged commands are damaged"));
    assert!(told.contains(&*file.to_string_lossy()) && told.contains("offset"), "{told}");
}

#[test]
fn a_missing_segment_is_named() {
    let (bench, _) = closed_venue(4);
    let file = files(&bench, "journal", ".log").remove(0);
    bench.disk.remove(&file).unwrap();
    let told = told(&bench.try_start().err().expect("a segment is missing"));
    assert!(told.contains(&*file.to_string_lossy()), "{told}");
}

#[test]
fn a_damaged_snapshot_is_passed_over_and_named() {
    let (bench, last) = closed_venue(5);
    let file = files(&bench, "snapshots", ".snapshot").pop().unwrap();
    bench.disk.flip_bit(&file, 500, 0);
    let (_, _, report) = bench.start();
    assert_eq!((report.snapshot, report.last, report.replayed), (Some(Seq::ZERO), last, last.0));
    assert_eq!(report.skipped[0].seq, last);
    assert!(report.to_string().contains(&*file.to_string_lossy()), "{report}");
}

#[test]
fn a_newer_snapshot_is_refused_by_name() {
    let (bench, _) = closed_venue(6);
    let file = files(&bench, "snapshots", ".snapshot").pop().unwrap();
    let mut bytes = bench.disk.bytes_of(&file).unwrap();
    bytes[8] = 3;
    let hash = blake3::hash(&bytes[..128]);
    bytes[128..160].copy_from_slice(hash.as_bytes());
    bench.disk.put_bytes(&file, bytes);
    let told = told(&bench.try_start().err().expect("a newer program wrote it"));
    assert!(told.contains(&*file.to_string_lossy()) && told.contains("newer program"), "{told}");
}

#[test]
fn a_deleted_event_log_is_rebuilt_to_the_byte() {
    let (bench, last) = closed_venue(7);
    let all = |engine: &Engine| crate::stage::events(engine, Seq(1), last);
    let (engine, stepped, _) = bench.start();
    let before = all(&engine);
    drop((engine, stepped));
    for name in bench.disk.list(&bench.config.data_dir.join("events")).unwrap() {
        bench.disk.remove(&bench.config.data_dir.join("events").join(name)).unwrap();
    }
    let (engine, _, report) = bench.start();
    assert_eq!(report.events_appended, last.0);
    assert_eq!(all(&engine), before);
    drop(engine);
    bench.disk.kill();
    verify(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), |_, _| {}).unwrap();
}

#[test]
fn deleted_snapshots_cost_a_replay_and_nothing_else() {
    let (bench, last) = closed_venue(8);
    for file in files(&bench, "snapshots", ".snapshot") {
        bench.disk.remove(&file).unwrap();
    }
    let (_, _, report) = bench.start();
    assert_eq!((report.snapshot, report.replayed), (None, last.0));
    bench.disk.kill();
    let report =
        verify(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), |_, _| {}).unwrap();
    assert_eq!(report.snapshots[0].0, Seq::ZERO, "the first one is made again");
}

#[test]
fn a_second_engine_on_a_data_directory_is_refused() {
    let (bench, _) = closed_venue(9);
    let _first = bench.start();
    let told = told(&bench.try_start().err().expect("the directory is taken"));
    assert!(told.contains("/venue is in use"), "{told}");
    let error = verify(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), |_, _| {})
        .unwrap_err();
    assert!(error.to_string().contains("in use"), "{error}");
}

#[test]
fn the_directory_of_another_engine_is_refused() {
    let (mut bench, _) = closed_venue(10);
    bench.config.engine = rialto_model::EngineId(2);
    let told = told(&bench.try_start().err().expect("it belongs to engine 1"));
    assert!(told.contains("engine 1") && told.contains("engine 2"), "{told}");
}

#[test]
fn a_lost_journal_under_synced_events_is_corruption() {
    let (bench, last) = closed_venue(11);
    let dir = bench.config.data_dir.join("journal");
    for name in bench.disk.list(&dir).unwrap() {
        bench.disk.remove(&dir.join(name)).unwrap();
    }
    for file in files(&bench, "snapshots", ".snapshot") {
        bench.disk.remove(&file).unwrap();
    }
    let told = told(&bench.try_start().err().expect("the journal is gone"));
    assert!(told.contains(&format!("events through {last}")), "{told}");
}

#[test]
fn a_read_only_disk_is_refused_and_left_alone() {
    let (bench, last) = closed_venue(12);
    bench.disk.kill();
    bench.disk.set_faults(rialto_disk::Faults { read_only: true, ..Default::default() });
    assert!(bench.try_start().is_err());
    bench.disk.set_faults(rialto_disk::Faults::default());
    bench.disk.kill();
    assert_eq!(bench.start().2.last, last);
}

/// A closed venue with the event log of a venue in which one order differs.
fn venue_with_foreign_events(seed: u64) -> Bench {
    let mut benches = [Bench::new(seed, Level::Synced), Bench::new(seed, Level::Synced)];
    for (bench, price) in benches.iter_mut().zip([100, 101]) {
        let (engine, mut stepped, _) = bench.start();
        let mut producer = engine.producer();
        settle(&mut producer, &mut stepped, &setting());
        settle(&mut producer, &mut stepped, &[limit(1, Side::Buy, price, 1)]);
        settle(&mut producer, &mut stepped, &flow(5));
        finish(&engine, &mut stepped);
    }
    let [bench, other] = benches;
    let dir = bench.config.data_dir.join("events");
    for name in bench.disk.list(&dir).unwrap() {
        bench.disk.remove(&dir.join(name)).unwrap();
    }
    for name in other.disk.list(&dir).unwrap() {
        bench.disk.put_bytes(&dir.join(&name), other.disk.bytes_of(&dir.join(&name)).unwrap());
    }
    bench
}

#[test]
fn events_that_do_not_follow_from_the_journal_are_refused_by_sequence() {
    let bench = venue_with_foreign_events(13);
    let differs = setting().len() as u64 + 1;
    let told = told(&bench.try_start().err().expect("the event log is another venue's"));
    assert!(told.contains(&format!("at sequence {differs} ")), "{told}");
}

#[test]
fn a_recovery_that_ignores_the_chain_is_caught_by_verify() {
    let mut bench = venue_with_foreign_events(14);
    bench.config.sabotage = Some(Sabotage::IgnoreChain);
    drop(bench.try_start().unwrap());
    bench.disk.kill();
    assert!(
        verify(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), |_, _| {}).is_err()
    );
}
