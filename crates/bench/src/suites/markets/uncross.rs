//! Uncrossing of a call in the core: the time in all, and the longest command.

use super::auction::{
    Audit, BOOK, books, collect, is_deep, open, uncross, verify_auction, verify_collected,
};
use super::parts::{self, Run, Timing};
use crate::error::{BenchError, verify};
use crate::report::{Case, Risk, Row, Transport};
use crate::suite::{Context, Outcome};
use rialto_core::ORDERS_PER_COMMAND;
use rialto_workload::{AUCTION_FEES, CallAuction};

/// The targets of all commands together, by the levels of the book, in nanoseconds.
const TOTAL_NS: f64 = 25e6;
const TOTAL_DEEP_NS: f64 = 40e6;

const IN_PARTS: &str = "The command that opens the instrument, and ticks behind it, each of which touches at \
    most 256 orders: two for each trade. `commands` in the checks is their number.";
pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    for auction in books(context) {
        outcome.take(rows(context, &auction));
    }
}

fn rows(context: &mut Context<'_>, auction: &CallAuction) -> Result<Vec<Row>, BenchError> {
    let work = format!("core, uncrossing of {}", auction.flow.name);
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    verify_auction(&case.to_string(), auction)?;
    let mut runs = Vec::new();
    for run in 1..=context.sized(9, 2) {
        context.progress(&format!("  {}, run {run}", case.work));
        runs.push(uncross_all(&case.to_string(), auction)?);
    }
    let total = if is_deep(auction) { TOTAL_DEEP_NS } else { TOTAL_NS };
    parts::rows(&case, &runs, total, |row| {
        row.checks(&auction.flow.checks(1))
            .check("price", auction.price.0)
            .check("surplus", auction.surplus.0)
            .check("orders_ended", auction.ended)
            .footnote(BOOK)
            .footnote(IN_PARTS)
            .footnote(AUCTION_FEES)
    })
}

fn uncross_all(case: &str, auction: &CallAuction) -> Result<Run, BenchError> {
    let mut funded = open(&auction.flow);
    let mut audit = Audit::default();
    collect(case, auction, &mut funded, &mut audit)?;
    verify_collected(case, auction, &audit, &funded)?;
    let least = auction.flow.expected.tally.trades.div_ceil(u64::from(ORDERS_PER_COMMAND) / 2);
    let mut timing = Timing::start(2 * least as usize);
    uncross(case, auction, &mut funded, |funded, command| {
        timing.command(|| funded.command_into(command, &mut audit))
    })?;
    let is_bounded = timing.commands() as u64 >= least;
    let run = timing.end();
    audit.verify(case, auction, 1, &funded)?;
    verify(case, "whether it took as many commands as it must", is_bounded, true)?;
    Ok(run)
}
