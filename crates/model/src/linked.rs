//! Linked orders: pairs of which one trades, and orders that enter exits for what has traded.

use crate::{
    AccountId, Condition, InstrumentId, NewOrder, OrderId, OrderKind, OrderSize, PostOnly, Price,
    Quantity, RejectReason, Side, TimeInForce, Timestamp, enumeration,
};
use serde::{Deserialize, Serialize};

enumeration! {
    /// How the orders of a list are linked.
    pub enum LinkKind {
        /// One cancels the other: two orders of one side. When one trades, is triggered or ends, the other ends.
        Oco = 0, "oco";
        /// One triggers the other: as an order trades, one or two exits are entered for what has traded.
        Oto = 1, "oto";
    }
}

/// What one order of a list has of its own. The rest it has from the first order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// What it waits for; without it, it is entered at once.
    pub condition: Option<Condition>,
    /// A limit order, or a market order that waits.
    pub kind: OrderKind,
    /// How long it stands.
    pub time_in_force: TimeInForce,
    /// The limit, or zero for the protection price of a market order.
    pub price: Price,
    /// When a good-till-date order expires; zero for all others.
    pub expire_at: Timestamp,
}

impl Leg {
    /// The order of this leg, for a side and a quantity, in the list of another order.
    #[must_use]
    pub fn order(&self, first: &NewOrder, side: Side, quantity: Quantity) -> NewOrder {
        NewOrder {
            account: first.account,
            instrument: first.instrument,
            side,
            kind: self.kind,
            time_in_force: self.time_in_force,
            post_only: PostOnly::Off,
            self_trade: first.self_trade,
            handling: first.handling,
            size: OrderSize::Base(quantity),
            price: self.price,
            minimum_quantity: Quantity::ZERO,
            expire_at: self.expire_at,
            client_order_id: crate::ClientOrderId::EMPTY,
        }
    }

    /// The price from which the order may trade: its trigger price, or else its limit. None of a trailing stop.
    #[must_use]
    pub fn nearest_price(&self) -> Option<Price> {
        match self.condition {
            None => Some(self.price),
            Some(Condition::Trigger(trigger)) => Some(trigger.price),
            Some(Condition::Trail(_)) => None,
        }
    }

    /// The leg in words of 64 bits, as files hold it.
    pub(crate) fn words(&self) -> [u64; 5] {
        let [condition, value, activation] = Condition::words(self.condition);
        let small =
            [self.kind.number(), self.time_in_force.number(), condition as u8, 0, 0, 0, 0, 0];
        let price = self.price.0 as u64;
        [u64::from_le_bytes(small), price, self.expire_at.0, value, activation]
    }
}

/// Orders that are entered together. Of a pair, the first order and `stop_loss` are its two; it has no
/// `take_profit`. Otherwise the first order is the entry, and the legs are its exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderList {
    /// The first order.
    #[serde(flatten)]
    pub terms: NewOrder,
    /// What the first order of a pair waits for, if it does.
    pub condition: Option<Condition>,
    /// How they are linked.
    #[serde(rename = "link")]
    pub kind: LinkKind,
    /// The exit at a better price than that of the entry.
    pub take_profit: Option<Leg>,
    /// The exit at a worse price; the second order of a pair.
    pub stop_loss: Option<Leg>,
}

impl OrderList {
    /// A hash of all but the terms of the first order. Equal lists have equal ones.
    ///
    /// It is FNV-1a over their form in files: it recognises a list that is entered again, and is no defence
    /// against lists that are made to have the same one.
    #[must_use]
    pub fn links_hash(&self) -> u64 {
        let first = Condition::words(self.condition);
        let legs = [self.take_profit, self.stop_loss];
        let has = |leg: Option<Leg>| u64::from(leg.is_some());
        let head = [u64::from(self.kind.number()), has(legs[0]), has(legs[1])];
        let legs = legs.into_iter().flatten().flat_map(|leg| leg.words());
        let words = head.into_iter().chain(first).chain(legs);
        words.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

/// An order was accepted that enters exits as it trades.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitsSet {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order. Its exits are of the other side.
    pub side: Side,
    /// The exit at a better price.
    pub take_profit: Option<Leg>,
    /// The exit at a worse price.
    pub stop_loss: Option<Leg>,
}

/// Orders that were entered are linked: a pair, or the exits of an order. When one of them trades, is triggered or
/// ends, the other ends, and so does what is left of the order whose exits they are.
///
/// It follows their acceptance. Of an exit that trades or is triggered at once it comes before that: the exit is
/// entered alone, and linked with nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrdersLinked {
    /// The first order of the list: that of the pair, or the entry.
    pub list: OrderId,
    /// The account that owns the orders.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the linked orders.
    pub side: Side,
    /// The order at a better price, or zero.
    pub take_profit: OrderId,
    /// The order at a worse price, or zero.
    pub stop_loss: OrderId,
}

/// Exits could not be entered, or not for all that has traded. What is left of their entry ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitsRefused {
    /// The entry.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// Why.
    pub reason: RejectReason,
}
