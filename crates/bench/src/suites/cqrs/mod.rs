//! `cqrs`: the cost of a call over the bus.

mod concurrent;
mod events;
mod pipelines;
mod registration;
mod safe;
mod sends;
mod work;

use crate::error::{BenchError, broken};
use crate::report::{Case, Risk, Transport};
use crate::suite::{Suite, SuitePart};
use tokio::runtime::{Builder, Runtime};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "cqrs",
    about: "commands, queries and events over the static and the dynamic bus, and what they allocate",
    parts: &[
        SuitePart {
            name: "sends",
            measure: |context, outcome| outcome.take(sends::sends(context)),
        },
        SuitePart {
            name: "pipelines",
            measure: |context, outcome| outcome.take(pipelines::pipelines(context)),
        },
        SuitePart {
            name: "events",
            measure: |context, outcome| outcome.take(events::events(context)),
        },
        SuitePart {
            name: "batches",
            measure: |context, outcome| outcome.take(events::batches(context)),
        },
        SuitePart {
            name: "concurrent",
            measure: |context, outcome| outcome.take(concurrent::concurrent(context)),
        },
        SuitePart { name: "safe", measure: |context, outcome| outcome.take(safe::safe(context)) },
        SuitePart {
            name: "registration",
            measure: |context, outcome| outcome.take(registration::registration(context)),
        },
    ],
};

fn case(work: &str) -> Case {
    Case { work: work.to_string(), risk: Risk::NoOrders, transport: Transport::InProcess }
}

/// A runtime on the calling thread alone.
fn runtime() -> Result<Runtime, BenchError> {
    Builder::new_current_thread().build().map_err(broken("awaited calls", "start a runtime"))
}
