//! Stamped time runs on the monotonic clock, and follows the wall clock within limits.

#![allow(clippy::unwrap_used)]

mod stage;

use rialto_engine::{Engine, EngineConfig, Level, Producer, StartError, Stepped};
use rialto_model::{Command, Side, Timestamp};
use stage::{Bench, Lines, finish, limit, setting, settle, told, until};
use std::time::Duration;

const SECOND: u64 = Timestamp::SECOND;
const DAY: u64 = 86_400 * SECOND;
/// A day in this century.
const TODAY: u64 = 20_000 * DAY;

fn bench(seed: u64) -> Bench {
    let bench = Bench::new(seed, Level::Synced);
    bench.clock.set(Timestamp(TODAY));
    bench
}

fn stamp(producer: &mut Producer, stepped: &mut Stepped) -> Timestamp {
    settle(producer, stepped, &[Command::Tick])[0].answer.unwrap().time
}

fn ahead_s(engine: &Engine) -> Option<i64> {
    engine.clock().unfollowed_ns.map(|ns| ns / SECOND as i64)
}

#[test]
fn a_small_step_is_followed() {
    let bench = bench(1);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    bench.clock.step(60 * SECOND as i64);
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY + 60 * SECOND));
    assert_eq!((ahead_s(&engine), engine.clock().steps), (None, 0));
}

#[test]
fn a_small_step_back_slows_time_and_never_turns_it_back() {
    let bench = bench(2);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY));
    bench.clock.step(-50 * SECOND as i64);
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY));
    bench.clock.advance(Duration::from_secs(10));
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY + 9 * SECOND));
    bench.clock.advance(Duration::from_secs(500));
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY + 460 * SECOND), "they agree");
    assert_eq!(ahead_s(&engine), None);
}

#[test]
fn a_large_clock_step_is_logged_once_and_not_followed() {
    let lines = Lines::watch();
    let hour = 3_600 * SECOND as i64;
    for (seed, step, word) in [(3, hour, "ahead of"), (4, -hour, "behind")] {
        let bench = bench(seed);
        let (engine, mut stepped, _) = bench.start();
        let mut producer = engine.producer();
        settle(&mut producer, &mut stepped, &setting());
        bench.clock.step(step);
        bench.clock.advance(Duration::from_secs(1));
        let order = until(Timestamp(TODAY + 3 * SECOND), limit(1, Side::Buy, 100, 1));
        let placed = settle(&mut producer, &mut stepped, &[order])[0];
        assert_eq!(placed.answer.unwrap().time, Timestamp(TODAY + SECOND), "without a step");
        bench.clock.advance(Duration::from_secs(2));
        stepped.run_until_idle();
        assert_eq!(engine.released(), placed.answer.unwrap().seq.next(), "what is due is done");
        assert_eq!((ahead_s(&engine), engine.clock().steps), (Some(step / SECOND as i64), 1));
        assert_eq!(lines.with(word).len(), 1, "{:?}", lines.with(""));
    }
}

#[test]
fn an_idle_venue_notices_a_step() {
    let lines = Lines::watch();
    let bench = bench(5);
    let (_engine, mut stepped, _) = bench.start();
    bench.clock.step(3_600 * SECOND as i64);
    stepped.run_until_idle();
    assert_eq!(lines.with("rialto admin clock accept").len(), 1);
}

#[test]
fn a_wall_clock_that_is_set_right_again_is_followed() {
    let bench = bench(6);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    bench.clock.step(3_600 * SECOND as i64);
    stamp(&mut producer, &mut stepped);
    bench.clock.step(-3_590 * SECOND as i64);
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY + 10 * SECOND));
    assert_eq!((ahead_s(&engine), engine.clock().steps), (None, 1));
}

#[test]
fn an_accepted_step_forward_is_followed_at_once() {
    let bench = bench(7);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    bench.clock.step(3_600 * SECOND as i64);
    stamp(&mut producer, &mut stepped);
    assert_eq!(engine.accept_clock().unfollowed_ns, None);
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY + 3_600 * SECOND));
    bench.clock.advance(Duration::from_secs(1));
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY + 3_601 * SECOND));
}

#[test]
fn an_accepted_step_back_slows_time_until_the_wall_clock_has_caught_up() {
    let bench = bench(8);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    bench.clock.step(-3_600 * SECOND as i64);
    stamp(&mut producer, &mut stepped);
    engine.accept_clock();
    bench.clock.advance(Duration::from_secs(1_000));
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY + 900 * SECOND));
    assert_eq!(ahead_s(&engine), None);
}

/// A venue whose last command was stamped with `TODAY`, closed or killed.
fn used_venue(seed: u64, closed: bool) -> Bench {
    let bench = bench(seed);
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    settle(&mut producer, &mut stepped, &setting());
    drop(producer);
    if closed {
        finish(&engine, &mut stepped);
    }
    drop((stepped, engine));
    bench.disk.kill();
    bench
}

#[test]
fn a_start_far_from_the_last_time_in_the_journal_needs_a_setting() {
    let gap_max = EngineConfig::CLOCK_GAP_MAX.as_nanos() as u64;
    for (seed, closed) in [(9, true), (10, false)] {
        for now in [TODAY + gap_max + 1, TODAY - gap_max - 1] {
            let mut bench = used_venue(seed, closed);
            bench.clock.set(Timestamp(now));
            let error = bench.try_start().err().expect("the clock must be wrong");
            assert!(matches!(error, StartError::ClockGap { .. }), "{error}");
            assert!(told(&error).contains("--accept-clock"), "{error}");
            assert!(told(&error).contains("/venue"), "{error}");
            bench.disk.kill();
            bench.config.accept_clock = true;
            let (engine, mut stepped, _) = bench.start();
            let mut producer = engine.producer();
            let stamped = stamp(&mut producer, &mut stepped);
            assert_eq!(stamped, Timestamp(now.max(TODAY)), "stamped time never goes back");
        }
        let bench = used_venue(seed, closed);
        for now in [TODAY + gap_max, TODAY - gap_max] {
            bench.clock.set(Timestamp(now));
            let (engine, stepped, _) = bench.start();
            drop((engine, stepped));
            bench.disk.kill();
        }
    }
}

#[test]
fn a_start_with_the_clock_behind_the_journal_continues_on_the_monotonic_clock() {
    let bench = used_venue(11, true);
    bench.clock.set(Timestamp(TODAY - DAY));
    let (engine, mut stepped, _) = bench.start();
    let mut producer = engine.producer();
    bench.clock.advance(Duration::from_secs(5));
    assert_eq!(stamp(&mut producer, &mut stepped), Timestamp(TODAY + 5 * SECOND));
    assert_eq!(ahead_s(&engine), Some(-86_400), "it is told, and can be accepted");
}
