//! Allocations of orders, amendments, cancels and trades.

use super::check::{Traded, refused, verify_core};
use crate::drive::FundedCore;
use crate::error::BenchError;
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::Context;
use crate::suites::matching::SECOND_ROUND;
use rialto_disk::allocations_of;
use rialto_model::Command;
use rialto_workload::{FEES, MarketFlow, every_kind};

/// The row, if allocations are counted.
pub(super) fn measure(context: &mut Context<'_>) -> Result<Option<Row>, BenchError> {
    let flow = every_kind(context.sized(500_000, 3_000));
    let case = Case {
        work: format!("core, {}", flow.name),
        risk: Risk::On,
        transport: Transport::InProcess,
    };
    context.progress(&format!("  {}", case.work));
    let name = case.to_string();
    let rounds: Vec<Vec<Command>> = (0..2).map(|round| flow.round(round).collect()).collect();
    let mut core = FundedCore::open(flow.resting_max, &flow.opening());
    let mut traded = Traded::default();
    let mut run = |commands: &[Command]| {
        for (position, command) in commands.iter().enumerate() {
            core.apply(command, &mut |fill| traded.take(fill)).map_err(refused(&name, position))?;
        }
        Ok(())
    };
    run(&rounds[0])?;
    let mut done = Ok(());
    let allocations = allocations_of(|| done = run(&rounds[1]));
    done?;
    verify_core(&name, &flow, 2, traded, &core.core)?;
    Ok(allocations.map(|allocations| row(&case, &flow, allocations)))
}

fn row(case: &Case, flow: &MarketFlow, allocations: u64) -> Row {
    let count = |is: fn(&Command) -> bool| flow.commands.iter().filter(|it| is(it)).count();
    let each = allocations as f64 / flow.commands.len() as f64;
    Row::new(case, "allocations in the steady state", each, Unit::AllocationsPerOrder)
        .checks(&flow.checks(2))
        .check("allocations", allocations)
        .check("counted_orders", count(|it| matches!(it, Command::Place(_))))
        .check("counted_amendments", count(|it| matches!(it, Command::Amend(_))))
        .check("counted_cancels", count(|it| matches!(it, Command::Cancel { .. })))
        .check("counted_trades", flow.expected.tally.trades)
        .footnote(SECOND_ROUND)
        .footnote(FEES)
        .target(0.0)
}
