//! The cost of recording a flow or a request.

use super::case;
use crate::calls::{Arm, Sums, Targets, measure};
use crate::error::{BenchError, verify};
use crate::references::{FlowWork, Work};
use crate::report::{Row, Unit};
use crate::suite::Context;
use rialto_flow::{Clock, SystemClock};
use rialto_recorder::{Capture, Recorder, RecorderBounds, Recording, Sampling, Subject, TickClock};
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

pub(super) fn rows(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let records = context.sized(200_000, 1_200);
    let (steps, captures) = (STEPS * (records / 20), CAPTURES * (records / 20));
    let trees = context.sized(5_000, 50);
    // So few that even a small run reuses each of them.
    let bounds = RecorderBounds {
        records_max: context.sized(1_000, 50) as u32,
        ..RecorderBounds::default()
    };
    let recorder = |sampling| Recorder::new(bounds, sampling, TickClock::new());
    let (all, none) = (recorder(Sampling::All), recorder(Sampling::Nothing));
    let share = recorder(Sampling::Share { per_million: 10_000 });
    let drawn = recorder(Sampling::All);
    let system = Recorder::new(bounds, Sampling::All, SystemClock);
    let request = drawn.begin("place_order", Subject { request_id: 7, ..Subject::default() });
    let order = Order { id: 1, price: 2, is_bid: true, signature: [7; 32] };
    request.step("check");
    request.capture(&order);
    request.step("engine");
    drawn.begin("match", Subject::default().with_parent(request.id())).succeed();
    request.fields(|fields| fields.text("status", "filled"));
    request.step("answer");
    request.fields(|fields| fields.unsigned("seq", 9));
    let id = request.id();
    request.succeed();
    let length = drawn.show(id).map_or(0, |tree| tree.to_string().len()) as u64;

    let (all, none, share, system, drawn) = (&all, &none, &share, &system, &drawn);
    // The step numbers of a record are 1 to `STEPS`.
    let numbers = STEPS * (STEPS + 1) / 2;
    let a_step =
        move |calls: u64| Sums { answers: calls / STEPS * numbers, effects: calls / STEPS };
    let each = |calls| Sums { answers: calls, effects: calls };
    let arms = vec![
        Arm::new(
            case("begin and end a record"),
            records,
            move |calls| record(all, calls, |recording| u64::from(recording.is_recorded())),
            each,
        ),
        Arm::new(
            case("record a step"),
            steps,
            move |calls| record(all, calls / STEPS, steps_of),
            a_step,
        ),
        Arm::new(
            case("capture three variables"),
            captures,
            move |calls| {
                record(all, calls / CAPTURES, |recording| {
                    for number in 0..CAPTURES {
                        let fill = Fill { order: number, price: 100, is_bid: true };
                        recording.capture(black_box(&fill));
                    }
                    CAPTURES
                })
            },
            |calls| Sums { answers: calls, effects: calls / CAPTURES },
        ),
        Arm::new(
            case("record a step by the system's clock"),
            steps,
            move |calls| record(system, calls / STEPS, steps_of),
            a_step,
        ),
        Arm::new(
            case("begin and end a record that the sampling leaves out"),
            records,
            move |calls| record(none, calls, |recording| u64::from(!recording.is_recorded())),
            |calls| Sums { answers: calls, effects: 0 },
        ),
        Arm::new(
            case("begin and end a record of which one in a hundred is kept"),
            records,
            move |calls| {
                let before = share.statistics().left_out;
                let sums = record(share, calls, |_| 1);
                let left_out = share.statistics().left_out - before;
                Sums { effects: sums.effects + left_out, ..sums }
            },
            each,
        ),
        Arm::new(
            case("draw a record as a tree"),
            trees,
            move |calls| {
                let drawn = (0..calls).filter_map(|_| black_box(drawn).show(id));
                let answers = drawn.map(|tree| black_box(tree.to_string()).len() as u64).sum();
                Sums { answers, effects: 0 }
            },
            move |calls| Sums { answers: calls * length, effects: 0 },
        ),
    ];
    let measured = measure(context, "the recorder", arms)?;
    let free = |time_ns| Targets { time_ns, bytes: Some(0.0) };
    let about = [
        (Some(FlowWork::Record), free(Some(BEGIN_AND_END_NS)), Some(BEGIN_AND_END)),
        (Some(FlowWork::RecordStep), free(Some(STEP_NS)), Some(STEP)),
        (Some(FlowWork::RecordVariables), free(Some(VARIABLES_NS)), Some(VARIABLES)),
        (None, free(None), Some(SYSTEM_STEP)),
        (None, free(None), None),
        (None, free(None), None),
        (Some(FlowWork::DrawRecord), Targets::default(), Some(TREE)),
    ];
    let mut rows = Vec::new();
    for (arm, (work, targets, note)) in about.into_iter().enumerate() {
        let found = measured.rows(arm, work.map(Work::Flow), targets).into_iter();
        rows.extend(found.map(|row| match note {
            Some(note) => row.footnote(note),
            None => row,
        }));
    }
    rows.push(memory()?);
    Ok(rows)
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
    let case = case("1,000 records, as full as they get");
    let (bytes, bytes_max) = (recorder.memory_bytes(), bounds.memory_bytes_max());
    verify(&case.to_string(), "whether the memory is within its bound", bytes <= bytes_max, true)?;
    Ok(Row::new(&case, "memory", bytes as f64, Unit::Bytes)
        .target(bytes_max as f64)
        .check("records", recorder.list().len() as u64)
        .check("steps_lost", recorder.statistics().steps_lost)
        .footnote(MEMORY))
}
