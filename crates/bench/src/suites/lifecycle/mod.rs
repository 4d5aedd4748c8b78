//! `lifecycle`: the cost of counting operations, and the time of a shutdown.

mod operations;
mod shutdown;

use crate::report::{Case, Risk, Transport};
use crate::suite::{Suite, SuitePart};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "lifecycle",
    about: "operations begun and ended, components registered and restarted, shutdown while requests are under way",
    parts: &[
        SuitePart {
            name: "operations",
            measure: |context, outcome| outcome.take(operations::rows(context)),
        },
        SuitePart {
            name: "shutdown",
            measure: |context, outcome| {
                outcome.take(shutdown::with_a_slow_operation(context));
                outcome.take(shutdown::with_a_thousand_requests(context));
            },
        },
    ],
};

fn case(work: &str) -> Case {
    Case { work: work.to_string(), risk: Risk::NoOrders, transport: Transport::InProcess }
}
