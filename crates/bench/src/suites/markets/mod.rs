//! `markets`: orders on several instruments, through the core, the engine and the gateway.

mod allocations;
mod auction;
mod brackets;
mod check;
mod fills;
mod icebergs;
mod indicative;
mod kill_switch;
mod levels;
mod million;
mod parts;
mod shortest;
mod submitters;
mod sustained;
mod triggers;
mod uncross;
mod writer;

use crate::suite::{Suite, part};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "markets",
    about: "orders on several instruments: against the depth of the book, the number of submitters and the length of the run, up to the fill on a stream; a kill switch, auctions, triggers, icebergs and brackets",
    parts: &[
        part("levels", levels::measure),
        part("million", million::measure),
        part("submitters", submitters::measure),
        part("fills", fills::measure),
        part("sustained", |context, outcome| outcome.take(sustained::measure(context))),
        part("kill-switch", |context, outcome| outcome.take(kill_switch::measure(context))),
        part("uncross", uncross::measure),
        part("writer", writer::measure),
        part("indicative", indicative::measure),
        part("triggers", triggers::measure),
        part("icebergs", |context, outcome| outcome.take(icebergs::measure(context))),
        part("brackets", |context, outcome| outcome.take(brackets::measure(context))),
        part("allocations", |context, outcome| {
            outcome.take(allocations::measure(context));
            outcome.take(allocations::measure_auction(context));
        }),
    ],
};
