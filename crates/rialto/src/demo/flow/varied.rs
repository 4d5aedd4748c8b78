//! Kinds of orders that takers use less often: by best prices, with a minimum quantity, or with a rest that stands.

use super::now;
use super::world::World;
use rialto_model::{NewOrder, OrderKind, OrderSize, Price, Quantity, TimeInForce, Timestamp};

/// How long what is left of an order stands, at least and at most, in seconds.
const STANDS: (f64, f64) = (2.0, 10.0);

/// The order, of another kind.
pub(super) fn varied(world: &mut World, market: usize, order: NewOrder) -> NewOrder {
    let seconds = world.dice.between(STANDS.0, STANDS.1);
    let standing = NewOrder {
        time_in_force: TimeInForce::Gtd,
        expire_at: now().saturating_add((seconds * Timestamp::SECOND as f64) as u64),
        price: Price::ZERO,
        ..order
    };
    let at_once = NewOrder { price: Price::ZERO, ..order };
    match world.dice.below(6) {
        0 => NewOrder { kind: OrderKind::BestPrice, ..at_once },
        1 => NewOrder { kind: OrderKind::FiveLevels, ..at_once },
        2 => NewOrder { kind: OrderKind::Market, ..standing },
        3 => NewOrder { kind: OrderKind::BestPrice, ..standing },
        4 => NewOrder { kind: OrderKind::FiveLevels, ..standing },
        _ => {
            let lot = world.instruments[market].spec.rules.lot.0;
            let minimum_quantity = match order.size {
                OrderSize::Base(quantity) => Quantity(quantity.0 / 2 / lot * lot),
                OrderSize::Quote(_) => Quantity::ZERO,
            };
            NewOrder { minimum_quantity, ..order }
        }
    }
}
