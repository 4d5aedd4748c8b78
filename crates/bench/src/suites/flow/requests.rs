//! The cost of a recorder for each request on a bus, for kept and omitted requests.

use crate::calls::{Arm, Sums, measure};
use crate::error::BenchError;
use crate::suite::{Context as Bench, Outcome};
use rialto_bus::{Command, Context, Dispatch, HandlerNow, Request, Result, behaviours, bus};
use rialto_recorder::{RecordRequests, Recorder, RecorderBounds, Sampling, TickClock};
use std::hint::black_box;
use std::sync::Arc;

/// The default of a venue.
const PER_SECOND: u32 = 10;
const NOTHING: &str = "The handler makes notes as the venue's desk does of an order, eleven and two \
    steps, if anybody takes them. The request goes through `std::hint::black_box`, so that the \
    handler's work is not known when this is compiled.";
const FAILURES: &str = "`only_failures`, and nothing fails: each request is recorded while it is \
    under way and then forgotten.";
const OVER: &str = "The median of the differences, round by round, to the bus without a recorder.";

/// A request for its own number.
struct PlaceOrder(u64);

impl Request for PlaceOrder {
    type Response = u64;
    const NAME: &'static str = "place_order";
}

impl Command for PlaceOrder {}

struct Desk;

impl HandlerNow<PlaceOrder> for Desk {
    #[inline]
    fn handle_now(&self, PlaceOrder(number): PlaceOrder, cx: &Context<'_>) -> Result<u64> {
        if cx.trail_id() != 0 {
            for name in
                ["account", "instrument", "side", "price_units", "quantity_units", "time_in_force"]
            {
                cx.note(name, &number);
            }
            cx.step("engine");
            cx.step("answered");
            for name in ["seq", "order", "status", "filled_units", "remaining_units"] {
                cx.note(name, &number);
            }
        }
        Ok(number)
    }
}

bus! {
    struct RecordedBus {
        requests through [Option<RecordRequests>] {
            desk: Desk => now PlaceOrder;
        }
    }
}

/// Sends this many requests, each with a number that is returned.
fn send(bus: &RecordedBus, recorder: Option<&Recorder>, calls: u64) -> Sums {
    let cx = black_box(Context::new());
    let counted = || {
        let statistics = recorder.map(Recorder::statistics).unwrap_or_default();
        statistics.begun + statistics.left_out + statistics.forgotten
    };
    let before = counted();
    let answers =
        (0..calls).filter_map(|call| bus.send_now(black_box(PlaceOrder(call)), &cx).ok()).sum();
    Sums { answers, effects: counted() - before }
}

pub(super) fn rows(context: &mut Bench<'_>) -> std::result::Result<Outcome, BenchError> {
    let calls = context.sized(200_000, 600);
    // So few that even a small run reuses each of them.
    let bounds = RecorderBounds {
        records_max: context.sized(1_000, 50) as u32,
        ..RecorderBounds::default()
    };
    // A request that is kept or left out is counted once; one that is forgotten was begun before.
    let ten_a_second = Sampling::Adaptive { per_second: PER_SECOND };
    let kinds = [
        ("a request without a recorder", None, 0, Some(NOTHING)),
        ("a request to a recorder of failures only", Some(Sampling::Failures), 2, Some(FAILURES)),
        ("a request to a recorder of ten a second", Some(ten_a_second), 1, None),
        ("a request to a recorder of all", Some(Sampling::All), 1, None),
    ];
    let mut arms = Vec::new();
    for (work, sampling, counted, note) in kinds {
        let recorder =
            sampling.map(|sampling| Arc::new(Recorder::new(bounds, sampling, TickClock::new())));
        let recorded = recorder.clone().map(RecordRequests);
        let bus = RecordedBus { requests: behaviours![recorded], desk: Desk };
        let send = move |calls: u64| send(&bus, recorder.as_deref(), calls);
        let sent =
            move |calls: u64| Sums { answers: calls * (calls - 1) / 2, effects: calls * counted };
        let arm = Arm::new(work, calls, send, sent).without_allocation();
        let arm = note.into_iter().fold(arm, Arm::note);
        arms.push(match sampling {
            Some(_) => arm.over(0, "time of a call over that without", |row| row.footnote(OVER)),
            None => arm,
        });
    }
    measure(context, "requests that are recorded", arms)
}
