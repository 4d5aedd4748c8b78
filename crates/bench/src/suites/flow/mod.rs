//! `flow`: the cost of a durable flow, and of recording it.

mod recorder;
mod requests;
mod steps;

use crate::report::{Case, Risk, Transport};
use crate::suite::{Suite, SuitePart};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "flow",
    about: "durable flows of three steps, at every level of durability, and the recorder",
    parts: &[
        SuitePart { name: "steps", measure: |context, outcome| outcome.take(steps::rows(context)) },
        SuitePart {
            name: "recorder",
            measure: |context, outcome| outcome.take(recorder::rows(context)),
        },
        SuitePart {
            name: "requests",
            measure: |context, outcome| outcome.take(requests::rows(context)),
        },
    ],
};

fn case(work: &str) -> Case {
    Case { work: work.to_string(), risk: Risk::NoOrders, transport: Transport::InProcess }
}
