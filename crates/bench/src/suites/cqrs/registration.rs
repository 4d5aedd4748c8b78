//! Putting a bus together, and finding handlers in it.

use super::case;
use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::BenchError;
use crate::references::{BusWork, Work};
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::{Bus, Context, Dispatch, HandlerNow, Query, Request, Result, behaviours};

/// Requests of types of their own.
struct Numbered<const N: u64>;

impl<const N: u64> Request for Numbered<N> {
    type Response = u64;
    const NAME: &'static str = "numbered";
}

impl<const N: u64> Query for Numbered<N> {}

/// Answers all of them.
struct Numbers;

impl<const N: u64> HandlerNow<Numbered<N>> for Numbers {
    fn handle_now(&self, _: Numbered<N>, _: &Context<'_>) -> Result<u64> {
        Ok(N)
    }
}

const HANDLERS: u64 = 16;
const SHARE: &str = "A sixteenth of the making of a bus of 16 handlers, which is built, asked \
    something and dropped.";

macro_rules! bus_of {
    ($($number:literal)*) => {
        Bus::builder()$(.handle_now::<Numbered<$number>, _, _>(behaviours![], Numbers))*.build()
    };
}

pub(super) fn registration(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = HANDLERS * context.sized(10_000, 10);
    let cx = &Context::new();
    let measured = measure(
        context,
        "registration",
        vec![Arm::new(
            case("registering a handler by hand"),
            calls,
            |calls| {
                let mut answers = 0;
                for _ in 0..calls / HANDLERS {
                    let bus = bus_of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
                    let answer = bus.ok().and_then(|bus| bus.query_now(Numbered::<15>, cx).ok());
                    answers += answer.unwrap_or(0);
                }
                Sums { answers, effects: 0 }
            },
            |calls| Sums { answers: 15 * (calls / HANDLERS), effects: 0 },
        )],
    )?;
    let rows = measured.rows(0, Some(Work::Bus(BusWork::RegisterByHand)), Targets::default());
    let rows = rows.into_iter().map(|row| row.footnote(SHARE)).collect();
    Ok(Outcome { rows, figures: Vec::new() })
}
