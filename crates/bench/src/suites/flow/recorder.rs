//! The cost of recording a flow or a request.

use crate::calls::{Arm, Sums, measure};
use crate::error::{BenchError, verify};
use crate::references::{FlowWork, Work};
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Outcome};
use rialto_flow::{Clock, SystemClock};
use rialto_recorder::{
    Capture, RecordId, Recorder, RecorderBounds, Recording, Sampling, Subject, TickClock,
};
use std::hint::black_box;

/// Targets, in nanoseconds.
const BEGIN_AND_END_NS: f64 = 120.0;
const STEP_NS: f64 = 20.0;
const VARIABLES_NS: f64 = 20.0;
/// The steps of a record, within its bounds.
const STEPS: u64 = 90;
/// Captures of three variables in a record, within its bounds.
const CAPTURES: u64 = 60;
/// The figure of Catga's report for its production setting, in bytes.
const MEMORY: &str = "All records full: 1,000 with 100 steps and 8 KiB of variables each, and no \
    more than this whatever is recorded. The report speaks of 5 MB (1 % sampled) to 50 MB (all).";
const BEGIN_AND_END: &str = "One thread, 1,000 records kept, each new one in place of the oldest.";
const STEP: &str = "Ninety a record, whose beginning and end are part of it. The clock counts \
    ticks of the processor.";
const SYSTEM_STEP: &str = "The same, with the system's clock.";
const VARIABLES: &str = "Three numbers by the derived `Capture`, sixty times a record, whose \
    beginning and end are part of it. They go through `std::hint::black_box`, so that what is \
    written is not known when this is compiled.";
const TREE: &str =
    "The text of a request with three steps, six variables and another request in it.";

#[derive(Capture)]
struct Order {
    id: u64,
    price: i64,
    is_bid: bool,
    #[capture(secret)]
    #[allow(dead_code, reason = "it is there to be hidden")]
    signature: [u8; 32],
}

/// A struct with three captured numbers.
#[derive(Capture)]
struct Fill {
    order: u64,
    price: i64,
    is_bid: bool,
}

/// Makes this many records, each filled by `inside`, which returns how much was accepted.
fn record<C: Clock>(
    recorder: &Recorder<C>,
    records: u64,
    mut inside: impl FnMut(&Recording<'_, C>) -> u64,
) -> Sums {
    let before = recorder.statistics();
    let mut answers = 0;
    for _ in 0..records {
        let recording = black_box(recorder).begin("flow", Subject::default());
        answers += inside(&recording);
        recording.succeed();
    }
    let after = recorder.statistics();
    let lost = after.steps_lost + after.variables_lost + after.refused;
    Sums { answers, effects: after.begun - before.begun + lost }
}

pub(super) fn rows(context: &mut Context<'_>, outcome: &mut Outcome) {
    outcome.take(calls(context));
    outcome.take(memory());
}

fn calls(context: &mut Context<'_>) -> Result<Outcome, BenchError> {
    let records = context.sized(200_000, 1_200);
    let (steps, captures) = (STEPS * (records / 20), CAPTURES * (records / 20));
    let trees = context.sized(5_000, 50);
    // So few that even a small run reuses each of them.
    let bounds = RecorderBounds {
        records_max: context.sized(1_000, 50) as u32,
        ..RecorderBounds::default()
    };
    let recorder = |sampling| Recorder::new(bounds, sampling, TickClock::new());
    let (all, none) = (&recorder(Sampling::All), &recorder(Sampling::Nothing));
    let share = &recorder(Sampling::Share { per_million: 10_000 });
    let drawn = &recorder(Sampling::All);
    let system = &Recorder::new(bounds, Sampling::All, SystemClock);
    let id = draw(drawn);
    let length = drawn.show(id).map_or(0, |tree| tree.to_string().len()) as u64;
    // The steps of a record are numbered from 1 to `STEPS`.
    let numbers = STEPS * (STEPS + 1) / 2;
    let a_step = |calls: u64| Sums { answers: calls / STEPS * numbers, effects: calls / STEPS };
    let a_capture = |calls: u64| Sums { answers: calls, effects: calls / CAPTURES };
    let each = |calls: u64| Sums { answers: calls, effects: calls };
    let record_all =
        |calls: u64| record(all, calls, |recording| u64::from(recording.is_recorded()));
    let record_none =
        |calls: u64| record(none, calls, |recording| u64::from(!recording.is_recorded()));
    let record_share = |calls: u64| {
        let before = share.statistics().left_out;
        let sums = record(share, calls, |_| 1);
        Sums { effects: sums.effects + share.statistics().left_out - before, ..sums }
    };
    let capture = |calls: u64| {
        record(all, calls / CAPTURES, |recording| {
            for number in 0..CAPTURES {
                let fill = Fill { order: number, price: 100, is_bid: true };
                recording.capture(black_box(&fill));
            }
            CAPTURES
        })
    };
    let show = |calls: u64| {
        let shown = (0..calls).filter_map(|_| black_box(drawn).show(id));
        Sums::of_answers(shown.map(|tree| black_box(tree.to_string()).len() as u64).sum())
    };
    let drawing = |calls: u64| Sums::of_answers(calls * length);
    let step = |calls: u64| record(all, calls / STEPS, steps_of);
    let system_step = |calls: u64| record(system, calls / STEPS, steps_of);
    let left_out = "begin and end a record that the sampling leaves out";
    let one_in_a_hundred = "begin and end a record of which one in a hundred is kept";
    let arms = vec![
        Arm::new("begin and end a record", records, record_all, each)
            .beside(Work::Flow(FlowWork::Record))
            .within(BEGIN_AND_END_NS)
            .without_allocation()
            .note(BEGIN_AND_END),
        Arm::new("record a step", steps, step, a_step)
            .beside(Work::Flow(FlowWork::RecordStep))
            .within(STEP_NS)
            .without_allocation()
            .note(STEP),
        Arm::new("capture three variables", captures, capture, a_capture)
            .beside(Work::Flow(FlowWork::RecordVariables))
            .within(VARIABLES_NS)
            .without_allocation()
            .note(VARIABLES),
        Arm::new("record a step by the system's clock", steps, system_step, a_step)
            .without_allocation()
            .note(SYSTEM_STEP),
        Arm::new(left_out, records, record_none, Sums::of_answers).without_allocation(),
        Arm::new(one_in_a_hundred, records, record_share, each).without_allocation(),
        Arm::new("draw a record as a tree", trees, show, drawing)
            .beside(Work::Flow(FlowWork::DrawRecord))
            .note(TREE),
    ];
    measure(context, "the recorder", arms)
}

/// Records the request that is drawn.
fn draw(recorder: &Recorder) -> RecordId {
    let request = recorder.begin("place_order", Subject { request_id: 7, ..Subject::default() });
    let order = Order { id: 1, price: 2, is_bid: true, signature: [7; 32] };
    request.step("check");
    request.capture(&order);
    request.step("engine");
    recorder.begin("match", Subject::default().with_parent(request.id())).succeed();
    request.fields(|fields| fields.text("status", "filled"));
    request.step("answer");
    request.fields(|fields| fields.unsigned("seq", 9));
    let id = request.id();
    request.succeed();
    id
}

fn steps_of<C: Clock>(recording: &Recording<'_, C>) -> u64 {
    (0..STEPS).map(|_| u64::from(recording.step("step").number())).sum()
}

/// A full recorder, with more data for each record than fits.
fn memory() -> Result<Row, BenchError> {
    let bounds = RecorderBounds::default();
    let recorder = Recorder::new(bounds, Sampling::All, TickClock::new());
    let text = "x".repeat(1 << 10);
    for _ in 0..2 * bounds.records_max {
        let recording = recorder.begin("wide", Subject::default());
        for number in 0..2 * u64::from(bounds.steps_max) {
            recording.step("step");
            recording.fields(|fields| fields.unsigned("number", number));
        }
        for _ in 0..16 {
            recording.fields(|fields| fields.text("text", &text));
        }
        recording.fail("code", &text);
    }
    let case = Case::without_orders("1,000 records, as full as they get");
    let (bytes, bytes_max) = (recorder.memory_bytes(), bounds.memory_bytes_max());
    verify(&case.to_string(), "whether the memory is within its bound", bytes <= bytes_max, true)?;
    Ok(Row::new(&case, "memory", bytes as f64, Unit::Bytes)
        .target(bytes_max as f64)
        .check("records", recorder.list().len() as u64)
        .check("steps_lost", recorder.statistics().steps_lost)
        .footnote(MEMORY))
}
