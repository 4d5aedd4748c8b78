//! What operators can do: list runs, look at them, and help the stuck ones.

use crate::support::{Saga, World, clock, id, manual, memory, on_disk, saga};
use rialto_disk::SimDisk;
use rialto_flow::history::{Ending, Entry};
use rialto_flow::store::{Level, Outcome, RunFilter, RunStanding, Store};
use rialto_flow::{
    Flow, FlowContext, FlowError, Flows, FlowsError, ManualClock, Parked, RetryPolicy, RunError,
    StepError,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flow that pays and then fails; what it paid comes back only when the bank is open.
struct Payment {
    world: World,
    is_open: Arc<AtomicBool>,
}

impl Flow for Payment {
    const NAME: &'static str = "payment";
    type Input = u64;
    type Output = ();

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, input: &'a u64) -> Result<(), FlowError> {
        cx.step("note", async || Ok(()))
            .compensate(async |()| {
                self.world.act("undo note");
                Ok(())
            })
            .await?;
        cx.step("pay", async || Ok(*input))
            .compensate_with(RetryPolicy::never(), async |paid: u64| {
                if !self.is_open.load(Ordering::Relaxed) {
                    return Err(StepError::permanent("the bank is closed"));
                }
                self.world.act(format!("pay back {paid}"));
                Ok(())
            })
            .await?;
        Err(FlowError::failed("no goods"))
    }
}

struct Bank {
    world: World,
    is_open: Arc<AtomicBool>,
    clock: ManualClock,
}

impl Bank {
    fn closed() -> Self {
        Self { world: World::default(), is_open: Arc::default(), clock: clock() }
    }

    fn flows(&self, store: Arc<dyn Store>) -> Flows {
        let payment = Payment { world: self.world.clone(), is_open: self.is_open.clone() };
        Flows::builder(store).register(payment).options(manual(&self.clock)).open().unwrap()
    }
}

fn no_goods() -> FlowError {
    FlowError::failed("no goods")
}

#[test]
fn a_stuck_run_continues_undoing_when_it_is_retried_even_after_a_restart() {
    let (bank, disk) = (Bank::closed(), SimDisk::new(1));
    {
        let flows = bank.flows(on_disk(&disk, Level::Synced, 1));
        let stuck = flows.start::<Payment>(id("p"), 5).unwrap().wait();
        let error = FlowError::Step { name: "pay".into(), message: "the bank is closed".into() };
        assert_eq!(stuck, Err(RunError::Stuck { cause: no_goods(), error }));
    }
    let flows = bank.flows(on_disk(&disk, Level::Synced, 2));
    bank.is_open.store(true, Ordering::Relaxed);
    flows.retry(id("p")).unwrap().wait().unwrap();
    let run = flows.handle::<Payment>(id("p")).unwrap().unwrap();
    assert_eq!(run.wait(), Err(RunError::Failed(no_goods())));
    assert_eq!(bank.world.acts(), ["pay back 5", "undo note"]);
    drop((flows, run));
    let flows = bank.flows(on_disk(&disk, Level::Synced, 3));
    assert_eq!(
        flows.start::<Payment>(id("p"), 5).unwrap().wait(),
        Err(RunError::Failed(no_goods()))
    );
}

#[test]
fn a_stuck_run_can_be_given_up() {
    let (bank, store) = (Bank::closed(), memory());
    let flows = bank.flows(store.clone());
    assert!(flows.start::<Payment>(id("p"), 5).unwrap().wait().is_err());
    flows.give_up(id("p")).unwrap().wait().unwrap();
    let stored = store.find(&id("p")).unwrap().unwrap();
    assert_eq!(stored.ended.unwrap().outcome, Outcome::Failed);
    let last = stored.entries().last().unwrap().unwrap();
    assert!(matches!(last, Entry::Ended { ending: Ending::Failed(_), .. }));
    assert!(bank.world.acts().is_empty());
}

#[test]
fn a_failed_run_is_started_again_under_another_id_only() {
    let (world, store) = (World::default(), memory());
    let flows = saga(store, &world, &clock());
    assert!(flows.start::<Saga>(id("a"), (20, true)).unwrap().wait().is_err());
    let refused = flows.retry(id("a")).err().unwrap();
    assert_eq!(refused.to_string(), "run a is failed; start it again under another id");
    flows.start_again(id("a"), id("b")).unwrap().wait().unwrap();
    flows.run_until_idle().unwrap();
    let again = flows.find(&id("b")).unwrap().unwrap();
    assert_eq!((again.input, again.ended.unwrap().outcome), (vec![20, 1], Outcome::Failed));
    assert_eq!(world.count("one"), 2);
    let unknown = flows.retry(id("c")).err();
    assert_eq!(unknown, Some(FlowsError::Unknown(id("c"))));
}

/// A flow whose second step panics until it is mended.
struct Fragile {
    world: World,
    is_mended: Arc<AtomicBool>,
}

impl Flow for Fragile {
    const NAME: &'static str = "fragile";
    type Input = ();
    type Output = u64;

    async fn run(&self, cx: &FlowContext<'_>, (): &()) -> Result<u64, FlowError> {
        let one: u64 = cx
            .step("one", async || {
                self.world.act("one");
                Ok(1)
            })
            .await?;
        cx.step("two", async || {
            assert!(self.is_mended.load(Ordering::Relaxed), "not mended");
            Ok(one + 1)
        })
        .await
    }
}

#[test]
fn a_run_that_panicked_is_stopped_and_continues_at_the_same_step() {
    let (world, is_mended) = (World::default(), Arc::new(AtomicBool::new(false)));
    let disk = SimDisk::new(1);
    let fragile = Fragile { world: world.clone(), is_mended: is_mended.clone() };
    let flows = Flows::builder(on_disk(&disk, Level::Synced, 1)).register(fragile);
    let flows = flows.options(manual(&clock())).open().unwrap();
    let run = flows.start::<Fragile>(id("f"), ()).unwrap();
    let Err(RunError::Parked(parked)) = run.wait() else { panic!("it must be parked") };
    assert!(matches!(*parked, Parked::Panicked { .. }));
    assert_eq!(parked.to_string(), "run f of flow `fragile` panicked: not mended");
    assert_eq!(flows.parked(), [*parked]);
    is_mended.store(true, Ordering::Relaxed);
    flows.retry(id("f")).unwrap().wait().unwrap();
    assert_eq!(run.wait(), Ok(2), "the handle from before waits on");
    assert_eq!(world.acts(), ["one"]);
}

#[test]
fn runs_are_listed_by_flow_and_by_how_they_stand() {
    let (world, store) = (World::default(), memory());
    let flows = saga(store, &world, &clock());
    for (nth, fails) in [false, true, false].into_iter().enumerate() {
        let _ = flows.start::<Saga>((nth as u64).into(), (1, fails)).unwrap().wait();
    }
    let ids = |filter: &RunFilter, after| {
        let listed = flows.list(filter, after, 2).unwrap();
        listed.into_iter().map(|run| run.id.to_string()).collect::<Vec<_>>()
    };
    let all = RunFilter::default();
    assert_eq!(ids(&all, None), ["0", "1"]);
    let second = flows.find(&1.into()).unwrap().unwrap().run;
    assert_eq!(ids(&all, Some(second)), ["2"]);
    let standing =
        |outcome| RunFilter { standing: Some(RunStanding::Ended(outcome)), ..all.clone() };
    assert_eq!(ids(&standing(Outcome::Failed), None), ["1"]);
    assert_eq!(ids(&standing(Outcome::Completed), None), ["0", "2"]);
    assert!(ids(&RunFilter { flow: Some("other".into()), ..all.clone() }, None).is_empty());
}
