//! Brackets in the core: an entry trades, and its two exits are entered.

use super::check::{Traded, refused};
use crate::drive::FundedCore;
use crate::error::{BenchError, broken, verify};
use crate::measure::{Spread, processor_time_ns};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::Context;
use rialto_model::{
    Command, Condition, ConditionalOrder, Leg, LinkKind, NewOrder, OrderKind, OrderList, OrderSize,
    Price, Quantity, Side, TimeInForce, Timestamp, Trigger, TriggerKind,
};
use rialto_workload::pair_beside;

/// The target of a bracket, in nanoseconds.
const BRACKET_NS: f64 = 1_000.0;
/// How far the exits are from the entry.
const DISTANCE: i64 = 10;

const BRACKET: &str = "One order rests. Each bracket is a buy that trades with it at once; the tick behind it enters a limit order and a stop for the sell. The figure is the time of both commands.";
const ALONE: &str = "The same three orders, entered alone in three commands.";
const PROCESSOR: &str = "In processor time of the thread, so that other work on the machine is not in \
    it.";

pub(super) fn measure(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let brackets = context.sized(10_000, 50);
    let work = format!("core, {brackets} brackets, each filled at once");
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    context.progress(&format!("  {}", case.work));
    let name = case.to_string();
    let (mut linked, mut alone) = (Vec::new(), Vec::new());
    for _ in 0..context.sized(9, 2) {
        linked.push(enter_all(&name, brackets, &Orders::new().linked())?);
        alone.push(enter_all(&name, brackets, &Orders::new().alone())?);
    }
    let row = |metric: &str, runs: &[f64]| {
        Row::of_spread(&case, metric, Spread::over(runs, |each| *each), Unit::Nanoseconds)
            .check("exits", 2 * brackets)
            .footnote(PROCESSOR)
    };
    Ok(vec![
        row("one bracket, from its entry to its exits", &linked)
            .target(BRACKET_NS)
            .footnote(BRACKET),
        row("its three orders alone", &alone).footnote(ALONE),
    ])
}

/// The orders of a bracket.
struct Orders {
    entry: NewOrder,
    take_profit: Leg,
    stop_loss: Leg,
    stop: Trigger,
}

impl Orders {
    fn new() -> Orders {
        let [entry, _] = pair();
        let stop = Trigger { kind: TriggerKind::Stop, price: Price(entry.price.0 - DISTANCE) };
        let leg = |condition, kind, price| Leg {
            condition,
            kind,
            time_in_force: TimeInForce::Gtc,
            price,
            expire_at: Timestamp::ZERO,
        };
        Orders {
            entry,
            take_profit: leg(None, OrderKind::Limit, Price(entry.price.0 + DISTANCE)),
            stop_loss: leg(Some(Condition::Trigger(stop)), OrderKind::Market, Price::ZERO),
            stop,
        }
    }

    fn linked(&self) -> Vec<Command> {
        let list = OrderList {
            terms: self.entry,
            condition: None,
            kind: LinkKind::Oto,
            take_profit: Some(self.take_profit),
            stop_loss: Some(self.stop_loss),
        };
        vec![Command::PlaceList(list), Command::Tick]
    }

    fn alone(&self) -> Vec<Command> {
        let exit = |leg: &Leg| leg.order(&self.entry, Side::Sell, quantity(&self.entry));
        let stop =
            ConditionalOrder { terms: exit(&self.stop_loss), trigger: self.stop, immediate: false };
        vec![
            Command::Place(self.entry),
            Command::Place(exit(&self.take_profit)),
            Command::PlaceConditional(stop),
        ]
    }
}

/// The two orders of the workload that trade with each other: a buy and a sell.
fn pair() -> [NewOrder; 2] {
    [0, 1].map(|at| match pair_beside().commands[at] {
        Command::Place(order) => order,
        ref other => unreachable!("{other:?} is no order"),
    })
}

fn quantity(order: &NewOrder) -> Quantity {
    match order.size {
        OrderSize::Base(quantity) => quantity,
        OrderSize::Quote(_) => unreachable!("a limit order has a quantity"),
    }
}

/// The processor time of the commands of one bracket, in nanoseconds.
fn enter_all(case: &str, brackets: usize, commands: &[Command]) -> Result<f64, BenchError> {
    let open_max = 2 * brackets as u64 + 2;
    let mut funded = FundedCore::open(open_max, &pair_beside().opening());
    let [entry, maker] = pair();
    // So much that some is left at the end.
    let all = Quantity(quantity(&entry).0 * (brackets as i64 + 1));
    let maker = Command::Place(NewOrder { size: OrderSize::Base(all), ..maker });
    funded.apply(&maker, &mut |_| {}).map_err(refused(case, 0))?;
    let mut traded = Traded::default();
    let before = processor_time_ns();
    for _ in 0..brackets {
        for command in commands {
            funded.command(command, &mut |fill| traded.take(fill));
        }
    }
    let spent = processor_time_ns() - before;
    funded.core.check().map_err(broken(case, "find the core sound"))?;
    verify(case, "trades", traded.trades, brackets as u64)?;
    let open = funded.core.instrument(entry.instrument).map_or(0, |view| view.open_orders);
    verify(case, "open orders", open, 2 * brackets + 1)?;
    Ok(spent as f64 / brackets as f64)
}
