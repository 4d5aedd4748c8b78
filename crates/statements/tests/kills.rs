//! The power goes at each change of the disk while statements are made: afterwards each member has
//! one statement of the range, with the bytes that it would have had without the crash.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod stage;

use rialto_disk::SimDisk;
use rialto_flow::ManualClock;
use rialto_model::{Seq, Side};
use rialto_statements::StatementRange;
use stage::{NOON, Rows, Stage, USD, deposit, limit, settings};
use std::time::Duration;

/// A venue with a first run, and with commands for a second one.
async fn before_the_second_run(disk: &SimDisk) -> (Stage, Seq) {
    let stage = Stage::new(disk);
    stage.begin();
    let first = stage.made().await.range.last;
    stage.send(limit(1, Side::Sell, 300, 5_000));
    stage.send(limit(2, Side::Buy, 200, 5_000));
    stage.send(deposit(1, USD, 5, "more"));
    stage.clock.advance(Duration::from_secs(1));
    (stage, first)
}

/// Runs until the end, or until the disk is gone.
async fn run_until_gone(stage: &Stage, disk: &SimDisk) {
    let gone = async {
        while !disk.is_down() {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    };
    tokio::select! {
        _ = stage.run() => {}
        () = gone => {}
    }
}

fn open(disk: &SimDisk, clock: &ManualClock, life: &mut u8) -> Stage {
    loop {
        *life += 1;
        match Stage::try_open(disk, clock, *life, settings()) {
            Ok(stage) => return stage,
            Err(error) => {
                assert!(disk.is_down(), "it does not open, but the disk is there: {error}");
                disk.restart();
            }
        }
    }
}

/// Every statement of a range is there once, and says what the core says.
fn check(stage: &Stage, ranges: &[StatementRange], case: &str) {
    let (first, last) = (ranges[0], ranges[ranges.len() - 1]);
    for (member, account) in [(1, 1), (2, 2)] {
        let files = stage.outbox(member);
        assert_eq!(files.len(), 2 * ranges.len(), "{case}: {files:?}");
        let csv = |range: StatementRange| {
            let end = format!("-{}-{}.csv", range.first(), range.last);
            let found: Vec<_> = files.iter().filter(|(name, _)| name.ends_with(&end)).collect();
            assert_eq!(found.len(), 1, "{case}: {files:?}");
            Rows::of(&found[0].1)
        };
        for (before, range) in ranges.iter().zip(&ranges[1..]) {
            assert_eq!(before.last, range.after, "{case}");
            let (closing, opening) = (csv(*before), csv(*range));
            for code in ["BTC", "USD"] {
                let ended = closing.balance("closing", account, code);
                assert_eq!(ended, opening.balance("opening", account, code), "{case}");
            }
        }
        let balance = stage.core(last.last).balance(rialto_model::AccountId(account), USD).unwrap();
        let closing = csv(last).balance("closing", account, "USD");
        assert_eq!(closing, (balance.available.0, balance.reserved.0), "{case}");
    }
    assert_eq!(first.after, Seq::ZERO);
}

async fn survive(seed: u64, crashes: &[u64]) {
    let case = format!("seed {seed}, crashes after {crashes:?}");
    let disk = SimDisk::new(seed);
    let (mut stage, first) = before_the_second_run(&disk).await;
    let clock = stage.clock.clone();
    let mut life = 1;
    for after in crashes {
        disk.crash_after(*after);
        run_until_gone(&stage, &disk).await;
        drop(stage);
        disk.restart();
        stage = open(&disk, &clock, &mut life);
    }
    // A run that had begun continues by itself; one that had not begins now.
    let runs = stage.runs().await;
    stage.wait_for_runs(runs.len()).await;
    clock.advance(Duration::from_secs(1));
    stage.made().await;
    let mut ranges: Vec<StatementRange> = Vec::new();
    for run in stage.runs().await.into_iter().rev() {
        match run.stage {
            rialto_statements::RunStage::Completed(outcome) => {
                assert!(outcome.refused.is_empty(), "{case}: {outcome:?}");
                if !outcome.range.is_empty() {
                    ranges.push(outcome.range);
                }
            }
            other => panic!("{case}: {other:?}"),
        }
    }
    assert_eq!(ranges.len(), 2, "{case}: {ranges:?}");
    assert_eq!(ranges[0].last, first, "{case}");
    check(&stage, &ranges, &case);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_survives_the_loss_of_power_at_each_change() {
    let changes = {
        let disk = SimDisk::new(1);
        let (stage, _) = before_the_second_run(&disk).await;
        let before = disk.operations();
        stage.made().await;
        disk.operations() - before
    };
    assert!(changes > 20, "plan, files, records and outcome are written: {changes}");
    for after in 0..=changes {
        survive(after + 1, &[after]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_after_crash_changes_nothing() {
    for seed in 0..6_u64 {
        survive(seed, &[seed * 7 % 23, seed * 5 % 17, seed * 3 % 11]).await;
    }
}

/// The venue with another depot and other runs: its statements are made without interruption.
fn open_other(disk: &SimDisk, clock: &ManualClock, life: u8) -> Stage {
    let other = "/data/other-statements";
    Stage::try_open_with(disk, clock, life, settings(), other, |options| {
        options.dir = "/other-depot".into();
        options.first_volume = Some("/other-depot/volume".into());
    })
    .unwrap()
}

/// The statements of both members, with their contents.
fn statements(stage: &Stage) -> Vec<(String, String)> {
    stage.outbox(1).into_iter().chain(stage.outbox(2)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_run_makes_the_bytes_that_it_would_have_made() {
    let disk = SimDisk::new(9);
    let clock = ManualClock::new(NOON);
    let stage = Stage::try_open(&disk, &clock, 100, settings()).unwrap();
    stage.begin();
    let first = stage.made().await.range;
    drop(stage);
    // The other depot has a statement of the same first range.
    let stage = open_other(&disk, &clock, 101);
    assert_eq!(stage.made().await.range, first);
    stage.send(limit(1, Side::Sell, 300, 5_000));
    stage.send(limit(2, Side::Buy, 200, 5_000));
    stage.send(deposit(1, USD, 5, "more"));
    clock.advance(Duration::from_secs(1));
    drop(stage);

    let mut life = 1;
    let mut stage = open(&disk, &clock, &mut life);
    // The first file is on its shelf, and the rest is not.
    while statements(&stage).len() == 4 {
        disk.crash_after(u64::from(life) * 2);
        run_until_gone(&stage, &disk).await;
        drop(stage);
        disk.restart();
        clock.advance(Duration::from_secs(1));
        stage = open(&disk, &clock, &mut life);
    }
    let runs = stage.runs().await.len();
    stage.wait_for_runs(runs).await;
    let interrupted = statements(&stage);
    assert_eq!(interrupted.len(), 8);
    drop(stage);

    let stage = open_other(&disk, &clock, 102);
    stage.made().await;
    assert_eq!(interrupted, statements(&stage));
}
