//! A record in memory, while it is written and until it is replaced.

use crate::bounds::RecorderBounds;
use crate::record::{Ended, Record, RecordId, Step, StepId, Subject};
use crate::variables::{Bounded, Fields, Variables, grow};
use rialto_clock::Timestamp;
use std::fmt::Write as _;

/// The longest sentence that is kept of a failure, in bytes.
pub(crate) const FAILURE_BYTES_MAX: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Succeeded,
    /// The sentence stands in the record.
    Failed(&'static str),
    Abandoned,
    Panicked,
}

/// A step as it is kept: without memory of its own, and small, because writing to memory that was
/// not used for a while is most of what a step costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveStep {
    name: &'static str,
    at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StepNotes {
    step: StepId,
    parent: StepId,
    /// [`Timestamp::MAX`] unless it was recorded.
    finished: Timestamp,
}

/// A record that keeps its memory from one flow or request to the next, and takes names only from
/// the program, so that nothing is allocated for them.
#[derive(Debug)]
pub(crate) struct Live {
    id: RecordId,
    name: &'static str,
    subject: Subject,
    began: Timestamp,
    ended: Timestamp,
    /// `None` while it is unfinished.
    outcome: Option<Outcome>,
    /// Whether it has ended and was not taken yet.
    is_untaken: bool,
    failure: String,
    steps: Vec<LiveStep>,
    /// Of the steps that are part of another or whose end was told, in their order.
    asides: Vec<StepNotes>,
    steps_max: u32,
    pub(crate) steps_lost: u32,
    pub(crate) variables: Variables,
    current: StepId,
}

impl Live {
    pub(crate) fn empty() -> Live {
        Live {
            id: RecordId::NONE,
            name: "",
            subject: Subject::default(),
            began: Timestamp(0),
            ended: Timestamp::MAX,
            outcome: None,
            is_untaken: false,
            failure: String::new(),
            steps: Vec::new(),
            asides: Vec::new(),
            steps_max: 0,
            steps_lost: 0,
            variables: Variables::default(),
            current: StepId::BEGIN,
        }
    }

    /// Returns whether the record that it was before had not been taken.
    pub(crate) fn begin(
        &mut self,
        id: RecordId,
        name: &'static str,
        subject: Subject,
        now: Timestamp,
        bounds: &RecorderBounds,
    ) -> bool {
        self.id = id;
        self.name = name;
        self.subject = subject;
        self.began = now;
        self.ended = Timestamp::MAX;
        self.outcome = None;
        self.failure.clear();
        self.steps.clear();
        self.asides.clear();
        self.steps_max = bounds.steps_max;
        self.steps_lost = 0;
        self.variables.clear(bounds.variable_bytes_max);
        self.current = StepId::BEGIN;
        std::mem::take(&mut self.is_untaken)
    }

    /// Empties the record and keeps its memory.
    pub(crate) fn forget(&mut self) {
        self.id = RecordId::NONE;
    }

    pub(crate) fn id(&self) -> RecordId {
        self.id
    }

    #[inline]
    pub(crate) fn step(&mut self, parent: StepId, name: &'static str, now: Timestamp) -> StepId {
        let number = self.steps.len() as u32;
        if number >= self.steps_max {
            self.steps_lost += 1;
            // Further variables belong to no recorded step.
            self.current = StepId::LOST;
            return StepId::LOST;
        }
        if self.steps.len() == self.steps.capacity() {
            grow(&mut self.steps, self.steps_max as usize);
        }
        let id = StepId(number + 1);
        // The number of a step of another record would hang this one on nothing.
        if parent != StepId::BEGIN && parent < id {
            self.aside(id).parent = parent;
        }
        self.steps.push(LiveStep { name, at: now });
        self.current = id;
        id
    }

    pub(crate) fn finish(&mut self, step: StepId, now: Timestamp) {
        if (1..=self.steps.len()).contains(&(step.0 as usize)) {
            self.aside(step).finished = now;
        }
    }

    /// Optional data of a step.
    fn aside(&mut self, step: StepId) -> &mut StepNotes {
        let found = self.asides.binary_search_by_key(&step, |aside| aside.step);
        let at = found.unwrap_or_else(|at| {
            if self.asides.len() == self.asides.capacity() {
                grow(&mut self.asides, self.steps_max as usize);
            }
            let (parent, finished) = (StepId::BEGIN, Timestamp::MAX);
            self.asides.insert(at, StepNotes { step, parent, finished });
            at
        });
        &mut self.asides[at]
    }

    #[inline]
    pub(crate) fn write(&mut self, step: Option<StepId>, write: impl FnOnce(&mut Fields<'_>)) {
        let step = step.unwrap_or(self.current);
        if step.0 as usize > self.steps.len() {
            self.variables.lost += 1;
            return;
        }
        write(&mut Fields::new(&mut self.variables, step.0));
    }

    pub(crate) fn end(&mut self, outcome: Outcome, message: &str, now: Timestamp) {
        self.ended = now;
        self.outcome = Some(outcome);
        self.is_untaken = true;
        if !message.is_empty() {
            // A sentence that is too long is cut, which is what the error says.
            let room = &mut { FAILURE_BYTES_MAX };
            let _ = Bounded { text: &mut self.failure, room }.write_str(message);
        }
    }

    pub(crate) fn allocated(&self) -> usize {
        self.steps.capacity() * size_of::<LiveStep>()
            + self.asides.capacity() * size_of::<StepNotes>()
            + self.variables.allocated()
            + self.failure.capacity()
    }

    /// A copy, if it has ended and was not taken before.
    pub(crate) fn take(&mut self) -> Option<Record> {
        std::mem::take(&mut self.is_untaken).then(|| self.copy())
    }

    pub(crate) fn copy(&self) -> Record {
        let mut asides = self.asides.iter().peekable();
        let steps = (1..).map(StepId).zip(&self.steps).map(|(id, step)| {
            let aside = asides.next_if(|aside| aside.step == id);
            Step {
                id,
                parent: aside.map_or(StepId::BEGIN, |aside| aside.parent),
                name: step.name.into(),
                at: step.at,
                finished: aside.map(|aside| aside.finished).filter(|at| *at != Timestamp::MAX),
            }
        });
        let ended = self.outcome.map(|outcome| match outcome {
            Outcome::Succeeded => Ended::Succeeded,
            Outcome::Failed(code) => {
                Ended::Failed { code: code.into(), message: self.failure.clone() }
            }
            Outcome::Abandoned => Ended::Abandoned,
            Outcome::Panicked => Ended::Panicked,
        });
        Record {
            id: self.id,
            name: self.name.into(),
            subject: self.subject,
            began: self.began,
            ended: ended.map(|ended| (self.ended, ended)),
            steps: steps.collect(),
            steps_lost: self.steps_lost,
            variables: self.variables.each().collect(),
            variable_bytes: self.variables.bytes() as u32,
            variables_lost: self.variables.lost,
            variables_cut: self.variables.cut,
        }
    }
}
