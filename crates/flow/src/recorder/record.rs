//! One record: what one flow or request did.

use super::bounds::Bounds;
use super::cursor::Cursor;
use super::variables::{Bounded, Fields, Variable, Variables, grow};
use crate::{FlowId, Timestamp};
use std::fmt;
use std::fmt::Write as _;

/// The longest sentence that is kept of a failure, in bytes.
pub(crate) const FAILURE_BYTES_MAX: usize = 256;

/// The number of a record, unique within its recorder and in the order in which they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(pub u64);

impl RecordId {
    /// No record.
    pub const NONE: RecordId = RecordId(0);
    /// What was left out by the sampling.
    pub const LEFT_OUT: RecordId = RecordId(u64::MAX);

    /// Whether there is a record of this number, or was.
    #[must_use]
    pub fn is_record(self) -> bool {
        self != RecordId::NONE && self != RecordId::LEFT_OUT
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a record is about, beside its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The run, if it is one.
    pub flow: Option<FlowId>,
    /// The id of the request; zero is none.
    pub request_id: u64,
    /// The trace that it belongs to; zero is none.
    pub trace_id: u128,
    /// The record of what has started or asked it.
    pub parent: RecordId,
}

impl Subject {
    /// A run of a flow.
    #[must_use]
    pub fn flow(id: FlowId) -> Subject {
        Subject { flow: Some(id), ..Subject::default() }
    }

    /// The same, started by what this record is of.
    #[must_use]
    pub fn with_parent(self, parent: RecordId) -> Subject {
        Subject { parent, ..self }
    }
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending<'a> {
    /// As it should.
    Succeeded,
    /// It failed.
    Failed {
        /// The stable code.
        code: &'static str,
        /// The sentence, cut at 256 bytes.
        message: &'a str,
    },
    /// Nobody saw it to its end: its future was dropped, or it was forgotten.
    Abandoned,
    /// It panicked.
    Panicked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Succeeded,
    /// The sentence stands in the record.
    Failed(&'static str),
    Abandoned,
    Panicked,
}

/// The number of a step within its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(pub(crate) u32);

impl StepId {
    /// The beginning: before the first step, and the whole of which steps are parts.
    pub const BEGIN: StepId = StepId(0);
    /// A step that did not fit, or of something that is not recorded.
    pub(crate) const LOST: StepId = StepId(u32::MAX);
}

/// One step of a record.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub(crate) id: StepId,
    pub(crate) parent: StepId,
    pub(crate) name: &'static str,
    pub(crate) at: Timestamp,
    /// [`Timestamp::NEVER`] unless it was told.
    pub(crate) finished: Timestamp,
}

impl Step {
    /// Its number.
    #[must_use]
    pub fn id(&self) -> StepId {
        self.id
    }

    /// The step of which it is a part; [`StepId::BEGIN`] if it is part of the whole.
    #[must_use]
    pub fn parent(&self) -> StepId {
        self.parent
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// When it was reached.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// When it was finished, if that was told.
    #[must_use]
    pub fn finished(&self) -> Option<Timestamp> {
        (self.finished != Timestamp::NEVER).then_some(self.finished)
    }
}

/// What one flow or request did: a copy, as it was when the recorder was asked.
#[derive(Clone, Debug)]
pub struct Record {
    pub(crate) id: RecordId,
    pub(crate) name: &'static str,
    pub(crate) subject: Subject,
    pub(crate) began: Timestamp,
    pub(crate) ended: Timestamp,
    /// Nothing while it is under way.
    outcome: Option<Outcome>,
    failure: String,
    steps: Vec<Step>,
    steps_max: u32,
    steps_lost: u32,
    pub(crate) variables: Variables,
    /// The step that was told last.
    current: StepId,
}

impl Record {
    pub(crate) fn empty() -> Record {
        Record {
            id: RecordId::NONE,
            name: "",
            subject: Subject::default(),
            began: Timestamp(0),
            ended: Timestamp::NEVER,
            outcome: None,
            failure: String::new(),
            steps: Vec::new(),
            steps_max: 0,
            steps_lost: 0,
            variables: Variables::default(),
            current: StepId::BEGIN,
        }
    }

    pub(crate) fn begin(
        &mut self,
        id: RecordId,
        name: &'static str,
        subject: Subject,
        now: Timestamp,
        bounds: &Bounds,
    ) {
        self.id = id;
        self.name = name;
        self.subject = subject;
        self.began = now;
        self.ended = Timestamp::NEVER;
        self.outcome = None;
        self.failure.clear();
        self.steps.clear();
        self.steps_max = bounds.steps_max;
        self.steps_lost = 0;
        self.variables.clear(bounds.variable_bytes_max);
        self.current = StepId::BEGIN;
    }

    /// The record is of nothing any more, but keeps its memory.
    pub(crate) fn forget(&mut self) {
        self.id = RecordId::NONE;
    }

    #[inline]
    pub(crate) fn step(&mut self, parent: StepId, name: &'static str, now: Timestamp) -> StepId {
        let number = self.steps.len() as u32;
        if number >= self.steps_max {
            self.steps_lost += 1;
            // What is told from now on belongs to no step that is kept.
            self.current = StepId::LOST;
            return StepId::LOST;
        }
        if self.steps.len() == self.steps.capacity() {
            grow(&mut self.steps, self.steps_max as usize);
        }
        let id = StepId(number + 1);
        // The number of a step of another record would hang this one on nothing.
        let parent = if parent < id { parent } else { StepId::BEGIN };
        self.steps.push(Step { id, parent, name, at: now, finished: Timestamp::NEVER });
        self.current = id;
        id
    }

    pub(crate) fn finish(&mut self, step: StepId, now: Timestamp) {
        let at = (step.0 as usize).wrapping_sub(1);
        if let Some(step) = self.steps.get_mut(at) {
            step.finished = now;
        }
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
        // A sentence that is too long is cut, which is what the error says.
        let _ = Bounded { text: &mut self.failure, room: FAILURE_BYTES_MAX }.write_str(message);
    }

    pub(crate) fn allocated(&self) -> usize {
        self.steps.capacity() * size_of::<Step>()
            + self.variables.allocated()
            + self.failure.capacity()
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> RecordId {
        self.id
    }

    /// The name of the flow or request.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// When it began.
    #[must_use]
    pub fn began(&self) -> Timestamp {
        self.began
    }

    /// When it ended; nothing while it is under way.
    #[must_use]
    pub fn ended(&self) -> Option<Timestamp> {
        self.outcome.map(|_| self.ended)
    }

    /// How it ended; nothing while it is under way.
    #[must_use]
    pub fn ending(&self) -> Option<Ending<'_>> {
        Some(match self.outcome? {
            Outcome::Succeeded => Ending::Succeeded,
            Outcome::Failed(code) => Ending::Failed { code, message: &self.failure },
            Outcome::Abandoned => Ending::Abandoned,
            Outcome::Panicked => Ending::Panicked,
        })
    }

    /// Its steps, in the order in which they were reached.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The variables that were told at a step, in the order in which they were.
    pub fn variables_at(&self, step: StepId) -> impl Iterator<Item = Variable<'_>> {
        self.variables.each().filter(move |(of, _)| *of == step.0).map(|(_, told)| told)
    }

    /// How many bytes its variables take, as [`Bounds`] count them.
    #[must_use]
    pub fn variable_bytes(&self) -> usize {
        self.variables.bytes()
    }

    /// How many steps did not fit.
    #[must_use]
    pub fn steps_lost(&self) -> u32 {
        self.steps_lost
    }

    /// How many variables did not fit, or came at a step that did not.
    #[must_use]
    pub fn variables_lost(&self) -> u32 {
        self.variables.lost
    }

    /// How many texts among the variables were cut.
    #[must_use]
    pub fn variables_cut(&self) -> u32 {
        self.variables.cut
    }

    /// How long a step took: until it was finished or else until the next part of the same whole
    /// was reached, or the whole came to its end.
    #[must_use]
    pub fn took(&self, step: &Step) -> Option<std::time::Duration> {
        let next = self.steps.iter().skip(step.id.0 as usize);
        let next = next.filter(|other| other.parent == step.parent).map(|other| other.at).next();
        let whole = (step.parent.0 as usize).checked_sub(1).and_then(|at| self.steps.get(at));
        let end = step
            .finished()
            .or(next)
            .or_else(|| whole.and_then(Step::finished))
            .or_else(|| self.ended());
        end.map(|end| end.since(step.at))
    }

    /// Steps through it, from its beginning.
    #[must_use]
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor::new(self)
    }
}
