//! A thousand concurrent commands or events: started by one task, in shares, and one task each.

use super::work::{Charge, Charged, Pool, RATE_PPM, SPOILED, fee, left_in, sum};
use crate::calls::{Arm, Sums, measure};
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
/// What a thousand commands should take at most.
const WITHIN_NS: f64 = 200_000.0;

/// A desk, or a ledger, that many threads use concurrently.
#[derive(Debug, Default)]
struct Shared(AtomicU64);

impl Shared {
    fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

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

/// Where commands and events are sent.
struct Scene {
    calls: u64,
    two: Runtime,
    one: Runtime,
    pool: Arc<Pool>,
    bus: Arc<SharedBus>,
}

impl Scene {
    /// The same on two threads and on one, where all that is allocated is counted.
    fn arms<'a, F: Future<Output = u64> + Send + 'static>(
        &'a self,
        what: &str,
        all: impl Fn(Arc<SharedBus>, Arc<Pool>) -> F + Copy + Send + 'static,
        expected: impl Fn(u64) -> Sums + Copy + 'a,
        said: impl Fn(Arm<'a>) -> Arm<'a>,
    ) -> [Arm<'a>; 2] {
        let on = |runtime: &'a Runtime, threads: &str| {
            let SharedBus { desk, ledger, .. } = &*self.bus;
            let total = move || desk.total().wrapping_add(ledger.total());
            let run = move |calls: u64| left_in(total, || self.rounds(runtime, calls, all));
            Arm::new(format!("{what}, {threads}"), self.calls, run, expected)
        };
        let [two, one] = [on(&self.two, "2 threads"), on(&self.one, "1 thread")];
        let two = said(two).on_other_threads();
        // Nothing is asked of the one thread.
        let one = one.beside(two.work).note(ONE_THREAD);
        [two, one]
    }

    /// Runs all of it repeatedly from within the runtime: tasks made outside of it would all go
    /// through one lock.
    fn rounds<F: Future<Output = u64> + Send + 'static>(
        &self,
        runtime: &Runtime,
        calls: u64,
        all: impl Fn(Arc<SharedBus>, Arc<Pool>) -> F + Send + 'static,
    ) -> u64 {
        let (bus, pool) = (Arc::clone(&self.bus), Arc::clone(&self.pool));
        let root = runtime.spawn(async move {
            let mut answers = 0_u64;
            for _ in 0..calls {
                answers = answers.wrapping_add(all(Arc::clone(&bus), Arc::clone(&pool)).await);
            }
            answers
        });
        // A task that panicked has no answers, which then are not what they must be.
        runtime.block_on(root).unwrap_or(0)
    }
}

pub(super) fn concurrent(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let two = Builder::new_multi_thread().worker_threads(THREADS).build();
    let bus = SharedBus { all: behaviours![], desk: Shared::default(), ledger: Shared::default() };
    let scene = &Scene {
        calls: context.sized(100, 2),
        two: two.map_err(broken("concurrent commands", "start a runtime"))?,
        one: super::runtime()?,
        pool: Arc::new(Pool::new()),
        bus: Arc::new(bus),
    };
    let pool = &scene.pool;
    let fees = |calls: u64| {
        let fees = pool.fees(AT_ONCE) * calls;
        Sums { answers: fees, effects: fees }
    };
    let nothing = |calls: u64| Sums::of_answers(pool.told(AT_ONCE) * calls);
    let told = |calls: u64| Sums { answers: AT_ONCE * calls, effects: pool.told(AT_ONCE) * calls };
    let sent = Work::Bus(BusWork::SendThousandAtOnce);
    let published = Work::Bus(BusWork::PublishThousandAtOnce);
    let shares = "1000 concurrent commands, 500 in flight in each of two tasks";
    let all = [
        scene.arms("1000 concurrent commands, started by one task", start_all, fees, |arm| {
            arm.beside(sent).within(WITHIN_NS).note(STARTED)
        }),
        scene.arms("1000 concurrent commands, a task each", send_all, fees, |arm| {
            arm.beside(sent).within(WITHIN_NS).note(TASKS)
        }),
        scene.arms("1000 tasks without commands", send_nothing, nothing, |arm| arm.note(BARE)),
        scene
            .arms(shares, send_shares, fees, |arm| arm.beside(sent).within(WITHIN_NS).note(SHARES)),
        scene.arms("1000 concurrent events, a task each", publish_all, told, |arm| {
            arm.beside(published).note(TASKS)
        }),
    ];
    measure(context, "a thousand at once", all.into_iter().flatten().collect())
}

/// One task has all commands in flight.
async fn start_all(bus: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let commands = (0..AT_ONCE).map(|call| pool.charge(call));
    let cx = Context::new();
    sum(bus.send_batch(commands, &cx, AT_ONCE as usize).await)
}

/// The cost of tasks alone: each returns its argument.
async fn send_nothing(_: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let tasks = (0..AT_ONCE).map(|call| {
        let charge = pool.charge(call);
        // Through the black box, so that the compiler cannot remove the task.
        tokio::spawn(async move { black_box(charge).price })
    });
    joined(tasks.collect()).await
}

async fn send_all(bus: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let tasks = (0..AT_ONCE).map(|call| {
        let (bus, charge) = (Arc::clone(&bus), pool.charge(call));
        tokio::spawn(async move { bus.send(charge, &Context::new()).await.unwrap_or(SPOILED) })
    });
    joined(tasks.collect()).await
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
            sum(bus.send_batch(commands, &cx, share as usize).await)
        })
    });
    joined(tasks.collect()).await
}

async fn publish_all(bus: Arc<SharedBus>, pool: Arc<Pool>) -> u64 {
    let tasks = (0..AT_ONCE).map(|call| {
        let (bus, charged) = (Arc::clone(&bus), pool.charged(call));
        tokio::spawn(async move { u64::from(bus.publish(&charged, &Context::new()).await.is_ok()) })
    });
    joined(tasks.collect()).await
}

/// Sums the answers. It waits for the last task first: when that has ended, most others have, and
/// need no wake-up.
async fn joined(tasks: Vec<JoinHandle<u64>>) -> u64 {
    let mut sum = 0_u64;
    for task in tasks.into_iter().rev() {
        sum = sum.wrapping_add(task.await.unwrap_or(SPOILED));
    }
    sum
}
