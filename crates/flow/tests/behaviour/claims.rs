//! Claims: no run is executed by two workers at once, and a stale worker writes nothing.

use crate::support::{World, clock, id, manual, memory};
use rialto_flow::history::Entry;
use rialto_flow::store::{MemoryStore, RunFilter, RunStanding, Store, StoreError, Write};
use rialto_flow::{Clock, Flow, FlowContext, FlowError, Flows, ManualClock, Options, RunError};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Two steps with a wait between them.
struct Waiting(World);

impl Flow for Waiting {
    const NAME: &'static str = "waiting";
    type Input = ();
    type Output = u64;

    async fn run(&self, cx: &FlowContext<'_>, (): &()) -> Result<u64, FlowError> {
        let before: u64 = cx
            .step("before", async || {
                self.0.act("before");
                Ok(1)
            })
            .await?;
        let heard: u64 = cx.wait_for("go").await?;
        cx.step("after", async || {
            self.0.act("after");
            Ok(before + heard)
        })
        .await
    }
}

fn waiting(store: &Arc<dyn Store>, world: &World, clock: &ManualClock) -> Flows {
    let flow = Waiting(world.clone());
    Flows::builder(store.clone()).register(flow).options(manual(clock)).open().unwrap()
}

#[test]
fn a_run_of_a_silent_worker_is_taken_over_and_the_stale_worker_is_stopped() {
    let (store, world, clock) = (memory(), World::default(), clock());
    let stale = waiting(&store, &world, &clock);
    let run = stale.start::<Waiting>(id("a"), ()).unwrap();
    stale.run_until_idle().unwrap();
    let fresh = waiting(&store, &world, &clock);
    fresh.run_until_idle().unwrap();
    assert_eq!(fresh.live(), 0, "the claim of the first worker holds");
    clock.advance(Duration::from_secs(31));
    fresh.run_until_idle().unwrap();
    assert_eq!(fresh.live(), 1, "the claim has lapsed");
    assert!(matches!(stale.run_until_idle(), Err(StoreError::Fenced(_))));
    assert!(matches!(run.wait(), Err(RunError::Store(StoreError::Fenced(_)))));
    assert!(stale.deliver(id("a"), "go", &1_u64).is_err());
    let _ = fresh.deliver(id("a"), "go", &41_u64).unwrap();
    let run = fresh.handle::<Waiting>(id("a")).unwrap().unwrap();
    assert_eq!(run.wait(), Ok(42));
    assert_eq!(world.acts(), ["before", "after"]);
}

#[test]
fn the_write_of_a_stale_worker_is_refused_and_changes_nothing() {
    let (store, world, clock) = (memory(), World::default(), clock());
    let flows = waiting(&store, &world, &clock);
    let _ = flows.start::<Waiting>(id("a"), ()).unwrap();
    flows.run_until_idle().unwrap();
    let before = store.find(&id("a")).unwrap().unwrap();
    let other = store.join(clock.now(), Duration::from_secs(30)).unwrap();
    let write = Write {
        run: before.run,
        ended: None,
        entries: before.history.clone(),
        messages: Vec::new(),
        marks: Vec::new(),
    };
    let appended = store.append(other, &[write]).unwrap();
    assert_eq!(appended.fenced, [before.run]);
    assert_eq!(store.find(&id("a")).unwrap().unwrap(), before);
}

/// Steps that detect a concurrent execution of the same run.
struct Alone {
    inside: Arc<Mutex<HashSet<u64>>>,
    steps: Arc<AtomicU64>,
    /// The number of concurrent executions.
    met: Arc<AtomicU64>,
}

impl Flow for Alone {
    const NAME: &'static str = "alone";
    type Input = u64;
    type Output = u64;

    async fn run(&self, cx: &FlowContext<'_>, run: &u64) -> Result<u64, FlowError> {
        let mut sum = 0;
        for _ in 0..5 {
            sum += cx
                .step("alone", async || {
                    let entered = self.inside.lock().unwrap().insert(*run);
                    self.met.fetch_add(u64::from(!entered), Ordering::Relaxed);
                    thread::yield_now();
                    self.steps.fetch_add(1, Ordering::Relaxed);
                    self.inside.lock().unwrap().remove(run);
                    Ok(1_u64)
                })
                .await?;
            cx.sleep("pause", Duration::from_micros(200)).await?;
        }
        Ok(sum)
    }
}

/// Runtimes start and end on four threads; each leaves its runs to the others.
#[test]
fn workers_that_come_and_go_never_run_one_flow_at_once() {
    const RUNS: u64 = 200;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let inside = Arc::new(Mutex::new(HashSet::new()));
    let steps = Arc::new(AtomicU64::new(0));
    let met = Arc::new(AtomicU64::new(0));
    let open = |workers| {
        let flow = Alone { inside: inside.clone(), steps: steps.clone(), met: met.clone() };
        let options = Options { workers, ..Options::default() };
        Flows::builder(store.clone()).register(flow).options(options).open().unwrap()
    };
    let first = open(0);
    for run in 0..RUNS {
        let _ = first.start::<Alone>(run.into(), run).unwrap();
    }
    drop(first);
    let unfinished = || {
        let standing = Some(RunStanding::Unfinished);
        let filter = RunFilter { standing, ..RunFilter::default() };
        store.list(&filter, None, 1).unwrap().len()
    };
    let lives: u64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|nth| {
                let (open, unfinished, steps) = (&open, &unfinished, &steps);
                scope.spawn(move || {
                    let mut lives = 0;
                    while unfinished() > 0 {
                        let flows = open(1 + nth % 2);
                        let until = steps.load(Ordering::Relaxed) + 20;
                        while unfinished() > 0 && steps.load(Ordering::Relaxed) < until {
                            thread::yield_now();
                        }
                        drop(flows);
                        lives += 1;
                    }
                    lives
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(met.load(Ordering::Relaxed), 0, "two workers were inside of one run");
    assert!(lives > 8, "only {lives} runtimes took part");
    for run in 0..RUNS {
        let stored = store.find(&run.into()).unwrap().unwrap();
        let finished =
            stored.entries().filter(|entry| matches!(entry, Ok(Entry::Finished { .. }))).count();
        assert_eq!(finished, 5, "run {run}");
    }
    // A runtime that stops lets no step begin and stores the ended ones.
    assert_eq!(steps.load(Ordering::Relaxed), 5 * RUNS);
}
