//! Events, and batches of them and of commands.

use super::runtime;
use super::work::{Charge, Charged, Desk, Ledger, Pool, left_in, sum};
use crate::calls::{Arm, Sums, measure};
use crate::error::{BenchError, broken};
use crate::references::{BusWork, Work};
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::{AnnouncesNow, Bus, Context, Dispatch, behaviours, bus};
use std::hint::black_box;

bus! { struct Desks { all through [] { desk: Desk => now Charge; } } }
bus! { struct One { events { first: Ledger; now Charged => first; } } }
bus! {
    struct Three {
        events {
            first: Ledger;
            second: Ledger;
            third: Ledger;
            now Charged => first, second, third;
        }
    }
}

const BATCH: u64 = 100;
/// The most commands of an awaited batch in flight.
const CONCURRENT: usize = 16;

const ANSWERS: &str = "A call is the whole batch; its answers go into a vector that is used again.";
const EVENTS: &str = "A call is the whole batch.";
const AWAITED: &str = "A call is the whole batch: at most 16 commands in flight at once, answers in \
    a new vector.";

/// Publishes many times; each event must reach all ledgers.
#[inline]
fn publish(
    calls: u64,
    pool: &Pool,
    cx: &Context<'_>,
    bus: &(impl Dispatch + AnnouncesNow<Charged>),
    ledgers: &[&Ledger],
) -> Sums {
    let total = || ledgers.iter().map(|ledger| ledger.0.total()).fold(0, u64::wrapping_add);
    let published = |call| u64::from(bus.publish_now(&pool.charged(call), cx).is_ok());
    left_in(total, || (0..calls).map(published).sum())
}

pub(super) fn events(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = context.sized(1_000_000, 1_000);
    let pool = &Pool::new();
    let cx = &black_box(Context::new());
    let one = &One { first: Ledger::default() };
    let three =
        &Three { first: Ledger::default(), second: Ledger::default(), third: Ledger::default() };
    let listeners = [Ledger::default(), Ledger::default(), Ledger::default()];
    let dynamic = &Bus::builder()
        .on_now::<Charged, _>("first", listeners[0].clone())
        .on_now::<Charged, _>("second", listeners[1].clone())
        .on_now::<Charged, _>("third", listeners[2].clone())
        .build()
        .map_err(broken("dynamic publish", "build the bus"))?;
    let told =
        |handlers: u64| move |calls| Sums { answers: calls, effects: handlers * pool.told(calls) };
    let to_one = |calls: u64| publish(calls, pool, cx, one, &[&one.first]);
    let ledgers = [&three.first, &three.second, &three.third];
    let to_three = |calls: u64| publish(calls, pool, cx, three, &ledgers);
    let dynamically = |calls: u64| publish(calls, pool, cx, dynamic, &listeners.each_ref());
    let arms = vec![
        Arm::new("static publish, one handler", calls, to_one, told(1))
            .beside(Work::Bus(BusWork::Publish))
            .within(5.0)
            .without_allocation(),
        Arm::new("static publish, three handlers", calls, to_three, told(3))
            .within(12.0)
            .without_allocation(),
        Arm::new("dynamic publish, three handlers", calls, dynamically, told(3)),
    ];
    measure(context, "events", arms)
}

pub(super) fn batches(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = context.sized(10_000, 10);
    let pool = &Pool::new();
    let runtime = &runtime()?;
    let cx = &black_box(Context::new());
    let desks = &Desks { all: behaviours![], desk: Desk::new() };
    let one = &One { first: Ledger::default() };
    let commands = |batch: u64| (batch * BATCH..(batch + 1) * BATCH).map(|call| pool.charge(call));
    let in_till = || desks.desk.till.total();
    let charged = |calls: u64| pool.charged_in_all(calls * BATCH);
    let mut answers = Vec::with_capacity(BATCH as usize);
    let send = move |calls: u64| {
        let made = || {
            let mut all = 0_u64;
            for batch in 0..calls {
                desks.send_batch_now(commands(batch), cx, &mut answers);
                all = all.wrapping_add(sum(answers.drain(..)));
            }
            all
        };
        left_in(in_till, made)
    };
    let await_each = |calls: u64| {
        let made = async {
            let mut all = 0_u64;
            for batch in 0..calls {
                all =
                    all.wrapping_add(sum(desks.send_batch(commands(batch), cx, CONCURRENT).await));
            }
            all
        };
        left_in(in_till, || runtime.block_on(made))
    };
    let events: Vec<Charged> = (0..BATCH).map(|call| pool.charged(call)).collect();
    let publish = |calls: u64| {
        // As with commands: the compiler is not to see several events at once.
        let published =
            |_| u64::from(one.publish_batch_now(events.iter().map(black_box), cx).is_ok());
        left_in(|| one.first.0.total(), || (0..calls).map(published).sum())
    };
    let told = |calls: u64| Sums { answers: calls, effects: calls * pool.told(BATCH) };
    let arms = vec![
        Arm::new("batch of 100 commands, static, no behaviours", calls, send, charged)
            .beside(Work::Bus(BusWork::SendHundred))
            .within(500.0)
            .without_allocation()
            .note(ANSWERS),
        Arm::new(
            "batch of 100 commands, static, awaited, no behaviours",
            calls,
            await_each,
            charged,
        )
        .beside(Work::Bus(BusWork::SendHundred))
        .note(AWAITED),
        Arm::new("batch of 100 events, static, one handler", calls, publish, told)
            .beside(Work::Bus(BusWork::PublishHundred))
            .within(500.0)
            .without_allocation()
            .note(EVENTS),
    ];
    measure(context, "batches", arms)
}
