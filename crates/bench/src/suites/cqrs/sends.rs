//! One command or query at a time.

use super::work::{Charge, Desk, Pool, Quote, sum_of};
use super::{case, runtime};
use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::{BenchError, broken};
use crate::references::{BusWork, Metric, Work};
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::{Bus, Context, Dispatch, HandlerNow, behaviours, bus};
use std::hint::black_box;
use std::sync::Arc;

bus! {
    struct NowBus { all through [] { desk: Desk => now Charge, now Quote; } }
}

bus! {
    struct LaterBus { all through [] { desk: Desk => later Charge; } }
}

const DIRECT: &str = "The same handler called without a bus: what a call costs besides the bus.";
const AWAITED: &str = "The loop of awaited calls runs inside one `block_on`.";
const RESOLVE: &str = "Finding the handler by its type, and calling what is not known before: the median of \
    the differences, round by round.";
const QUERY: &str = "The handler of the query changes nothing.";

pub(super) fn sends(context: &mut Bench<'_>) -> Result<Outcome, BenchError> {
    let calls = context.sized(1_000_000, 1_000);
    let pool = &Pool::new();
    let runtime = &runtime()?;
    // Behind a black box, so that no behaviour or handler is compiled for this context.
    let cx = &black_box(Context::new());
    let direct = &Desk::new();
    let now = &NowBus { all: behaviours![], desk: Desk::new() };
    let later = &LaterBus { all: behaviours![], desk: Desk::new() };
    let desk = Desk::new();
    let dynamic_till = Arc::clone(&desk.till);
    let desk = Arc::new(desk);
    let dynamic = &Bus::builder()
        .handle_now::<Charge, _, _>(behaviours![], Arc::clone(&desk))
        .handle_now::<Quote, _, _>(behaviours![], desk)
        .build()
        .map_err(broken("dynamic send", "build the bus"))?;
    let all = |calls| pool.charged_in_all(calls);
    let queries = |calls| Sums { answers: pool.fees(calls), effects: 0 };
    let measured = measure(
        context,
        "sends",
        vec![
            Arm::new(
                case("handler called directly"),
                calls,
                move |calls| {
                    sum_of(calls, &direct.till, |call| direct.handle_now(pool.charge(call), cx))
                },
                all,
            ),
            Arm::new(
                case("static send, no behaviours"),
                calls,
                move |calls| {
                    sum_of(calls, &now.desk.till, |call| now.send_now(pool.charge(call), cx))
                },
                all,
            ),
            Arm::new(
                case("static send, awaited, no behaviours"),
                calls,
                move |calls| {
                    let before = later.desk.till.total();
                    let answers = runtime.block_on(async {
                        let mut answers = 0_u64;
                        for call in 0..calls {
                            let answer = later.send(pool.charge(call), cx).await;
                            answers = answers.wrapping_add(answer.unwrap_or(u64::MAX / 3));
                        }
                        answers
                    });
                    Sums { answers, effects: later.desk.till.total() - before }
                },
                all,
            ),
            Arm::new(
                case("static query, no behaviours"),
                calls,
                move |calls| {
                    sum_of(calls, &now.desk.till, |call| {
                        now.query_now(Quote(pool.charge(call)), cx)
                    })
                },
                queries,
            ),
            Arm::new(
                case("dynamic send, no behaviours"),
                calls,
                move |calls| {
                    sum_of(calls, &dynamic_till, |call| dynamic.send_now(pool.charge(call), cx))
                },
                all,
            ),
        ],
    )?;
    let mut outcome = Outcome::default();
    let mut add = |arm, work, targets, note: Option<&str>| {
        let rows = measured.rows(arm, work, targets).into_iter().map(|row| match note {
            Some(note) => row.footnote(note),
            None => row,
        });
        outcome.rows.extend(rows);
    };
    let none = Targets::default();
    add(0, None, none, Some(DIRECT));
    add(1, Some(Work::Bus(BusWork::SendStatic)), Targets::without_allocation(5.0), None);
    add(2, Some(Work::Bus(BusWork::SendStatic)), Targets::without_allocation(5.0), Some(AWAITED));
    add(3, Some(Work::Bus(BusWork::Query)), Targets::without_allocation(5.0), Some(QUERY));
    add(4, Some(Work::Bus(BusWork::SendDynamic)), none, None);
    outcome.rows.push(
        measured
            .over(4, 1, "time of a call over that of the static send")
            .beside(Work::Bus(BusWork::Resolve), Metric::Mean)
            .footnote(RESOLVE),
    );
    Ok(outcome)
}
