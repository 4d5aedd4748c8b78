//! Events, and batches of them and of commands.

use super::work::{Charge, Charged, Desk, Ledger, Pool};
use super::{case, runtime};
use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::{BenchError, broken};
use crate::references::{BusWork, Work};
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::{AnnouncesNow, Bus, Context, Dispatch, Result, behaviours, bus};
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
    let before = total(ledgers);
    let mut answers = 0;
    for call in 0..calls {
        answers += u64::from(bus.publish_now(&pool.charged(call), cx).is_ok());
    }
    Sums { answers, effects: total(ledgers).wrapping_sub(before) }
}

fn total(ledgers: &[&Ledger]) -> u64 {
    ledgers.iter().map(|ledger| ledger.0.total()).fold(0, u64::wrapping_add)
}

/// Sums the answers of a batch; an error spoils the sum.
fn sum(answers: impl IntoIterator<Item = Result<u64>>) -> u64 {
    answers.into_iter().fold(0, |sum, answer| sum.wrapping_add(answer.unwrap_or(u64::MAX / 3)))
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
    let measured = measure(
        context,
        "events",
        vec![
            Arm::new(
                case("static publish, one handler"),
                calls,
                |calls| publish(calls, pool, cx, one, &[&one.first]),
                told(1),
            ),
            Arm::new(
                case("static publish, three handlers"),
                calls,
                |calls| {
                    publish(calls, pool, cx, three, &[&three.first, &three.second, &three.third])
                },
                told(3),
            ),
            Arm::new(
                case("dynamic publish, three handlers"),
                calls,
                |calls| publish(calls, pool, cx, dynamic, &listeners.each_ref()),
                told(3),
            ),
        ],
    )?;
    let mut outcome = Outcome::default();
    let beside = Some(Work::Bus(BusWork::Publish));
    outcome.rows.extend(measured.rows(0, beside, Targets::without_allocation(5.0)));
    outcome.rows.extend(measured.rows(1, None, Targets::without_allocation(12.0)));
    outcome.rows.extend(measured.rows(2, None, Targets::default()));
    Ok(outcome)
}

pub(super) fn batches(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = context.sized(10_000, 10);
    let pool = &Pool::new();
    let runtime = &runtime()?;
    let cx = &black_box(Context::new());
    let desks = &Desks { all: behaviours![], desk: Desk::new() };
    let one = &One { first: Ledger::default() };
    let commands = |batch: u64| (batch * BATCH..(batch + 1) * BATCH).map(|call| pool.charge(call));
    let charged = |calls| pool.charged_in_all(calls * BATCH);
    let mut answers = Vec::with_capacity(BATCH as usize);
    let events: Vec<Charged> = (0..BATCH).map(|call| pool.charged(call)).collect();
    let events = &events;
    let measured = measure(
        context,
        "batches",
        vec![
            Arm::new(
                case("batch of 100 commands, static, no behaviours"),
                calls,
                |calls| {
                    let before = desks.desk.till.total();
                    let mut all = 0_u64;
                    for batch in 0..calls {
                        desks.send_batch_now(commands(batch), cx, &mut answers);
                        all = all.wrapping_add(sum(answers.drain(..)));
                    }
                    Sums { answers: all, effects: desks.desk.till.total() - before }
                },
                charged,
            ),
            Arm::new(
                case("batch of 100 commands, static, awaited, no behaviours"),
                calls,
                |calls| {
                    let before = desks.desk.till.total();
                    let all = runtime.block_on(async {
                        let mut all = 0_u64;
                        for batch in 0..calls {
                            let answers = desks.send_batch(commands(batch), cx, CONCURRENT).await;
                            all = all.wrapping_add(sum(answers));
                        }
                        all
                    });
                    Sums { answers: all, effects: desks.desk.till.total() - before }
                },
                charged,
            ),
            Arm::new(
                case("batch of 100 events, static, one handler"),
                calls,
                |calls| {
                    let before = one.first.0.total();
                    let mut told = 0;
                    for _ in 0..calls {
                        // As with commands: the compiler must not combine several events.
                        let batch = events.iter().map(black_box);
                        told += u64::from(one.publish_batch_now(batch, cx).is_ok());
                    }
                    Sums { answers: told, effects: one.first.0.total() - before }
                },
                |calls| Sums { answers: calls, effects: calls * pool.told(BATCH) },
            ),
        ],
    )?;
    let mut outcome = Outcome::default();
    let mut add = |arm, work, targets, note| {
        let rows = measured.rows(arm, Some(Work::Bus(work)), targets);
        outcome.rows.extend(rows.into_iter().map(|row| row.footnote(note)));
    };
    add(0, BusWork::SendHundred, Targets::without_allocation(500.0), ANSWERS);
    add(1, BusWork::SendHundred, Targets::default(), AWAITED);
    add(2, BusWork::PublishHundred, Targets::without_allocation(500.0), EVENTS);
    Ok(outcome)
}
