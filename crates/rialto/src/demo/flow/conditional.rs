//! Conditional orders of takers: stops, take-profit orders and trailing stops.

use super::now;
use super::world::World;
use rialto_feed::OrderView;
use rialto_model::{
    Amend, AmendTrigger, Command, ConditionalOrder, Distance, NewOrder, OrderKind, OrderRef,
    OrderStatus, Price, Side, TimeInForce, Timestamp, TrailTerms, TrailingOrder, Trigger,
    TriggerKind,
};

/// How far the trigger price is from the value at most, relative to it.
const AWAY_MAX: f64 = 0.004;
/// How much worse than the trigger price the limit is, relative to it.
const SLIPPAGE: f64 = 0.003;
/// How long an order waits at least and at most, in seconds.
const WAITS: (f64, f64) = (20.0, 120.0);

/// The order, made to wait for a price.
pub(super) fn conditional(world: &mut World, market: usize, order: NewOrder) -> Command {
    let away = world.dice.between(AWAY_MAX / 8.0, AWAY_MAX);
    let way = world.dice.unit();
    let kind = if way < 0.6 { TriggerKind::Stop } else { TriggerKind::TakeProfit };
    let (price, limit) = prices(world, market, (order.side, kind), away);
    let seconds = world.dice.between(WAITS.0, WAITS.1);
    let terms = NewOrder {
        kind: OrderKind::Limit,
        price: limit,
        time_in_force: TimeInForce::Gtd,
        expire_at: now().saturating_add((seconds * Timestamp::SECOND as f64) as u64),
        ..order
    };
    if way < 0.3 {
        let distance = Distance::Ppm((away * 1e6) as u32);
        let trail = TrailTerms { distance, activation_price: Price::ZERO };
        return Command::PlaceTrailing(TrailingOrder { terms, trail });
    }
    let trigger = Trigger { kind, price };
    Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate: false })
}

/// The order with other prices, if it waits for a trigger price.
pub(super) fn moved(world: &mut World, market: usize, order: &OrderView) -> Option<Command> {
    let waits = order.status == OrderStatus::Waiting && order.trail.is_none();
    let trigger = order.trigger.filter(|_| waits)?;
    let away = world.dice.between(AWAY_MAX / 8.0, AWAY_MAX);
    let terms = &order.terms;
    let (trigger_price, limit) = prices(world, market, (terms.side, trigger.kind), away);
    let (account, order) = (terms.account, OrderRef::Id(order.order));
    let amend = Amend { account, order, price: Some(limit), quantity: None };
    Some(Command::AmendTrigger(AmendTrigger { amend, trigger_price }))
}

/// The trigger price and the limit of an order that waits for a price this far from the value.
fn prices(
    world: &World,
    market: usize,
    (side, kind): (Side, TriggerKind),
    away: f64,
) -> (Price, Price) {
    // A stop of a buy is above the value, and so is a take-profit order of a sell.
    let is_above = (side == Side::Buy) == (kind == TriggerKind::Stop);
    let trigger = world.prices[market] * if is_above { 1.0 + away } else { 1.0 - away };
    let limit = match side {
        Side::Buy => trigger * (1.0 + SLIPPAGE),
        Side::Sell => trigger * (1.0 - SLIPPAGE),
    };
    (world.price(market, trigger, side), world.price(market, limit, side))
}
