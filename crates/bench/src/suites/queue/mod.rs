//! `queue`: topics of `rialto-queue`, in memory and on the real disk, in process and over loopback.
//!
//! The six tests of Helianthus with its sizes and counts and with a hundred times as many messages,
//! and usual measurements of brokers. Every message of an arm has its own content, and all received
//! bytes are compared.

mod batches;
mod codecs;
mod copies;
mod durable;
mod groups;
mod latency;
mod loopback;
mod mapped;
mod memory;
mod messages;
mod reopen;
mod rounds;
mod stage;
mod steady;

use crate::suite::{Suite, SuitePart};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "queue",
    about: "topics in memory and on the real disk: the six tests of Helianthus, and what brokers are asked for",
    parts: &[
        SuitePart { name: "memory", measure: memory::measure },
        SuitePart { name: "compressed", measure: codecs::compressed },
        SuitePart { name: "encrypted", measure: codecs::encrypted },
        SuitePart { name: "both", measure: codecs::both },
        SuitePart { name: "batches", measure: batches::measure },
        SuitePart { name: "copies", measure: copies::measure },
        SuitePart { name: "mapped", measure: mapped::measure },
        SuitePart {
            name: "at-once",
            measure: |context, outcome| outcome.take(durable::at_once(context)),
        },
        SuitePart { name: "loopback", measure: loopback::measure },
        SuitePart { name: "confirmed", measure: durable::confirmed },
        SuitePart {
            name: "full",
            measure: |context, outcome| outcome.take(steady::measure(context)),
        },
        SuitePart { name: "latency", measure: latency::measure },
        SuitePart { name: "groups", measure: groups::measure },
        SuitePart {
            name: "reopen",
            measure: |context, outcome| outcome.take(reopen::measure(context)),
        },
    ],
};
