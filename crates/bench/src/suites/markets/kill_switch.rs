//! A mass cancel of an account with a million resting orders, in the core.

use super::check::{Traded, refused, verify_core};
use super::shortest::{SHORTEST, longest_of_shortest, percentiles};
use crate::drive::FundedCore;
use crate::error::{BenchError, verify};
use crate::measure::{Clock, CoreWait, Percentiles, Spread, processor_time_ns};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::Context;
use rialto_core::ORDERS_PER_COMMAND;
use rialto_model::{AccountId, Command, MassCancel, Outcome};
use rialto_workload::{MarketFlow, pair_beside, resting_orders};

/// The targets: of all commands together, and of the longest, in nanoseconds.
const TOTAL_NS: f64 = 250e6;
const LONGEST_NS: f64 = 100e3;

const IN_PARTS: &str = "One mass cancel and ticks behind it, each of which visits at most 256 orders; the \
    orders are on nine instruments, at a thousand prices on each side of each.";
const WALL: &str = "By the wall clock, readings of the clocks between the commands included.";
const PROCESSOR: &str = "In processor time of the thread, so that other work on the machine is not in \
    it. `longest_wall_ns` in the checks is by the wall clock.";

/// The mass cancel of all orders of the account that has them.
pub(super) const KILL: Command =
    Command::MassCancel(MassCancel { account: AccountId(1), instrument: None, side: None });

/// The measurements of a run.
struct Run {
    total_ns: u64,
    /// The processor time of each command.
    commands_ns: Vec<u64>,
    processor: Percentiles,
    longest_wall_ns: u64,
    waited: Option<f64>,
}

pub(super) fn measure(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    context.progress("  resting orders: generating");
    let flow = resting_orders(context.sized(1_000_000, 2_000));
    let work = format!("core, kill switch over {}", flow.name);
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let mut runs = Vec::new();
    for run in 1..=context.sized(5, 1) {
        context.progress(&format!("  {}, run {run}", case.work));
        runs.push(cancel_all(&case.to_string(), &flow)?);
    }
    let waited = runs.iter().filter_map(|run| run.waited).reduce(f64::max);
    let longest_wall = runs.iter().map(|run| run.longest_wall_ns).max();
    let each: Vec<&[u64]> = runs.iter().map(|run| &run.commands_ns[..]).collect();
    let longest = longest_of_shortest(&case.to_string(), &each)?;
    let checked = |row: Row| {
        row.check("orders_cancelled", flow.placed)
            .check("commands", runs[0].commands_ns.len())
            .check("longest_wall_ns", longest_wall)
            .waited_for_core(waited)
            .footnote(IN_PARTS)
    };
    let row = |metric: &str, value: fn(&Run) -> u64| {
        let spread = Spread::over(&runs, |run| value(run) as f64);
        checked(Row::of_spread(&case, metric, spread, Unit::Nanoseconds))
    };
    let metric = "longest command, each at its shortest of the runs";
    let longest = checked(Row::new(&case, metric, longest as f64, Unit::Nanoseconds));
    Ok(vec![
        row("time", |run| run.total_ns).target(TOTAL_NS).footnote(WALL),
        row("one command, p50", |run| run.processor.p50).footnote(PROCESSOR),
        row("one command, p99", |run| run.processor.p99).footnote(PROCESSOR),
        row("one command, longest", |run| run.processor.max).footnote(PROCESSOR),
        longest.target(LONGEST_NS).footnote(PROCESSOR).footnote(SHORTEST),
    ])
}

fn cancel_all(case: &str, flow: &MarketFlow) -> Result<Run, BenchError> {
    let mut funded = FundedCore::open(flow.resting_max, &flow.opening());
    let mut traded = Traded::default();
    for (position, command) in flow.commands.iter().enumerate() {
        funded.apply(command, &mut |fill| traded.take(fill)).map_err(refused(case, position))?;
    }
    verify_core(case, flow, 1, traded, &funded.core)?;
    let least = flow.placed.div_ceil(u64::from(ORDERS_PER_COMMAND));
    let (mut commands_ns, mut longest_wall_ns) = (Vec::with_capacity(2 * least as usize), 0);
    let mut command = KILL;
    let wait = CoreWait::start();
    let clock = Clock::start();
    loop {
        let (wall, before) = (clock.now_ns(), processor_time_ns());
        let outcome = funded.command(&command, &mut |fill| traded.take(fill));
        commands_ns.push(processor_time_ns() - before);
        longest_wall_ns = longest_wall_ns.max(clock.now_ns() - wall);
        if commands_ns.len() == 1 {
            let is_cancelling = matches!(outcome, Outcome::Cancelling { .. });
            verify(case, "whether the account is cancelled", is_cancelling, true)?;
        }
        if !funded.core.has_background_work() {
            break;
        }
        command = Command::Tick;
    }
    let total_ns = clock.now_ns();
    let waited = wait.share();
    // Nothing traded, nothing rests, and the whole funds are there.
    verify_core(case, &pair_beside(), 0, traded, &funded.core)?;
    let is_bounded = commands_ns.len() as u64 >= least;
    verify(case, "whether it took as many commands as it must", is_bounded, true)?;
    let processor = percentiles(&commands_ns);
    Ok(Run { total_ns, commands_ns, processor, longest_wall_ns, waited })
}
