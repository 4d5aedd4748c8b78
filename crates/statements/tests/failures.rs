//! Runs of statements that wait or fail, and what the next one makes.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_depot::{Quota, TenantName};
use rialto_disk::SimDisk;
use rialto_engine::EngineConfig;
use rialto_flow::ManualClock;
use rialto_model::*;
use rialto_statements::{RunStage, StatementSettings, member_tenant};
use stage::{NOON, Stage, USD, assert_adds_up, deposit, engine_config, limit, settings};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_waits_for_the_rate_of_the_pool_and_refuses_nobody() {
    let (clock, answer_within) = (ManualClock::new(NOON), Duration::from_millis(20));
    let settings = StatementSettings { answer_within, ..settings() };
    // The positions of the run alone are more than the pool stores in some seconds.
    let of_depot = |options: &mut rialto_depot::DepotOptions| {
        options.rates.bytes_per_second = 100;
        options.rates.wait_max = Duration::from_millis(10);
    };
    let disk = SimDisk::new(1);
    let opened = Stage::try_open_with(&disk, &clock, 1, settings, "/data/statements", of_depot);
    let stage = opened.unwrap();
    stage.begin();
    assert_eq!(stage.run().await.unwrap().stage, RunStage::Running);
    let outcome = stage.made_later().await;
    assert_eq!((outcome.members, outcome.refused), (2, vec![]));
    assert_eq!((stage.outbox(1).len(), stage.outbox(2).len()), (2, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_that_fail_displace_no_statement_that_is_tried_again() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    let (member, own) = (member_tenant(MemberId(1)), TenantName::new("venue-statements").unwrap());
    let full = Quota { files_max: 1, bytes_max: 0 };
    stage.depot.create_tenant(&member, full).unwrap();
    let first = stage.made().await;
    assert_eq!(first.refused.len(), 1);
    stage.depot.set_quota(&own, full).unwrap();
    stage.send(deposit(2, USD, 5, "more"));
    stage.clock.advance(Duration::from_secs(1));
    assert!(matches!(stage.run().await.unwrap().stage, RunStage::Failed(_)));
    // The store forgets the run that completed, here by its age.
    let begun = std::time::Instant::now();
    stage.clock.advance(Duration::from_secs(8 * 86_400));
    while stage.runs().await.iter().any(|run| matches!(run.stage, RunStage::Completed(_))) {
        assert!(begun.elapsed() < stage::LONG, "the run is not forgotten");
        stage.clock.advance(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    stage.depot.set_quota(&own, Quota::default()).unwrap();
    stage.depot.set_quota(&member, Quota::default()).unwrap();
    let outcome = stage.made().await;
    assert_eq!((outcome.range.after, outcome.gap), (first.range.last, None));
    assert_eq!((outcome.members, outcome.refused), (2, vec![]));
    assert_adds_up(&stage, &stage.only(1, ".csv"), &[1, 3], first.range.last);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_loss_of_power_takes_the_commands_of_a_statement() {
    // What a loss of power takes of what was not synced depends on the seed.
    for seed in 1..=8 {
        let (disk, clock) = (SimDisk::new(seed), ManualClock::new(NOON));
        let open = |life| {
            // Nothing is synced until it is requested.
            let engine = EngineConfig { level: rialto_engine::Level::Memory, ..engine_config() };
            Stage::try_open_at(engine, &disk, &clock, life, settings(), "/data/statements", |_| {})
        };
        let stage = open(1).unwrap();
        stage.begin();
        stage.send(limit(1, Side::Sell, 300, 5_000));
        let last = stage.made().await.range.last;
        assert!(stage.engine.marks().synced >= last, "seed {seed}: {last} is not synced");
        disk.crash_after(0);
        drop(stage);
        disk.restart();
        let stage = open(2).unwrap();
        assert!(stage.live.seq() >= last, "seed {seed}: {last} is gone");
        assert_adds_up(&stage, &stage.only(1, ".csv"), &[1, 3], last);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_of_a_history_that_is_gone_begin_anew() {
    let (disk, clock) = (SimDisk::new(1), ManualClock::new(NOON));
    let open = |dir: &str, life| {
        let engine = EngineConfig { data_dir: dir.into(), ..engine_config() };
        Stage::try_open_at(engine, &disk, &clock, life, settings(), "/data/statements", |_| {})
    };
    let stage = open("/first", 1).unwrap();
    stage.begin();
    for nth in 0..20 {
        stage.send(deposit(2, USD, 5, &format!("more-{nth}")));
    }
    let made = stage.made().await.range.last;
    drop(stage);
    // Another history beside the same depot and runs, with fewer commands.
    let stage = open("/second", 2).unwrap();
    stage.begin();
    assert!(stage.live.seq() < made);
    clock.advance(Duration::from_secs(1));
    let anew = stage.made().await;
    assert!(anew.range.last <= stage.live.seq() && anew.gap.is_none(), "{anew:?}");
    let next = stage.send(deposit(2, USD, 7, "next"));
    clock.advance(Duration::from_secs(1));
    let following = stage.made().await;
    assert_eq!((following.range.after, following.range.last), (anew.range.last, next));
    assert_eq!(following.members, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_positions_have_no_room_fails_and_the_next_one_makes_the_statements() {
    let stage = Stage::new(&SimDisk::new(1));
    stage.begin();
    let own = TenantName::new("venue-statements").unwrap();
    stage.depot.create_tenant(&own, Quota { files_max: 0, bytes_max: 10 }).unwrap();
    let RunStage::Failed(reason) = stage.run().await.unwrap().stage else { panic!("it fails") };
    assert!(reason.contains("quota"), "{reason}");
    assert_eq!(stage.outbox(1).len(), 0);
    stage.depot.set_quota(&own, Quota::default()).unwrap();
    stage.clock.advance(Duration::from_secs(1));
    assert_eq!(stage.made().await.members, 2);
}
