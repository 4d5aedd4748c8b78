//! Linked orders of takers: entries with a take-profit, a stop or both, and pairs. Some stops trail.

use super::now;
use super::world::World;
use rialto_model::{
    Command, Condition, Distance, Leg, LinkKind, NewOrder, OrderKind, OrderList, Price, Side,
    TimeInForce, Timestamp, TrailTerms, Trigger, TriggerKind,
};

/// How often linked orders are an entry with exits, rather than a pair.
const ENTRIES: f64 = 0.7;
/// How often an entry has a take-profit alone, and how often a stop alone.
const ALONE: f64 = 0.25;
/// How often a stop trails.
const TRAILS: f64 = 0.3;
/// How far their prices are from the value at least and at most, relative to it.
const AWAY: (f64, f64) = (0.001, 0.004);
/// How much worse than its trigger price the limit of a stop is, relative to it.
const SLIPPAGE: f64 = 0.003;
/// How long they stand at least and at most, in seconds.
const STANDS: (f64, f64) = (30.0, 180.0);

/// The order with exits, or made the first of a pair.
pub(super) fn linked(world: &mut World, market: usize, order: NewOrder) -> Command {
    let is_entry = world.dice.chance(ENTRIES);
    let side = if is_entry { order.side.opposite() } else { order.side };
    let [profit, loss] = [0, 1].map(|_| world.dice.between(AWAY.0, AWAY.1));
    let distance = Distance::Ppm((loss * 1e6) as u32);
    let value = world.prices[market];
    // A sell gains above the value, a buy below it.
    let (profit, loss, limit) = match side {
        Side::Sell => (1.0 + profit, 1.0 - loss, (1.0 - loss) * (1.0 - SLIPPAGE)),
        Side::Buy => (1.0 - profit, 1.0 + loss, (1.0 + loss) * (1.0 + SLIPPAGE)),
    };
    let [profit, loss, limit] =
        [profit, loss, limit].map(|part| world.price(market, value * part, side));
    let seconds = world.dice.between(STANDS.0, STANDS.1);
    let expire_at = now().saturating_add((seconds * Timestamp::SECOND as f64) as u64);
    let (kind, time_in_force) = (OrderKind::Limit, TimeInForce::Gtd);
    let condition = Some(match world.dice.chance(TRAILS) {
        true => Condition::Trail(TrailTerms { distance, activation_price: Price::ZERO }),
        false => Condition::Trigger(Trigger { kind: TriggerKind::Stop, price: loss }),
    });
    let alone = world.dice.unit();
    let stop_loss = Some(Leg { condition, kind, time_in_force, price: limit, expire_at });
    let list = match is_entry {
        true => OrderList {
            terms: order,
            condition: None,
            kind: LinkKind::Oto,
            take_profit: Some(Leg {
                condition: None,
                kind,
                time_in_force,
                price: profit,
                expire_at,
            })
            .filter(|_| alone >= ALONE),
            stop_loss: stop_loss.filter(|_| alone < 1.0 - ALONE),
        },
        false => OrderList {
            terms: NewOrder { kind, time_in_force, price: profit, expire_at, ..order },
            condition: None,
            kind: LinkKind::Oco,
            take_profit: None,
            stop_loss,
        },
    };
    Command::PlaceList(list)
}
