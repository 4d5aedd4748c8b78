//! The private events of a command.

use rialto_feed::{Fill, Moment, Role};
use rialto_model::{AccountId, CommandKind, Event, Trade};

/// A private channel. Orders and fills consist of events and can be replayed from the event log.
/// Balances are states: a subscription begins with all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PrivateChannel {
    /// Changes of an account's orders.
    Orders,
    /// An account's fills.
    Fills,
    /// An account's balances.
    Balances,
}

impl PrivateChannel {
    /// The name in the protocol.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PrivateChannel::Orders => "orders",
            PrivateChannel::Fills => "fills",
            PrivateChannel::Balances => "balances",
        }
    }
}

/// The accounts that an order event belongs to: maker and taker of a trade, at most one for other
/// events.
#[must_use]
pub fn owners(event: &Event) -> [Option<AccountId>; 2] {
    let one = |account| [Some(account), None];
    match event {
        Event::Accepted(it) => one(it.terms.account),
        Event::Rested(it) => one(it.account),
        Event::Done(it) => one(it.account),
        Event::Reduced(it) => one(it.account),
        Event::Amended(it) => one(it.account),
        Event::Trade(it) if it.maker_account == it.taker_account => one(it.maker_account),
        Event::Trade(it) => [Some(it.maker_account), Some(it.taker_account)],
        Event::Rejected(it) => match it.command {
            CommandKind::Place
            | CommandKind::Cancel
            | CommandKind::Amend
            | CommandKind::MassCancel => one(it.account),
            _ => [None, None],
        },
        _ => [None, None],
    }
}

/// The maker's and the taker's fill of a trade.
#[must_use]
pub fn fills_of(trade: &Trade, at: Moment) -> [Fill; 2] {
    let fill = |role, account, order, side, fee| Fill {
        account,
        trade: trade.trade,
        order,
        instrument: trade.instrument,
        side,
        role,
        price: trade.price,
        quantity: trade.quantity,
        notional: trade.notional,
        fee,
        at,
    };
    let role = |role| if trade.auction { Role::Auction } else { role };
    let (maker, taker) = (trade.taker_side.opposite(), trade.taker_side);
    let (resting, incoming) = (role(Role::Maker), role(Role::Taker));
    [
        fill(resting, trade.maker_account, trade.maker_order, maker, trade.maker_fee),
        fill(incoming, trade.taker_account, trade.taker_order, taker, trade.taker_fee),
    ]
}
