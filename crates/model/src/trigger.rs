//! Conditional orders and their triggers.

use crate::{
    AccountId, Amount, Distance, DistanceKind, InstrumentId, NewOrder, OrderId, Price, Quantity,
    Side, TrailTerms, enumeration,
};
use serde::{Deserialize, Serialize};

enumeration! {
    /// From which side the last price reaches a trigger price.
    pub enum TriggerKind {
        /// A buy is triggered at the trigger price or above, a sell at it or below.
        Stop = 0, "stop";
        /// A buy is triggered at the trigger price or below, a sell at it or above. Such an order is also
        /// called "if touched".
        TakeProfit = 1, "take_profit";
    }
}

/// What a conditional order waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// From which side the last price reaches it.
    pub kind: TriggerKind,
    /// The trigger price.
    pub price: Price,
}

impl Trigger {
    /// Whether a last price triggers an order of this side.
    ///
    /// ```
    /// use rialto_model::{Price, Side, Trigger, TriggerKind};
    ///
    /// let stop = Trigger { kind: TriggerKind::Stop, price: Price(100) };
    /// assert!(stop.is_reached(Side::Buy, Price(101)) && !stop.is_reached(Side::Buy, Price(99)));
    /// assert!(stop.is_reached(Side::Sell, Price(99)) && !stop.is_reached(Side::Sell, Price(101)));
    /// ```
    #[must_use]
    #[inline]
    pub fn is_reached(&self, side: Side, last: Price) -> bool {
        if self.rises(side) { last >= self.price } else { last <= self.price }
    }

    /// Whether an order of this side is triggered at the trigger price and above, rather than below.
    #[must_use]
    #[inline]
    pub fn rises(&self, side: Side) -> bool {
        (side == Side::Buy) == (self.kind == TriggerKind::Stop)
    }
}

/// A conditional order: it waits for its trigger, and is then entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionalOrder {
    /// The order that is entered when it is triggered. The limit of a market order without a price is its
    /// protection price, measured from the trigger price.
    #[serde(flatten)]
    pub terms: NewOrder,
    /// What it waits for.
    pub trigger: Trigger,
    /// Whether the last price may have reached it at entry. The order is then triggered at once;
    /// otherwise it is refused.
    pub immediate: bool,
}

/// What an order waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// A trigger price.
    Trigger(Trigger),
    /// A trigger price that follows the last price.
    Trail(TrailTerms),
}

impl Condition {
    /// The condition of an order, if it has one, in words of 64 bits as files hold it: its kind from 0 to 4, its
    /// price or distance, its activation price.
    pub(crate) fn words(condition: Option<Condition>) -> [u64; 3] {
        match condition {
            None => [0, 0, 0],
            Some(Condition::Trigger(Trigger { kind, price })) => {
                [1 + u64::from(kind.number()), price.0 as u64, 0]
            }
            Some(Condition::Trail(TrailTerms { distance, activation_price })) => {
                let kind = 3 + u64::from(distance.kind().number());
                [kind, distance.value() as u64, activation_price.0 as u64]
            }
        }
    }

    /// The condition of these words. None if they mean nothing.
    #[expect(clippy::option_option, reason = "an order may have no condition")]
    pub(crate) fn from_words([kind, value, activation]: [u64; 3]) -> Option<Option<Condition>> {
        let small = u8::try_from(kind).ok()?;
        let condition = match small {
            0 => None,
            1 | 2 => {
                let kind = TriggerKind::from_number(small - 1)?;
                Some(Condition::Trigger(Trigger { kind, price: Price(value as i64) }))
            }
            _ => {
                let distance = Distance::new(DistanceKind::from_number(small - 3)?, value as i64)?;
                let activation_price = Price(activation as i64);
                Some(Condition::Trail(TrailTerms { distance, activation_price }))
            }
        };
        (Condition::words(condition) == [kind, value, activation]).then_some(condition)
    }
}

/// An order that was accepted waits for its trigger. Until then it trades with nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggerSet {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// What it waits for.
    pub trigger: Trigger,
}

/// An order that waited was triggered, and is entered under its id. Trades may follow, then [`crate::Rested`] or
/// [`crate::Done`] unless it is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Triggered {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// The limit in force.
    pub price: Price,
    /// The quantity that is entered.
    pub remaining: Quantity,
    /// Moved from reserved back to available, where the limit in force needs less.
    pub released: Amount,
}
