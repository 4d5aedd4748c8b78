//! Uncrossing of a call in the core: the time in all, and the longest command.

use super::auction::{
    Audit, BOOK, books, collect, is_deep, open, uncross, verify_auction, verify_collected,
};
use super::shortest::{SHORTEST, longest_of_shortest, percentiles};
use crate::error::{BenchError, verify};
use crate::measure::{Clock, CoreWait, Percentiles, Spread, processor_time_ns};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_core::ORDERS_PER_COMMAND;
use rialto_workload::{AUCTION_FEES, CallAuction};

/// The targets: of all commands together by the levels of the book, and of the longest, in
/// nanoseconds.
const TOTAL_NS: f64 = 25e6;
const TOTAL_DEEP_NS: f64 = 40e6;
const LONGEST_NS: f64 = 100e3;

const IN_PARTS: &str = "The command that opens the instrument, and ticks behind it, each of which touches at \
    most 256 orders: two for each trade. `commands` in the checks is their number.";
const WALL: &str = "By the wall clock, readings of the clocks between the commands included.";
const PROCESSOR: &str = "In processor time of the thread, so that other work on the machine is not in \
    it. `longest_wall_ns` in the checks is by the wall clock.";

/// The measurements of a run.
struct Run {
    total_ns: u64,
    /// The processor time of each command.
    commands_ns: Vec<u64>,
    processor: Percentiles,
    longest_wall_ns: u64,
    waited: Option<f64>,
}

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
    let waited = runs.iter().filter_map(|run| run.waited).reduce(f64::max);
    let longest_wall = runs.iter().map(|run| run.longest_wall_ns).max();
    let each: Vec<&[u64]> = runs.iter().map(|run| &run.commands_ns[..]).collect();
    let longest = longest_of_shortest(&case.to_string(), &each)?;
    let checked = |row: Row| {
        row.checks(&auction.flow.checks(1))
            .check("price", auction.price.0)
            .check("surplus", auction.surplus.0)
            .check("orders_ended", auction.ended)
            .check("commands", runs[0].commands_ns.len())
            .check("longest_wall_ns", longest_wall)
            .waited_for_core(waited)
            .footnote(BOOK)
            .footnote(IN_PARTS)
            .footnote(AUCTION_FEES)
    };
    let row = |metric: &str, value: fn(&Run) -> u64| {
        let spread = Spread::over(&runs, |run| value(run) as f64);
        checked(Row::of_spread(&case, metric, spread, Unit::Nanoseconds))
    };
    let metric = "longest command, each at its shortest of the runs";
    let longest = checked(Row::new(&case, metric, longest as f64, Unit::Nanoseconds));
    let total = if is_deep(auction) { TOTAL_DEEP_NS } else { TOTAL_NS };
    Ok(vec![
        row("time", |run| run.total_ns).target(total).footnote(WALL),
        row("one command, p50", |run| run.processor.p50).footnote(PROCESSOR),
        row("one command, p99", |run| run.processor.p99).footnote(PROCESSOR),
        row("one command, longest", |run| run.processor.max).footnote(PROCESSOR),
        longest.target(LONGEST_NS).footnote(PROCESSOR).footnote(SHORTEST),
    ])
}

fn uncross_all(case: &str, auction: &CallAuction) -> Result<Run, BenchError> {
    let mut funded = open(&auction.flow);
    let mut audit = Audit::default();
    collect(case, auction, &mut funded, &mut audit)?;
    verify_collected(case, auction, &audit, &funded)?;
    let least = auction.flow.expected.tally.trades.div_ceil(u64::from(ORDERS_PER_COMMAND) / 2);
    let (mut commands_ns, mut longest_wall_ns) = (Vec::with_capacity(2 * least as usize), 0);
    let wait = CoreWait::start();
    let clock = Clock::start();
    uncross(case, auction, &mut funded, |funded, command| {
        let (wall, before) = (clock.now_ns(), processor_time_ns());
        let outcome = funded.command_into(command, &mut audit);
        commands_ns.push(processor_time_ns() - before);
        longest_wall_ns = longest_wall_ns.max(clock.now_ns() - wall);
        outcome
    })?;
    let total_ns = clock.now_ns();
    let waited = wait.share();
    audit.verify(case, auction, 1, &funded)?;
    let is_bounded = commands_ns.len() as u64 >= least;
    verify(case, "whether it took as many commands as it must", is_bounded, true)?;
    let processor = percentiles(&commands_ns);
    Ok(Run { total_ns, commands_ns, processor, longest_wall_ns, waited })
}
