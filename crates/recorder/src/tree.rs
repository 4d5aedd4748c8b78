//! Draws a record and its descendants.

use crate::record::{Record, RecordEnding, RecordId, Step, StepId};
use rialto_clock::Timestamp;
use std::fmt;

/// A record with the records of its descendants. Its text form is a tree with the time since the
/// beginning, how long each step took, and the variables.
#[derive(Clone, Debug)]
pub struct Tree {
    record: Record,
    children: Vec<Tree>,
}

impl Tree {
    /// The tree of the record of this number among these, in any order.
    #[must_use]
    pub fn of(mut records: Vec<Record>, id: RecordId) -> Option<Tree> {
        records.sort_by_key(Record::id);
        let tree = |record| Tree { record, children: Vec::new() };
        let mut trees: Vec<Tree> = records.into_iter().map(tree).collect();
        // A child began after its parent, so that from the last to the first, all children of a
        // record have theirs when they are put in place.
        while let Some(mut last) = trees.pop() {
            last.children.reverse();
            if last.record.id() == id {
                return Some(last);
            }
            let parent = last.record.subject().parent;
            let at = trees.binary_search_by_key(&parent, |tree| tree.record.id());
            if let Some(parent) = at.ok().and_then(|at| trees.get_mut(at)) {
                parent.children.push(last);
            }
        }
        None
    }

    /// The record.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its children, in the order in which they began.
    #[must_use]
    pub fn children(&self) -> &[Tree] {
        &self.children
    }

    fn draw(&self, f: &mut fmt::Formatter<'_>, depth: usize, origin: Timestamp) -> fmt::Result {
        let record = &self.record;
        let pad = Pad(depth);
        write!(f, "{pad}{} #{}", record.name(), record.id())?;
        if let Some(flow) = record.subject().flow {
            write!(f, " {flow}")?;
        }
        if record.subject().request_id != 0 {
            write!(f, " request {}", record.subject().request_id)?;
        }
        if depth > 0 {
            write!(f, "  +{:?}", record.began().since(origin))?;
        }
        if let Some(ended) = record.ended() {
            write!(f, "  took {:?}", ended.since(record.began()))?;
        }
        match record.ending() {
            None => writeln!(f, "  under way")?,
            Some(RecordEnding::Succeeded) => writeln!(f)?,
            Some(RecordEnding::Failed { code, message }) => {
                writeln!(f, "  failed: {code}: {message}")?
            }
            Some(RecordEnding::Abandoned) => writeln!(f, "  abandoned")?,
            Some(RecordEnding::Panicked) => writeln!(f, "  panicked")?,
        }
        self.draw_inside(f, StepId::BEGIN, depth + 1, origin)?;
        if record.steps_lost() > 0 {
            writeln!(f, "{}({} more steps did not fit)", Pad(depth + 1), record.steps_lost())?;
        }
        if record.variables_lost() > 0 {
            let lost = record.variables_lost();
            writeln!(f, "{}({lost} more variables did not fit)", Pad(depth + 1))?;
        }
        Ok(())
    }

    /// Draws the variables, steps and records inside of a step.
    fn draw_inside(
        &self,
        f: &mut fmt::Formatter<'_>,
        whole: StepId,
        depth: usize,
        origin: Timestamp,
    ) -> fmt::Result {
        let pad = Pad(depth);
        for variable in self.record.variables_at(whole) {
            writeln!(f, "{pad}{} = {}", variable.path, variable.value)?;
        }
        let asked = self.children.iter().filter(|child| self.step_of(child) == whole);
        for child in asked {
            child.draw(f, depth, origin)?;
        }
        for step in self.record.steps().iter().filter(|step| step.parent() == whole) {
            write!(f, "{pad}{}  +{:?}", step.name(), step.at().since(origin))?;
            match self.record.took(step) {
                Some(took) => writeln!(f, "  took {took:?}")?,
                None => writeln!(f)?,
            }
            self.draw_inside(f, step.id(), depth + 1, origin)?;
        }
        Ok(())
    }

    /// The step at which a child began: the last that was reached by then.
    #[must_use]
    pub fn step_of(&self, child: &Tree) -> StepId {
        let reached = |step: &&Step| step.at() <= child.record.began();
        self.record.steps().iter().rfind(reached).map_or(StepId::BEGIN, Step::id)
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.draw(f, 0, self.record.began())
    }
}

struct Pad(usize);

impl fmt::Display for Pad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:width$}", "", width = self.0 * 2)
    }
}
