//! `queue`: topics of `rialto-queue`, in memory and on the real disk, without a socket and over loopback.
//!
//! The six tests of seed 003 with its sizes and counts and with a hundred times as many messages,
//! and what users of brokers ask for. Every message of an arm has bytes of its own and no arm sees
//! those of another; every byte that was sent is received and compared.

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

use crate::error::BenchError;
use crate::report::Row;
use crate::suite::{Context, Outcome, Suite};

/// The suite.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queues;

impl Suite for Queues {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn about(&self) -> &'static str {
        "topics in memory and on the real disk: the six tests of seed 003, and what brokers are asked for"
    }

    fn parts(&self) -> Vec<&'static str> {
        PARTS.map(|(name, _)| name).to_vec()
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome, BenchError> {
        let mut outcome = Outcome::default();
        for (name, measure) in PARTS {
            if context.wants(name) {
                outcome.extend(measure(context)?);
            }
        }
        Ok(outcome)
    }
}

type Part = fn(&mut Context<'_>) -> Result<Outcome, BenchError>;

/// What can be asked for alone.
const PARTS: [(&str, Part); 14] = [
    ("memory", |context| memory::measure(context).map(rows)),
    ("compressed", |context| codecs::compressed(context).map(rows)),
    ("encrypted", |context| codecs::encrypted(context).map(rows)),
    ("both", |context| codecs::both(context).map(rows)),
    ("batches", |context| batches::measure(context).map(rows)),
    ("copies", |context| copies::measure(context).map(rows)),
    ("mapped", |context| mapped::measure(context).map(rows)),
    ("at-once", |context| durable::at_once(context).map(rows)),
    ("loopback", |context| loopback::measure(context).map(rows)),
    ("confirmed", |context| durable::confirmed(context).map(rows)),
    ("full", |context| steady::measure(context).map(rows)),
    ("latency", latency::measure),
    ("groups", |context| groups::measure(context).map(rows)),
    ("reopen", |context| reopen::measure(context).map(rows)),
];

fn rows(rows: Vec<Row>) -> Outcome {
    Outcome { rows, ..Outcome::default() }
}
