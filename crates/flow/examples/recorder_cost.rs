//! What recording costs: `cargo run --release -p rialto-flow --example recorder_cost`.
//!
//! Each row is the median of several rounds, with the clock of the machine, and with one that
//! stands, which is what is left when time costs nothing. The records are checked after each round.

#![allow(clippy::print_stdout)]

use rialto_flow::recorder::{Bounds, Capture, Fields, Recorder, Sampling, Subject, TickClock};
use rialto_flow::{Clock, ManualClock, SystemClock, Timestamp};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 15;
const RECORDS: u32 = 20_000;
const STEPS: u32 = 20;

struct Order {
    id: u64,
    price: i64,
    is_bid: bool,
}

impl Capture for Order {
    fn capture(&self, fields: &mut Fields<'_>) {
        fields.unsigned("id", self.id);
        fields.signed("price", self.price);
        fields.bool("is_bid", self.is_bid);
    }
}

fn main() {
    // The memory of few records stays in the processor's caches, that of many does not.
    for records_max in [64, 1_000] {
        let bounds = Bounds { records_max, ..Bounds::default() };
        let cost = |sampling, steps, captures| {
            move |which| measure(which, bounds, sampling, steps, captures)
        };
        let header = format!("nanoseconds each, {records_max} records kept");
        println!("{header:<44} {:>10} {:>10} {:>10}", "system", "ticks", "standing");
        row("read the clock", clock_cost);
        row("begin and end", cost(Sampling::All, 0, false));
        row("begin and end, left out by sampling", cost(Sampling::Nothing, 0, false));
        let empty = cost(Sampling::All, 0, false);
        let steps = cost(Sampling::All, STEPS, false);
        let captures = cost(Sampling::All, STEPS, true);
        row("step", |which| (steps(which) - empty(which)) / f64::from(STEPS));
        row("capture of three variables", |which| {
            (captures(which) - steps(which)) / f64::from(STEPS)
        });
    }
}

#[derive(Clone, Copy)]
enum Which {
    System,
    Ticks,
    Standing,
}

fn row(name: &str, cost: impl Fn(Which) -> f64) {
    println!(
        "{name:<44} {:>10.1} {:>10.1} {:>10.1}",
        cost(Which::System),
        cost(Which::Ticks),
        cost(Which::Standing)
    );
}

fn clock_cost(which: Which) -> f64 {
    match which {
        Which::System => clock_rounds(SystemClock),
        Which::Ticks => clock_rounds(TickClock::new()),
        Which::Standing => clock_rounds(ManualClock::new(Timestamp(1))),
    }
}

fn clock_rounds(clock: impl Clock) -> f64 {
    median(|| {
        for _ in 0..RECORDS {
            // Otherwise a clock that stands would be read once.
            black_box(black_box(&clock).now());
        }
    })
}

fn measure(which: Which, bounds: Bounds, sampling: Sampling, steps: u32, captures: bool) -> f64 {
    match which {
        Which::System => rounds(SystemClock, bounds, sampling, steps, captures),
        Which::Ticks => rounds(TickClock::new(), bounds, sampling, steps, captures),
        Which::Standing => {
            rounds(ManualClock::new(Timestamp(1)), bounds, sampling, steps, captures)
        }
    }
}

fn rounds<C: Clock>(
    clock: C,
    bounds: Bounds,
    sampling: Sampling,
    steps: u32,
    captures: bool,
) -> f64 {
    let recorder = Recorder::new(bounds, sampling, clock);
    let cost = median(|| {
        for number in 0..RECORDS {
            let recording = recorder.begin("flow", Subject::default());
            for _ in 0..steps {
                recording.step("step");
                if captures {
                    // What is captured must not be known when this is compiled.
                    let id = u64::from(number);
                    recording.capture(black_box(&Order { id, price: 100, is_bid: true }));
                }
            }
            recording.succeed();
        }
    });
    let kept = if sampling == Sampling::All { bounds.records_max as usize } else { 0 };
    let records = recorder.list();
    assert_eq!(records.len(), kept, "the recorder is as full as it gets");
    for record in &records {
        assert_eq!(record.steps().len(), steps as usize);
        let told: usize =
            record.steps().iter().map(|step| record.variables_at(step.id()).count()).sum();
        assert_eq!(told, if captures { 3 * steps as usize } else { 0 });
        assert_eq!((record.steps_lost(), record.variables_lost()), (0, 0));
    }
    cost
}

/// Nanoseconds for one of [`RECORDS`], in the median round.
fn median(mut round: impl FnMut()) -> f64 {
    let mut took: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            round();
            begin.elapsed().as_nanos() as f64 / f64::from(RECORDS)
        })
        .collect();
    took.sort_by(f64::total_cmp);
    took[ROUNDS / 2]
}
