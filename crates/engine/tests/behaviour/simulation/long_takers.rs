//! Orders that match more than one command allows: they are suspended and continue in ticks, and
//! the journal may end in between.

use super::random::Random;
use crate::stage::{ACCOUNTS, limit};
use rialto_core::ORDERS_PER_COMMAND;
use rialto_model::*;

/// A price far from all other traffic, so that no other order meets these makers.
const ASKED: i64 = 200;
const BID: i64 = 20;

/// Makers at one price, and a taker that matches all of them.
pub(crate) fn commands(random: &mut Random) -> Vec<Command> {
    let side = random.pick(&[Side::Buy, Side::Sell]);
    let (price, away) = if side == Side::Sell { (ASKED, BID - 1) } else { (BID, ASKED + 1) };
    let maker = random.below(u64::from(ACCOUNTS)) as u32 + 1;
    let taker = maker % ACCOUNTS + 1;
    // The events of some ticks fill a group, so that the journal can end between two of them.
    let makers = 8 * u64::from(ORDERS_PER_COMMAND) + random.below(300);
    let mut commands: Vec<Command> = (0..makers).map(|_| limit(maker, side, price, 1)).collect();
    let opposite = side.opposite();
    let quantity = makers as i64 + random.below(20) as i64;
    let Command::Place(order) = limit(taker, opposite, price, quantity) else { return commands };
    match random.below(4) {
        0 => commands.push(Command::Place(order)),
        1 => {
            let time_in_force = TimeInForce::Ioc;
            commands.push(Command::Place(NewOrder { time_in_force, ..order }));
        }
        2 => {
            let size = OrderSize::Quote(Amount(i128::from(quantity * price * 100)));
            let (kind, time_in_force) = (OrderKind::Market, TimeInForce::Ioc);
            let order = NewOrder { kind, time_in_force, size, ..order };
            commands.push(Command::Place(order));
        }
        _ => {
            let name = format!("long{}", random.next());
            let client_order_id: ClientOrderId = name.parse().expect("a short name");
            let rests = NewOrder { client_order_id, price: Price(away), ..order };
            commands.push(Command::Place(rests));
            commands.push(Command::Amend(Amend {
                account: AccountId(taker),
                order: OrderRef::Client(client_order_id),
                price: Some(Price(price)),
                quantity: None,
            }));
        }
    }
    commands
}
