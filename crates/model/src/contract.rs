//! The terms of a contract: how much an order may be worth, and fees by the lot.

use crate::{Amount, Instrument, InstrumentError, Price, Quantity, TradingRules};
use serde::{Deserialize, Serialize};

/// Fees by the lot, in the smallest units of the quote currency. They replace the rates of
/// [`TradingRules`] and [`AuctionRules`](crate::AuctionRules).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LotFees {
    /// Fee of the resting order for a lot; negative is a rebate. Its size is at most the taker fee.
    pub maker: Amount,
    /// Fee of the incoming order for a lot.
    pub taker: Amount,
    /// Fee of both sides of a trade in an auction for a lot, at most the taker fee.
    pub auction: Amount,
}

impl LotFees {
    /// The largest fee of a lot: 2^63 - 1 smallest units, so that the fees of an order never overflow.
    pub const MAX: Amount = Amount(i64::MAX as i128);

    /// The fee of a quantity, at `fee` a lot.
    #[must_use]
    pub fn of(fee: Amount, quantity: Quantity, lot: Quantity) -> Amount {
        Amount(fee.0 * i128::from(quantity.0 / lot.0))
    }

    fn is_sound(&self) -> bool {
        let taker = self.taker.0;
        (0..=Self::MAX.0).contains(&taker)
            && (-taker..=taker).contains(&self.maker.0)
            && (0..=taker).contains(&self.auction.0)
    }
}

/// What an instrument has beside its trading rules: how much an order may be worth, and fees by the lot.
/// Since rules version 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractTerms {
    /// The largest price times quantity of one order, in the smallest units of the quote currency; zero is
    /// no limit but [`Instrument::NOTIONAL_MAX`].
    pub notional_max: Amount,
    /// Fees by the lot; without them the rates of the rules are charged.
    pub lot_fees: Option<LotFees>,
}

impl ContractTerms {
    /// No limit, and the rates of the rules.
    pub const PLAIN: ContractTerms = ContractTerms { notional_max: Amount::ZERO, lot_fees: None };

    /// Whether the terms are consistent in themselves, and with the rules.
    pub fn check(&self, rules: &TradingRules) -> Result<(), InstrumentError> {
        let most = self.notional_max;
        if !(0..=Instrument::NOTIONAL_MAX.0).contains(&most.0)
            || (most != Amount::ZERO && most < rules.notional_min)
        {
            return Err(InstrumentError::NotionalMax);
        }
        if self.lot_fees.is_some_and(|fees| !fees.is_sound()) {
            return Err(InstrumentError::LotFees);
        }
        Ok(())
    }

    /// What an order to buy reserves: its notional, and the fee of the taker.
    #[must_use]
    pub fn buy_reserve(
        &self,
        instrument: &Instrument,
        price: Price,
        quantity: Quantity,
    ) -> Option<Amount> {
        let rules = &instrument.spec.rules;
        let Some(fees) = self.lot_fees else {
            return instrument.buy_reserve(price, quantity, rules.taker_fee_ppm, 0);
        };
        let notional = instrument.notional(price, quantity)?;
        Some(Amount(notional.0 + LotFees::of(fees.taker, quantity, rules.lot).0))
    }

    /// The largest notional of one order.
    #[must_use]
    pub fn largest_notional(&self) -> Amount {
        if self.notional_max == Amount::ZERO {
            return Instrument::NOTIONAL_MAX;
        }
        self.notional_max
    }
}
