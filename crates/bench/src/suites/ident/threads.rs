//! Eight threads that take ids from one generator.

use super::{Ascending, case, generator, with_ceiling};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, CoreWait, Spread};
use crate::report::{Row, Unit};
use crate::suite::Context;
use rialto_ident::{CachedClock, Generator, Id, Layout, Policy};
use std::sync::Barrier;
use std::thread;

const THREADS: u64 = 8;
/// Time of an id on each thread, in nanoseconds.
const EACH_NS: f64 = 40.0;

/// The rows of eight threads on the wide layout.
pub(super) fn eight(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let case = case(Layout::WIDE, "next, cached clock, 8 threads on one generator");
    let name = case.to_string();
    context.progress("  ids on eight threads");
    let clock = CachedClock::start().map_err(broken(&name, "start the cached clock"))?;
    let ids = generator(Layout::WIDE, Policy::default(), clock);
    let ids = ids.map_err(broken(&name, "set a generator up"))?;
    let distinct = verified(&name, &ids, context.sized(100_000, 1_000))?;
    let (each, runs) = context.sized((1_000_000, 11), (1_000, 2));
    let wait = CoreWait::start();
    let mut all_ns = Vec::with_capacity(runs);
    for _ in 0..runs {
        all_ns.push(timed(&name, &ids, each)? as f64 / (each * THREADS) as f64);
    }
    let waited = wait.share();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let each_ns: Vec<f64> = all_ns.iter().map(|ns| ns * THREADS as f64).collect();
    let row = |metric: &str, values: &[f64]| {
        let spread = Spread::of(values).expect("at least one run was timed");
        let row = Row::of_spread(&case, metric, spread, Unit::Nanoseconds)
            .check("ids", each * THREADS)
            .check("distinct_ids", distinct)
            .check("processors", processors);
        with_ceiling(row, Layout::WIDE)
    };
    let shared = format!(
        "The threads share {processors} processors: the time contains their waiting for one."
    );
    Ok(vec![
        row("time of an id, all threads together", &all_ns),
        row("time of an id on each thread", &each_ns)
            .target(EACH_NS)
            .footnote(shared)
            .waited_for_core(waited),
    ])
}

/// Lets every thread run `work` at once, and returns what each came to.
fn at_once<T: Send>(work: impl Fn(&Barrier) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| work(&start))).collect();
        // A thread that panicked has said why; the count that is missing then fails the run.
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// Compares all ids of all threads with each other, and returns how many there were.
fn verified(name: &str, ids: &Generator<CachedClock>, each: u64) -> Result<u64, BenchError> {
    let mut all: Vec<Id> = at_once(|start| {
        start.wait();
        (0..each).filter_map(|_| ids.next().ok()).collect::<Vec<_>>()
    })
    .concat();
    all.sort_unstable();
    all.dedup();
    let distinct = all.len() as u64;
    verify(name, "number of distinct ids", distinct, each * THREADS)?;
    Ok(distinct)
}

/// Nanoseconds from the first thread's start to the last one's end.
fn timed(name: &str, ids: &Generator<CachedClock>, each: u64) -> Result<u64, BenchError> {
    let clock = Clock::start();
    let came = at_once(|start| {
        start.wait();
        let begun = clock.now_ns();
        let mut count = Ascending::default();
        for _ in 0..each {
            count.take(ids.next().ok());
        }
        (count.good, begun, clock.now_ns())
    });
    let good: u64 = came.iter().map(|(good, ..)| good).sum();
    verify(name, "number of ids that ascend on their thread", good, each * THREADS)?;
    let begun = came.iter().map(|&(_, begun, _)| begun).min().unwrap_or_default();
    let ended = came.iter().map(|&(.., ended)| ended).max().unwrap_or_default();
    Ok(ended - begun)
}
