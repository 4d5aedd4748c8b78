//! Conditional orders and their triggers.

use crate::{NewOrder, Price, Side, enumeration};
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
