//! The kill switch of an account with a million resting orders, in the core.

use super::check::{Traded, refused, verify_core};
use super::parts::{self, Run, Timing};
use crate::drive::FundedCore;
use crate::error::{BenchError, verify};
use crate::report::{Case, Risk, Row, Transport};
use crate::suite::Context;
use rialto_core::ORDERS_PER_COMMAND;
use rialto_model::{AccountId, Command, Outcome, Restrict, Restriction, RestrictionTarget};
use rialto_workload::{MarketFlow, pair_beside, resting_orders};

/// The target of all commands together, in nanoseconds.
const TOTAL_NS: f64 = 250e6;

const IN_PARTS: &str = "The command of `POST /v1/kill` and ticks behind it, each of which visits at most 256 orders; the \
    orders are on nine instruments, at a thousand prices on each side of each.";
/// The kill switch of the account that has all orders, as its member uses it.
pub(super) const KILL: Command = Command::Restrict(Restrict {
    target: RestrictionTarget::Account(AccountId(1)),
    restriction: Restriction::CancelOnly,
    by_member: true,
    cancel: true,
});

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
    parts::rows(&case, &runs, TOTAL_NS, |row| {
        row.check("orders_cancelled", flow.placed).footnote(IN_PARTS)
    })
}

fn cancel_all(case: &str, flow: &MarketFlow) -> Result<Run, BenchError> {
    let mut funded = FundedCore::open(flow.resting_max, &flow.opening());
    let mut traded = Traded::default();
    for (position, command) in flow.commands.iter().enumerate() {
        funded.apply(command, &mut |fill| traded.take(fill)).map_err(refused(case, position))?;
    }
    verify_core(case, flow, 1, traded, &funded.core)?;
    let least = flow.placed.div_ceil(u64::from(ORDERS_PER_COMMAND));
    let mut command = KILL;
    let mut timing = Timing::start(2 * least as usize);
    loop {
        let outcome = timing.command(|| funded.command(&command, &mut |fill| traded.take(fill)));
        if timing.commands() == 1 {
            let is_cancelling = matches!(outcome, Outcome::Cancelling { .. });
            verify(case, "whether the account is cancelled", is_cancelling, true)?;
        }
        if !funded.core.has_background_work() {
            break;
        }
        command = Command::Tick;
    }
    let is_bounded = timing.commands() as u64 >= least;
    let run = timing.end();
    // Nothing traded, nothing rests, and the whole funds are there.
    verify_core(case, &pair_beside(), 0, traded, &funded.core)?;
    verify(case, "whether it took as many commands as it must", is_bounded, true)?;
    Ok(run)
}
