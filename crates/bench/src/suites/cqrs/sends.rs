//! One command or query at a time.

use super::runtime;
use super::work::{Charge, Desk, Pool, Quote, SPOILED, left_in, sum_of};
use crate::calls::{Arm, Sums, measure};
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
    let all = |calls: u64| pool.charged_in_all(calls);
    let queries = |calls: u64| Sums::of_answers(pool.fees(calls));
    let call_directly =
        |calls: u64| sum_of(calls, &direct.till, |call| direct.handle_now(pool.charge(call), cx));
    let send =
        |calls: u64| sum_of(calls, &now.desk.till, |call| now.send_now(pool.charge(call), cx));
    let await_each = |calls: u64| {
        let made = async {
            let mut answers = 0_u64;
            for call in 0..calls {
                let answer = later.send(pool.charge(call), cx).await;
                answers = answers.wrapping_add(answer.unwrap_or(SPOILED));
            }
            answers
        };
        left_in(|| later.desk.till.total(), || runtime.block_on(made))
    };
    let query = |calls: u64| {
        sum_of(calls, &now.desk.till, |call| now.query_now(Quote(pool.charge(call)), cx))
    };
    let send_dynamic =
        |calls: u64| sum_of(calls, &dynamic_till, |call| dynamic.send_now(pool.charge(call), cx));
    let arms = vec![
        Arm::new("handler called directly", calls, call_directly, all).note(DIRECT),
        Arm::new("static send, no behaviours", calls, send, all)
            .beside(Work::Bus(BusWork::SendStatic))
            .within(5.0)
            .without_allocation(),
        Arm::new("static send, awaited, no behaviours", calls, await_each, all)
            .beside(Work::Bus(BusWork::SendStatic))
            .within(5.0)
            .without_allocation()
            .note(AWAITED),
        Arm::new("static query, no behaviours", calls, query, queries)
            .beside(Work::Bus(BusWork::Query))
            .within(5.0)
            .without_allocation()
            .note(QUERY),
        Arm::new("dynamic send, no behaviours", calls, send_dynamic, all)
            .beside(Work::Bus(BusWork::SendDynamic))
            .over(1, "time of a call over that of the static send", |row| {
                row.beside(Work::Bus(BusWork::Resolve), Metric::Mean).footnote(RESOLVE)
            }),
    ];
    measure(context, "sends", arms)
}
