//! The orders of perpetual-exchange's report on `production_safe` and `event_sourcing`, in two forms.
//!
//! Limit orders on one instrument into an empty book, no cancels. Order `i` (from 0) has id `i + 1`
//! and user `(i mod 1000) + 1`; from `mt19937` seeded 42 come, in this order, its side, its price
//! and its quantity. The published program seeded itself from the machine's entropy, so its very
//! orders cannot be had; the distribution and the order of draws are its own.
//!
//! The published runs traded 0.02 % of orders. That is a defect of the engine that ran them, not a
//! property of the orders: bids and asks share one price range, so most orders trade.

use super::operation::{Operation, Workload};
use super::random::MersenneTwister;
use rialto_model::{OrderId, Price, Quantity, Side, TimeInForce};

/// Users that orders are spread over.
pub const USERS: u32 = 1_000;
/// Decimal places of a price: drawn in whole units and scaled by 10^9.
pub const PRICE_SCALE: u8 = 9;
/// Decimal places of a quantity: drawn in whole units and scaled by 10^6.
pub const QUANTITY_SCALE: u8 = 6;

const SEED: u32 = 42;

/// The two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As generated: bids and asks cross, most orders trade.
    A,
    /// Resting only: bids are mapped to the lower half of the price range, asks to the upper.
    B,
}

impl Form {
    /// The letter of the form.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Form::A => 'A',
            Form::B => 'B',
        }
    }

    /// Maps a drawn price in [40000, 60000) to where this form wants it.
    fn place(self, side: Side, drawn: f64) -> f64 {
        match (self, side) {
            (Form::A, _) => drawn,
            (Form::B, Side::Buy) => 40_000.0 + (drawn - 40_000.0) / 2.0,
            (Form::B, Side::Sell) => 50_000.0 + (drawn - 40_000.0) / 2.0,
        }
    }
}

/// The orders of a form, without end.
pub fn random_orders(form: Form) -> impl Iterator<Item = Operation> {
    let mut random = MersenneTwister::seeded(SEED);
    (0_u64..).map(move |position| {
        let side = if random.uniform(0.0, 1.0) < 0.5 { Side::Buy } else { Side::Sell };
        let price = form.place(side, random.uniform(40_000.0, 60_000.0)) * 1e9;
        let quantity = random.uniform(0.01, 1.0) * 1e6;
        Operation::Place {
            id: OrderId(position + 1),
            side,
            time_in_force: TimeInForce::Gtc,
            user: (position % u64::from(USERS)) as u32 + 1,
            price: Price(price as i64),
            quantity: Quantity(quantity as i64),
        }
    })
}

/// The first `count` orders of a form; the first thousand of them, or a tenth if that is fewer,
/// warm up.
#[must_use]
pub fn random_prices(form: Form, count: usize) -> Workload {
    let name = format!("random prices {}, {count} orders", form.letter());
    Workload::new(name, (count / 10).min(1_000), random_orders(form).take(count).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::FillDigest;

    #[test]
    fn draws_side_then_price_then_quantity() {
        let mut random = MersenneTwister::seeded(42);
        let draws: Vec<f64> = (0..3).map(|_| random.next_double()).collect();
        let Some(Operation::Place { side, price, quantity, user, id, .. }) =
            random_orders(Form::A).next()
        else {
            panic!("the first operation places an order");
        };
        assert_eq!(side == Side::Buy, draws[0] < 0.5);
        assert_eq!(price.0, ((draws[1] * 20_000.0 + 40_000.0) * 1e9) as i64);
        assert_eq!(quantity.0, ((draws[2] * 0.99 + 0.01) * 1e6) as i64);
        assert_eq!((id, user), (OrderId(1), 1));
    }

    #[test]
    fn the_first_50_000_orders_are_those_that_libstdcpp_draws() {
        // The digest was taken of a C++ program with std::mt19937 and uniform_real_distribution.
        let mut digest = FillDigest::new();
        for operation in random_orders(Form::A).take(50_000) {
            if let Operation::Place { id, side, price, quantity, .. } = operation {
                digest.fill(id, OrderId(side as u64), price, quantity);
            }
        }
        assert_eq!(digest.to_string(), "d185fa1c39654b87");
    }

    #[test]
    fn the_resting_form_never_trades_and_the_other_mostly_does() {
        let resting = random_prices(Form::B, 5_000).expected;
        assert_eq!((resting.tally.trades, resting.standing.resting()), (0, 5_000));
        let crossing = random_prices(Form::A, 5_000).expected;
        assert!(crossing.tally.trades > 2_500, "{} trades", crossing.tally.trades);
    }

    #[test]
    fn users_go_round() {
        let users: Vec<u32> = random_orders(Form::A)
            .skip(998)
            .take(4)
            .map(|operation| match operation {
                Operation::Place { user, .. } => user,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(users, [999, 1_000, 1, 2]);
    }
}
