//! Orders that wait for a trigger, in the core: thousands that one trade triggers, and trades beside a
//! million that they do not.

use super::check::{Traded, refused};
use super::shortest::{SHORTEST, longest_of_shortest, percentiles};
use crate::drive::FundedCore;
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Percentiles, Spread, processor_time_ns, side_by_side};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Outcome};
use rialto_model::{
    AccountId, Command, ConditionalOrder, NewOrder, Price, Side, Trigger, TriggerKind,
};
use rialto_workload::{MarketFlow, pair_beside};

/// The targets: of all commands together and of the longest, in nanoseconds, and of a trade beside
/// orders that wait over one beside none.
const TOTAL_NS: f64 = 10e6;
const LONGEST_NS: f64 = 100e3;
const BESIDE: f64 = 1.05;

const IN_PARTS: &str = "The order whose trade triggers all of them, and ticks behind it. Each order is \
    entered and rests.";
const WALL: &str = "By the wall clock, readings of the clocks between the commands included.";
const PROCESSOR: &str = "In processor time of the thread, so that other work on the machine is not in \
    it.";
/// Trigger prices on each side of the price that trades.
const PRICES: i64 = 900;

const BOTH_SIDES: &str = "Half of them are triggered above and half below the price of the trades, at 900 \
    prices each. The same core beside it has none; both take turns.";

/// The measurements of a run.
struct Run {
    total_ns: u64,
    /// The processor time of each command.
    commands_ns: Vec<u64>,
    processor: Percentiles,
}

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut Outcome) {
    let orders = context.sized(10_000, 500);
    for prices in [1, orders as i64] {
        outcome.take(triggered(context, orders, prices));
    }
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
    let each: Vec<&[u64]> = runs.iter().map(|run| &run.commands_ns[..]).collect();
    let longest = longest_of_shortest(&case.to_string(), &each)?;
    let checked = |row: Row| {
        row.check("orders_triggered", orders)
            .check("commands", runs[0].commands_ns.len())
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
        row("one command, longest", |run| run.processor.max).footnote(PROCESSOR),
        longest.target(LONGEST_NS).footnote(PROCESSOR).footnote(SHORTEST),
    ])
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
    let mut commands_ns = Vec::with_capacity(orders);
    let mut command = Command::Place(taker);
    let clock = Clock::start();
    loop {
        let before = processor_time_ns();
        funded.command(&command, &mut |fill| traded.take(fill));
        commands_ns.push(processor_time_ns() - before);
        if !funded.core.has_background_work() {
            break;
        }
        command = Command::Tick;
    }
    let total_ns = clock.now_ns();
    funded.core.check().map_err(broken(case, "find the core sound"))?;
    verify(case, "trades", traded.trades, 2)?;
    let waiting = funded.core.waiting_orders(taker.instrument).count();
    verify(case, "orders that wait still", waiting, 0)?;
    let resting = funded.core.instrument(taker.instrument).map_or(0, |view| view.open_orders);
    verify(case, "orders that were entered and rest", resting, orders)?;
    let processor = percentiles(&commands_ns);
    Ok(Run { total_ns, commands_ns, processor })
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
        verify(&name, "orders that wait", waits, waiting)?;
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
