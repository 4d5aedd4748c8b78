//! Cursors step through a record, forward and back.

use crate::record::{Record, Step, StepId};
use crate::variables::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A position in a record: at its beginning or at one of its steps.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    record: &'a Record,
    /// The number of steps before it: 0 at the beginning.
    at: usize,
}

/// How a variable changed at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Change<'a> {
    /// Its name.
    pub path: &'a str,
    /// The value before; `None` if it did not exist.
    pub before: Option<&'a Value>,
    /// The value from this step on.
    pub after: &'a Value,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(record: &'a Record) -> Cursor<'a> {
        Cursor { record, at: 0 }
    }

    /// The present step; `None` at the beginning.
    #[must_use]
    pub fn step(&self) -> Option<&'a Step> {
        self.at.checked_sub(1).and_then(|at| self.record.steps().get(at))
    }

    /// Moves to the next step and returns it. At the last it stays and returns `None`.
    pub fn forward(&mut self) -> Option<&'a Step> {
        let next = self.record.steps().get(self.at)?;
        self.at += 1;
        Some(next)
    }

    /// Goes back by one step and returns whether it did: at the beginning it stays.
    pub fn back(&mut self) -> bool {
        let could = self.at > 0;
        self.at -= usize::from(could);
        could
    }

    /// Goes to a step and returns whether there is one of this number.
    pub fn jump(&mut self, step: StepId) -> bool {
        let exists = step.0 as usize <= self.record.steps().len();
        if exists {
            self.at = step.0 as usize;
        }
        exists
    }

    /// The last value of every variable up to here, by name.
    #[must_use]
    pub fn variables(&self) -> BTreeMap<&'a str, &'a Value> {
        self.state_at(self.at)
    }

    /// The changes of the present step, by name. A variable that was written again with the same
    /// value has not changed.
    #[must_use]
    pub fn changes(&self) -> Vec<Change<'a>> {
        let before = match self.at.checked_sub(1) {
            Some(before) => self.state_at(before),
            None => BTreeMap::new(),
        };
        let changed = self.variables().into_iter().filter_map(|(path, after)| {
            let before = before.get(path).copied();
            (before != Some(after)).then_some(Change { path, before, after })
        });
        changed.collect()
    }

    fn state_at(&self, at: usize) -> BTreeMap<&'a str, &'a Value> {
        // Branches that run side by side tell variables of steps out of their order.
        let told = self.record.variables().iter().filter(|told| told.step.0 as usize <= at);
        let mut told: Vec<_> = told.collect();
        told.sort_by_key(|told| told.step);
        told.into_iter().map(|told| (told.path.as_str(), &told.value)).collect()
    }
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.before {
            Some(before) => write!(f, "{}: {before} → {}", self.path, self.after),
            None => write!(f, "{}: {}", self.path, self.after),
        }
    }
}
