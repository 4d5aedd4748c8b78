//! `ident`: the cost of an id, and the ceilings of layouts.
//!
//! The compiler cannot remove the work: every id is compared with the one before it, and the
//! comparisons are counted and verified.

mod threads;

use crate::calls::{Arm, Sums, measure};
use crate::error::{BenchError, broken};
use crate::references::{IdWork, Work};
use crate::suite::{Context, Outcome, Suite, part};
use rialto_ident::{
    BlockingTimer, CachedClock, Config, Exhausted, Generator, Id, IdError, Layout, Policy,
    SystemClock, Worker,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The layout of Catga's report: 2,048 ids per millisecond.
const SEED: Layout = Layout::LONG_LIVED;
/// The target of one id of the wide layout with a cached clock, in nanoseconds.
const WIDE_NS: f64 = 8.0;
const BATCHES: [u64; 3] = [1_000, 10_000, 50_000];

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "ident",
    about: "Snowflake ids one at a time, in batches and on eight threads, beside the ceilings of their layouts",
    parts: &[
        part("one-thread", |context, outcome| outcome.take(one_thread(context))),
        part("threads", threads::eight),
    ],
};

fn work(layout: Layout, work: &str) -> String {
    let (ceiling, ns) = (layout.ceiling() as f64 / 1e6, 1e9 / layout.ceiling() as f64);
    format!("{work}; layout {layout}, ceiling {ceiling:.1} M/s, {ns:.1} ns an id")
}

fn ceiling(layout: Layout) -> BTreeMap<String, Value> {
    let checks =
        [("layout", json!(layout.to_string())), ("ceiling_per_second", json!(layout.ceiling()))];
    checks.map(|(name, value)| (name.to_string(), value)).into()
}

fn generator<C: BlockingTimer>(
    layout: Layout,
    policy: Policy,
    clock: C,
) -> Result<Generator<C>, IdError> {
    Generator::new(Config { policy, ..Config::new(layout, Worker::explicit(7)) }, clock)
}

fn one_thread(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let no_thread = broken("ident", "start the cached clock");
    let cached = &Arc::new(CachedClock::start().map_err(no_thread)?);
    let wait = Policy::default();
    let refuse = Policy { exhausted: Exhausted::Refuse, ..wait };
    let failed = || broken("ident", "set a generator up");
    let of_cached = |layout| generator(layout, wait, Arc::clone(cached)).map_err(failed());
    let of_system = |layout| generator(layout, wait, SystemClock).map_err(failed());
    let (slow, fast) = context.sized((100_000, 2_000_000), (4_000, 10_000));
    let (wide, classic) = (Layout::WIDE, Layout::CLASSIC);
    let (next_wide, next_seed) = (Work::Id(IdWork::NextWide), Work::Id(IdWork::Next));
    let batched = of_cached(wide)?;
    let refusing = generator(SEED, refuse, SystemClock).map_err(failed())?;
    // A refusal is no id: it is asked again until there is one.
    let tried = "next or refused, the system's clock, asked until there is one";
    let mut arms = vec![
        next(wide, "next, cached clock", fast, of_cached(wide)?).beside(next_wide).within(WIDE_NS),
        next(wide, "next, the system's clock", fast, of_system(wide)?).beside(next_wide),
        arm(wide, "reserve 1000, cached clock", fast, move |calls| {
            in_batches(calls, 1_000, &batched)
        }),
        next(classic, "next, cached clock", slow, of_cached(classic)?),
        next(SEED, "next, the system's clock", slow, of_system(SEED)?).beside(next_seed),
        arm(SEED, tried, slow, move |calls| one_by_one(calls, || until_there_is_one(&refusing)))
            .beside(next_seed),
    ];
    arms = arms.into_iter().map(Arm::without_allocation).collect();
    for batch in BATCHES {
        let ids = of_system(SEED)?;
        let run = move |calls| in_batches(calls, batch, &ids);
        let what = format!("reserve {batch}, the system's clock");
        let work = Work::Id(IdWork::Batch(batch));
        arms.push(arm(SEED, &what, slow.max(batch), run).beside(work));
    }
    measure(context, "ids on one thread", arms)
}

/// An arm that takes ids one by one.
fn next<'a, C: BlockingTimer + 'a>(
    layout: Layout,
    what: &str,
    calls: u64,
    ids: Generator<C>,
) -> Arm<'a> {
    arm(layout, what, calls, move |calls| one_by_one(calls, || ids.next().ok()))
}

/// Every id must exist and be greater than the one before.
fn arm<'a>(layout: Layout, what: &str, calls: u64, run: impl FnMut(u64) -> Sums + 'a) -> Arm<'a> {
    Arm::new(work(layout, what), calls, run, Sums::of_answers).checks(ceiling(layout))
}

fn one_by_one(calls: u64, next: impl Fn() -> Option<Id>) -> Sums {
    let mut count = Ascending::default();
    for _ in 0..calls {
        count.take(next());
    }
    count.sums()
}

fn in_batches<C: BlockingTimer>(calls: u64, batch: u64, ids: &Generator<C>) -> Sums {
    let mut count = Ascending::default();
    for _ in 0..calls / batch {
        for id in ids.reserve(batch as u32).into_iter().flatten() {
            count.take(Some(id));
        }
    }
    count.sums()
}

fn until_there_is_one<C: BlockingTimer>(ids: &Generator<C>) -> Option<Id> {
    loop {
        match ids.next() {
            Err(IdError::Exhausted { .. }) => std::hint::spin_loop(),
            other => return other.ok(),
        }
    }
}

/// Counts ids that are greater than their predecessors, and others.
#[derive(Default)]
struct Ascending {
    last: Option<Id>,
    good: u64,
    bad: u64,
}

impl Ascending {
    #[inline]
    fn take(&mut self, id: Option<Id>) {
        let is_greater = id > self.last;
        self.good += u64::from(is_greater);
        self.bad += u64::from(!is_greater);
        self.last = id;
    }

    fn sums(&self) -> Sums {
        Sums { answers: self.good, effects: self.bad }
    }
}
