//! Trailing stops: conditional orders whose trigger price follows the last price at a distance.

use crate::{AccountId, InstrumentId, NewOrder, OrderId, PPM, Price, Side, enumeration};
use serde::{Deserialize, Serialize};

enumeration! {
    /// The units of the distance of a trailing stop.
    pub enum DistanceKind {
        /// Units of price.
        Price = 0, "price";
        /// Millionths of the price that it is measured from.
        Ppm = 1, "ppm";
    }
}

/// How far the trigger price of a trailing stop is from the price that it follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distance {
    /// A difference of prices.
    Price(Price),
    /// Millionths of the price that it is measured from.
    Ppm(u32),
}

impl Distance {
    /// A distance in millionths is at least 1 and below this.
    pub const PPM_END: u32 = PPM as u32;

    /// Its units.
    #[must_use]
    pub fn kind(self) -> DistanceKind {
        match self {
            Distance::Price(_) => DistanceKind::Price,
            Distance::Ppm(_) => DistanceKind::Ppm,
        }
    }

    /// Its number in its units.
    #[must_use]
    pub fn value(self) -> i64 {
        match self {
            Distance::Price(price) => price.0,
            Distance::Ppm(ppm) => i64::from(ppm),
        }
    }

    /// The distance of a number of units; none if it does not fit the units. Its sign is not checked.
    #[must_use]
    pub fn new(kind: DistanceKind, value: i64) -> Option<Distance> {
        match kind {
            DistanceKind::Price => Some(Distance::Price(Price(value))),
            DistanceKind::Ppm => u32::try_from(value).ok().map(Distance::Ppm),
        }
    }

    /// The trigger price of an order of this side that follows `extreme`: below it for a sell, above it for
    /// a buy, rounded to a tick away from it. None if that is no price.
    ///
    /// # Panics
    /// If the tick is zero.
    ///
    /// ```
    /// use rialto_model::{Distance, Price, Side};
    ///
    /// let percent = Distance::Ppm(10_000);
    /// assert_eq!(percent.trigger(Side::Sell, Price(10_300), Price(1)), Some(Price(10_197)));
    /// assert_eq!(percent.trigger(Side::Sell, Price(10_300), Price(5)), Some(Price(10_195)));
    /// assert_eq!(percent.trigger(Side::Buy, Price(10_300), Price(5)), Some(Price(10_405)));
    /// assert_eq!(Distance::Price(Price(400)).trigger(Side::Sell, Price(300), Price(1)), None);
    /// ```
    #[must_use]
    pub fn trigger(self, side: Side, extreme: Price, tick: Price) -> Option<Price> {
        let (extreme, tick) = (i128::from(extreme.0), i128::from(tick.0));
        let distance = match self {
            Distance::Price(price) => i128::from(price.0) * PPM,
            Distance::Ppm(ppm) => i128::from(ppm) * extreme,
        };
        let whole = PPM * tick;
        let ticks = match side {
            Side::Sell => (extreme * PPM - distance).div_euclid(whole),
            Side::Buy => -(-extreme * PPM - distance).div_euclid(whole),
        };
        i64::try_from(ticks * tick).ok().filter(|price| *price > 0).map(Price)
    }
}

/// What a trailing stop follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailTerms {
    /// How far behind the trigger price is.
    pub distance: Distance,
    /// The order follows the price once the last price is at this one: for a sell at it or above, for a buy
    /// at it or below. Zero in an order is the last price then.
    pub activation_price: Price,
}

impl TrailTerms {
    /// Whether a last price makes an order of this side follow the price.
    #[must_use]
    #[inline]
    pub fn is_active_at(&self, side: Side, last: Price) -> bool {
        match side {
            Side::Sell => last >= self.activation_price,
            Side::Buy => last <= self.activation_price,
        }
    }
}

/// A trailing stop that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailState {
    /// What it follows. The activation price is the one in force.
    pub trail: TrailTerms,
    /// The highest last price since it became active, of a buy the lowest; none before.
    pub extreme: Option<Price>,
}

impl TrailState {
    /// The trigger price of an order of this side, once it is active.
    #[must_use]
    pub fn trigger_price(&self, side: Side, tick: Price) -> Option<Price> {
        self.extreme.and_then(|extreme| self.trail.distance.trigger(side, extreme, tick))
    }
}

/// A trailing stop: a sell follows the highest last price since it became active, and is triggered at its
/// distance below or lower. A buy follows the lowest, and is triggered at its distance above or higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailingOrder {
    /// The order that is entered when it is triggered. A market order has no price: its limit is
    /// its protection price, measured from the trigger price.
    #[serde(flatten)]
    pub terms: NewOrder,
    /// What it follows.
    pub trail: TrailTerms,
}

/// A trailing stop was accepted. It waits until it is triggered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailSet {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// What it follows. The activation price is the one in force.
    pub trail: TrailTerms,
}

/// A trailing stop follows the price now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrailActivated {
    /// The order.
    pub order: OrderId,
    /// The account that owns the order.
    pub account: AccountId,
    /// The instrument.
    pub instrument: InstrumentId,
    /// The side of the order.
    pub side: Side,
    /// The highest last price, for a buy the lowest, from the one that reached the activation price up to
    /// now.
    pub extreme: Price,
}
