//! Conditional orders in the core: one trade triggers thousands, and trades beside a million waiting orders that
//! they do not trigger.

use super::check::{Traded, refused};
use super::parts::{self, Run, Timing};
use crate::drive::FundedCore;
use crate::error::{BenchError, broken, verify};
use crate::measure::{processor_time_ns, side_by_side};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_model::{
    AccountId, Command, ConditionalOrder, Distance, InstrumentId, NewOrder, Price, Side,
    TrailTerms, TrailingOrder, Trigger, TriggerKind,
};
use rialto_workload::{MarketFlow, pair_beside};

/// The targets: of all commands together in nanoseconds, and of a trade beside waiting orders over one
/// beside none.
const TOTAL_NS: f64 = 10e6;
const MOVED_NS: f64 = 3e6;
/// At how many distances the trailing stops are.
const DISTANCES: i64 = 500;
const MOVED: &str = "The order whose trade is at a new high. No order is touched: their trigger prices are \
    computed when a price may reach them.";
const BESIDE: f64 = 1.05;

const IN_PARTS: &str = "The order whose trade triggers all of them, and ticks behind it. Each order is \
    entered and rests.";
const PROCESSOR: &str = "In processor time of the thread, so that other work on the machine is not in \
    it.";
/// Trigger prices on each side of the price that trades.
const PRICES: i64 = 900;

const BOTH_SIDES: &str = "Half of them are triggered above and half below the price of the trades, at 900 \
    prices each. The same core beside it has none; both take turns.";

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let orders = context.sized(10_000, 500);
    for prices in [1, orders as i64] {
        outcome.take(triggered(context, orders, prices));
    }
    outcome.take(trailing(context, orders));
    outcome.take(beside(context));
}

/// The two orders that trade with each other, at another price.
fn pair_at(pair: &MarketFlow, price: Option<Price>) -> [NewOrder; 2] {
    let orders = [0, 1].map(|at| match pair.commands[at] {
        Command::Place(order) => order,
        ref other => unreachable!("{other:?} is no order"),
    });
    orders.map(|order| NewOrder { price: price.unwrap_or(order.price), ..order })
}

/// An order that waits `away` ticks above the price of the pair, or below it, and rests when it is
/// entered.
fn waiting(pair: &MarketFlow, away: i64) -> Command {
    let [order, _] = pair_at(pair, None);
    let (side, limit) = match away > 0 {
        true => (Side::Buy, Price(1)),
        false => (Side::Sell, Price(2 * order.price.0)),
    };
    let terms = NewOrder { account: AccountId(1), side, price: limit, ..order };
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(order.price.0 + away) };
    Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate: false })
}

/// Stops of an instrument at as many prices, the commands before them, and the order whose trade triggers them
/// all. Each rests when it is entered.
pub(super) fn stops(instrument: InstrumentId, orders: usize) -> (Vec<Command>, Command) {
    let pair = pair_beside();
    let last = pair_at(&pair, None)[0].price.0;
    let waiting = (0..orders as i64).map(|number| waiting(&pair, 1 + number));
    let next = Price(last + orders as i64);
    around(instrument, waiting, next)
}

/// Trailing stops of an instrument at [`DISTANCES`], the commands before them, and the order whose trade at
/// another price moves or triggers them all. Each rests when it is entered.
pub(super) fn trailing_stops(
    instrument: InstrumentId,
    orders: usize,
    is_moved: bool,
) -> (Vec<Command>, Command) {
    let [order, _] = pair_at(&pair_beside(), None);
    let terms = NewOrder {
        account: AccountId(1),
        side: Side::Sell,
        price: Price(2 * order.price.0),
        ..order
    };
    let trail = |number: i64| {
        let distance = Distance::Price(Price(1 + number % DISTANCES));
        let trail = TrailTerms { distance, activation_price: Price::ZERO };
        Command::PlaceTrailing(TrailingOrder { terms, trail })
    };
    let next = Price(if is_moved { order.price.0 + 1 } else { order.price.0 - DISTANCES });
    around(instrument, (0..orders as i64).map(trail), next)
}

/// A trade, these orders and the first order of a trade at another price; and the second one of it.
fn around(
    instrument: InstrumentId,
    waiting: impl Iterator<Item = Command>,
    next: Price,
) -> (Vec<Command>, Command) {
    let pair = pair_beside();
    let [maker, taker] = pair_at(&pair, Some(next)).map(Command::Place);
    let first = pair_at(&pair, None).map(Command::Place);
    let before = first.into_iter().chain(waiting).chain([maker]);
    let there = |mut command| {
        match &mut command {
            Command::Place(order) => order.instrument = instrument,
            Command::PlaceConditional(order) => order.terms.instrument = instrument,
            Command::PlaceTrailing(order) => order.terms.instrument = instrument,
            other => unreachable!("{other:?} is no order"),
        }
        command
    };
    (before.map(there).collect(), there(taker))
}

fn triggered(
    context: &mut Context<'_>,
    orders: usize,
    prices: i64,
) -> Result<Vec<Row>, BenchError> {
    let at = if prices == 1 { "one price".to_owned() } else { format!("{prices} prices") };
    let work = format!("core, {orders} stops at {at} triggered by one trade");
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let mut runs = Vec::new();
    for run in 1..=context.sized(9, 2) {
        context.progress(&format!("  {}, run {run}", case.work));
        runs.push(trigger_all(&case.to_string(), orders, prices)?);
    }
    parts::rows(&case, &runs, TOTAL_NS, |row| {
        row.check("orders_triggered", orders).footnote(IN_PARTS)
    })
}

fn trigger_all(case: &str, orders: usize, prices: i64) -> Result<Run, BenchError> {
    let pair = pair_beside();
    let mut funded = FundedCore::open(orders as u64 + 2, &pair.opening());
    let mut traded = Traded::default();
    let last = pair_at(&pair, None)[0].price.0;
    let waiting = (0..orders as i64).map(|number| waiting(&pair, 1 + number % prices));
    let [maker, taker] = pair_at(&pair, Some(Price(last + prices)));
    let first = pair_at(&pair, None).map(Command::Place);
    let before = first.into_iter().chain(waiting).chain([Command::Place(maker)]);
    for (position, command) in before.enumerate() {
        funded.apply(&command, &mut |fill| traded.take(fill)).map_err(refused(case, position))?;
    }
    let mut command = Command::Place(taker);
    let mut timing = Timing::start(orders);
    loop {
        timing.command(|| funded.command(&command, &mut |fill| traded.take(fill)));
        if !funded.core.has_background_work() {
            break;
        }
        command = Command::Tick;
    }
    let run = timing.end();
    funded.core.check().map_err(broken(case, "find the core sound"))?;
    verify(case, "trades", traded.trades, 2)?;
    let waiting = funded.core.waiting_orders(taker.instrument).count();
    verify(case, "waiting orders", waiting, 0)?;
    let resting = funded.core.instrument(taker.instrument).map_or(0, |view| view.open_orders);
    verify(case, "orders that were entered and rest", resting, orders)?;
    Ok(run)
}

/// One trade at a new high, and one that triggers all trailing stops that follow it.
fn trailing(context: &mut Context<'_>, orders: usize) -> Result<Vec<Row>, BenchError> {
    let mut rows = Vec::new();
    for (what, target, is_moved) in [("moved", MOVED_NS, true), ("triggered", TOTAL_NS, false)] {
        let work =
            format!("core, {orders} trailing stops at {DISTANCES} distances {what} by one trade");
        let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
        let mut runs = Vec::new();
        for run in 1..=context.sized(9, 2) {
            context.progress(&format!("  {}, run {run}", case.work));
            runs.push(trail_all(&case.to_string(), orders, is_moved)?);
        }
        rows.extend(parts::rows(&case, &runs, target, |row| {
            row.check("trailing_stops", orders).footnote(if is_moved { MOVED } else { IN_PARTS })
        })?);
    }
    Ok(rows)
}

fn trail_all(case: &str, orders: usize, is_moved: bool) -> Result<Run, BenchError> {
    let instrument = pair_at(&pair_beside(), None)[0].instrument;
    let mut funded = FundedCore::open(orders as u64 + 2, &pair_beside().opening());
    let (before, taker) = trailing_stops(instrument, orders, is_moved);
    let (maker, before) = before.split_last().expect("the first order of the trade");
    let mut traded = Traded::default();
    for (position, command) in before.iter().enumerate() {
        funded.apply(command, &mut |fill| traded.take(fill)).map_err(refused(case, position))?;
    }
    while funded.core.has_background_work() {
        funded.command(&Command::Tick, &mut |fill| traded.take(fill));
    }
    funded.apply(maker, &mut |fill| traded.take(fill)).map_err(refused(case, before.len()))?;
    let mut command = taker;
    let mut timing = Timing::start(orders);
    loop {
        timing.command(|| funded.command(&command, &mut |fill| traded.take(fill)));
        if !funded.core.has_background_work() {
            break;
        }
        command = Command::Tick;
    }
    let run = timing.end();
    funded.core.check().map_err(broken(case, "find the core sound"))?;
    verify(case, "trades", traded.trades, 2)?;
    let waiting: Vec<_> = funded.core.waiting_orders(instrument).collect();
    verify(case, "waiting orders", waiting.len(), if is_moved { orders } else { 0 })?;
    let Command::Place(NewOrder { price: next, .. }) = taker else { unreachable!("an order") };
    let all_moved =
        waiting.iter().all(|order| order.trail.is_some_and(|trail| trail.extreme == Some(next)));
    verify(case, "whether all follow the new price", all_moved, true)?;
    Ok(run)
}

fn beside(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let (orders, pairs) = (context.sized(1_000_000, 2_000), context.sized(500_000, 500));
    let work = format!("core, trades beside {orders} stops that they do not reach");
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let name = case.to_string();
    context.progress(&format!("  {}", case.work));
    let pair = pair_beside();
    let trading = pair_at(&pair, None).map(Command::Place);
    let mut cores = Vec::new();
    for waiting_count in [0, orders as i64] {
        let mut funded = FundedCore::open(orders as u64 + 2, &pair.opening());
        let waiting = (0..waiting_count).map(|number| {
            let away = 1 + number / 2 % PRICES;
            waiting(&pair, if number % 2 == 0 { away } else { -away })
        });
        for (position, command) in trading.iter().copied().chain(waiting).enumerate() {
            funded.apply(&command, &mut |_| {}).map_err(refused(&name, position))?;
        }
        cores.push((funded, Traded::default()));
    }
    let rounds = context.sized(9, 2);
    let measured = side_by_side(2, rounds, |arm| {
        let (funded, traded) = &mut cores[arm];
        let before = processor_time_ns();
        for _ in 0..pairs {
            for command in &trading {
                funded.command(command, &mut |fill| traded.take(fill));
            }
        }
        Ok::<f64, BenchError>((processor_time_ns() - before) as f64 / pairs as f64)
    })?;
    for ((funded, traded), waiting) in cores.iter().zip([0, orders]) {
        verify(&name, "trades", traded.trades, (rounds * pairs) as u64)?;
        let instrument = pair_at(&pair, None)[0].instrument;
        let waits = funded.core.waiting_orders(instrument).count();
        verify(&name, "waiting orders", waits, waiting)?;
        funded.core.check().map_err(broken(&name, "find the core sound"))?;
    }
    let row = |metric: &str, spread, unit| {
        Row::of_spread(&case, metric, spread, unit)
            .check("orders_waiting", orders)
            .check("trades", rounds * pairs)
            .footnote(BOTH_SIDES)
            .footnote(PROCESSOR)
    };
    Ok(vec![
        row("two orders that trade", measured.spread(1), Unit::Nanoseconds),
        row(
            "two orders that trade, over the same beside none",
            measured.ratio(1, 0),
            Unit::Slowdown,
        )
        .target(BESIDE),
    ])
}
