//! Retention of a store, and the length of its log.

use crate::support::{clock, id, manual};
use rialto_disk::{Disk, SimDisk};
use rialto_flow::store::{
    Level, LogOptions, LogStore, Outcome, RunFilter, RunStanding, StoreError, StoreLimits,
};
use rialto_flow::{Flow, FlowContext, FlowError, Flows, FlowsError, ManualClock};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const KEPT: usize = 100;
const WAITING: u64 = 5;

/// Returns what it is given, some of it after an event.
struct Echo;

impl Flow for Echo {
    const NAME: &'static str = "echo";
    type Input = (String, bool);
    type Output = String;

    async fn run(
        &self,
        cx: &FlowContext<'_>,
        (text, waits): &(String, bool),
    ) -> Result<String, FlowError> {
        let text: String = cx.step("hear", async || Ok(text.clone())).await?;
        if *waits {
            let () = cx.wait_for("go").await?;
        }
        Ok(text)
    }
}

fn open(disk: &SimDisk, life: u8, clock: &ManualClock) -> Result<Flows, FlowsError> {
    let limits = StoreLimits {
        ended_runs_max: KEPT,
        retention: Duration::from_secs(3600),
        ..StoreLimits::default()
    };
    let options = LogOptions {
        limits,
        segment_bytes: 2 << 20,
        checkpoint_bytes: 1 << 20,
        salt: [life; 16],
        ..LogOptions::new(Level::Synced)
    };
    let store = LogStore::open_on(Arc::new(disk.clone()), Path::new("/flows"), options)?;
    Flows::builder(Arc::new(store)).register(Echo).options(manual(clock)).open()
}

/// A text of some length that says which run it is of.
fn text(run: u64) -> String {
    format!("{run:->6000}")
}

/// Starts runs from the number on, a few at once; the first ones wait.
fn work(flows: &Flows, runs: std::ops::Range<u64>) -> Result<(), FlowsError> {
    for run in runs {
        let _ = flows.start::<Echo>(run.into(), (text(run), run < WAITING))?;
        if run % 10 == 9 {
            flows.run_until_idle()?;
        }
    }
    Ok(())
}

fn ended(flows: &Flows) -> Result<Vec<u64>, StoreError> {
    let completed = Some(RunStanding::Ended(Outcome::Completed));
    let filter = RunFilter { standing: completed, ..RunFilter::default() };
    let listed = flows.list(&filter, None, usize::MAX)?;
    Ok(listed.iter().map(|run| run.id.as_str().parse().unwrap()).collect())
}

fn check(flows: &Flows, until: u64) {
    let ended = ended(flows).unwrap();
    assert!((KEPT..KEPT + 64).contains(&ended.len()), "{} ended runs are kept", ended.len());
    let oldest = until - ended.len() as u64;
    assert!(ended.iter().copied().eq(oldest..until), "not the youngest: {ended:?}");
    assert_eq!(flows.live(), WAITING as usize);
    for run in 0..WAITING {
        flows.deliver(run.into(), "go", &()).unwrap().wait().unwrap();
        let echo = flows.handle::<Echo>(run.into()).unwrap().unwrap();
        assert_eq!(echo.wait(), Ok(text(run)));
    }
}

#[test]
fn the_log_is_rewritten_and_waiting_messages_are_kept() {
    let (disk, clock) = (SimDisk::new(1), clock());
    let flows = open(&disk, 1, &clock).unwrap();
    work(&flows, 0..1_500).unwrap();
    let segments = || {
        let names = disk.list(Path::new("/flows")).unwrap();
        names.iter().filter(|name| name.ends_with(".log")).count()
    };
    // About 18 MB of inputs and outputs went through it.
    assert!(segments() <= 5, "{} segments of 2 MiB", segments());
    drop(flows);
    check(&open(&disk, 2, &clock).unwrap(), 1_500);
}

#[test]
fn a_power_failure_during_the_rewrite_of_the_log_loses_nothing() {
    let (disk, clock) = (SimDisk::new(1), clock());
    work(&open(&disk, 1, &clock).unwrap(), 0..1_000).unwrap();
    let writes = disk.operations();
    for seed in 0..6_u64 {
        let disk = SimDisk::new(seed);
        // Past the first checkpoint, and at another place each time.
        disk.crash_after(writes / 2 + seed * (writes / 2) / 6);
        assert!(open(&disk, 1, &clock).and_then(|flows| work(&flows, 0..1_000)).is_err());
        disk.restart();
        let flows = open(&disk, 2, &clock).unwrap();
        let from = ended(&flows).unwrap().last().map_or(WAITING, |run| run + 1);
        assert!(from > 300, "seed {seed}: only {from} runs were stored");
        work(&flows, from..1_100).unwrap();
        check(&flows, 1_100);
    }
}

fn oldest_segment(disk: &SimDisk) -> Option<String> {
    let names = disk.list(Path::new("/flows")).unwrap();
    names.into_iter().filter(|name| name.ends_with(".log")).min()
}

/// What waits was begun before all else: it is in the first segment until it is said again, and lost
/// if that one goes too early.
#[test]
fn a_power_failure_at_no_moment_around_the_end_of_a_segment_loses_what_waits() {
    let (disk, clock) = (SimDisk::new(1), clock());
    let flows = open(&disk, 1, &clock).unwrap();
    let first = oldest_segment(&disk);
    let mut run = 0;
    let mut before = 0;
    while oldest_segment(&disk) == first {
        before = disk.operations();
        work(&flows, run..run + 10).unwrap();
        run += 10;
        assert!(run < 1_500, "the first segment never goes");
    }
    // Those that come next belong to the same checkpoint, should it have gone too early.
    let moments = before.saturating_sub(10)..disk.operations() + 30;
    println!("the first segment goes at run {run}, moments {moments:?}");
    drop(flows);
    for moment in moments {
        let disk = SimDisk::new(moment);
        disk.crash_after(moment);
        assert!(open(&disk, 1, &clock).and_then(|flows| work(&flows, 0..run + 200)).is_err());
        disk.restart();
        let flows = open(&disk, 2, &clock).unwrap();
        for run in 0..WAITING {
            let known = flows.handle::<Echo>(run.into()).unwrap();
            assert!(known.is_some(), "run {run} is lost after a failure at operation {moment}");
        }
        let last = ended(&flows).unwrap().last().copied();
        let from = last.map_or(WAITING, |run| run + 1);
        let until = (from / 10 + 2) * 10;
        work(&flows, from..until).unwrap();
        check(&flows, until);
    }
}

#[test]
fn old_ended_runs_are_removed_and_can_start_again() {
    let (disk, clock) = (SimDisk::new(1), clock());
    let flows = open(&disk, 1, &clock).unwrap();
    assert_eq!(flows.start::<Echo>(id("a"), (text(1), false)).unwrap().wait(), Ok(text(1)));
    clock.advance(Duration::from_secs(3599));
    flows.run_until_idle().unwrap();
    assert!(flows.start::<Echo>(id("a"), (text(2), false)).is_err(), "it is still known");
    clock.advance(Duration::from_secs(2));
    flows.run_until_idle().unwrap();
    assert_eq!(flows.start::<Echo>(id("a"), (text(2), false)).unwrap().wait(), Ok(text(2)));
}
