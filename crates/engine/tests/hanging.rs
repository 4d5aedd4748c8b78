//! While the disk hangs, nothing is released or accepted; after a while the engine fails.

#![allow(clippy::unwrap_used)]

mod stage;

use rialto_disk::{Disk, SimDisk};
use rialto_engine::{Engine, EngineConfig, Fault, Health, Level, NoAnswer, Step, SubmitError};
use rialto_model::{Command, Seq};
use stage::{Bench, LONG, Lines, setting, settle};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

const STALLED_AFTER: Duration = Duration::from_secs(1);
const FAILED_AFTER: Duration = Duration::from_secs(30);

/// The state of the engine during a hang.
struct Seen {
    health: Health,
    submit: Result<(), SubmitError>,
    released: Seq,
}

/// Makes the next operation of the disk take this long; at its end the state is recorded.
fn hang(bench: &Bench, engine: &Arc<Engine>, lasting: Duration) -> Arc<Mutex<Option<Seen>>> {
    let seen = Arc::new(Mutex::new(None));
    let (engine, clock, slot) = (Arc::clone(engine), Arc::clone(&bench.clock), Arc::clone(&seen));
    bench.disk.hang(Path::new("/venue"), 0, move || {
        clock.advance(lasting);
        let health = engine.health();
        let submit = engine.producer().submit(9, &Command::Tick, None);
        *slot.lock().unwrap() = Some(Seen { health, submit, released: engine.released() });
    });
    seen
}

#[test]
fn a_disk_that_hangs_stalls_the_engine_until_it_continues() {
    let lines = Lines::watch();
    for (seed, step) in [(1, Step::Journal), (2, Step::Events)] {
        let bench = Bench::new(seed, Level::Synced);
        let (engine, mut stepped, _) = bench.start();
        let engine = Arc::new(engine);
        let mut producer = engine.producer();
        let last =
            settle(&mut producer, &mut stepped, &setting()).last().unwrap().answer.unwrap().seq;
        producer.submit(1, &Command::Tick, None).unwrap();
        stepped.step(Step::Sequencer);
        if step == Step::Events {
            stepped.step(Step::Journal);
        }
        let seen = hang(&bench, &engine, STALLED_AFTER);
        stepped.step(step);

        let seen = seen.lock().unwrap().take().expect("the operation hung");
        let Health::Stalled(stall) = seen.health else { panic!("{}", seen.health) };
        assert_eq!(stall.lasting, STALLED_AFTER);
        let dir = if step == Step::Events { "/venue/events" } else { "/venue/journal" };
        assert_eq!(stall.dir, Path::new(dir));
        assert_eq!(seen.submit, Err(SubmitError::Busy));
        if step == Step::Journal {
            assert_eq!(seen.released, last, "nothing is released");
        }
        assert_eq!(lines.with(dir).len(), 1, "it is said once: {:?}", lines.with(""));

        stepped.run_until_idle();
        assert!(matches!(engine.health(), Health::Running), "{}", engine.health());
        assert_eq!(engine.released(), last.next());
        assert_eq!(producer.try_reply().map(|reply| reply.token), Some(1));
        assert!(settle(&mut producer, &mut stepped, &[Command::Tick])[0].outcome().is_ok());
    }
    assert_eq!(lines.with("taken again").len(), 2, "{:?}", lines.with(""));
}

#[test]
fn a_short_pause_of_the_disk_is_not_reported() {
    let bench = Bench::new(3, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let engine = Arc::new(engine);
    let mut producer = engine.producer();
    producer.submit(1, &Command::Tick, None).unwrap();
    stepped.step(Step::Sequencer);
    let seen = hang(&bench, &engine, STALLED_AFTER - Duration::from_nanos(1));
    stepped.step(Step::Journal);
    let seen = seen.lock().unwrap().take().unwrap();
    assert!(matches!(seen.health, Health::Running) && seen.submit.is_ok(), "{}", seen.health);
}

#[test]
fn nothing_is_taken_from_producers_while_the_disk_hangs() {
    let bench = Bench::new(4, Level::Memory);
    let (engine, mut stepped, _) = bench.start();
    let engine = Arc::new(engine);
    let mut producer = engine.producer();
    producer.submit(1, &Command::Tick, None).unwrap();
    stepped.step(Step::Sequencer);
    let (stepping, slot) = (Arc::new(Mutex::new(producer)), Arc::new(Mutex::new(None)));
    // It was submitted before the hang, and is not taken before its end.
    stepping.lock().unwrap().submit(2, &Command::Tick, None).unwrap();
    let (watched, clock, seen) = (Arc::clone(&engine), Arc::clone(&bench.clock), Arc::clone(&slot));
    let (threaded, started) = mpsc::channel();
    bench.disk.hang(Path::new("/venue"), 0, move || {
        clock.advance(STALLED_AFTER);
        let _ = watched.health();
        *seen.lock().unwrap() = Some(watched.marks().applied);
        threaded.send(()).unwrap();
    });
    stepped.step(Step::Journal);
    started.recv_timeout(LONG).unwrap();
    assert_eq!(slot.lock().unwrap().take(), Some(Seq(1)));
    // No check since: for the sequencer the disk still hangs.
    stepped.step(Step::Sequencer);
    assert_eq!(engine.marks().applied, Seq(1));
    stepped.step(Step::Watcher);
    stepped.step(Step::Sequencer);
    assert_eq!(engine.marks().applied, Seq(2));
}

#[test]
fn a_disk_that_hangs_for_too_long_is_given_up() {
    for (seed, step) in [(5, Step::Journal), (6, Step::Events)] {
        let bench = Bench::new(seed, Level::Synced);
        let (engine, mut stepped, _) = bench.start();
        let engine = Arc::new(engine);
        let mut producer = engine.producer();
        let last =
            settle(&mut producer, &mut stepped, &setting()).last().unwrap().answer.unwrap().seq;
        producer.submit(1, &Command::Tick, None).unwrap();
        stepped.step(Step::Sequencer);
        if step == Step::Events {
            stepped.step(Step::Journal);
        }
        let released = engine.released();
        let seen = hang(&bench, &engine, FAILED_AFTER);
        stepped.step(step);

        let seen = seen.lock().unwrap().take().expect("the operation hung");
        let Health::Failed(fault) = seen.health else { panic!("{}", seen.health) };
        assert!(matches!(&*fault, Fault::Hung(_)), "{fault}");
        assert!(fault.to_string().contains("/venue/"), "{fault}");
        assert_eq!(seen.submit, Err(SubmitError::Stopped));
        stepped.run_until_idle();
        assert_eq!(engine.released(), released, "what returns too late releases nothing");
        let reply = producer.try_reply().expect("nobody is left waiting");
        let is_known = released > last;
        assert_eq!(reply.outcome().is_ok(), is_known, "{step:?}");
        if !is_known {
            assert_eq!(reply.outcome(), Err(NoAnswer::OutcomeUnknown));
        }
    }
}

#[test]
fn hanging_threads_block_no_caller() {
    let disk = SimDisk::new(7);
    let config = EngineConfig {
        io_stalled_after: Duration::from_millis(10),
        io_failed_after: Duration::from_millis(200),
        ..stage::config(Path::new("/venue"), Level::Synced)
    };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let (engine, _) = stage::start(&config, &shared);
    let mut producer = engine.producer();
    let (go_on, gate) = mpsc::channel::<()>();
    disk.hang(Path::new("/venue/journal"), 0, move || _ = gate.recv());
    producer.submit(1, &Command::Tick, None).unwrap();
    let end = Instant::now() + LONG;
    let mut is_stalled = false;
    while !matches!(engine.health(), Health::Failed(_)) {
        is_stalled |= matches!(engine.health(), Health::Stalled(_));
        assert!(Instant::now() < end, "{}", engine.health());
        std::thread::yield_now();
    }
    assert!(is_stalled);
    let reply = producer.reply_timeout(LONG).expect("the caller is answered while the disk hangs");
    assert_eq!((reply.token, reply.outcome()), (1, Err(NoAnswer::OutcomeUnknown)));
    let report = engine.shutdown(Duration::from_millis(50));
    assert!(!report.finished, "the thread still waits for the disk");
    drop(engine);
    assert!(disk.lock(Path::new("/venue")).is_err(), "that thread may still write");
    drop(go_on);
}

#[test]
fn an_engine_that_hangs_can_be_dropped() {
    let disk = SimDisk::new(9);
    let config = EngineConfig {
        io_stalled_after: Duration::from_millis(10),
        io_failed_after: Duration::from_millis(100),
        ..stage::config(Path::new("/venue"), Level::Synced)
    };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let (engine, _) = stage::start(&config, &shared);
    let (go_on, gate) = mpsc::channel::<()>();
    disk.hang(Path::new("/venue/journal"), 0, move || _ = gate.recv());
    engine.producer().submit(1, &Command::Tick, None).unwrap();
    // It ends although one of its threads still waits for the disk.
    drop(engine);
    drop(go_on);
}

#[test]
fn giving_up_before_stalling_is_no_setting() {
    let mut bench = Bench::new(8, Level::Synced);
    bench.config.io_failed_after = bench.config.io_stalled_after - Duration::from_millis(1);
    let told = bench.try_start().err().expect("it makes no sense").to_string();
    assert!(told.contains("io_failed_after_ms = 999"), "{told}");
}
