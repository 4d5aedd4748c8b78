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
mod producers;
mod reopen;
mod rounds;
mod stage;
mod steady;

use crate::suite::{Suite, part};

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "queue",
    about: "topics in memory and on the real disk: the six tests of Helianthus, and what brokers are asked for",
    parts: &[
        part("memory", memory::measure),
        part("compressed", codecs::compressed),
        part("encrypted", codecs::encrypted),
        part("both", codecs::both),
        part("batches", batches::measure),
        part("copies", copies::measure),
        part("mapped", mapped::measure),
        part("at-once", |context, outcome| outcome.take(durable::at_once(context))),
        part("loopback", loopback::measure),
        part("confirmed", durable::confirmed),
        part("full", |context, outcome| outcome.take(steady::measure(context))),
        part("latency", latency::measure),
        part("groups", groups::measure),
        part("reopen", |context, outcome| outcome.take(reopen::measure(context))),
    ],
};
