//! Concurrent flows of three steps, at every durability level.

use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, CoreWait, Spread, side_by_side};
use crate::references::{FlowWork, Metric, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, FreshDirectory};
use rialto_disk::{Allocated, allocated_by};
use rialto_flow::history::{Ending, Entry};
use rialto_flow::store::{
    Level, LogOptions, LogStore, MemoryStore, Outcome, RunFilter, RunStanding, Store, StoreLimits,
};
use rialto_flow::{Flow, FlowContext, FlowError, FlowId, Flows, Options};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Flows per second: in memory, and at `buffered`.
const MEMORY_RATE: f64 = 2e6;
const BUFFERED_RATE: f64 = 200e3;

const STARTED: &str = "One thread starts flows and waits for the oldest when the stated number \
    is under way; a flow has ended when its caller has its output. Start, three steps and end are \
    each recorded, and a step begins when the one before it is confirmed.";
const IN_MEMORY: &str = "The same record, kept in memory: another worker could resume the flow, \
    another process could not. The store keeps the last 10,000 ended flows.";
const ALLOCATED: &str = "Counted in a run of its own in which the calling thread does all of the \
    work, the writing included.";

/// A flow whose steps do as little as possible with a verifiable result.
struct ThreeSteps {
    executed: Arc<AtomicU64>,
}

impl Flow for ThreeSteps {
    const NAME: &'static str = "three-steps";
    type Input = u64;
    type Output = u64;

    async fn run(&self, cx: &FlowContext<'_>, input: &u64) -> Result<u64, FlowError> {
        let reserved: u64 = cx.step("reserve", async || Ok(self.count(*input))).await?;
        let charged: u64 = cx.step("charge", async || Ok(self.count(reserved))).await?;
        cx.step("ship", async || Ok(self.count(charged))).await
    }
}

impl ThreeSteps {
    fn count(&self, value: u64) -> u64 {
        self.executed.fetch_add(1, Ordering::Relaxed);
        value + 1
    }
}

/// An arm.
#[derive(Clone, Copy)]
struct Arm {
    level: Level,
    flows: u64,
    /// The number of concurrent flows.
    at_once: usize,
    target: Option<f64>,
}

/// The rows of all levels.
pub(super) fn rows(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let arm = |level, flows, at_once, target| Arm { level, flows, at_once, target };
    let arms = [
        arm(Level::Memory, context.sized(1_000_000, 500), 64, Some(MEMORY_RATE)),
        arm(Level::Buffered, context.sized(100_000, 300), 8_192, Some(BUFFERED_RATE)),
        arm(Level::Synced, context.sized(100_000, 200), 8_192, None),
    ];
    let rounds = context.sized(7, 2);
    context.progress(&format!("  flows of three steps: {} arms in {rounds} rounds", arms.len()));
    let mut waited = [None::<f64>; 3];
    let side = side_by_side(arms.len(), rounds, |nth| {
        let wait = CoreWait::start();
        let rate = run(context, arms[nth], 1)?.rate;
        waited[nth] = wait.longest(waited[nth]);
        Ok::<_, BenchError>(rate)
    })?;
    let mut rows = Vec::new();
    for (nth, arm) in arms.into_iter().enumerate() {
        let allocated = run(context, arm, 0)?.allocated;
        rows.extend(arm.rows(side.spread(nth), waited[nth], allocated));
    }
    Ok(rows)
}

impl Arm {
    fn rows(self, rate: Spread, waited: Option<f64>, allocated: Option<Allocated>) -> Vec<Row> {
        let case = Case::without_orders("flow of 3 steps");
        let checked = |row: Row| {
            row.level(self.level.name())
                .check("flows", self.flows)
                .check("steps_executed", 3 * self.flows)
                .check("sum_of_outputs", expected(self.flows))
                .check("at_once", self.at_once as u64)
        };
        let work = Work::Flow(FlowWork::ThreeSteps);
        let row = Row::of_spread(&case, "throughput", rate, Unit::FlowsPerSecond);
        let mut row = checked(row).footnote(STARTED).waited_for_core(waited).target(self.target);
        if self.level == Level::Memory {
            row = row.beside(work, Metric::Throughput).footnote(IN_MEMORY);
        }
        let mut rows = vec![row];
        rows.extend(allocated.map(|allocated| {
            checked(Row::of_allocated(&case, allocated, self.flows)).footnote(ALLOCATED)
        }));
        rows
    }
}

/// Every flow returns its number plus three.
fn expected(flows: u64) -> u64 {
    flows * flows.saturating_sub(1) / 2 + 3 * flows
}

/// The measurements of a round.
struct Round {
    /// Flows per second.
    rate: f64,
    allocated: Option<Allocated>,
}

fn run(context: &mut Context<'_>, arm: Arm, workers: usize) -> Result<Round, BenchError> {
    let name = format!("flow of 3 steps, {}", arm.level);
    let directory = context.fresh_directory()?;
    let executed = Arc::new(AtomicU64::new(0));
    let flows = Flows::builder(open(&name, arm, directory.path())?)
        .register(ThreeSteps { executed: executed.clone() })
        .options(Options { workers, ..Options::default() })
        .open()
        .map_err(broken(&name, "open the flows"))?;
    let mut outputs = Ok(0);
    let mut elapsed_ns = 0;
    let allocated = allocated_by(|| {
        let clock = Clock::start();
        outputs = start_and_wait(&name, &flows, arm);
        elapsed_ns = clock.now_ns();
    });
    verify(&name, "sum of outputs", outputs?, expected(arm.flows))?;
    verify(&name, "steps executed", executed.load(Ordering::Relaxed), 3 * arm.flows)?;
    drop(flows);
    if arm.level != Level::Memory {
        verify_stored(&name, arm, &directory)?;
    }
    Ok(Round { rate: arm.flows as f64 * 1e9 / elapsed_ns.max(1) as f64, allocated })
}

fn open(name: &str, arm: Arm, directory: &Path) -> Result<Arc<dyn Store>, BenchError> {
    if arm.level == Level::Memory {
        let limits = StoreLimits { ended_runs_max: 10_000, ..StoreLimits::default() };
        return Ok(Arc::new(MemoryStore::new(limits)));
    }
    let store = LogStore::open(directory, LogOptions::new(arm.level));
    Ok(Arc::new(store.map_err(broken(name, "open the store"))?))
}

/// Returns the sum of the outputs.
fn start_and_wait(name: &str, flows: &Flows, arm: Arm) -> Result<u64, BenchError> {
    let mut under_way = VecDeque::with_capacity(arm.at_once);
    let mut sum = 0;
    for number in 0..arm.flows {
        if under_way.len() == arm.at_once {
            sum += oldest(name, &mut under_way)?;
        }
        let run = flows.start::<ThreeSteps>(FlowId::from(number), number);
        under_way.push_back(run.map_err(broken(name, "start a flow"))?);
    }
    while !under_way.is_empty() {
        sum += oldest(name, &mut under_way)?;
    }
    Ok(sum)
}

fn oldest(
    name: &str,
    under_way: &mut VecDeque<rialto_flow::Handle<u64>>,
) -> Result<u64, BenchError> {
    let Some(run) = under_way.pop_front() else { return Ok(0) };
    run.wait().map_err(broken(name, "complete a flow"))
}

/// Reopens the store: every flow must be there with its output.
fn verify_stored(name: &str, arm: Arm, directory: &FreshDirectory) -> Result<(), BenchError> {
    let store = open(name, arm, directory.path())?;
    let completed = RunStanding::Ended(Outcome::Completed);
    let filter = RunFilter { standing: Some(completed), ..RunFilter::default() };
    let listed =
        store.list(&filter, None, usize::MAX).map_err(broken(name, "list what was stored"))?;
    let mut sum = 0;
    for run in &listed {
        let found = store.find(&run.id).map_err(broken(name, "find what was stored"))?;
        let history = found.map(|run| run.history).unwrap_or_default();
        let last = rialto_flow::history::entries(&history).filter_map(Result::ok).last();
        if let Some(Entry::Ended { ending: Ending::Completed(output), .. }) = last {
            sum += postcard::from_bytes::<u64>(&output).map_err(broken(name, "read an output"))?;
        }
    }
    verify(name, "flows stored", listed.len() as u64, arm.flows)?;
    verify(name, "sum of stored outputs", sum, expected(arm.flows))
}
