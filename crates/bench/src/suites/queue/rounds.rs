//! Repeats, and their rows.

use super::messages::Messages;
use crate::error::BenchError;
use crate::measure::Spread;
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Size};
use std::fmt::Display;

/// A case of this suite.
pub(super) fn case(work: impl Display) -> Case {
    let work = format!("queue, {work}");
    Case { work, risk: Risk::NoOrders, transport: Transport::InProcess }
}

/// Runs a measurement once to warm up and then `full` times, and returns the spread of each value.
pub(super) fn rounds<const N: usize>(
    context: &mut Context<'_>,
    case: &Case,
    full: usize,
    mut run: impl FnMut(&mut Context<'_>) -> Result<[f64; N], BenchError>,
) -> Result<[Spread; N], BenchError> {
    let repeats = context.sized(full, 1);
    context.progress(&format!("  {}: {repeats} rounds", case.work));
    if context.size() == Size::Full {
        run(context)?;
    }
    let mut values = [const { Vec::new() }; N];
    for _ in 0..repeats {
        for (list, value) in values.iter_mut().zip(run(context)?) {
            list.push(value);
        }
    }
    Ok(values.map(|values| Spread::of(&values).expect("at least one round was run")))
}

/// A row with the verified facts of its messages.
pub(super) fn row(
    case: &Case,
    metric: &str,
    spread: Spread,
    unit: Unit,
    messages: &Messages,
) -> Row {
    Row::of_spread(case, metric, spread, unit)
        .check("messages", messages.count)
        .check("bytes_compared", messages.bytes_total())
}
