//! Reading events during and after a run.

use crate::stage::{Bench, LONG, finish, flow, send, setting, settle};
use rialto_engine::{Engine, Level, Step};
use rialto_model::{Event, Seq};
use std::sync::{Arc, Mutex};

#[test]
fn a_slow_reader_continues_from_the_event_log_and_catches_up() {
    let mut bench = Bench::new(1, Level::Synced);
    bench.config.event_ring_blocks = 2;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    let mut reader = engine.events(Seq(1));
    let mut last = Seq::ZERO;
    for chunk in flow(100).chunks(5) {
        last = settle(&mut producer, &mut stepped, chunk).last().unwrap().answer.unwrap().seq;
    }
    let mut seqs = Vec::new();
    while let Some(batch) = reader.try_next().unwrap() {
        seqs.extend(batch.iter().map(|record| record.seq.0));
    }
    assert_eq!(seqs, (1..=last.0).collect::<Vec<_>>());
    settle(&mut producer, &mut stepped, &flow(1));
    assert_eq!(reader.try_next().unwrap().unwrap().first(), last.next(), "in memory again");
}

#[test]
fn a_reader_begins_in_the_middle_of_a_group() {
    let bench = Bench::new(2, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    settle(&mut engine.producer(), &mut stepped, &flow(10));
    let batch = engine.events(Seq(4)).try_next().unwrap().unwrap();
    assert_eq!((batch.first(), batch.last()), (Seq(4), Seq(10)));
    assert_eq!(batch.iter().map(|record| record.seq.0).collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn nothing_is_visible_before_the_level_allows() {
    let bench = Bench::new(3, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    producer.submit(0, &setting()[0], None).unwrap();
    stepped.step(Step::Sequencer);
    stepped.step(Step::Events);
    assert!(engine.events(Seq(1)).try_next().unwrap().is_none());
    stepped.step(Step::Journal);
    stepped.step(Step::Events);
    let batch = engine.events(Seq(1)).try_next().unwrap().unwrap();
    let (time, mut events) = batch.iter().next().unwrap().decode().unwrap();
    assert_eq!(time.0, 1_000);
    assert!(matches!(events.next(), Some(Ok(Event::CurrencyCreated(_)))));
}

#[test]
fn the_callback_of_the_event_log_runs_when_its_events_can_be_read() {
    let bench = Bench::new(4, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &flow(3));
    let told = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&told);
    assert!(engine.on_recorded(move |seq| notes.lock().unwrap().push(seq.0)));
    assert!(!engine.on_recorded(|_| panic!("there is one already")));
    assert_eq!(*told.lock().unwrap(), [3], "what was there before");

    producer.submit(0, &flow(1)[0], None).unwrap();
    stepped.step(Step::Sequencer);
    stepped.step(Step::Journal);
    assert_eq!(*told.lock().unwrap(), [3], "it is released, and not recorded");
    stepped.step(Step::Events);
    assert_eq!(*told.lock().unwrap(), [3, 4]);
    let mut log = rialto_log::Reader::open(engine.event_log(), 4).unwrap();
    log.set_end(4);
    let group = log.next_group().unwrap().unwrap();
    let read: Vec<_> = group.records().map(|(seq, bytes)| (Seq(seq), bytes.to_vec())).collect();
    assert_eq!(read, crate::stage::events(&engine, Seq(4), Seq(4)));
}

#[test]
fn events_of_earlier_runs_are_there_after_a_restart() {
    let bench = Bench::new(4, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let told = settle(&mut engine.producer(), &mut stepped, &setting());
    finish(&engine, &mut stepped);
    drop((engine, stepped));
    let (engine, _, _) = bench.start();
    let batch = engine.events(Seq(1)).try_next().unwrap().unwrap();
    assert_eq!(batch.iter().count(), told.len());
}

#[test]
fn waiting_readers_are_woken_and_end_with_the_engine() {
    let bench = Bench::new(5, Level::Synced);
    let (engine, _) = Engine::start(bench.config.clone(), bench.shared_disk()).unwrap();
    let engine = Arc::new(engine);
    let mut readers = Vec::new();
    for _ in 0..3 {
        let mut reader = engine.events(Seq(1));
        readers.push(std::thread::spawn(move || {
            let mut records = 0;
            while !reader.is_over() {
                if let Some(batch) = reader.next_timeout(LONG).unwrap() {
                    records += batch.iter().count();
                }
            }
            records
        }));
    }
    let told = send(&mut engine.producer(), &setting()).len();
    let engine = Arc::into_inner(engine).expect("the readers hold no engine");
    assert!(engine.shutdown(LONG).finished);
    for reader in readers {
        assert_eq!(reader.join().unwrap(), told);
    }
}
