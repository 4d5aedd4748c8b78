//! `lifecycle`: the cost of counting operations, and the time of a shutdown.

mod operations;
mod shutdown;

use crate::suite::{Suite, part};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "lifecycle",
    about: "operations begun and ended, components registered and restarted, shutdown while requests are under way",
    parts: &[
        part("operations", |context, outcome| outcome.take(operations::rows(context))),
        part("shutdown", |context, outcome| {
            outcome.take(shutdown::with_a_slow_operation(context));
            outcome.take(shutdown::with_a_thousand_requests(context));
        }),
    ],
};
