//! Conditional and linked orders on an instrument of their own: one trade triggers hundreds, which are entered in
//! many slices, and the journal may end in between.

use super::random::Random;
use super::traffic::kill;
use crate::stage::{ACCOUNTS, limit, rules, until};
use rialto_core::{ORDERS_PER_COMMAND, RULES_VERSIONS};
use rialto_model::*;

/// The instrument, which no other traffic is for.
pub(crate) const TRIGGERED: InstrumentId = InstrumentId(2);
/// The price around which orders wait.
const MIDDLE: i64 = 10_000;
/// The most that a trigger price is away from it.
const FARTHEST: u64 = 300;

/// What comes after the reference data.
pub(crate) fn setting() -> [Command; 2] {
    let spec = InstrumentSpec {
        symbol: "TRIGGER".parse().expect("a short symbol"),
        kind: InstrumentKind::Spot,
        base: CurrencyId(1),
        quote: CurrencyId(2),
        price_scale: Scale::new(2).expect("a small scale"),
        quantity_scale: Scale::new(4).expect("a small scale"),
        rules: rules(),
    };
    let version = *RULES_VERSIONS.end();
    [Command::SetRulesVersion { version }, Command::CreateInstrument(spec)]
}

/// Orders that wait, amendments of some, and trades at prices that trigger most of them.
pub(crate) fn commands(random: &mut Random, now: Timestamp) -> Vec<Command> {
    let mut commands = vec![set(InstrumentState::Open)];
    trade_at(MIDDLE, &mut commands);
    // The events of some ticks fill a group, so that the journal can end between two of them.
    for number in 0..8 * u64::from(ORDERS_PER_COMMAND) + random.below(300) {
        commands.push(match random.below(20) {
            0..16 => conditional(random, now),
            16 => trailing(random),
            17 => pair(random),
            18 => bracket(random),
            _ => plain(random),
        });
        if number % 20 == 0 {
            commands.push(amendment(random));
        }
        if number % 100 == 0 {
            trade_at(MIDDLE + random.below(20) as i64 - 10, &mut commands);
        }
    }
    let away = FARTHEST as i64 + 10;
    trade_at(MIDDLE + away, &mut commands);
    if random.percent(20) {
        commands.extend(kill(TRIGGERED));
    }
    if random.percent(30) {
        let duration_ms = 1 + random.below(20) as u32;
        let scope = HaltScope::Instrument(TRIGGERED);
        commands.push(Command::HaltTrading { scope, duration_ms });
        commands.push(set(InstrumentState::Open));
    }
    if random.percent(50) {
        trade_at(MIDDLE - away, &mut commands);
    }
    commands
}

/// One unit at a price, where no order of the others stands in between for long.
fn trade_at(price: i64, commands: &mut Vec<Command>) {
    for (account, side) in [(1, Side::Sell), (2, Side::Buy)] {
        commands.push(there(limit(account, side, price, 1)));
    }
}

fn any_account(random: &mut Random) -> u32 {
    random.below(u64::from(ACCOUNTS)) as u32 + 1
}

fn price(random: &mut Random) -> Price {
    Price(MIDDLE - FARTHEST as i64 + random.below(2 * FARTHEST) as i64)
}

fn terms(random: &mut Random) -> NewOrder {
    let (account, side) = (any_account(random), random.pick(Side::ALL));
    let quantity = 1 + random.below(9) as i64;
    let Command::Place(order) = there(limit(account, side, price(random).0, quantity)) else {
        unreachable!("it is an order")
    };
    let time_in_force = random.pick(&[TimeInForce::Gtc, TimeInForce::Gtc, TimeInForce::Ioc]);
    NewOrder { time_in_force, ..order }
}

/// A limit order, or a market order that waits.
fn shaped(random: &mut Random, order: NewOrder) -> NewOrder {
    match random.percent(40) {
        true => NewOrder { kind: OrderKind::Market, price: Price::ZERO, ..order },
        false => order,
    }
}

fn plain(random: &mut Random) -> Command {
    let order = terms(random);
    match random.below(3) {
        0 => {
            let display_quantity = Quantity(1);
            let terms = NewOrder { time_in_force: TimeInForce::Gtc, ..order };
            Command::PlaceIceberg(IcebergOrder { terms, display_quantity })
        }
        1 => {
            let (kind, price) = (OrderKind::FiveLevels, Price::ZERO);
            Command::Place(NewOrder { kind, price, time_in_force: TimeInForce::Gtc, ..order })
        }
        _ => Command::Place(order),
    }
}

fn conditional(random: &mut Random, now: Timestamp) -> Command {
    let order = terms(random);
    let order = shaped(random, order);
    // Most are triggered by a rising price, so that their entry takes several ticks.
    let rises = random.percent(95);
    let kind = match (order.side, rises) {
        (Side::Buy, true) | (Side::Sell, false) => TriggerKind::Stop,
        (Side::Sell, true) | (Side::Buy, false) => TriggerKind::TakeProfit,
    };
    let away = 20 + random.below(FARTHEST - 20) as i64;
    let price = Price(if rises { MIDDLE + away } else { MIDDLE - away });
    let (trigger, immediate) = (Trigger { kind, price }, random.percent(30));
    let terms = match random.below(10) {
        0 => {
            let later = now.saturating_add(random.below(40_000_000));
            let Command::Place(order) = until(later, Command::Place(order)) else {
                unreachable!("it is an order")
            };
            order
        }
        1..4 => {
            let name = format!("t{}", random.below(60));
            NewOrder { client_order_id: name.parse().expect("a short name"), ..order }
        }
        _ => order,
    };
    Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate })
}

fn trailing(random: &mut Random) -> Command {
    let terms = terms(random);
    let terms = shaped(random, terms);
    let distance = match random.below(2) {
        0 => Distance::Price(Price(1 + random.below(200) as i64)),
        _ => Distance::Ppm(1 + random.below(20_000) as u32),
    };
    let trail = TrailTerms { distance, activation_price: Price::ZERO };
    Command::PlaceTrailing(TrailingOrder { terms, trail })
}

fn leg(condition: Option<Condition>, price: i64) -> Leg {
    Leg {
        condition,
        kind: if price == 0 { OrderKind::Market } else { OrderKind::Limit },
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    }
}

fn stop(price: i64) -> Leg {
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(price) };
    leg(Some(Condition::Trigger(trigger)), 0)
}

fn pair(random: &mut Random) -> Command {
    let away = 1 + random.below(FARTHEST) as i64;
    let terms = terms(random);
    let (better, worse) = match terms.side {
        Side::Sell => (MIDDLE + away, MIDDLE - away),
        Side::Buy => (MIDDLE - away, MIDDLE + away),
    };
    let terms = NewOrder { price: Price(better), time_in_force: TimeInForce::Gtc, ..terms };
    let (kind, condition, stop_loss) = (LinkKind::Oco, None, Some(stop(worse)));
    Command::PlaceList(OrderList { terms, condition, kind, take_profit: None, stop_loss })
}

fn bracket(random: &mut Random) -> Command {
    let away = 1 + random.below(FARTHEST) as i64;
    let terms = terms(random);
    let (profit, loss) = match terms.side {
        Side::Buy => (MIDDLE + away, MIDDLE - away),
        Side::Sell => (MIDDLE - away, MIDDLE + away),
    };
    let take_profit = random.percent(70).then(|| leg(None, profit));
    let (kind, condition, stop_loss) = (LinkKind::Oto, None, Some(stop(loss)));
    let price = Price(MIDDLE + random.below(3) as i64 - 1);
    let terms = NewOrder { price, ..terms };
    Command::PlaceList(OrderList { terms, condition, kind, take_profit, stop_loss })
}

/// An amendment of an order that has a name, or of any.
fn amendment(random: &mut Random) -> Command {
    let order = match random.percent(60) {
        true => {
            let name = format!("t{}", random.below(60));
            OrderRef::Client(name.parse().expect("a short name"))
        }
        false => OrderRef::Id(OrderId::from_parts(EngineId(1), 1 + random.below(2_000))),
    };
    let amend = Amend {
        account: AccountId(any_account(random)),
        order,
        price: random.percent(30).then(|| price(random)),
        quantity: random.percent(30).then(|| Quantity(1 + random.below(9) as i64)),
    };
    match random.percent(70) {
        true => Command::AmendTrigger(AmendTrigger { amend, trigger_price: price(random) }),
        false => Command::Amend(amend),
    }
}

fn set(state: InstrumentState) -> Command {
    Command::SetInstrumentState { instrument: TRIGGERED, state }
}

fn there(command: Command) -> Command {
    let Command::Place(order) = command else { return command };
    Command::Place(NewOrder { instrument: TRIGGERED, ..order })
}
