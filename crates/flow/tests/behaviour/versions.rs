//! A run continues with the version that began it, or stands still and says why.

use crate::support::{World, clock, id, manual, on_disk};
use rialto_disk::SimDisk;
use rialto_flow::store::Level;
use rialto_flow::{Flow, FlowContext, FlowError, Flows, Parked, RunError};

/// A step, a wait, and another step that is called differently from program to program.
struct Shop<const VERSION: u32, const IS_CHANGED: bool>(World);

impl<const VERSION: u32, const IS_CHANGED: bool> Flow for Shop<VERSION, IS_CHANGED> {
    const NAME: &'static str = "shop";
    const VERSION: u32 = VERSION;
    type Input = ();
    type Output = u32;

    async fn run(&self, cx: &FlowContext<'_>, (): &()) -> Result<u32, FlowError> {
        let name = if IS_CHANGED { "book" } else { "order" };
        cx.step(name, async || {
            self.0.act(name);
            Ok(())
        })
        .await?;
        let () = cx.wait_for("paid").await?;
        Ok(VERSION)
    }
}

fn shop<const VERSION: u32, const IS_CHANGED: bool>(
    world: &World,
    disk: &SimDisk,
    life: u8,
) -> Flows {
    let shop = Shop::<VERSION, IS_CHANGED>(world.clone());
    let store = on_disk(disk, Level::Synced, life);
    Flows::builder(store).register(shop).options(manual(&clock())).open().unwrap()
}

/// Begins a run with the first version, which then waits.
fn begun() -> (World, SimDisk) {
    let (world, disk) = (World::default(), SimDisk::new(1));
    let flows = shop::<1, false>(&world, &disk, 1);
    let _ = flows.start::<Shop<1, false>>(id("s"), ()).unwrap();
    flows.run_until_idle().unwrap();
    (world, disk)
}

#[test]
fn a_run_of_another_version_is_stopped_until_its_version_is_back() {
    let (world, disk) = begun();
    {
        let flows = shop::<2, false>(&world, &disk, 2);
        let [parked] = &flows.parked()[..] else { panic!("one run is parked") };
        assert_eq!(
            parked.to_string(),
            "run s was begun by version 1 of flow `shop`, and this program has version 2; run the \
             old version until its runs have ended"
        );
        // Events that arrive meanwhile are kept for it, and new runs have the new version.
        flows.deliver(id("s"), "paid", &()).unwrap().wait().unwrap();
        let new = flows.start::<Shop<2, false>>(id("t"), ()).unwrap();
        flows.deliver(id("t"), "paid", &()).unwrap().wait().unwrap();
        assert_eq!(new.wait(), Ok(2));
    }
    let flows = shop::<1, false>(&world, &disk, 3);
    let run = flows.handle::<Shop<1, false>>(id("s")).unwrap().unwrap();
    assert_eq!(run.wait(), Ok(1));
    assert_eq!(world.acts(), ["order", "order"], "once a run");
}

#[test]
fn code_that_changed_without_a_new_version_is_not_let_loose_on_a_run() {
    let (world, disk) = begun();
    {
        let flows = shop::<1, true>(&world, &disk, 2);
        flows.run_until_idle().unwrap();
        let run = flows.handle::<Shop<1, true>>(id("s")).unwrap().unwrap();
        let Some(Err(RunError::Parked(parked))) = run.outcome() else { panic!("not parked") };
        let Parked::Changed { recorded, present, .. } = &*parked else { panic!("{parked}") };
        assert_eq!(recorded, "step `order` as number 1");
        assert_eq!(present, "step `book` as number 1");
    }
    assert_eq!(world.acts(), ["order"]);
    let flows = shop::<1, false>(&world, &disk, 3);
    flows.deliver(id("s"), "paid", &()).unwrap().wait().unwrap();
    let run = flows.handle::<Shop<1, false>>(id("s")).unwrap().unwrap();
    assert_eq!(run.wait(), Ok(1));
}

#[test]
fn a_run_without_its_flow_is_stopped() {
    let (_, disk) = begun();
    let store = on_disk(&disk, Level::Synced, 2);
    let flows = Flows::builder(store).options(manual(&clock())).open().unwrap();
    let parked: Vec<_> = flows.parked().iter().map(ToString::to_string).collect();
    assert_eq!(parked, ["run s belongs to flow `shop`, which this program does not have"]);
}
