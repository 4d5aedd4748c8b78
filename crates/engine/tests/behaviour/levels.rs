//! Releases at each durability level.

use crate::stage::{Bench, finish, flow, limit, setting, settle, until};
use rialto_engine::{Health, Level, NoAnswer, Progress, Step, SubmitError};
use rialto_model::{Command, Outcome, Seq, Side, Timestamp};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn each_level_releases_at_its_mark() {
    for (level, after_sequencer, after_journal) in
        [(Level::Memory, 1, 1), (Level::Buffered, 0, 1), (Level::Synced, 0, 1)]
    {
        let bench = Bench::new(1, level);
        let (engine, mut stepped, _) = bench.start();
        let mut producer = engine.producer();
        producer.submit(9, &setting()[0], None).unwrap();
        assert_eq!(stepped.step(Step::Sequencer), Progress::Worked);
        assert_eq!(engine.released(), Seq(after_sequencer), "{level}");
        assert_eq!(producer.try_reply().is_some(), after_sequencer == 1, "{level}");
        stepped.step(Step::Journal);
        assert_eq!(engine.released(), Seq(after_journal), "{level}");
        assert_eq!(producer.try_reply().is_some(), after_sequencer == 0, "{level}");
        assert_eq!(engine.marks().synced == Seq(1), level == Level::Synced, "{level}");
    }
}

#[test]
fn a_buffered_venue_that_is_never_idle_syncs_in_time() {
    let bench = Bench::new(10, Level::Buffered);
    let flush_every = bench.config.flush_every.as_nanos() as u64;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    // The journal's inbox is never empty.
    let mut write = |at| {
        bench.clock.set(Timestamp(at));
        producer.submit(1, &Command::Tick, None).unwrap();
        stepped.step(Step::Sequencer);
        stepped.step(Step::Journal);
        engine.marks()
    };
    let start = 1_000;
    assert_eq!(write(start).synced, Seq::ZERO);
    assert_eq!(write(start + flush_every - 1).synced, Seq::ZERO);
    let marks = write(start + flush_every);
    assert_eq!((marks.written, marks.synced), (Seq(3), Seq(3)));
    assert_eq!(write(start + flush_every + 1).synced, Seq(3), "its own time begins anew");
}

#[test]
fn a_buffered_group_is_not_released_past_what_waits_for_its_flush() {
    let bench = Bench::new(12, Level::Buffered);
    let flush_every = bench.config.flush_every;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    producer.submit(1, &Command::Tick, None).unwrap();
    stepped.step(Step::Sequencer);
    stepped.step(Step::Journal);
    assert_eq!(engine.marks().written, Seq(1));
    // The next write takes so long that the flush of the first group is overdue.
    producer.submit(2, &Command::Tick, None).unwrap();
    stepped.step(Step::Sequencer);
    let engine = Arc::new(engine);
    let (seen, watch) = (Arc::new(AtomicU64::new(0)), Arc::clone(&engine));
    let released = Arc::clone(&seen);
    let journal = Path::new("/venue/journal");
    // The sync is the operation after that write.
    let (disk, clock) = (bench.disk.clone(), Arc::clone(&bench.clock));
    bench.disk.hang(journal, 1, move || {
        clock.advance(flush_every);
        disk.hang(journal, 1, move || released.store(watch.released().0, Ordering::Relaxed));
    });
    stepped.step(Step::Journal);
    assert_eq!(seen.load(Ordering::Relaxed), 1, "the second group was released before the sync");
    assert_eq!((engine.marks().written, engine.marks().synced), (Seq(2), Seq(2)));
}

#[test]
fn a_higher_level_delays_its_own_reply_and_is_kept() {
    let bench = Bench::new(2, Level::Memory);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    producer.submit(1, &setting()[0], None).unwrap();
    producer.submit(2, &setting()[1], Some(Level::Synced)).unwrap();
    stepped.step(Step::Sequencer);
    assert_eq!(producer.try_reply().map(|reply| reply.token), Some(1));
    assert_eq!(producer.try_reply(), None, "it waits for the disk");
    stepped.step(Step::Journal);
    assert_eq!(producer.try_reply().map(|reply| reply.token), Some(2));
    drop((producer, engine, stepped));
    bench.disk.crash();
    let (engine, _, _) = bench.start();
    assert_eq!(engine.marks().synced, Seq(2), "synced for one is synced for all before it");
}

#[test]
fn a_lower_level_than_the_venues_changes_nothing() {
    let bench = Bench::new(3, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    producer.submit(1, &setting()[0], Some(Level::Memory)).unwrap();
    stepped.step(Step::Sequencer);
    assert_eq!(producer.try_reply(), None);
}

#[test]
fn a_full_producer_is_busy_until_replies_are_taken() {
    let mut bench = Bench::new(4, Level::Synced);
    bench.config.producer_capacity = 8;
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    for token in 0..8 {
        producer.submit(token, &Command::Tick, None).unwrap();
    }
    assert_eq!(producer.submit(8, &Command::Tick, None), Err(SubmitError::Busy));
    stepped.run_until_idle();
    assert_eq!(
        producer.submit(8, &Command::Tick, None),
        Err(SubmitError::Busy),
        "not answered yet"
    );
    assert!(producer.try_reply().is_some());
    assert_eq!(producer.submit(8, &Command::Tick, None), Ok(()));
    assert_eq!(engine.stats().busy, 2);
}

#[test]
fn a_failed_write_leaves_outcomes_unknown_and_ends_the_engine() {
    for level in [Level::Buffered, Level::Synced] {
        let bench = Bench::new(5, level);
        let (engine, mut stepped, _) = bench.start();
        let mut producer = engine.producer();
        let answered = settle(&mut producer, &mut stepped, &setting());
        assert!(answered.iter().all(|reply| reply.outcome().is_ok()));
        producer.submit(1, &limit(1, Side::Buy, 10, 1), None).unwrap();
        stepped.step(Step::Sequencer);
        producer.submit(2, &limit(1, Side::Buy, 11, 1), None).unwrap();
        bench.disk.fail_write(0);
        stepped.run_until_idle();
        let released = engine.released();
        for token in [1, 2] {
            let reply = producer.try_reply().expect("nobody is left waiting");
            assert_eq!((reply.token, reply.outcome()), (token, Err(NoAnswer::OutcomeUnknown)));
        }
        assert_eq!(producer.submit(3, &Command::Tick, None), Err(SubmitError::Stopped));
        assert_eq!(engine.released(), released, "nothing more is released");
        let Health::Failed(_) = engine.health() else { panic!("{}", engine.health()) };
        assert!(engine.health().to_string().contains("/venue/journal"), "{}", engine.health());
        assert!(engine.events(released.next()).try_next().unwrap().is_none());
    }
}

#[test]
fn commands_before_the_shutdown_are_finished_and_later_ones_refused() {
    let bench = Bench::new(6, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    producer.submit(1, &Command::Tick, None).unwrap();
    finish(&engine, &mut stepped);
    assert!(producer.try_reply().unwrap().outcome().is_ok());
    assert_eq!(producer.submit(2, &Command::Tick, None), Err(SubmitError::Stopped));
}

#[test]
fn a_flooding_producer_does_not_keep_others_waiting() {
    let bench = Bench::new(7, Level::Memory);
    let (engine, mut stepped, _) = bench.start();
    let (mut flood, mut other) = (engine.producer(), engine.producer());
    for token in 0..4_096 {
        flood.submit(token, &Command::Tick, None).unwrap();
    }
    other.submit(0, &Command::Tick, None).unwrap();
    stepped.step(Step::Sequencer);
    let seq = other.try_reply().expect("its turn comes in the first step").answer.unwrap().seq;
    assert!(seq < Seq(256), "{seq}");
}

#[test]
fn time_is_clamped_and_an_expired_order_does_not_trade() {
    let bench = Bench::new(8, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let expiring = until(Timestamp(5_000), limit(1, Side::Sell, 100, 1));
    let placed = settle(&mut producer, &mut stepped, &[expiring])[0];
    bench.clock.set(Timestamp(9_000));
    let taker = settle(&mut producer, &mut stepped, &[limit(2, Side::Buy, 100, 1)])[0];
    assert_eq!(
        taker.answer.unwrap().seq,
        placed.answer.unwrap().seq.next(),
        "no tick must come before it"
    );
    let Ok(Outcome::Order { filled, .. }) = taker.outcome() else { panic!("{taker:?}") };
    assert_eq!(filled.0, 0, "the expired order does not trade");
    bench.clock.set(Timestamp(3_000));
    let later = settle(&mut producer, &mut stepped, &[Command::Tick])[0];
    assert_eq!(later.answer.unwrap().time, Timestamp(9_000), "stamped time does not go back");
}

#[test]
fn an_idle_venue_ticks_when_something_is_due() {
    let bench = Bench::new(9, Level::Synced);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    let expiring = until(Timestamp(5_000), limit(1, Side::Sell, 100, 1));
    let last = settle(&mut producer, &mut stepped, &[expiring])[0].answer.unwrap().seq;
    bench.clock.set(Timestamp(4_000));
    let Progress::Idle(Some(nap)) = stepped.step(Step::Sequencer) else { panic!("it waits") };
    assert_eq!(nap.as_nanos(), 1_000);
    bench.clock.set(Timestamp(5_000));
    stepped.run_until_idle();
    assert_eq!(engine.released(), last.next());
}

#[test]
fn a_producer_beyond_the_bound_gets_an_error() {
    let bench = Bench::new(10, Level::Memory);
    let (engine, mut stepped, _) = bench.start();
    let mut producers: Vec<_> =
        (0..rialto_engine::PRODUCERS_MAX).map(|_| engine.producer()).collect();
    let refused = engine.producer().submit(0, &Command::Tick, None);
    assert_eq!(refused, Err(SubmitError::TooManyProducers));
    stepped.run_until_idle();
    producers.pop();
    stepped.run_until_idle();
    assert_eq!(engine.producer().submit(0, &Command::Tick, None), Ok(()), "the slot is free again");
}

#[test]
fn buffered_commands_are_synced_within_the_interval() {
    let bench = Bench::new(11, Level::Buffered);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    let last = settle(&mut producer, &mut stepped, &flow(20)).last().unwrap().answer.unwrap().seq;
    assert_eq!(engine.marks().written, last);
    assert!(engine.marks().synced < last);
    bench.clock.advance(bench.config.flush_every);
    stepped.run_until_idle();
    assert_eq!(engine.marks().synced, last);
}
