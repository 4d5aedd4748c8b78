//! `ident`: the cost of an id, and the ceilings of layouts.
//!
//! The compiler cannot remove the work: every id is compared with the one before it, and the
//! comparisons are counted and verified.

mod threads;

use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::{BenchError, broken};
use crate::references::{IdWork, Work};
use crate::report::{Case, Risk, Row, Transport};
use crate::suite::{Context, Suite, SuitePart};
use rialto_ident::{
    BlockingTimer, CachedClock, Config, Exhausted, Generator, Id, IdError, Layout, Policy,
    SystemClock, Worker,
};
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
        SuitePart {
            name: "one-thread",
            measure: |context, outcome| outcome.take(one_thread(context)),
        },
        SuitePart { name: "threads", measure: threads::eight },
    ],
};

fn case(layout: Layout, work: &str) -> Case {
    let (ceiling, ns) = (layout.ceiling() as f64 / 1e6, 1e9 / layout.ceiling() as f64);
    let work = format!("{work}; layout {layout}, ceiling {ceiling:.1} M/s, {ns:.1} ns an id");
    Case { work, risk: Risk::NoOrders, transport: Transport::InProcess }
}

fn with_ceiling(row: Row, layout: Layout) -> Row {
    row.check("layout", layout.to_string()).check("ceiling_per_second", layout.ceiling())
}

fn generator<C: BlockingTimer>(
    layout: Layout,
    policy: Policy,
    clock: C,
) -> Result<Generator<C>, IdError> {
    Generator::new(Config { policy, ..Config::new(layout, Worker::explicit(7)) }, clock)
}

fn one_thread(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let no_thread = broken("ident", "start the cached clock");
    let cached = &Arc::new(CachedClock::start().map_err(no_thread)?);
    let wait = Policy::default();
    let refuse = Policy { exhausted: Exhausted::Refuse, ..wait };
    let made = |layout, policy| {
        generator(layout, policy, Arc::clone(cached)).map_err(broken("ident", "set a generator up"))
    };
    let of_system = |layout| {
        generator(layout, wait, SystemClock).map_err(broken("ident", "set a generator up"))
    };
    let (slow_calls, fast_calls) = context.sized((100_000, 2_000_000), (4_000, 10_000));
    let mut arms = Vec::new();
    let mut about = Vec::new();
    let mut add = |layout, work: &str, calls, run: Box<dyn FnMut(u64) -> Sums>, beside, targets| {
        arms.push(Arm::new(case(layout, work), calls, run, ascending));
        about.push((layout, beside, targets));
    };
    let none = Targets::default();
    let free = Targets { time_ns: None, bytes: Some(0.0) };
    let ids = made(Layout::WIDE, wait)?;
    let target = Targets::without_allocation(WIDE_NS);
    let run = Box::new(move |calls| one_by_one(calls, || ids.next().ok()));
    add(Layout::WIDE, "next, cached clock", fast_calls, run, Some(IdWork::NextWide), target);
    let ids = of_system(Layout::WIDE)?;
    let run = Box::new(move |calls| one_by_one(calls, || ids.next().ok()));
    add(Layout::WIDE, "next, the system's clock", fast_calls, run, Some(IdWork::NextWide), free);
    let ids = made(Layout::WIDE, wait)?;
    let run = Box::new(move |calls| in_batches(calls, 1_000, &ids));
    add(Layout::WIDE, "reserve 1000, cached clock", fast_calls, run, None, free);
    let ids = made(Layout::CLASSIC, wait)?;
    let run = Box::new(move |calls| one_by_one(calls, || ids.next().ok()));
    add(Layout::CLASSIC, "next, cached clock", slow_calls, run, None, free);
    let ids = of_system(SEED)?;
    let run = Box::new(move |calls| one_by_one(calls, || ids.next().ok()));
    add(SEED, "next, the system's clock", slow_calls, run, Some(IdWork::Next), free);
    let ids =
        generator(SEED, refuse, SystemClock).map_err(broken("ident", "set a generator up"))?;
    // A refusal is not an id: the call is repeated until there is one.
    let run = Box::new(move |calls| one_by_one(calls, || until_there_is_one(&ids)));
    let tried = "next or refused, the system's clock, asked until there is one";
    add(SEED, tried, slow_calls, run, Some(IdWork::Next), free);
    for batch in BATCHES {
        let ids = of_system(SEED)?;
        let calls = slow_calls.max(batch);
        let run = Box::new(move |calls| in_batches(calls, batch, &ids));
        let work = format!("reserve {batch}, the system's clock");
        add(SEED, &work, calls, run, Some(IdWork::Batch(batch)), none);
    }
    let measured = measure(context, "ids on one thread", arms)?;
    let mut rows = Vec::new();
    for (arm, (layout, beside, targets)) in about.into_iter().enumerate() {
        let found = measured.rows(arm, beside.map(Work::Id), targets);
        rows.extend(found.into_iter().map(|row| with_ceiling(row, layout)));
    }
    Ok(rows)
}

/// Every id must exist and be greater than the one before.
fn ascending(calls: u64) -> Sums {
    Sums { answers: calls, effects: 0 }
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
