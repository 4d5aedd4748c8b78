//! Records runs of flows.

use crate::history::{Ending, Kind, StoredError};
use crate::store::RunNumber;
use crate::{Clock, FlowId, Observed, Observer, Timestamp};
use rialto_recorder::{Recorder, Recording, StepId, Subject, TickClock};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Records each run of a flow by the name of the flow: its steps, waits and children with their
/// attempts and failures, what was undone, and how it ended.
///
/// It goes into [`Options::observer`](crate::Options::observer). A run whose process ends before it
/// does is abandoned in this record, and begins another where it is resumed; its steps are then not
/// recorded again. At most half of the recorder's records are of runs in progress: a run that would
/// be one more takes the place of the one that began first, which is abandoned.
#[derive(Debug)]
pub struct RecordRuns<C: Clock + 'static = TickClock> {
    recorder: Arc<Recorder<C>>,
    under_way: Mutex<BTreeMap<RunNumber, UnderWay<C>>>,
}

#[derive(Debug)]
struct UnderWay<C: Clock + 'static> {
    recording: Recording<'static, C>,
    /// The open steps. Branches may have several at a time.
    open: Vec<(&'static str, StepId)>,
}

impl<C: Clock + 'static> RecordRuns<C> {
    /// Records with this recorder.
    #[must_use]
    pub fn new(recorder: Arc<Recorder<C>>) -> RecordRuns<C> {
        RecordRuns { recorder, under_way: Mutex::default() }
    }

    fn begin(&self, id: &FlowId, flow: &'static str, version: u32, resumed: bool) -> UnderWay<C> {
        let recording = self.recorder.begin_shared(flow, Subject::flow(*id));
        recording.fields(|fields| {
            fields.unsigned("version", u64::from(version));
            fields.bool("resumed", resumed);
        });
        UnderWay { recording, open: Vec::new() }
    }
}

impl<C: Clock + 'static> Observer for RecordRuns<C> {
    fn observe(&self, run: RunNumber, id: &FlowId, _: Timestamp, what: Observed<'_>) {
        // Nothing panics while it holds the lock but what the record survives.
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        match what {
            Observed::Began { flow, version, resumed } => {
                let begun = self.begin(id, flow, version, resumed);
                if begun.recording.is_recorded() {
                    under_way.insert(run, begun);
                    if under_way.len() > (self.recorder.bounds().records_max / 2).max(1) as usize {
                        under_way.pop_first();
                    }
                }
            }
            Observed::Ended { ending } => {
                if let Some(ended) = under_way.remove(&run) {
                    end(ended.recording, ending);
                }
            }
            step => {
                if let Some(run) = under_way.get_mut(&run) {
                    run.observe(step);
                }
            }
        }
    }
}

impl<C: Clock + 'static> UnderWay<C> {
    fn observe(&mut self, what: Observed<'_>) {
        let recording = &self.recording;
        match what {
            Observed::StepBegan { kind, name, attempt } => {
                let step = match self.open.iter().find(|(open, _)| *open == name && attempt > 1) {
                    // It is the same step, once more.
                    Some((_, whole)) => recording.step_of(*whole, "again"),
                    None => {
                        let step = recording.step(name);
                        self.open.push((name, step));
                        step
                    }
                };
                recording.fields_at(step, |fields| {
                    if kind != Kind::Step {
                        fields.text("kind", kind.word());
                    }
                    if attempt > 1 {
                        fields.unsigned("attempt", u64::from(attempt));
                    }
                });
            }
            Observed::StepFinished { name, output, .. } => {
                if let Some(step) = self.close(name) {
                    let recording = &self.recording;
                    recording.finish(step);
                    recording.fields_at(step, |fields| {
                        fields.unsigned("output_bytes", output.len() as u64);
                    });
                }
            }
            Observed::StepFailed { name, message, for_good, .. } => {
                let step = self.open.iter().rfind(|(open, _)| *open == name).map(|(_, step)| *step);
                if let Some(step) = step {
                    recording.fields_at(step, |fields| fields.text("failed", message));
                    if for_good {
                        recording.finish(step);
                        self.close(name);
                    }
                }
            }
            Observed::Undone { name } => {
                recording.step("undo");
                recording.fields(|fields| fields.text("of", name));
            }
            _ => {}
        }
    }

    /// The step of this name that began last is not in progress any more.
    fn close(&mut self, name: &str) -> Option<StepId> {
        let at = self.open.iter().rposition(|(open, _)| *open == name)?;
        Some(self.open.remove(at).1)
    }
}

fn end<C: Clock>(recording: Recording<'_, C>, ending: &Ending) {
    let told = |error: &StoredError| match error.operation.is_empty() {
        true => error.message.clone(),
        false => format!("{}: {}", error.operation, error.message),
    };
    match ending {
        Ending::Completed(_) => recording.succeed(),
        Ending::Failed(error) => recording.fail("failed", &told(error)),
        Ending::Cancelled => recording.fail("cancelled", "It was cancelled."),
        Ending::Stuck(_) => recording.fail("stuck", "What it had done could not be undone."),
    }
}
