//! Icebergs: limit orders of which the book displays a part.

use crate::{AccountId, InstrumentId, NewOrder, OrderId, Price, Quantity, Side};
use serde::{Deserialize, Serialize};

/// A limit order that displays at most a part of its quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IcebergOrder {
    /// The order.
    #[serde(flatten)]
    pub terms: NewOrder,
    /// The most that it displays.
    pub display_quantity: Quantity,
}

/// What an iceberg on the book displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iceberg {
    /// The most that it displays.
    pub display_quantity: Quantity,
    /// What it displays now.
    pub displayed: Quantity,
}

impl Iceberg {
    /// The most tranches of an order: it is for at most this many times its display quantity.
    pub const TRANCHES_MAX: i64 = 100;

    /// An iceberg of this remaining quantity that displays as much as it may.
    #[must_use]
    pub fn new(display_quantity: Quantity, remaining: Quantity) -> Iceberg {
        Iceberg { display_quantity, displayed: display_quantity.min(remaining) }
    }

    /// Whether an order for this quantity has no more tranches than it may.
    #[must_use]
    pub fn is_allowed(display_quantity: Quantity, quantity: Quantity) -> bool {
        let most = display_quantity.0.saturating_mul(Self::TRANCHES_MAX);
        display_quantity.0 > 0 && quantity.0 <= most
    }

    /// Takes a trade of `quantity`, which leaves `remaining`: first from what is displayed, then from one
    /// tranche after the other. Returns whether it displays a new one.
    ///
    /// ```
    /// use rialto_model::{Iceberg, Quantity};
    ///
    /// let mut iceberg = Iceberg::new(Quantity(100), Quantity(1_000));
    /// assert!(!iceberg.trade(Quantity(30), Quantity(970)));
    /// assert_eq!(iceberg.displayed, Quantity(70));
    /// assert!(iceberg.trade(Quantity(220), Quantity(750)));
    /// assert_eq!(iceberg.displayed, Quantity(50));
    /// ```
    pub fn trade(&mut self, quantity: Quantity, remaining: Quantity) -> bool {
        let beyond = quantity.0 - self.displayed.0;
        if beyond < 0 {
            self.displayed.0 -= quantity.0;
            return false;
        }
        let tranche = self.display_quantity.0;
        self.displayed = Quantity(tranche - beyond % tranche).min(remaining);
        remaining.0 > 0
    }

    /// Displays no more than what remains of a smaller order, which loses hidden quantity first.
    pub fn limit_to(&mut self, remaining: Quantity) {
        self.displayed = self.displayed.min(remaining);
    }
}

/// An iceberg was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IcebergSet {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// The most that it displays.
    pub display_quantity: Quantity,
}

/// An iceberg on the book displays a new tranche, at the end of the queue at its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IcebergRefreshed {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// Its price.
    pub price: Price,
    /// What it displays now.
    pub displayed: Quantity,
}
