//! Allocations of orders, amendments, cancels and trades, and of auctions.

use super::auction::{self, Audit, BOOK, books};
use super::check::{Traded, refused, verify_core};
use crate::drive::FundedCore;
use crate::error::BenchError;
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::Context;
use crate::suites::matching::SECOND_ROUND;
use rialto_disk::allocations_of;
use rialto_model::Command;
use rialto_workload::{AUCTION_FEES, CallAuction, FEES, MarketFlow, every_kind};

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

/// The rows of auctions, if allocations are counted: of orders that enter a call, and of orders that
/// trade when it ends.
pub(super) fn measure_auction(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let mut rows = Vec::new();
    for auction in books(context) {
        let case = Case {
            work: format!("core, call and uncrossing of {}", auction.flow.name),
            risk: Risk::On,
            transport: Transport::InProcess,
        };
        context.progress(&format!("  {}", case.work));
        rows.extend(auction_rows(&case, &auction)?);
    }
    Ok(rows)
}

fn auction_rows(case: &Case, auction: &CallAuction) -> Result<Vec<Row>, BenchError> {
    let name = case.to_string();
    let mut funded = auction::open(&auction.flow);
    let mut audit = Audit::default();
    let mut counted = (None, None);
    for _ in 0..2 {
        let mut done = Ok(());
        let in_call = allocations_of(|| {
            done = auction::collect(&name, auction, &mut funded, &mut audit);
        });
        done?;
        let mut done = Ok(());
        let uncrossing = allocations_of(|| {
            done = auction::uncross(&name, auction, &mut funded, |funded, command| {
                funded.command_into(command, &mut audit)
            });
        });
        done?;
        counted = (in_call, uncrossing);
    }
    audit.verify(&name, auction, 2, &funded)?;
    let row = |metric: &str, allocations: Option<u64>| {
        let allocations = allocations?;
        let each = allocations as f64 / auction.flow.placed as f64;
        let row = Row::new(case, metric, each, Unit::AllocationsPerOrder)
            .checks(&auction.flow.checks(2))
            .check("allocations", allocations)
            .check("counted_orders", auction.flow.placed)
            .check("counted_trades", auction.flow.expected.tally.trades)
            .footnote(SECOND_ROUND)
            .footnote(BOOK)
            .footnote(AUCTION_FEES)
            .target(0.0);
        Some(row)
    };
    let rows = [
        row("allocations in a call, in the steady state", counted.0),
        row("allocations while uncrossing, in the steady state", counted.1),
    ];
    Ok(rows.into_iter().flatten().collect())
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
