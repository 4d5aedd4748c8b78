//! Steps: what they return, when they are executed, and what a failure undoes.

use crate::support::{Saga, World, clock, id, memory, on_disk, saga};
use rialto_disk::SimDisk;
use rialto_flow::store::Level;
use rialto_flow::{FlowError, RunError};

#[test]
fn a_flow_returns_the_results_of_its_steps() {
    let world = World::default();
    let flows = saga(memory(), &world, &clock());
    let run = flows.start::<Saga>(id("a"), (20, false)).unwrap();
    assert_eq!(run.wait(), Ok(41));
    assert_eq!(world.acts(), ["one", "two", "three"]);
}

#[test]
fn a_failure_undoes_the_finished_steps_last_first() {
    let world = World::default();
    let flows = saga(memory(), &world, &clock());
    let run = flows.start::<Saga>(id("a"), (20, true)).unwrap();
    let failed = FlowError::Step { name: "three".into(), message: "no".into() };
    assert_eq!(run.wait(), Err(RunError::Failed(failed)));
    assert_eq!(world.acts(), ["one", "two", "three", "undo two 40", "undo one 20"]);
}

#[test]
fn an_ended_run_is_found_again_and_not_run_again() {
    let (world, disk) = (World::default(), SimDisk::new(1));
    {
        let flows = saga(on_disk(&disk, Level::Synced, 1), &world, &clock());
        assert_eq!(flows.start::<Saga>(id("a"), (20, false)).unwrap().wait(), Ok(41));
    }
    let flows = saga(on_disk(&disk, Level::Synced, 2), &world, &clock());
    assert_eq!(flows.start::<Saga>(id("a"), (20, false)).unwrap().wait(), Ok(41));
    assert_eq!(world.acts().len(), 3);
    let other = flows.start::<Saga>(id("a"), (21, false));
    assert!(other.is_err_and(|error| error.to_string().contains("another input")));
}
