//! A record and all that it asked, as one row of moments.

use rialto_flow::Timestamp;
use rialto_model::Seq;
use rialto_recorder::{Record, Step, StepId, Tree, Value};
use std::collections::BTreeMap;

/// The kind of an entry.
#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    /// A record began.
    Began,
    /// A step was reached.
    Reached(&'a Step),
    /// A record ended.
    Ended,
}

/// An entry of a record.
pub(super) struct Moment<'a> {
    pub(super) record: &'a Record,
    /// The number of records around it.
    pub(super) depth: usize,
    pub(super) what: What<'a>,
    pub(super) at: Timestamp,
}

/// All entries, in order of time.
pub(super) fn moments(tree: &Tree) -> Vec<Moment<'_>> {
    let mut moments = Vec::new();
    walk(tree, 0, &mut moments);
    // Concurrent records are ordered by time; entries of the same time, by the tree.
    moments.sort_by_key(|moment| moment.at);
    moments
}

fn walk<'a>(tree: &'a Tree, depth: usize, moments: &mut Vec<Moment<'a>>) {
    let record = tree.record();
    let tell = |moments: &mut Vec<Moment<'a>>, what, at| {
        moments.push(Moment { record, depth, what, at });
    };
    let asked_at =
        |step: StepId| tree.children().iter().filter(move |child| tree.step_of(child) == step);
    tell(moments, What::Began, record.began());
    asked_at(StepId::BEGIN).for_each(|child| walk(child, depth + 1, moments));
    for step in record.steps() {
        tell(moments, What::Reached(step), step.at());
        asked_at(step.id()).for_each(|child| walk(child, depth + 1, moments));
    }
    if let Some(ended) = record.ended() {
        tell(moments, What::Ended, ended);
    }
}

impl<'a> Moment<'a> {
    /// The current step of the record.
    fn step(&self) -> StepId {
        match self.what {
            What::Began => StepId::BEGIN,
            What::Reached(step) => step.id(),
            What::Ended => self.record.steps().last().map_or(StepId::BEGIN, Step::id),
        }
    }

    /// The variables that changed here: name, previous value, new value. None at the end of a
    /// record.
    pub(super) fn changes(&self) -> Vec<String> {
        if matches!(self.what, What::Ended) {
            return Vec::new();
        }
        let mut cursor = self.record.cursor();
        cursor.jump(self.step());
        cursor.changes().iter().map(ToString::to_string).collect()
    }

    /// All variables of the record at this entry.
    pub(super) fn variables(&self) -> BTreeMap<&'a str, &'a Value> {
        let mut cursor = self.record.cursor();
        cursor.jump(self.step());
        cursor.variables()
    }

    /// The sequences of the journal that were recorded here.
    pub(super) fn seqs(&self) -> Vec<Seq> {
        if matches!(self.what, What::Ended) {
            return Vec::new();
        }
        let told = self.record.variables_at(self.step());
        let told = told.filter(|told| told.path == "seq" || told.path.ends_with(".seq"));
        told.filter_map(|told| told.value.to_string().parse().ok().map(Seq)).collect()
    }
}
