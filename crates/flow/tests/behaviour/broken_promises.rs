//! Each guarantee of `docs/flow.md` that a store can break is broken, and the checks detect it.
//!
//! A store is put between flows and their real one that loses or changes a single thing. What is
//! checked is the same with the break and without it, so that a check that notices nothing fails.

use crate::support::broken::{Break, Broken};
use crate::support::journey::{Caller, Fate};
use crate::support::{World, clock, id, manual, memory, try_on_disk};
use rialto_disk::SimDisk;
use rialto_flow::store::{Level, Outcome, RunFilter, RunStanding, Store};
use rialto_flow::{
    Flow, FlowContext, FlowError, Flows, FlowsError, ManualClock, RetryPolicy, RunError, StepError,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A promise is kept by a sound store, and its check notices a store that breaks it.
#[track_caller]
fn is_noticed(by: Break, keeps: impl Fn(Option<Break>) -> bool) {
    assert!(keeps(None), "it is not kept by a sound store");
    // A flow that panics, or stands still, has noticed.
    let kept = catch_unwind(AssertUnwindSafe(|| keeps(Some(by)))).unwrap_or(false);
    assert!(!kept, "{by:?} went unnoticed");
}

/// Whether a journey whose power fails at any write comes to the end that it would have come to,
/// with the same effects.
fn journeys_come_to_their_ends(by: Option<Break>) -> bool {
    Fate::ALL.into_iter().all(|fate| {
        let mut undisturbed = Caller::new(fate);
        let disk = SimDisk::new(1);
        let outcome = undisturbed.live(try_on_disk(&disk, Level::Synced, 1).unwrap()).unwrap();
        (0..disk.operations()).all(|write| {
            let mut caller = Caller::new(fate);
            let disk = SimDisk::new(write);
            disk.crash_after(write);
            let lived = (1..20).find_map(|life| {
                let lived = try_on_disk(&disk, Level::Synced, life).map_err(Into::into);
                let lived = lived.and_then(|store| caller.live(Broken::over(store, by, life == 1)));
                lived.map_err(|_| disk.restart()).ok()
            });
            lived.as_ref() == Some(&outcome)
                && caller.effects() == undisturbed.effects()
                && caller.tries_max() <= 3
        })
    })
}

/// What can be broken for journeys.
const OF_JOURNEYS: [Break; 7] = [
    Break::ConfirmEarly,
    Break::LoseSteps,
    Break::BeginAgain,
    Break::LoseEvents,
    Break::LoseUndone,
    Break::SwapSteps,
    Break::LoseCancels,
];

#[test]
fn a_lost_entry_of_a_journey_is_detected() {
    assert!(journeys_come_to_their_ends(None), "a sound store does not keep it");
    for by in OF_JOURNEYS {
        let kept = catch_unwind(|| journeys_come_to_their_ends(Some(by))).unwrap_or(false);
        assert!(!kept, "{by:?} went unnoticed");
    }
}

/// A step that can be undone, or not, and then an end that depends on when it is executed.
struct Fickle {
    world: World,
    can_undo: bool,
    version: Version,
}

/// Tells two programs apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The same flow, as the next version of the program has it.
struct Next(Fickle);

impl Fickle {
    async fn go<'a>(&'a self, cx: &FlowContext<'a>, waits: bool) -> Result<u64, FlowError> {
        let retry = if self.can_undo { RetryPolicy::forever() } else { RetryPolicy::never() };
        cx.step("take", async || {
            self.world.act("take");
            Ok(())
        })
        .compensate_with(retry, async |()| {
            self.world.act("undo");
            if self.can_undo { Ok(()) } else { Err(StepError::permanent("it is gone")) }
        })
        .await?;
        if waits {
            return cx.wait_for("go").await;
        }
        // The first execution fails; one after a restart would not.
        match self.version == Version::One && self.world.count("undo") == 0 {
            true => Err(FlowError::failed("not today")),
            false => Ok(1),
        }
    }
}

impl Flow for Fickle {
    const NAME: &'static str = "fickle";
    const VERSION: u32 = 1;
    type Input = bool;
    type Output = u64;

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, waits: &'a bool) -> Result<u64, FlowError> {
        self.go(cx, *waits).await
    }
}

impl Flow for Next {
    const NAME: &'static str = "fickle";
    const VERSION: u32 = 2;
    type Input = bool;
    type Output = u64;

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, waits: &'a bool) -> Result<u64, FlowError> {
        self.0.go(cx, *waits).await
    }
}

fn fickle(store: Arc<dyn Store>, world: &World, clock: &ManualClock, can_undo: bool) -> Flows {
    let flow = Fickle { world: world.clone(), can_undo, version: Version::One };
    Flows::builder(store).register(flow).options(manual(clock)).open().unwrap()
}

#[test]
fn forgetting_that_undoing_has_begun_is_noticed() {
    is_noticed(Break::LoseFailing, |by| {
        let (world, clock, disk) = (World::default(), clock(), SimDisk::new(1));
        let store = |life| {
            let store = try_on_disk(&disk, Level::Synced, life).unwrap();
            Broken::over(store, by, life == 1)
        };
        let flows = fickle(store(1), &world, &clock, true);
        // The process ends while the step is being undone.
        world.kill_after(2, &disk);
        let _ = flows.start::<Fickle>(id("f"), false).unwrap();
        assert!(flows.run_until_idle().is_err(), "the disk is gone");
        drop(flows);
        let flows = fickle(store(2), &world, &clock, true);
        let ended = flows.start::<Fickle>(id("f"), false).unwrap().wait();
        ended == Err(RunError::Failed(FlowError::failed("not today")))
    });
}

#[test]
fn passing_a_stuck_run_for_an_undone_one_is_noticed() {
    is_noticed(Break::HideStuck, |by| {
        let (world, clock, below) = (World::default(), clock(), memory());
        let flows = fickle(Broken::over(below, by, true), &world, &clock, false);
        let _ = flows.start::<Fickle>(id("f"), false).unwrap();
        flows.run_until_idle().unwrap();
        let standing = Some(RunStanding::Ended(Outcome::Stuck));
        let stuck = RunFilter { flow: None, standing };
        flows.list(&stuck, None, 10).unwrap().len() == 1
    });
}

#[test]
fn passing_one_input_for_another_is_noticed() {
    is_noticed(Break::IgnoreInput, |by| {
        let (world, clock, below) = (World::default(), clock(), memory());
        let flows = fickle(Broken::over(below, by, true), &world, &clock, true);
        let _ = flows.start::<Fickle>(id("f"), false).unwrap();
        matches!(flows.start::<Fickle>(id("f"), true), Err(FlowsError::Conflict { .. }))
    });
}

#[test]
fn resuming_a_run_of_another_version_is_noticed() {
    is_noticed(Break::IgnoreVersion, |by| {
        let (world, clock, below) = (World::default(), clock(), memory());
        let flows = fickle(Broken::over(below.clone(), None, true), &world, &clock, true);
        let _ = flows.start::<Fickle>(id("f"), true).unwrap();
        flows.run_until_idle().unwrap();
        drop(flows);
        let next = Next(Fickle { world: world.clone(), can_undo: true, version: Version::Two });
        let store = Broken::over(below, by, false);
        let flows = Flows::builder(store).register(next).options(manual(&clock)).open().unwrap();
        flows.run_until_idle().unwrap();
        flows.parked().len() == 1
    });
}

#[test]
fn taking_the_writes_of_a_stale_worker_is_noticed() {
    is_noticed(Break::IgnoreFence, |by| {
        let (world, clock) = (World::default(), clock());
        let store = Broken::over(memory(), by, true);
        let stale = fickle(store.clone(), &world, &clock, true);
        let _ = stale.start::<Fickle>(id("f"), true).unwrap();
        stale.run_until_idle().unwrap();
        clock.advance(Duration::from_secs(31));
        let fresh = fickle(store, &world, &clock, true);
        fresh.run_until_idle().unwrap();
        assert_eq!(fresh.live(), 1, "the claim has lapsed");
        stale.deliver(id("f"), "go", &1_u64).is_err()
    });
}
