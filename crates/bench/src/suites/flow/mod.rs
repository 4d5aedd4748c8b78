//! `flow`: the cost of a durable flow, and of recording it.

mod recorder;
mod requests;
mod steps;

use crate::suite::{Suite, part};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "flow",
    about: "durable flows of three steps, at every level of durability, and the recorder",
    parts: &[
        part("steps", |context, outcome| outcome.take(steps::rows(context))),
        part("recorder", recorder::rows),
        part("requests", |context, outcome| outcome.take(requests::rows(context))),
    ],
};
