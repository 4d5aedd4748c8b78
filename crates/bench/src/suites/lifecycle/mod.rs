//! `lifecycle`: what it costs to count what is under way, and how soon a process stops.

mod operations;
mod shutdown;

use crate::error::BenchError;
use crate::report::{Case, Risk, Transport};
use crate::suite::{Context, Outcome, Suite};

/// The suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifecycle;

impl Suite for Lifecycle {
    fn name(&self) -> &'static str {
        "lifecycle"
    }

    fn about(&self) -> &'static str {
        "operations begun and ended, components registered and restarted, shutdown while requests are under way"
    }

    fn parts(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome, BenchError> {
        let mut outcome = Outcome::default();
        outcome.rows.extend(operations::rows(context)?);
        outcome.rows.extend(shutdown::with_a_slow_operation(context)?);
        outcome.rows.push(shutdown::with_a_thousand_requests(context)?);
        Ok(outcome)
    }
}

fn case(work: &str) -> Case {
    Case { work: work.to_string(), risk: Risk::NoOrders, transport: Transport::InProcess }
}
