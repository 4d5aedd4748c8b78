//! Runs of flows are recorded: their steps, failures, what was undone, and their end.

use crate::support::{Saga, World, clock, id, manual, memory};
use rialto_flow::RecordRuns;
use rialto_flow::{Flow, FlowContext, FlowError, Flows, ManualClock, Options};
use rialto_recorder::{RecordEnding, Recorder, RecorderBounds, Sampling};
use std::sync::Arc;

fn recorder(clock: &ManualClock, sampling: Sampling) -> Arc<Recorder<ManualClock>> {
    let bounds = RecorderBounds { records_max: 4, shards: 1, ..RecorderBounds::default() };
    Arc::new(Recorder::new(bounds, sampling, clock.clone()))
}

fn recorded(clock: &ManualClock, recorder: &Arc<Recorder<ManualClock>>) -> Options {
    let observer = Arc::new(RecordRuns::new(Arc::clone(recorder)));
    Options { observer: Some(observer), ..manual(clock) }
}

fn saga(clock: &ManualClock, recorder: &Arc<Recorder<ManualClock>>) -> Flows {
    let saga = Saga { world: World::default() };
    Flows::builder(memory()).register(saga).options(recorded(clock, recorder)).open().unwrap()
}

#[test]
fn a_run_is_drawn_with_its_steps() {
    let clock = clock();
    let recorder = recorder(&clock, Sampling::All);
    let flows = saga(&clock, &recorder);
    flows.start::<Saga>(id("a"), (20, false)).unwrap().wait().unwrap();
    assert_eq!(
        recorder.show(recorder.list()[0].id()).unwrap().to_string(),
        "\
saga #1 a  took 0ns
  version = 1
  resumed = false
  one  +0ns  took 0ns
    output_bytes = 1
  two  +0ns  took 0ns
    output_bytes = 1
  three  +0ns  took 0ns
    output_bytes = 1
"
    );
}

#[test]
fn a_failed_run_tells_why_and_what_was_undone() {
    let clock = clock();
    let recorder = recorder(&clock, Sampling::Failures);
    let flows = saga(&clock, &recorder);
    flows.start::<Saga>(id("good"), (20, false)).unwrap().wait().unwrap();
    flows.start::<Saga>(id("bad"), (20, true)).unwrap().wait().unwrap_err();
    let records = recorder.list();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].subject().flow, Some(id("bad")));
    let failed = RecordEnding::Failed { code: "failed", message: "three: no" };
    assert_eq!(records[0].ending(), Some(failed));
    let steps: Vec<&str> = records[0].steps().iter().map(|step| step.name()).collect();
    assert_eq!(steps, ["one", "two", "three", "undo", "undo"]);
    let told: Vec<String> =
        records[0].variables().iter().map(|told| format!("{}={}", told.path, told.value)).collect();
    assert_eq!(told[told.len() - 3..], ["failed=no", "of=two", "of=one"]);
}

struct Endless;

impl Flow for Endless {
    const NAME: &'static str = "endless";
    type Input = ();
    type Output = ();

    async fn run<'a>(&'a self, cx: &FlowContext<'a>, (): &'a ()) -> Result<(), FlowError> {
        cx.wait_for::<()>("nothing").await?;
        Ok(())
    }
}

#[test]
fn runs_that_wait_leave_room_for_others() {
    let clock = clock();
    let recorder = recorder(&clock, Sampling::All);
    let options = recorded(&clock, &recorder);
    let flows = Flows::builder(memory()).register(Endless).options(options).open().unwrap();
    for number in 0..5 {
        flows.start::<Endless>(id(&format!("run-{number}")), ()).unwrap();
        flows.run_until_idle().unwrap();
    }
    let under_way = recorder.find(|record| record.ending().is_none());
    assert_eq!(under_way.len(), 2, "{:?}", recorder.statistics());
    assert!(under_way.iter().all(|record| record.steps()[0].name() == "nothing"));
    assert_eq!(recorder.statistics().refused, 0);
}
