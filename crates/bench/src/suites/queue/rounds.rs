//! Repeats, and their rows.

use super::messages::Messages;
use super::stage::Stage;
use crate::error::BenchError;
use crate::measure::Spread;
use crate::report::{Case, Row, Unit};
use crate::suite::{Context, Size};
use rialto_queue::Level;
use std::fmt::Display;
use std::sync::Arc;

/// A case of this suite.
pub(super) fn case(work: impl Display) -> Case {
    Case::without_orders(format!("queue, {work}"))
}

/// A case with its messages, and what all its rows say.
pub(super) struct Trial {
    pub(super) case: Case,
    /// What errors call it.
    pub(super) name: String,
    pub(super) messages: Arc<Messages>,
    level: Level,
    notes: Vec<&'static str>,
}

impl Trial {
    pub(super) fn new(case: Case, level: Level, messages: impl Into<Arc<Messages>>) -> Trial {
        let (name, messages) = (case.to_string(), messages.into());
        Trial { case, name, messages, level, notes: Vec::new() }
    }

    /// With one more footnote at each row.
    pub(super) fn note(mut self, note: &'static str) -> Trial {
        self.notes.push(note);
        self
    }

    /// A fresh queue with a topic at the level of the case.
    pub(super) fn stage(&self, context: &mut Context<'_>) -> Result<Stage, BenchError> {
        Stage::at(context, &self.name, self.level)
    }

    /// Messages a second.
    pub(super) fn per_second(&self, seconds: f64) -> f64 {
        self.messages.count as f64 / seconds
    }

    /// Runs something that comes to some values, once for nobody and then `full` times, and returns
    /// the spread of each value.
    pub(super) fn rounds<const N: usize>(
        &self,
        context: &mut Context<'_>,
        full: usize,
        mut run: impl FnMut(&mut Context<'_>) -> Result<[f64; N], BenchError>,
    ) -> Result<[Spread; N], BenchError> {
        let repeats = context.sized(full, 1);
        context.progress(&format!("  {}: {repeats} rounds", self.case.work));
        if context.size() == Size::Full {
            run(context)?;
        }
        let rounds = (0..repeats).map(|_| run(context)).collect::<Result<Vec<_>, _>>()?;
        Ok(std::array::from_fn(|at| Spread::over(&rounds, |values| values[at])))
    }

    /// A row with what was verified of the messages.
    pub(super) fn row(&self, metric: impl Into<String>, spread: Spread, unit: Unit) -> Row {
        self.bare_row(metric, spread, unit).level(self.level.name()).footnotes(&self.notes)
    }

    /// A row in messages a second.
    pub(super) fn rate(&self, metric: &str, spread: Spread) -> Row {
        self.row(metric, spread, Unit::MessagesPerSecond)
    }

    /// A row of what is without a level, and without the footnotes.
    pub(super) fn bare_row(&self, metric: impl Into<String>, spread: Spread, unit: Unit) -> Row {
        Row::of_spread(&self.case, metric, spread, unit)
            .check("messages", self.messages.count)
            .check("bytes_compared", self.messages.bytes_total())
    }
}
