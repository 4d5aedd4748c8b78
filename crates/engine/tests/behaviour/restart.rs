//! Restarts.

use crate::stage::{LONG, config, events, flow, limit, send, setting, start};
use rialto_disk::{Disk, RealDisk, SimDisk};
use rialto_engine::{At, KeyRing, Level, replay_to};
use rialto_model::{OrderId, Outcome, Seq, Side};
use std::path::Path;
use std::sync::Arc;

fn order_of(outcome: Outcome) -> OrderId {
    match outcome {
        Outcome::Order { order, .. } => order,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_shutdown_loses_nothing_and_ids_continue() {
    let dir = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    for level in Level::ALL {
        let config = config(&dir.path().join(level.name()), level);
        let (engine, report) = start(&config, &disk);
        assert!(report.created);
        let mut producer = engine.producer();
        send(&mut producer, &setting());
        let last = *send(&mut producer, &flow(500)).last().unwrap();
        let told = events(&engine, Seq(1), last.answer.unwrap().seq);
        let shutdown = engine.shutdown(LONG);
        assert!(shutdown.finished, "{shutdown}");
        assert_eq!(shutdown.snapshot, Some(Ok(last.answer.unwrap().seq)));

        let (engine, report) = start(&config, &disk);
        assert_eq!(
            (report.last, report.snapshot),
            (last.answer.unwrap().seq, Some(last.answer.unwrap().seq))
        );
        assert_eq!(events(&engine, Seq(1), last.answer.unwrap().seq), told);
        let next = send(&mut engine.producer(), &[limit(1, Side::Buy, 1, 1)])[0];
        assert_eq!(next.answer.unwrap().seq, last.answer.unwrap().seq.next());
        let before = order_of(last.outcome().unwrap());
        assert_eq!(order_of(next.outcome().unwrap()).counter(), before.counter() + 1);
    }
}

#[test]
fn an_engine_that_was_dropped_replays_to_the_same_state() {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(3));
    let config = config(Path::new("/venue"), Level::Synced);
    let (engine, _) = start(&config, &disk);
    let mut producer = engine.producer();
    send(&mut producer, &setting());
    let last = send(&mut producer, &flow(300)).last().unwrap().answer.unwrap().seq;
    drop((producer, engine));
    assert!(!disk.list(&config.data_dir.join("snapshots")).unwrap().is_empty());
    let before = replay_to(&disk, &config.data_dir, &KeyRing::empty(), At::Seq(last)).unwrap();

    let (engine, report) = start(&config, &disk);
    assert_eq!((report.snapshot, report.replayed), (Some(Seq::ZERO), last.0));
    assert!(engine.shutdown(LONG).finished);
    let after = replay_to(&disk, &config.data_dir, &KeyRing::empty(), At::Seq(last)).unwrap();
    assert_eq!(before.state_hash(), after.state_hash());
}
