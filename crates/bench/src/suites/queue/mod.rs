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

use crate::error::BenchError;
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

    fn run(&self, context: &mut Context<'_>) -> Result<Outcome, BenchError> {
        let mut outcome = Outcome::default();
        outcome.rows.extend(memory::measure(context)?);
        outcome.rows.extend(codecs::compressed(context)?);
        outcome.rows.extend(codecs::encrypted(context)?);
        outcome.rows.extend(codecs::both(context)?);
        outcome.rows.extend(batches::measure(context)?);
        outcome.rows.extend(copies::measure(context)?);
        outcome.rows.extend(mapped::measure(context)?);
        outcome.rows.extend(durable::at_once(context)?);
        outcome.rows.extend(loopback::measure(context)?);
        outcome.rows.extend(durable::confirmed(context)?);
        outcome.extend(latency::measure(context)?);
        outcome.rows.extend(groups::measure(context)?);
        outcome.rows.extend(reopen::measure(context)?);
        Ok(outcome)
    }
}
