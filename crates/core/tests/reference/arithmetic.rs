//! Amounts and roundings from their definitions, in wide integers: nothing here is the arithmetic of
//! the instrument that the core uses.

use super::Listed;
use rialto_model::{Amount, Price, Quantity};

/// Rates and fees are in millionths.
pub(super) const MILLION: i128 = 1_000_000;
/// The largest notional of an order.
const NOTIONAL_MAX: i128 = 1 << 100;

/// The largest number in a range of which something holds that holds of every smaller one, too.
pub(super) fn largest(low: i128, high: i128, holds: impl Fn(i128) -> bool) -> Option<i128> {
    if low > high || !holds(low) {
        return None;
    }
    let (mut yes, mut no) = (low, high + 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    Some(yes)
}

/// The smallest number in a range of which something holds that holds of every larger one, too.
pub(super) fn smallest(low: i128, high: i128, holds: impl Fn(i128) -> bool) -> Option<i128> {
    largest(-high, -low, |number| holds(-number)).map(|number| -number)
}

/// A number as a price, if one can be so large.
pub(super) fn price(number: i128) -> Option<Price> {
    i64::try_from(number).ok().map(Price)
}

impl Listed {
    /// Price times quantity, in the smallest units of the quote currency. Nothing where it is more
    /// than an order may be worth.
    pub(super) fn notional(&self, price: Price, quantity: Quantity) -> Option<Amount> {
        let spec = self.instrument.spec;
        let used = spec.price_scale.places() + spec.quantity_scale.places();
        let unit = 10_i128.pow(u32::from(self.quote_scale.places() - used));
        let product = (i128::from(price.0) * i128::from(quantity.0)).checked_mul(unit)?;
        (product <= NOTIONAL_MAX).then_some(Amount(product))
    }

    /// A quantity in the smallest units of the base currency.
    pub(super) fn base_amount(&self, quantity: Quantity) -> i128 {
        let used = self.instrument.spec.quantity_scale.places();
        i128::from(quantity.0) * 10_i128.pow(u32::from(self.base_scale.places() - used))
    }

    /// Whether an amount is more than an order may be worth.
    pub(super) fn is_too_much(amount: Amount) -> bool {
        amount.0 > NOTIONAL_MAX
    }
}
