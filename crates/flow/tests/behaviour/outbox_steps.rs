//! Messages of steps: stored with their end, within limits.

use crate::support::{clock, id, manual, now, on_disk};
use rialto_disk::SimDisk;
use rialto_flow::outbox::OutboxStore;
use rialto_flow::store::{Backlog, Level, OutboxMessage};
use rialto_flow::{Flow, FlowContext, FlowError, Flows, RunError, StepError};
use std::future::ready;
use std::time::Duration;

/// Branches that each send a message of a given size, in a step that may fail.
struct Spread;

#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Plan {
    branches: u32,
    bytes: usize,
    fails: bool,
}

impl Flow for Spread {
    const NAME: &'static str = "spread";
    type Input = Plan;
    type Output = ();

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, plan: &'a Plan) -> Result<(), FlowError> {
        let branches: Vec<_> = (0..plan.branches).map(|_| cx.branch()).collect();
        let parts = branches.iter().map(|branch| async move {
            let tell = vec![OutboxMessage::new("ledger", vec![7; plan.bytes])];
            let end = if plan.fails { Err(StepError::permanent("no")) } else { Ok(()) };
            branch.step("tell", || ready(end.clone())).send(|()| tell).await
        });
        let parts: Vec<_> = parts.map(Box::pin).collect();
        cx.all(parts).await.map(drop)
    }
}

/// The end of the run, and the contents of the outbox.
fn run(plan: Plan) -> (Result<(), RunError>, Backlog, Vec<String>) {
    let (disk, clock) = (SimDisk::new(1), clock());
    let store = on_disk(&disk, Level::Synced, 1);
    let builder = Flows::builder(store.clone()).register(Spread).options(manual(&clock));
    let end = builder.open().unwrap().start::<Spread>(id("a"), plan).unwrap().wait();
    let backlog = store.backlog().unwrap();
    let claimed = store.claim_messages(now(&clock), Duration::from_secs(1), 100).unwrap();
    let mut keys: Vec<_> = claimed.into_iter().map(|claim| claim.message.key).collect();
    keys.sort();
    keys.dedup();
    (end, backlog, keys)
}

#[test]
fn branches_that_send_more_than_one_write_holds_take_several() {
    let (end, backlog, keys) = run(Plan { branches: 24, bytes: 60_000, fails: false });
    assert_eq!(end, Ok(()));
    assert_eq!(backlog, Backlog { waiting: 24, dead: 0 });
    assert_eq!(keys.len(), 24, "each has a key of its own");
}

#[test]
fn a_step_that_sends_too_much_fails_and_sends_nothing() {
    let (end, backlog, _) = run(Plan { branches: 1, bytes: 70_000, fails: false });
    assert!(matches!(end, Err(RunError::Failed(FlowError::TooLarge { limit: 65_536, .. }))));
    assert_eq!(backlog, Backlog::default());
}

#[test]
fn a_step_that_fails_sends_nothing() {
    let (end, backlog, _) = run(Plan { branches: 1, bytes: 1, fails: true });
    assert!(matches!(end, Err(RunError::Failed(FlowError::Step { .. }))));
    assert_eq!(backlog, Backlog::default());
}
