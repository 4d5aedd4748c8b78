//! Who sent a command, and why: in the journal, after a crash, and at the limit.

use crate::stage::{LONG, config, events, send, setting, start};
use rialto_disk::{Disk, RealDisk, SimDisk};
use rialto_engine::{
    ATTRIBUTED_MAX, At, Engine, EngineConfig, KeyRing, Level, Sources, Stepped, SubmitError,
    replay_to, verify,
};
use rialto_model::*;
use std::path::Path;
use std::sync::Arc;

const HALT: Command =
    Command::SetInstrumentState { instrument: InstrumentId(1), state: InstrumentState::Halted };

fn attribution(by: &str, reason: &str) -> Attribution {
    Attribution { by: by.parse().unwrap(), reason: reason.parse().unwrap() }
}

/// The attributions among the events of these commands.
fn attributed(engine: &Engine, first: Seq, last: Seq) -> Vec<(Seq, Attributed)> {
    let mut found = Vec::new();
    let mut reader = engine.events(first);
    while reader.next_seq() <= last {
        let batch = reader.next_timeout(LONG).unwrap().expect("events within the time");
        for record in batch.iter().filter(|record| record.seq <= last) {
            for event in record.decode().unwrap().1 {
                if let Event::Attributed(attributed) = event.unwrap() {
                    found.push((record.seq, attributed));
                }
            }
        }
    }
    found
}

#[test]
fn attributed_commands_survive_a_crash_and_are_verified() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(3));
    let config = config(Path::new("/venue"), Level::Synced);
    let (engine, _) = start(&config, &disk);
    let mut producer = engine.producer();
    let mut last = send(&mut producer, &setting()).last().unwrap().answer.unwrap().seq;
    let mut expected = Vec::new();
    let unknown =
        Command::SetInstrumentState { instrument: InstrumentId(9), state: InstrumentState::Open };
    for (command, by, reason) in [
        (HALT, "rk_7", "ticket 31: prices of the feed are wrong"),
        // A refused command has its attribution, too.
        (unknown, "rk_8", ""),
        (HALT, "admin", "again – für alle Fälle"),
    ] {
        let by = attribution(by, reason);
        producer.submit_attributed(1, &command, None, &by).unwrap();
        last = producer.reply_timeout(LONG).unwrap().answer.unwrap().seq;
        expected.push((last, Attributed { command: command.kind(), attribution: by }));
        // The command after it has none.
        last = send(&mut producer, &[Command::Tick])[0].answer.unwrap().seq;
    }
    assert_eq!(attributed(&engine, Seq(1), last), expected);
    let told = events(&engine, Seq(1), last);
    drop((producer, engine));
    let before = replay_to(&disk, &config.data_dir, &KeyRing::empty(), At::Seq(last)).unwrap();

    let (engine, report) = start(&config, &disk);
    assert_eq!((report.snapshot, report.replayed), (Some(Seq::ZERO), last.0));
    assert_eq!(events(&engine, Seq(1), last), told);
    assert!(engine.shutdown(LONG).finished);
    let after = replay_to(&disk, &config.data_dir, &KeyRing::empty(), At::Seq(last)).unwrap();
    assert_eq!(before.state_hash(), after.state_hash());
    let verified = verify(&disk, &config.data_dir, &KeyRing::empty(), |_, _| {});
    assert!(verified.is_ok(), "{verified:?}");
}

#[test]
fn events_that_are_made_again_have_the_attributions_of_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    let config = config(dir.path(), Level::Synced);
    let (engine, _) = start(&config, &disk);
    let mut producer = engine.producer();
    send(&mut producer, &setting());
    let by = attribution("rk_7", "made again");
    producer.submit_attributed(1, &HALT, None, &by).unwrap();
    let last = producer.reply_timeout(LONG).unwrap().answer.unwrap().seq;
    let told = events(&engine, Seq(1), last);
    drop((producer, engine));
    std::fs::remove_dir_all(dir.path().join("events")).unwrap();

    let (engine, report) = start(&config, &disk);
    assert!(report.events_appended > 0);
    assert_eq!(events(&engine, Seq(1), last), told);
}

#[test]
fn rules_that_know_no_attributions_journal_the_command_alone() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(3));
    let config = EngineConfig { rules_version: 3, ..config(Path::new("/venue"), Level::Synced) };
    let (engine, _) = start(&config, &disk);
    let mut producer = engine.producer();
    send(&mut producer, &setting());
    let mut submit = |command: Command| {
        producer.submit_attributed(1, &command, None, &attribution("rk_7", "why")).unwrap();
        producer.reply_timeout(LONG).unwrap().answer.unwrap().seq
    };
    submit(HALT);
    submit(Command::SetRulesVersion { version: 4 });
    let known = submit(HALT);
    let found = attributed(&engine, Seq(1), known);
    assert_eq!(found.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), [known]);
}

#[test]
fn a_change_of_the_rules_that_waits_for_its_snapshot_keeps_its_attribution() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(3));
    let (engine, _) = start(&config(Path::new("/venue"), Level::Synced), &disk);
    let mut producer = engine.producer();
    send(&mut producer, &setting());
    let version = Command::SetRulesVersion { version: 4 };
    let (first, second) = (attribution("rk_1", "first"), attribution("rk_2", "second"));
    producer.submit_attributed(1, &version, None, &first).unwrap();
    producer.submit(2, &Command::Tick, None).unwrap();
    producer.submit_attributed(3, &HALT, None, &second).unwrap();
    let seqs = [(); 3].map(|()| producer.reply_timeout(LONG).unwrap().answer.unwrap().seq);
    let found = attributed(&engine, Seq(1), seqs[2]);
    assert_eq!(
        found.iter().map(|(seq, it)| (*seq, it.attribution)).collect::<Vec<_>>(),
        [(seqs[0], first), (seqs[2], second)]
    );
}

#[test]
fn attributed_commands_that_wait_have_a_limit_of_their_own() {
    let disk = Arc::new(SimDisk::new(1));
    let config = config(Path::new("/venue"), Level::Synced);
    let (engine, mut stepped, _) = Stepped::start(config, disk, &Sources::system()).unwrap();
    let mut producer = engine.producer();
    let by = attribution("rk_7", "one of many");
    for token in 0..ATTRIBUTED_MAX as u64 {
        producer.submit_attributed(token, &HALT, None, &by).unwrap();
    }
    assert_eq!(producer.submit_attributed(99, &HALT, None, &by), Err(SubmitError::Busy));
    // Other commands have room, and stay without an attribution.
    producer.submit(100, &Command::Tick, None).unwrap();
    stepped.run_until_idle();
    let replies: Vec<u64> =
        std::iter::from_fn(|| producer.try_reply()).map(|reply| reply.token).collect();
    assert_eq!(replies.len(), ATTRIBUTED_MAX + 1);
    let last = Seq(replies.len() as u64);
    assert_eq!(attributed(&engine, Seq(1), last).len(), ATTRIBUTED_MAX);
    producer.submit_attributed(101, &HALT, None, &by).unwrap();
}
