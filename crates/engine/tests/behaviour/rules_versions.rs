//! Segments of journal, event log and backups have the rules version of their commands.

use crate::stage::{Bench, LONG, finish, flow, setting, settle};
use rialto_core::RULES_VERSIONS;
use rialto_disk::Disk;
use rialto_engine::{Engine, KeyRing, Level, verify};
use rialto_log::{Segments, Verify};
use rialto_model::{Command, Seq};
use std::path::Path;
use std::sync::Arc;

/// A venue that began with the oldest rules version and changed to the newest after this sequence.
fn venue(seed: u64) -> (Bench, Engine, rialto_engine::Stepped, Seq) {
    let mut bench = Bench::new(seed, Level::Synced);
    bench.config.rules_version = *RULES_VERSIONS.start();
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    // In one run, so that commands of both versions are submitted together.
    let mut commands = flow(20);
    commands.push(Command::SetRulesVersion { version: *RULES_VERSIONS.end() });
    let changed = commands.len() - 1;
    commands.extend(flow(20));
    let replies = settle(&mut producer, &mut stepped, &commands);
    assert!(replies.iter().all(|reply| reply.outcome().is_ok()));
    let seq = replies[changed].answer.unwrap().seq;
    drop(producer);
    (bench, engine, stepped, seq)
}

fn check(segments: &Segments, changed: Seq, last: Seq) {
    for seq in 1..=last.0 {
        let version = if seq <= changed.0 { RULES_VERSIONS.start() } else { RULES_VERSIONS.end() };
        assert_eq!(segments.rules_version_of(seq), Some(*version), "{seq} of {last}");
    }
}

fn inspect(disk: &Arc<dyn Disk>, dir: &Path) -> Segments {
    rialto_log::inspect(Arc::clone(disk), dir, Verify::Whole, &KeyRing::empty()).unwrap().0
}

#[test]
fn a_change_of_the_rules_begins_a_segment_of_both_logs() {
    let (bench, engine, mut stepped, changed) = venue(1);
    let last = engine.marks().applied;
    check(engine.journal(), changed, last);
    check(engine.event_log(), changed, last);
    finish(&engine, &mut stepped);
    drop((engine, stepped));
    bench.disk.kill();
    let (engine, stepped, _) = bench.start();
    check(engine.journal(), changed, last);
    drop((engine, stepped));
    bench.disk.kill();
    verify(&bench.shared_disk(), Path::new("/venue"), &KeyRing::empty(), |_, _| {}).unwrap();
}

#[test]
fn a_rebuilt_event_log_has_the_rules_version_too() {
    let (bench, engine, mut stepped, changed) = venue(2);
    let last = engine.marks().applied;
    finish(&engine, &mut stepped);
    drop((engine, stepped));
    bench.disk.kill();
    for name in bench.disk.list(Path::new("/venue/events")).unwrap() {
        bench.disk.remove(&Path::new("/venue/events").join(name)).unwrap();
    }
    let (engine, _, report) = bench.start();
    assert_eq!(report.events_appended, last.0);
    check(engine.event_log(), changed, last);
}

#[test]
fn a_segment_begun_by_a_restart_names_the_rules_in_force() {
    let mut bench = Bench::new(3, Level::Synced);
    bench.config.rules_version = *RULES_VERSIONS.start();
    let (engine, mut stepped, _) = bench.start();
    settle(&mut engine.producer(), &mut stepped, &setting());
    drop((engine, stepped));
    bench.disk.kill();
    bench.config.rules_version = *RULES_VERSIONS.end();
    let (engine, mut stepped, _) = bench.start();
    let seq = settle(&mut engine.producer(), &mut stepped, &flow(1))[0].answer.unwrap().seq;
    for log in [engine.journal(), engine.event_log()] {
        assert_eq!(log.rules_version_of(seq.0), Some(*RULES_VERSIONS.start()));
    }
}

#[test]
fn a_backup_has_the_rules_version_too() {
    let (bench, engine, stepped, changed) = venue(4);
    drop((engine, stepped));
    bench.disk.kill();
    let disk = bench.shared_disk();
    let (engine, _) = Engine::start(
        rialto_engine::EngineConfig { accept_clock: true, ..bench.config.clone() },
        Arc::clone(&disk),
    )
    .unwrap();
    let last = engine.backup(Path::new("/copy")).unwrap();
    assert!(engine.shutdown(LONG).finished);
    check(&inspect(&disk, Path::new("/copy/journal")), changed, last);
    check(&inspect(&disk, Path::new("/copy/events")), changed, last);
}
