//! Conditional orders of takers: stops, take-profit orders and trailing stops.

use super::now;
use super::world::World;
use rialto_model::{
    Command, ConditionalOrder, Distance, NewOrder, OrderKind, Price, Side, TimeInForce, Timestamp,
    TrailTerms, TrailingOrder, Trigger, TriggerKind,
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
    // A stop of a buy is above the value, and so is a take-profit order of a sell.
    let is_above = (order.side == Side::Buy) == (kind == TriggerKind::Stop);
    let value = world.prices[market];
    let trigger = value * if is_above { 1.0 + away } else { 1.0 - away };
    let limit = match order.side {
        Side::Buy => trigger * (1.0 + SLIPPAGE),
        Side::Sell => trigger * (1.0 - SLIPPAGE),
    };
    let seconds = world.dice.between(WAITS.0, WAITS.1);
    let terms = NewOrder {
        kind: OrderKind::Limit,
        price: world.price(market, limit, order.side),
        time_in_force: TimeInForce::Gtd,
        expire_at: now().saturating_add((seconds * Timestamp::SECOND as f64) as u64),
        ..order
    };
    if way < 0.3 {
        let distance = Distance::Ppm((away * 1e6) as u32);
        let trail = TrailTerms { distance, activation_price: Price::ZERO };
        return Command::PlaceTrailing(TrailingOrder { terms, trail });
    }
    let trigger = Trigger { kind, price: world.price(market, trigger, order.side) };
    Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate: false })
}
