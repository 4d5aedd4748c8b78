//! `markets`: orders on several instruments, through the core, the engine and the gateway.

mod allocations;
mod check;
mod fills;
mod kill_switch;
mod levels;
mod million;
mod shortest;
mod submitters;
mod sustained;
mod writer;

use crate::suite::{Suite, part};

/// The suite. The rows of auctions go behind those of the kill switch: uncrossing 100,000 orders on
/// 1,000 and on 20,000 levels, and the indicative price.
pub(crate) const SUITE: Suite = Suite {
    name: "markets",
    about: "orders on several instruments: against the depth of the book, the number of submitters and the length of the run, up to the fill on a stream, and a kill switch",
    parts: &[
        part("levels", levels::measure),
        part("million", million::measure),
        part("submitters", submitters::measure),
        part("fills", fills::measure),
        part("sustained", |context, outcome| outcome.take(sustained::measure(context))),
        part("kill-switch", |context, outcome| outcome.take(kill_switch::measure(context))),
        part("writer", |context, outcome| outcome.take(writer::measure(context))),
        part("allocations", |context, outcome| outcome.take(allocations::measure(context))),
    ],
};
