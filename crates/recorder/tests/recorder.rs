//! The recorder by itself: bounds against a model, stepping through records, threads.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use rialto_clock::{ManualClock, Timestamp};
use rialto_recorder::FlowId;
use rialto_recorder::{
    RecordEnding, RecordId, Recorder, RecorderBounds, Recording, Sampling, StepId, Subject,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

fn recorder(bounds: RecorderBounds) -> (Recorder<ManualClock>, ManualClock) {
    let clock = ManualClock::new(Timestamp(1_000));
    (Recorder::new(bounds, Sampling::All, clock.clone()), clock)
}

#[test]
fn a_cursor_steps_forward_and_back_and_tells_what_changed() {
    let (recorder, _) = recorder(RecorderBounds::default());
    let recording = recorder.begin("withdrawal", Subject::default());
    recording.fields(|fields| fields.unsigned("amount", 5));
    recording.step("reserve");
    recording.fields(|fields| {
        fields.text("state", "reserved");
        fields.unsigned("amount", 5);
    });
    recording.step("settle");
    recording.fields(|fields| fields.text("state", "settled"));
    recording.succeed();

    let record = &recorder.list()[0];
    let mut cursor = record.cursor();
    let mut told = Vec::new();
    let tell = |cursor: &rialto_recorder::Cursor<'_>| {
        let changes: Vec<_> = cursor.changes().iter().map(ToString::to_string).collect();
        format!("{}: {}", cursor.step().map_or("begin", |step| step.name()), changes.join(", "))
    };
    told.push(tell(&cursor));
    while cursor.forward().is_some() {
        told.push(tell(&cursor));
    }
    let expected =
        ["begin: amount: 5", "reserve: state: reserved", "settle: state: reserved → settled"];
    assert_eq!(told, expected);
    assert!(cursor.back());
    assert_eq!(tell(&cursor), expected[1]);
    assert!(cursor.back());
    assert_eq!(cursor.variables().into_keys().collect::<Vec<_>>(), ["amount"]);
    assert!(!cursor.back());
}

#[test]
fn steps_side_by_side_are_drawn_under_their_whole_with_times_of_their_own() {
    let (recorder, clock) = recorder(RecorderBounds::default());
    let recorder = Arc::new(recorder);
    let flow = Subject::flow(FlowId::new("order-1").unwrap());
    let recording = recorder.begin_shared("order", flow);
    let both = recording.step("both");
    let stock = recording.step_of(both, "stock");
    let payment = recording.step_of(both, "payment");
    clock.advance(Duration::from_millis(4));
    recording.capture_at(stock, &Left(3));
    recording.finish(stock);
    clock.advance(Duration::from_millis(5));
    recording.finish(payment);
    let child = recorder.begin("parcel", Subject::default().with_parent(recording.id()));
    child.fail("lost", "Nobody knows where it is.");
    recording.succeed();
    let tree = recorder.show(recorder.list()[0].id()).unwrap();
    assert_eq!(
        tree.to_string(),
        "\
order #1 order-1  took 9ms
  both  +0ns  took 9ms
    stock  +0ns  took 4ms
      left = 3
    payment  +0ns  took 9ms
      parcel #2  +9ms  took 0ns  failed: lost: Nobody knows where it is.
"
    );
}

struct Left(u64);
impl rialto_recorder::Capture for Left {
    fn capture(&self, fields: &mut rialto_recorder::Fields<'_>) {
        fields.unsigned("left", self.0);
    }
}

#[test]
fn threads_lose_nothing_and_share_no_record() {
    const THREADS: u64 = 4;
    const EACH: u64 = 500;
    let bounds = RecorderBounds { records_max: 2_000, ..RecorderBounds::default() };
    let recorder = Recorder::new(bounds, Sampling::All, ManualClock::default());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let recorder = &recorder;
            scope.spawn(move || {
                for number in 0..EACH {
                    let request_id = thread * EACH + number + 1;
                    let subject = Subject { request_id, ..Subject::default() };
                    let recording = recorder.begin("count", subject);
                    recording.step("only");
                    recording.capture(&Left(request_id));
                    recording.succeed();
                }
            });
        }
    });
    let records = recorder.list();
    let mut seen = Vec::new();
    for record in &records {
        let told: Vec<_> = record.variables_at(record.steps()[0].id()).collect();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].value.to_string(), record.subject().request_id.to_string());
        seen.push(record.subject().request_id);
    }
    seen.sort_unstable();
    assert_eq!(seen, (1..=THREADS * EACH).collect::<Vec<_>>());
    assert_eq!(recorder.statistics().evicted, 0);
}

#[derive(Clone, Debug)]
enum Action {
    Begin,
    Step { which: usize },
    Tell { which: usize, text: usize },
    Number { which: usize },
    End { which: usize, succeeds: bool },
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        3 => Just(Action::Begin),
        4 => any::<usize>().prop_map(|which| Action::Step { which }),
        3 => (any::<usize>(), 0..60_usize).prop_map(|(which, text)| Action::Tell { which, text }),
        2 => any::<usize>().prop_map(|which| Action::Number { which }),
        2 => (any::<usize>(), any::<bool>())
            .prop_map(|(which, succeeds)| Action::End { which, succeeds }),
    ]
}

/// A naive model of one record.
#[derive(Clone, Debug, Default)]
struct Expected {
    steps: u32,
    steps_lost: u32,
    is_lost: bool,
    bytes: u32,
    variables_lost: u32,
    variables_cut: u32,
    has_ended: bool,
}

impl Expected {
    fn write_text(&mut self, bounds: &RecorderBounds, text: u32) {
        let room = bounds.variable_bytes_max - self.bytes;
        if self.is_lost || room < RecorderBounds::VARIABLE_BYTES {
            self.variables_lost += 1;
            return;
        }
        let room = room - RecorderBounds::VARIABLE_BYTES;
        self.bytes += RecorderBounds::VARIABLE_BYTES + text.min(room);
        self.variables_cut += u32::from(text > room);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With one shard, the recorder holds exactly what a list of records would, and with more it
    /// still keeps to its bounds.
    #[test]
    fn the_bounds_hold_as_in_a_model(
        actions in prop::collection::vec(action(), 1..200),
        records_max in 1..6_u32,
        steps_max in 0..5_u32,
        variable_bytes_max in 0..300_u32,
        shards in 1..5_u32,
        only_failures in any::<bool>(),
    ) {
        let bounds = RecorderBounds { records_max, steps_max, variable_bytes_max, shards };
        let sampling = if only_failures { Sampling::Failures } else { Sampling::All };
        let clock = ManualClock::new(Timestamp(1_000));
        let recorder = Recorder::new(bounds, sampling, clock.clone());
        let mut live: Vec<Recording<'_, ManualClock>> = Vec::new();
        let mut records: BTreeMap<RecordId, Expected> = BTreeMap::new();
        let mut finished: VecDeque<RecordId> = VecDeque::new();
        let (mut refused, mut evicted, mut lost) = (0, 0, [0; 3]);
        for action in actions {
            clock.advance(Duration::from_nanos(1));
            let pick = |which: usize| (!live.is_empty()).then(|| which % live.len());
            match action {
                Action::Begin => {
                    let recording = recorder.begin("model", Subject::default());
                    if live.len() as u32 == records_max {
                        refused += 1;
                        prop_assert!(!recording.is_recorded());
                        continue;
                    }
                    prop_assert!(recording.is_recorded());
                    let held: Vec<_> = recorder.list().iter().map(|held| held.id()).collect();
                    let gone = finished.iter().position(|id| !held.contains(id));
                    let is_full = records.len() as u32 == records_max;
                    // With one lock for all it is known when one goes, and which.
                    if shards.min(records_max) == 1 {
                        prop_assert_eq!(gone, is_full.then_some(0));
                    }
                    prop_assert!(gone.is_some() || !is_full);
                    if let Some(gone) = gone {
                        evicted += 1;
                        records.remove(&finished.remove(gone).unwrap());
                    }
                    records.insert(recording.id(), Expected::default());
                    live.push(recording);
                }
                Action::Step { which } => if let Some(at) = pick(which) {
                    let expected = records.get_mut(&live[at].id()).unwrap();
                    live[at].step("step");
                    if expected.steps == steps_max {
                        expected.steps_lost += 1;
                        expected.is_lost = true;
                    } else {
                        expected.steps += 1;
                    }
                },
                Action::Tell { which, text } => if let Some(at) = pick(which) {
                    live[at].fields(|fields| fields.text("text", &"x".repeat(text)));
                    records.get_mut(&live[at].id()).unwrap().write_text(&bounds, text as u32);
                },
                Action::Number { which } => if let Some(at) = pick(which) {
                    live[at].fields(|fields| fields.unsigned("number", 7));
                    records.get_mut(&live[at].id()).unwrap().write_text(&bounds, 0);
                },
                Action::End { which, succeeds } => if let Some(at) = pick(which) {
                    let recording = live.swap_remove(at);
                    let id = recording.id();
                    let expected = records.get_mut(&id).unwrap();
                    expected.has_ended = true;
                    lost[0] += u64::from(expected.steps_lost);
                    lost[1] += u64::from(expected.variables_lost);
                    lost[2] += u64::from(expected.variables_cut);
                    if succeeds {
                        recording.succeed();
                    } else {
                        recording.fail("code", &"y".repeat(300));
                    }
                    if succeeds && only_failures {
                        records.remove(&id);
                    } else {
                        finished.push_back(id);
                    }
                },
            }
            let held = recorder.list();
            prop_assert_eq!(
                held.iter().map(|record| record.id()).collect::<Vec<_>>(),
                records.keys().copied().collect::<Vec<_>>()
            );
            for record in &held {
                let expected = &records[&record.id()];
                prop_assert_eq!(record.steps().len() as u32, expected.steps);
                prop_assert_eq!(record.steps_lost(), expected.steps_lost);
                prop_assert_eq!(record.variable_bytes() as u32, expected.bytes);
                prop_assert_eq!(record.variables_lost(), expected.variables_lost);
                prop_assert_eq!(record.variables_cut(), expected.variables_cut);
                prop_assert_eq!(record.ending().is_some(), expected.has_ended);
            }
            let statistics = recorder.statistics();
            prop_assert_eq!((statistics.refused, statistics.evicted), (refused, evicted));
            let counted =
                [statistics.steps_lost, statistics.variables_lost, statistics.variables_cut];
            prop_assert_eq!(counted, lost);
            prop_assert!(recorder.memory_bytes() <= bounds.memory_bytes_max());
        }
    }
}

#[test]
fn the_sentence_of_a_failure_is_cut() {
    let (recorder, _) = recorder(RecorderBounds::default());
    recorder.begin("flow", Subject::default()).fail("code", &"é".repeat(200));
    let record = &recorder.list()[0];
    assert_eq!(
        record.ending(),
        Some(RecordEnding::Failed { code: "code", message: &"é".repeat(128) })
    );
}

#[test]
fn a_step_number_of_another_record_is_no_place_in_this_one() {
    let (recorder, _) = recorder(RecorderBounds::default());
    let long = recorder.begin("long", Subject::default());
    long.step("one");
    let two = long.step("two");
    let short = recorder.begin("short", Subject::default());
    short.step_of(two, "only");
    short.capture_at(two, &Left(1));
    let record = recorder.get(short.id()).unwrap();
    assert_eq!(record.steps()[0].parent(), StepId::BEGIN);
    assert_eq!(record.variables_lost(), 1);
}
