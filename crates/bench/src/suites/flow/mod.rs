//! `flow`: what a durable flow costs, and what recording it does.

mod recorder;
mod requests;
mod steps;

use crate::error::BenchError;
use crate::report::{Case, Risk, Transport};
use crate::suite::{Context, Outcome, Suite};

/// The suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow;

impl Suite for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn about(&self) -> &'static str {
        "durable flows of three steps, at every level of durability, and the recorder"
    }

    fn parts(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome, BenchError> {
        let mut outcome = Outcome::default();
        outcome.rows.extend(steps::rows(context)?);
        outcome.rows.extend(recorder::rows(context)?);
        outcome.rows.extend(requests::rows(context)?);
        Ok(outcome)
    }
}

fn case(work: &str) -> Case {
    Case { work: work.to_string(), risk: Risk::NoOrders, transport: Transport::InProcess }
}
