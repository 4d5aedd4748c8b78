//! Snapshots, backups and past states.

use crate::stage::{Bench, LONG, config, finish, flow, journaled, send, setting, settle, start};
use rialto_core::RULES_VERSIONS;
use rialto_disk::Disk;
use rialto_engine::{
    At, Engine, KeyRing, Level, NoAnswer, SnapshotFailed, Step, Stepped, replay_to, verify,
};
use rialto_model::{Command, Outcome, Scale, Seq, Timestamp};
use std::path::Path;
use std::sync::Arc;

/// A venue with a snapshot in the middle of its history.
fn venue_with_snapshot(bench: &Bench) -> (Engine, Stepped, Seq, Seq) {
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let middle =
        settle(&mut producer, &mut stepped, &flow(200)).last().unwrap().answer.unwrap().seq;
    let ticket = engine.request_snapshot();
    stepped.run_until_idle();
    assert_eq!(ticket.wait(LONG), Ok(middle));
    let last = settle(&mut producer, &mut stepped, &flow(100)).last().unwrap().answer.unwrap().seq;
    (engine, stepped, middle, last)
}

#[test]
fn a_snapshot_and_the_rest_of_the_journal_are_the_whole_journal() {
    let bench = Bench::new(1, Level::Synced);
    let (engine, stepped, middle, last) = venue_with_snapshot(&bench);
    drop((engine, stepped));
    let with =
        replay_to(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), At::Seq(last))
            .unwrap();
    bench
        .disk
        .remove(&bench.config.data_dir.join(format!("snapshots/{:020}.snapshot", middle.0)))
        .unwrap();
    let without =
        replay_to(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), At::Seq(last))
            .unwrap();
    assert_eq!(with.state_hash(), without.state_hash());
}

#[test]
fn a_start_uses_the_newest_snapshot() {
    let bench = Bench::new(2, Level::Synced);
    let (engine, stepped, middle, last) = venue_with_snapshot(&bench);
    drop((engine, stepped));
    let (_, _, report) = bench.start();
    assert_eq!((report.snapshot, report.replayed), (Some(middle), last.0 - middle.0));
}

#[test]
fn snapshots_are_made_by_count_and_old_ones_go() {
    let mut bench = Bench::new(3, Level::Synced);
    (bench.config.snapshot_every, bench.config.snapshots_kept) = (50, 2);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    for _ in 0..6 {
        settle(&mut producer, &mut stepped, &flow(50));
    }
    assert_eq!(engine.stats().snapshots, 6);
    let names = bench.disk.list(&bench.config.data_dir.join("snapshots")).unwrap();
    let seqs: Vec<u64> = names.iter().map(|name| name[..20].parse().unwrap()).collect();
    assert_eq!(seqs, [0, 250, 300], "the first stays");
}

#[test]
fn a_snapshot_under_buffered_waits_for_the_sync_it_asks_for() {
    let bench = Bench::new(4, Level::Buffered);
    let (_, _, middle, _) = venue_with_snapshot(&bench);
    assert!(middle > Seq::ZERO);
}

#[test]
fn a_snapshot_of_a_venue_that_is_never_idle_gets_its_sync() {
    let bench = Bench::new(9, Level::Memory);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    let mut submit_and_write = |stepped: &mut Stepped| {
        producer.submit(1, &Command::Tick, None).unwrap();
        stepped.step(Step::Sequencer);
        stepped.step(Step::Journal);
        stepped.step(Step::Events);
    };
    submit_and_write(&mut stepped);
    let ticket = engine.request_snapshot();
    stepped.step(Step::Follower);
    submit_and_write(&mut stepped);
    assert!(engine.marks().synced >= ticket.through());
}

#[test]
fn a_failed_snapshot_is_reported_and_the_venue_continues() {
    let bench = Bench::new(5, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let ticket = engine.request_snapshot();
    bench.disk.fail_write(0);
    stepped.run_until_idle();
    let error = ticket.wait(LONG).unwrap_err().to_string();
    assert!(error.contains("/venue/snapshots"), "{error}");
    assert_eq!(settle(&mut producer, &mut stepped, &flow(1)).len(), 1);
    let again = engine.request_snapshot();
    stepped.run_until_idle();
    assert!(again.wait(LONG).is_ok());
}

#[test]
fn a_backup_taken_while_running_opens_as_a_venue() {
    let bench = Bench::new(6, Level::Buffered);
    let disk: Arc<dyn Disk> = bench.shared_disk();
    let (engine, _) = start(&bench.config, &disk);
    let mut producer = engine.producer();
    send(&mut producer, &setting());
    let last = send(&mut producer, &flow(300)).last().unwrap().answer.unwrap().seq;
    let copy = Path::new("/copy");
    assert_eq!(engine.backup(copy).unwrap(), last);
    send(&mut producer, &flow(10));
    drop((producer, engine));

    let report = verify(&disk, copy, &KeyRing::empty(), |_, _| {}).unwrap();
    assert_eq!((report.last, report.events_last), (last, last));
    let original =
        replay_to(&disk, &bench.config.data_dir, &KeyRing::empty(), At::Seq(last)).unwrap();
    assert_eq!(report.state_hash, original.state_hash());
    let (engine, report) = start(&config(copy, Level::Synced), &disk);
    assert_eq!((report.last, report.replayed), (last, 0));
    assert_eq!(send(&mut engine.producer(), &flow(1))[0].answer.unwrap().seq, last.next());
}

#[test]
fn a_moment_is_found_by_time() {
    let bench = Bench::new(7, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    let first = settle(&mut producer, &mut stepped, &setting()).last().unwrap().answer.unwrap().seq;
    bench.clock.set(Timestamp(2_000));
    settle(&mut producer, &mut stepped, &flow(5));
    finish(&engine, &mut stepped);
    drop((producer, engine, stepped));
    let at = |time| {
        replay_to(&bench.shared_disk(), &bench.config.data_dir, &KeyRing::empty(), At::Time(time))
            .unwrap()
    };
    assert_eq!(at(Timestamp(1_999)).seq(), first);
    assert_eq!(at(Timestamp(2_000)).seq().0, first.0 + 5);
}

#[test]
fn an_unknown_version_of_the_rules_is_refused_without_a_snapshot() {
    let bench = Bench::new(8, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let change = Command::SetRulesVersion { version: 99 };
    let reply = settle(&mut engine.producer(), &mut stepped, &[change])[0];
    assert!(matches!(reply.outcome(), Ok(Outcome::Rejected { .. })));
    assert_eq!(engine.stats().snapshots, 0);
}

#[test]
fn the_rules_are_set_behind_a_snapshot_of_everything_before() {
    for level in [Level::Memory, Level::Synced] {
        let mut bench = Bench::new(9, level);
        bench.config.rules_version = 1;
        let (engine, mut stepped, _) = bench.start();
        let mut producer = engine.producer();
        let before =
            settle(&mut producer, &mut stepped, &setting()).last().unwrap().answer.unwrap().seq;
        let set = Command::SetRulesVersion { version: 2 };
        let replies = settle(&mut producer, &mut stepped, &[set, flow(1)[0]]);
        assert_eq!(replies[0].outcome(), Ok(Outcome::Done));
        assert_eq!(
            (replies[0].answer.unwrap().seq, replies[1].answer.unwrap().seq),
            (before.next(), before.next().next())
        );
        assert_eq!(engine.stats().snapshots, 1);
        assert_eq!(engine.request_snapshot().through(), replies[1].answer.unwrap().seq);
        let snapshot = format!("snapshots/{:020}.snapshot", before.0);
        let there = bench.disk.list(&bench.config.data_dir.join("snapshots")).unwrap();
        assert!(there.iter().any(|name| snapshot.ends_with(name.as_str())), "{there:?}");
        finish(&engine, &mut stepped);
    }
}

#[test]
fn a_venue_keeps_its_older_rules_version_until_another_is_set() {
    let mut bench = Bench::new(12, Level::Synced);
    bench.config.rules_version = 1;
    let rules = |bench: &Bench, seq| {
        let (disk, dir) = (bench.shared_disk(), &bench.config.data_dir);
        replay_to(&disk, dir, &KeyRing::empty(), At::Seq(seq)).unwrap().rules_version()
    };
    let run = |bench: &Bench, commands: &[Command]| {
        let (engine, mut stepped, _) = bench.start();
        let replies = settle(&mut engine.producer(), &mut stepped, commands);
        finish(&engine, &mut stepped);
        replies.last().unwrap().answer.unwrap().seq
    };
    let first = run(&bench, &setting());
    // The settings of a new data directory do not affect an existing one.
    bench.config.rules_version = *RULES_VERSIONS.end();
    let before = run(&bench, &flow(3));
    assert_eq!((rules(&bench, first), rules(&bench, before)), (1, 1));
    let set = run(&bench, &[Command::SetRulesVersion { version: 2 }]);
    let last = run(&bench, &flow(3));
    assert_eq!((rules(&bench, before), rules(&bench, set), rules(&bench, last)), (1, 2, 2));
    let (disk, dir) = (bench.shared_disk(), &bench.config.data_dir);
    let report = verify(&disk, dir, &KeyRing::empty(), |_, _| {}).unwrap();
    assert_eq!((report.last, report.events_last), (last, last));
}

#[test]
fn the_rules_are_not_set_without_a_snapshot_and_can_be_when_the_disk_is_well_again() {
    let bench = Bench::new(10, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    let before =
        settle(&mut producer, &mut stepped, &setting()).last().unwrap().answer.unwrap().seq;
    bench.disk.fail_write(1);
    let set = Command::SetRulesVersion { version: *RULES_VERSIONS.end() };
    let currency =
        Command::CreateCurrency { code: "EUR".parse().unwrap(), scale: Scale::new(2).unwrap() };
    let after = [flow(1)[0], currency, flow(2)[1]];
    let replies = settle(&mut producer, &mut stepped, &[&[set], &after[..]].concat());
    let [refused, order, created, last] = replies[..] else { panic!("{replies:?}") };
    assert_eq!(refused.answer, Err(NoAnswer::NoSnapshot));
    for reply in [order, last] {
        assert!(matches!(reply.outcome(), Ok(Outcome::Order { .. })), "{reply:?}");
    }
    assert_eq!(created.outcome(), Ok(Outcome::Created { number: 3 }));
    let stats = engine.stats();
    let applied = Seq(before.0 + after.len() as u64);
    assert_eq!((stats.snapshots_failed, stats.snapshots), (1, 0));
    assert_eq!(engine.marks().applied, applied);
    let reply = settle(&mut producer, &mut stepped, &[set])[0];
    let answer = reply.answer.unwrap();
    assert_eq!((answer.outcome, answer.seq), (Outcome::Done, applied.next()));
    assert_eq!(engine.stats().snapshots, 1);
    finish(&engine, &mut stepped);
    let commands = journaled(&bench.shared_disk(), &bench.config.data_dir);
    assert_eq!(commands, [&setting()[..], &after, &[set]].concat());
}

#[test]
fn a_snapshot_that_failed_is_attempted_again_though_nothing_has_happened_since() {
    let bench = Bench::new(11, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let last = settle(&mut engine.producer(), &mut stepped, &setting())
        .last()
        .unwrap()
        .answer
        .unwrap()
        .seq;
    bench.disk.fail_write(1);
    let ticket = engine.request_snapshot();
    stepped.run_until_idle();
    assert!(matches!(ticket.wait(LONG), Err(SnapshotFailed::Failed { .. })));
    let ticket = engine.request_snapshot();
    stepped.run_until_idle();
    assert_eq!(ticket.wait(LONG), Ok(last));
}
