//! A thousand concurrent commands or events: started by one task, in shares, and one task each.

use super::case;
use super::work::{Charge, Charged, Pool, RATE_PPM, fee};
use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::{BenchError, broken};
use crate::references::{BusWork, Work};
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::{Context, Dispatch, EventHandler, Handler, Result, behaviours, bus};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// The number of threads that run tasks: the processors of the machine of the targets.
const THREADS: usize = 2;
const AT_ONCE: u64 = 1_000;

/// A desk, or a ledger, that many threads use concurrently.
#[derive(Debug, Default)]
struct Shared(AtomicU64);

impl Handler<Charge> for Shared {
    async fn handle(&self, charge: Charge, _: &Context<'_>) -> Result<u64> {
        let fee = fee(&charge, RATE_PPM)?;
        self.0.fetch_add(fee, Ordering::Relaxed);
        Ok(fee)
    }
}

impl EventHandler<Charged> for Shared {
    async fn on(&self, charged: &Charged, _: &Context<'_>) -> Result<()> {
        self.0.fetch_add(charged.fee, Ordering::Relaxed);
        Ok(())
    }
}

bus! {
    struct SharedBus {
        all through [] { desk: Shared => later Charge; }
        events { ledger: Shared; later Charged => ledger; }
    }
}

const STARTED: &str = "A call is the whole thousand: one tokio task starts them all and then awaits \
    all answers, which is what Catga's `Select(SendAsync)` and `WhenAll` do. There too a command \
    that need not wait is done where it is started, without a task of its own; none here has to.";
const TASKS: &str = "A call is the whole thousand: a tokio task each, on two worker threads, and \
    every answer awaited. Catga makes no tasks; the row of the same tasks without commands says \
    what those alone take.";
const BARE: &str = "The same tasks with nothing sent in them, and nothing of the bus: what is left \
    for the bus to save is the difference.";
const SHARES: &str = "A call is the whole thousand: two tokio tasks on two worker threads, each of \
    which sends a batch of 500 that may all be in flight at once.";
const ONE_THREAD: &str = "A call is the whole thousand: the same on the calling thread alone, where \
    all that is allocated is counted.";

pub(super) fn concurrent(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = context.sized(100, 2);
    let pool = Arc::new(Pool::new());
    let two = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .build()
        .map_err(broken("concurrent commands", "start a runtime"))?;
    let one = super::runtime()?;
    let bus = Arc::new(SharedBus {
        all: behaviours![],
        desk: Shared::default(),
        ledger: Shared::default(),
    });
    let (two, one, pool, bus) = (&two, &one, &pool, &bus);
    let fees = |calls| {
        let fees = pool.fees(AT_ONCE) * calls;
        Sums { answers: fees, effects: fees }
    };
    let nothing = |calls| Sums { answers: pool.told(AT_ONCE) * calls, effects: 0 };
    let told = |calls| Sums { answers: AT_ONCE * calls, effects: pool.told(AT_ONCE) * calls };
    let measured = measure(
        context,
        "a thousand at once",
        vec![
            Arm::new(
                case("1000 concurrent commands, started by one task, 2 threads"),
                calls,
                |calls| charged(bus, || rounds(two, calls, bus, pool, start_all)),
                fees,
            ),
            Arm::new(
                case("1000 concurrent commands, started by one task, 1 thread"),
                calls,
                |calls| charged(bus, || rounds(one, calls, bus, pool, start_all)),
                fees,
            ),
            Arm::new(
                case("1000 concurrent commands, a task each, 2 threads"),
                calls,
                |calls| charged(bus, || rounds(two, calls, bus, pool, send_all)),
                fees,
            ),
            Arm::new(
                case("1000 concurrent commands, a task each, 1 thread"),
                calls,
                |calls| charged(bus, || rounds(one, calls, bus, pool, send_all)),
                fees,
            ),
            Arm::new(
                case("1000 tasks without commands, 2 threads"),
                calls,
                |calls| charged(bus, || rounds(two, calls, bus, pool, send_nothing)),
                nothing,
            ),
            Arm::new(
                case("1000 tasks without commands, 1 thread"),
                calls,
                |calls| charged(bus, || rounds(one, calls, bus, pool, send_nothing)),
                nothing,
            ),
            Arm::new(
                case("1000 concurrent commands, 500 in flight in each of two tasks, 2 threads"),
                calls,
                |calls| charged(bus, || rounds(two, calls, bus, pool, send_shares)),
                fees,
            ),
            Arm::new(
                case("1000 concurrent commands, 500 in flight in each of two tasks, 1 thread"),
                calls,
                |calls| charged(bus, || rounds(one, calls, bus, pool, send_shares)),
                fees,
            ),
            Arm::new(
                case("1000 concurrent events, a task each, 2 threads"),
                calls,
                |calls| noted(bus, || rounds(two, calls, bus, pool, publish_all)),
                told,
            ),
            Arm::new(
                case("1000 concurrent events, a task each, 1 thread"),
                calls,
                |calls| noted(bus, || rounds(one, calls, bus, pool, publish_all)),
                told,
            ),
        ],
    )?;
    let mut outcome = Outcome::default();
    let commands = Targets::time(200_000.0);
    let sent = Some(Work::Bus(BusWork::SendThousandAtOnce));
    let published = Some(Work::Bus(BusWork::PublishThousandAtOnce));
    for (first, work, targets, note) in [
        (0, sent, commands, STARTED),
        (2, sent, commands, TASKS),
        (4, None, Targets::default(), BARE),
        (6, sent, commands, SHARES),
        (8, published, Targets::default(), TASKS),
    ] {
        // Allocations of tasks on other threads are not counted, so that there is no row of them.
        let time = measured.rows(first, work, targets).into_iter().take(1);
        outcome.rows.extend(time.map(|row| row.footnote(note)));
        let rows = measured.rows(first + 1, work, Targets::default());
        outcome.rows.extend(rows.into_iter().map(|row| row.footnote(ONE_THREAD)));
    }
    Ok(outcome)
}

/// The answers, and the fees in the till of the desk.
fn charged(bus: &SharedBus, answers: impl FnOnce() -> u64) -> Sums {
    let before = bus.desk.0.load(Ordering::Relaxed);
    let answers = answers();
    Sums { answers, effects: bus.desk.0.load(Ordering::Relaxed).wrapping_sub(before) }
}

/// The answers, and the fees in the ledger.
fn noted(bus: &SharedBus, answers: impl FnOnce() -> u64) -> Sums {
    let before = bus.ledger.0.load(Ordering::Relaxed);
    let answers = answers();
    Sums { answers, effects: bus.ledger.0.load(Ordering::Relaxed).wrapping_sub(before) }
}

/// Repeats it from within the runtime: tasks spawned from outside would all go through one lock.
fn rounds<F: Future<Output = u64> + Send + 'static>(
    runtime: &Runtime,
    calls: u64,
    bus: &Arc<SharedBus>,
    pool: &Arc<Pool>,
    all: impl Fn(Arc<SharedBus>, Arc<Pool>) -> F + Send + 'static,
) -> u64 {
    let (bus, pool) = (Arc::clone(bus), Arc::clone(pool));
    let root = runtime.spawn(async move {
        let mut answers = 0_u64;
        for _ in 0..calls {
            answers = answers.wrapping_add(all(Arc::clone(&bus), Arc::clone(&pool)).await);
        }
        answers
    });
    // A task that panicked has no answers, which then fail the verification.
    runtime.block_on(root).unwrap_or(0)
}

/// One task has all commands in flight.
async fn start_all(bus: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let commands = (0..AT_ONCE).map(|call| pool.charge(call));
    let cx = Context::new();
    let answers = bus.send_batch(commands, &cx, AT_ONCE as usize).await;
    answers.into_iter().fold(0, |sum, answer| sum.wrapping_add(answer.unwrap_or(u64::MAX / 3)))
}

/// The cost of tasks alone: each returns its argument.
async fn send_nothing(_: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let tasks = (0..AT_ONCE).map(|call| {
        let charge = pool.charge(call);
        // Through the black box, so that the compiler cannot remove the task.
        tokio::spawn(async move { black_box(charge).price })
    });
    sum(tasks.collect()).await
}

async fn send_all(bus: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let tasks = (0..AT_ONCE).map(|call| {
        let (bus, charge) = (Arc::clone(&bus), pool.charge(call));
        tokio::spawn(async move { bus.send(charge, &Context::new()).await.unwrap_or(u64::MAX / 3) })
    });
    sum(tasks.collect()).await
}

/// As many tasks as threads, each with its share of the commands in flight.
async fn send_shares(bus: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let share = AT_ONCE / THREADS as u64;
    let tasks = (0..THREADS as u64).map(|task| {
        let (bus, pool) = (Arc::clone(&bus), Arc::clone(&pool));
        tokio::spawn(async move {
            let first = (task * share) as usize;
            let commands = pool.first(first + share as usize)[first..].to_vec();
            let cx = Context::new();
            let answers = bus.send_batch(commands, &cx, share as usize).await;
            answers
                .into_iter()
                .fold(0_u64, |sum, answer| sum.wrapping_add(answer.unwrap_or(u64::MAX / 3)))
        })
    });
    sum(tasks.collect()).await
}

async fn publish_all(bus: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let tasks = (0..AT_ONCE).map(|call| {
        let (bus, charged) = (Arc::clone(&bus), pool.charged(call));
        tokio::spawn(async move { u64::from(bus.publish(&charged, &Context::new()).await.is_ok()) })
    });
    sum(tasks.collect()).await
}

/// Sums the answers. It waits for the last task first: when that has ended, most others have, and
/// need no wake-up.
async fn sum(tasks: Vec<JoinHandle<u64>>) -> u64 {
    let mut sum = 0_u64;
    for task in tasks.into_iter().rev() {
        sum = sum.wrapping_add(task.await.unwrap_or(u64::MAX / 3));
    }
    sum
}
