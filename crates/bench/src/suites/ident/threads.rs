//! Eight threads that take ids from one generator: one by one, and in blocks.

use super::{Ascending, ceiling, generator, work};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, CoreWait, Spread, processor_time_ns};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_ident::{CachedClock, Generator, Id, Layout, Policy};
use std::sync::Barrier;
use std::thread;

const THREADS: u64 = 8;
/// A block is small, so that the ids lost at the end of a millisecond are few beside the 262,144 of
/// the layout.
const BLOCK: u32 = 256;
/// The target of an id on each thread, in nanoseconds.
const EACH_NS: f64 = 40.0;

const PROCESSOR_TIME: &str = "What the threads spent on processors, for each id: what an id costs \
    its thread while it has a processor.";
const BLOCKS: &str = "Each thread takes 256 ids at a time, which gives up the order between threads \
    within a millisecond. Eight threads cannot be faster than eight times the ceiling, 30.5 ns.";

/// How threads take ids.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    OneByOne,
    InBlocks,
}

impl How {
    fn take(self, ids: &Generator<CachedClock>, count: u64, mut with: impl FnMut(Option<Id>)) {
        match self {
            How::OneByOne => (0..count).for_each(|_| with(ids.next().ok())),
            How::InBlocks => {
                let mut own = ids.local(BLOCK);
                (0..count).for_each(|_| with(own.next().ok()));
            }
        }
    }
}

/// The rows of eight threads on the wide layout.
pub(super) fn eight(context: &mut Context<'_>, outcome: &mut Outcome) {
    outcome.take(of(context, How::OneByOne, "8 threads on one generator"));
    outcome.take(of(context, How::InBlocks, "8 threads on one generator, blocks of 256 ids"));
}

fn of(context: &mut Context<'_>, how: How, what: &str) -> Result<Vec<Row>, BenchError> {
    let what = format!("next, cached clock, {what}");
    let case = Case::without_orders(work(Layout::WIDE, &what));
    let name = case.to_string();
    context.progress(&format!("  ids: {what}"));
    let clock = CachedClock::start().map_err(broken(&name, "start the cached clock"))?;
    let ids = generator(Layout::WIDE, Policy::default(), clock);
    let ids = ids.map_err(broken(&name, "set a generator up"))?;
    let distinct = verified(&name, how, &ids, context.sized(100_000, 1_000))?;
    let (each, runs) = context.sized((1_000_000, 11), (1_000, 2));
    let wait = CoreWait::start();
    let (mut all_ns, mut busy_ns) = (Vec::with_capacity(runs), Vec::with_capacity(runs));
    for _ in 0..runs {
        let took = timed(&name, how, &ids, each)?;
        all_ns.push(took.wall_ns as f64 / (each * THREADS) as f64);
        busy_ns.push(took.busy_ns as f64 / (each * THREADS) as f64);
    }
    let waited = wait.share();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let row = |metric: &str, values: &[f64], times: u64| {
        let spread = Spread::over(values, |ns| ns * times as f64);
        Row::of_spread(&case, metric, spread, Unit::Nanoseconds)
            .check("ids", each * THREADS)
            .check("distinct_ids", distinct)
            .check("processors", processors)
            .checks(&ceiling(Layout::WIDE))
    };
    let shared = format!(
        "The threads share {processors} processors: the time contains their waiting for one."
    );
    let blocks = (how == How::InBlocks).then_some(BLOCKS);
    Ok(vec![
        row("time of an id, all threads together", &all_ns, 1),
        row("processor time of an id", &busy_ns, 1).footnote(PROCESSOR_TIME),
        row("time of an id on each thread", &all_ns, THREADS)
            .footnote(shared)
            .footnotes(blocks)
            .target(EACH_NS)
            .waited_for_core(waited),
    ])
}

/// Runs `work` on every thread at once, and returns the results.
fn at_once<T: Send>(work: impl Fn(&Barrier) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| work(&start))).collect();
        // A panic was printed; the missing count then fails the run.
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// Compares all ids of all threads, and returns their number.
fn verified(
    name: &str,
    how: How,
    ids: &Generator<CachedClock>,
    each: u64,
) -> Result<u64, BenchError> {
    let mut all: Vec<Id> = at_once(|start| {
        start.wait();
        let mut own = Vec::with_capacity(each as usize);
        how.take(ids, each, |id| own.extend(id));
        own
    })
    .concat();
    all.sort_unstable();
    all.dedup();
    let distinct = all.len() as u64;
    verify(name, "number of distinct ids", distinct, each * THREADS)?;
    Ok(distinct)
}

/// The times of all ids of all threads.
struct Took {
    /// From the first thread's start to the last one's end.
    wall_ns: u64,
    /// The processor time of all threads.
    busy_ns: u64,
}

fn timed(
    name: &str,
    how: How,
    ids: &Generator<CachedClock>,
    each: u64,
) -> Result<Took, BenchError> {
    let clock = Clock::start();
    let came = at_once(|start| {
        start.wait();
        let (begun, busy) = (clock.now_ns(), processor_time_ns());
        let mut count = Ascending::default();
        how.take(ids, each, |id| count.take(id));
        (count.good, begun, clock.now_ns(), processor_time_ns().saturating_sub(busy))
    });
    let good: u64 = came.iter().map(|(good, ..)| good).sum();
    verify(name, "number of ids that ascend on their thread", good, each * THREADS)?;
    let begun = came.iter().map(|&(_, begun, ..)| begun).min().unwrap_or_default();
    let ended = came.iter().map(|&(_, _, ended, _)| ended).max().unwrap_or_default();
    let busy_ns = came.iter().map(|&(.., busy_ns)| busy_ns).sum();
    Ok(Took { wall_ns: ended - begun, busy_ns })
}
