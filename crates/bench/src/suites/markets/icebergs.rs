//! Icebergs in the core: an order trades with one tranche after the other.

use super::check::{Traded, refused};
use crate::drive::FundedCore;
use crate::error::{BenchError, broken, verify};
use crate::measure::{Spread, processor_time_ns};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::Context;
use rialto_model::{Command, IcebergOrder, NewOrder, OrderSize, Quantity};
use rialto_workload::pair_beside;

/// The target of a trade and the refresh behind it, in nanoseconds.
const REFRESH_NS: f64 = 500.0;
/// The tranches of each iceberg, as many as the rules allow.
const TRANCHES: i64 = 100;

const TURNS: &str = "Icebergs of 100 tranches at one price take turns. One order trades with all of them, in the \
    command that enters it and the ticks behind it. The figure is their time over the number of trades; all \
    but the last trade with each iceberg are followed by a refresh.";
const PLAIN: &str = "As many plain orders of the size of a tranche, at the same price.";
const PROCESSOR: &str = "In processor time of the thread, so that other work on the machine is not in \
    it.";

pub(super) fn measure(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let icebergs = context.sized(100, 5);
    let trades = icebergs * TRANCHES as usize;
    let work = format!("core, an order trades with {icebergs} icebergs of {TRANCHES} tranches");
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    context.progress(&format!("  {}", case.work));
    let [maker, taker] = pair();
    let tranche = maker_quantity(&maker);
    let taker = NewOrder { size: OrderSize::Base(Quantity(tranche.0 * trades as i64)), ..taker };
    let iceberg = Command::PlaceIceberg(IcebergOrder {
        terms: NewOrder { size: OrderSize::Base(Quantity(tranche.0 * TRANCHES)), ..maker },
        display_quantity: tranche,
    });
    let name = case.to_string();
    let (mut refreshed, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..context.sized(9, 2) {
        refreshed.push(trade_all(&name, &vec![iceberg; icebergs], taker, trades)?);
        plain.push(trade_all(&name, &vec![Command::Place(maker); trades], taker, trades)?);
    }
    let row = |metric: &str, runs: &[f64]| {
        Row::of_spread(&case, metric, Spread::over(runs, |each| *each), Unit::Nanoseconds)
            .check("trades", trades)
            .footnote(PROCESSOR)
    };
    Ok(vec![
        row("one trade and a refresh", &refreshed).target(REFRESH_NS).footnote(TURNS),
        row("one trade with a plain order", &plain).footnote(PLAIN),
    ])
}

/// The two orders of the workload that trade with each other.
fn pair() -> [NewOrder; 2] {
    [0, 1].map(|at| match pair_beside().commands[at] {
        Command::Place(order) => order,
        ref other => unreachable!("{other:?} is no order"),
    })
}

fn maker_quantity(maker: &NewOrder) -> Quantity {
    match maker.size {
        OrderSize::Base(quantity) => quantity,
        OrderSize::Quote(_) => unreachable!("a limit order has a quantity"),
    }
}

/// The processor time of a trade, in nanoseconds.
fn trade_all(
    case: &str,
    makers: &[Command],
    taker: NewOrder,
    trades: usize,
) -> Result<f64, BenchError> {
    let mut funded = FundedCore::open(makers.len() as u64 + 2, &pair_beside().opening());
    for (position, command) in makers.iter().enumerate() {
        funded.apply(command, &mut |_| {}).map_err(refused(case, position))?;
    }
    let mut traded = Traded::default();
    let mut command = Command::Place(taker);
    let before = processor_time_ns();
    // Each tick trades at least once.
    for _ in 0..=trades {
        funded.command(&command, &mut |fill| traded.take(fill));
        command = Command::Tick;
        if traded.trades == trades as u64 {
            break;
        }
    }
    let spent = processor_time_ns() - before;
    funded.core.check().map_err(broken(case, "find the core sound"))?;
    verify(case, "trades", traded.trades, trades as u64)?;
    let resting = funded.core.instrument(taker.instrument).map_or(0, |view| view.open_orders);
    verify(case, "orders that are left", resting, 0)?;
    Ok(spent as f64 / trades as f64)
}
