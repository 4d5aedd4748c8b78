//! The private events of a command.

use rialto_model::{AccountId, CommandKind, Event};

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
        Event::TriggerSet(it) => one(it.account),
        Event::Triggered(it) => one(it.account),
        Event::TrailSet(it) => one(it.account),
        Event::TrailActivated(it) => one(it.account),
        Event::IcebergSet(it) => one(it.account),
        Event::IcebergRefreshed(it) => one(it.account),
        Event::ExitsSet(it) => one(it.account),
        Event::OrdersLinked(it) => one(it.account),
        Event::ExitsRefused(it) => one(it.account),
        Event::Trade(it) if it.maker_account == it.taker_account => one(it.maker_account),
        Event::Trade(it) => [Some(it.maker_account), Some(it.taker_account)],
        Event::Rejected(it) => match it.command {
            CommandKind::Place
            | CommandKind::PlaceConditional
            | CommandKind::PlaceTrailing
            | CommandKind::PlaceIceberg
            | CommandKind::PlaceList
            | CommandKind::Cancel
            | CommandKind::Amend
            | CommandKind::AmendTrigger
            | CommandKind::MassCancel => one(it.account),
            _ => [None, None],
        },
        _ => [None, None],
    }
}
