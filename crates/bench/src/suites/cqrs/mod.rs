//! `cqrs`: the cost of a call over the bus.

mod concurrent;
mod events;
mod pipelines;
mod registration;
mod safe;
mod sends;
mod work;

use crate::error::{BenchError, broken};
use crate::suite::{Suite, part};
use tokio::runtime::{Builder, Runtime};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "cqrs",
    about: "commands, queries and events over the static and the dynamic bus, and what they allocate",
    parts: &[
        part("sends", |context, outcome| outcome.take(sends::sends(context))),
        part("pipelines", |context, outcome| outcome.take(pipelines::pipelines(context))),
        part("events", |context, outcome| outcome.take(events::events(context))),
        part("batches", |context, outcome| outcome.take(events::batches(context))),
        part("concurrent", |context, outcome| outcome.take(concurrent::concurrent(context))),
        part("safe", |context, outcome| outcome.take(safe::safe(context))),
        part("registration", |context, outcome| outcome.take(registration::registration(context))),
    ],
};

/// A runtime on the calling thread alone.
fn runtime() -> Result<Runtime, BenchError> {
    Builder::new_current_thread().build().map_err(broken("awaited calls", "start a runtime"))
}
