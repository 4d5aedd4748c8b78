//! Records.

use crate::FlowId;
use crate::cursor::Cursor;
use crate::variables::Value;
use rialto_clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A name: static in the running program, or read from a file.
pub(crate) type Name = Cow<'static, str>;

/// The number of a record, unique within its recorder and in the order in which they began.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct RecordId(pub u64);

impl RecordId {
    /// No record.
    pub const NONE: RecordId = RecordId(0);
    /// A record that the sampling left out.
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

/// The subject of a record, besides its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The run, if it is one.
    pub flow: Option<FlowId>,
    /// The id of the request; zero is none.
    pub request_id: u64,
    /// The trace that it belongs to; zero is none.
    pub trace_id: u128,
    /// The record that started or sent it.
    pub parent: RecordId,
}

impl Subject {
    /// A run of a flow.
    #[must_use]
    pub fn flow(id: FlowId) -> Subject {
        Subject { flow: Some(id), ..Subject::default() }
    }

    /// The same, with this parent.
    #[must_use]
    pub fn with_parent(self, parent: RecordId) -> Subject {
        Subject { parent, ..self }
    }
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordEnding<'a> {
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed {
        /// The stable code.
        code: &'a str,
        /// The sentence, cut at 256 bytes.
        message: &'a str,
    },
    /// It was abandoned: its future was dropped, or its recording was.
    Abandoned,
    /// It panicked.
    Panicked,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ended {
    Succeeded,
    Failed { code: Name, message: String },
    Abandoned,
    Panicked,
}

/// The number of a step within its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StepId(pub(crate) u32);

impl StepId {
    /// The beginning: before the first step, and the parent of top-level steps.
    pub const BEGIN: StepId = StepId(0);
    /// A step that did not fit, or of something that is not recorded.
    pub(crate) const LOST: StepId = StepId(u32::MAX);

    /// The number, from 1; 0 is the beginning.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }
}

/// One step of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub(crate) id: StepId,
    pub(crate) parent: StepId,
    pub(crate) name: Name,
    pub(crate) at: Timestamp,
    pub(crate) finished: Option<Timestamp>,
}

impl Step {
    /// Its number.
    #[must_use]
    pub fn id(&self) -> StepId {
        self.id
    }

    /// The parent step; [`StepId::BEGIN`] for a top-level step.
    #[must_use]
    pub fn parent(&self) -> StepId {
        self.parent
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When it was reached.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// When it was finished, if that was recorded.
    #[must_use]
    pub fn finished(&self) -> Option<Timestamp> {
        self.finished
    }
}

/// A variable as it was written at a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    pub(crate) step: StepId,
    /// Its name; that of a part has those of the whole before it: `order.price`.
    pub path: String,
    /// The value.
    pub value: Value,
}

/// The record of a flow or request: a copy from the recorder or from disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub(crate) id: RecordId,
    pub(crate) name: Name,
    pub(crate) subject: Subject,
    pub(crate) began: Timestamp,
    /// Time and ending; `None` while it is unfinished.
    pub(crate) ended: Option<(Timestamp, Ended)>,
    pub(crate) steps: Vec<Step>,
    pub(crate) steps_lost: u32,
    pub(crate) variables: Vec<Variable>,
    pub(crate) variable_bytes: u32,
    pub(crate) variables_lost: u32,
    pub(crate) variables_cut: u32,
}

impl Record {
    /// Whether the numbers of its steps are such as a recorder gives.
    pub(crate) fn is_sound(&self) -> bool {
        let mut steps = self.steps.iter().zip(1..);
        steps.all(|(step, number)| step.id == StepId(number) && step.parent < step.id)
            && self.variables.iter().all(|told| told.step.0 as usize <= self.steps.len())
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> RecordId {
        self.id
    }

    /// The name of the flow or request.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its subject.
    #[must_use]
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// When it began.
    #[must_use]
    pub fn began(&self) -> Timestamp {
        self.began
    }

    /// When it ended; `None` while it is unfinished.
    #[must_use]
    pub fn ended(&self) -> Option<Timestamp> {
        self.ended.as_ref().map(|(at, _)| *at)
    }

    /// How it ended; `None` while it is unfinished.
    #[must_use]
    pub fn ending(&self) -> Option<RecordEnding<'_>> {
        Some(match &self.ended.as_ref()?.1 {
            Ended::Succeeded => RecordEnding::Succeeded,
            Ended::Failed { code, message } => RecordEnding::Failed { code, message },
            Ended::Abandoned => RecordEnding::Abandoned,
            Ended::Panicked => RecordEnding::Panicked,
        })
    }

    /// Its steps, in the order in which they were reached.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// All variables, in the order in which they were written.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variables of a step, in the order in which they were written.
    pub fn variables_at(&self, step: StepId) -> impl Iterator<Item = &Variable> {
        self.variables.iter().filter(move |told| told.step == step)
    }

    /// The bytes of its variables, as [`RecorderBounds`](super::RecorderBounds) count them.
    #[must_use]
    pub fn variable_bytes(&self) -> usize {
        self.variable_bytes as usize
    }

    /// The number of steps that did not fit.
    #[must_use]
    pub fn steps_lost(&self) -> u32 {
        self.steps_lost
    }

    /// The number of variables that did not fit, or whose step did not.
    #[must_use]
    pub fn variables_lost(&self) -> u32 {
        self.variables_lost
    }

    /// The number of texts that were cut.
    #[must_use]
    pub fn variables_cut(&self) -> u32 {
        self.variables_cut
    }

    /// The duration of a step: until it was finished, or else until the next step with the same
    /// parent or the end of the parent.
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
