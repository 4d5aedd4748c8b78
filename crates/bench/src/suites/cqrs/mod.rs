//! `cqrs`: what a call over the bus costs.

mod concurrent;
mod events;
mod pipelines;
mod registration;
mod safe;
mod sends;
mod work;

use crate::error::{BenchError, broken};
use crate::report::{Case, Risk, Transport};
use crate::suite::{Context, Outcome, Suite};
use tokio::runtime::{Builder, Runtime};

/// The suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cqrs;

impl Suite for Cqrs {
    fn name(&self) -> &'static str {
        "cqrs"
    }

    fn about(&self) -> &'static str {
        "commands, queries and events over the static and the dynamic bus, and what they allocate"
    }

    fn parts(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome, BenchError> {
        let mut outcome = Outcome::default();
        outcome.extend(sends::sends(context)?);
        outcome.extend(pipelines::pipelines(context)?);
        outcome.extend(events::events(context)?);
        outcome.extend(events::batches(context)?);
        outcome.extend(concurrent::concurrent(context)?);
        outcome.extend(safe::safe(context)?);
        outcome.extend(registration::registration(context)?);
        Ok(outcome)
    }
}

fn case(work: &str) -> Case {
    Case { work: work.to_string(), risk: Risk::NoOrders, transport: Transport::InProcess }
}

/// A runtime on the calling thread alone.
fn runtime() -> Result<Runtime, BenchError> {
    Builder::new_current_thread().build().map_err(broken("awaited calls", "start a runtime"))
}
