//! Icebergs of makers and the crowd: orders of which the book displays a part.

use super::world::World;
use rialto_model::{Command, IcebergOrder, NewOrder, OrderSize, Quantity};

/// How often an order that rests is an iceberg.
const ICEBERGS: f64 = 0.04;
/// The number of tranches of an iceberg, at least and at most.
const TRANCHES: (f64, f64) = (4.0, 20.0);

/// The command that enters an order that rests, sometimes as an iceberg.
pub(super) fn resting_command(world: &mut World, market: usize, order: NewOrder) -> Command {
    if world.dice.chance(ICEBERGS) && !order.time_in_force.is_for_auction() {
        let tranches = world.dice.between(TRANCHES.0, TRANCHES.1);
        let lot = world.instruments[market].spec.rules.lot.0;
        if let OrderSize::Base(quantity) = order.size
            && let display_quantity = Quantity((quantity.0 as f64 / tranches) as i64 / lot * lot)
            && display_quantity > Quantity::ZERO
        {
            return Command::PlaceIceberg(IcebergOrder { terms: order, display_quantity });
        }
    }
    Command::Place(order)
}
