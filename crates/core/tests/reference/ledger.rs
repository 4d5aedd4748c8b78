//! Reserving, releasing and posting.

use super::{Alteration, Order, Reference};
use rialto_model::{
    AccountId, Amount, CurrencyId, Instrument, Price, Quantity, RejectReason, Side,
};

/// What a trade moved, as its event tells it.
#[derive(Clone, Copy, Default)]
pub(super) struct Posted {
    pub(super) notional: Amount,
    pub(super) maker_fee: Amount,
    pub(super) taker_fee: Amount,
    pub(super) buyer_unreserved: Amount,
}

impl Reference {
    /// The currency in which an order of this side is reserved.
    pub fn reserve_currency(instrument: &Instrument, side: Side) -> CurrencyId {
        match side {
            Side::Buy => instrument.spec.quote,
            Side::Sell => instrument.spec.base,
        }
    }

    /// What an order sized in base currency needs.
    pub fn reserve_needed(
        instrument: &Instrument,
        side: Side,
        price: Price,
        quantity: Quantity,
        taker_fee_ppm: i32,
        fee_owed: i128,
    ) -> Amount {
        if !instrument.spec.rules.risk {
            return Amount::ZERO;
        }
        match side {
            Side::Buy => {
                let notional = instrument
                    .notional(price, quantity)
                    .expect("the notional of an order was checked when it was entered");
                let owed = notional.0 * i128::from(taker_fee_ppm) + fee_owed;
                Amount(notional.0 + owed.div_euclid(1_000_000))
            }
            Side::Sell => instrument.base_amount(quantity),
        }
    }

    /// Moves from available to reserved; a negative amount moves back.
    pub(super) fn reserve(
        &mut self,
        account: AccountId,
        instrument: &Instrument,
        side: Side,
        amount: Amount,
    ) -> Result<(), RejectReason> {
        if !instrument.spec.rules.risk {
            return Ok(());
        }
        let balance = self.balance_mut(account, Self::reserve_currency(instrument, side));
        if amount.0 > balance.available {
            return Err(RejectReason::InsufficientBalance);
        }
        balance.available -= amount.0;
        balance.reserved += amount.0;
        Ok(())
    }

    /// Gives back what an ended order had reserved.
    pub(super) fn release_all(&mut self, order: &Order) -> Amount {
        if self.gets_wrong(Alteration::ReleaseForgotten) {
            return Amount::ZERO;
        }
        let instrument = self.instrument_of(order);
        self.reserve(order.account, &instrument, order.side, Amount(-order.reserved.0))
            .expect("giving back needs no balance");
        order.reserved
    }

    /// Gives back what a smaller order needs no longer.
    pub(super) fn shrink_reserve(&mut self, order: &mut Order) -> Amount {
        let instrument = self.instrument_of(order);
        let needed = Self::reserve_needed(
            &instrument,
            order.side,
            order.price,
            order.remaining,
            order.taker_fee_ppm,
            order.fee_owed,
        );
        let released = Amount(order.reserved.0 - needed.0);
        order.reserved = needed;
        self.reserve(order.account, &instrument, order.side, Amount(-released.0))
            .expect("giving back needs no balance");
        released
    }

    /// The fee as the rules have it, unless this reference gets it wrong. What an order owes beyond
    /// whole units stays in `owed`.
    pub(super) fn fee(&self, notional: Amount, ppm: i32, owed: &mut i128) -> Amount {
        if self.rules_version >= 2 && !self.gets_wrong(Alteration::FeeByTrade) {
            *owed += notional.0 * i128::from(ppm);
            let fee = owed.div_euclid(1_000_000);
            *owed -= fee * 1_000_000;
            let up = self.gets_wrong(Alteration::FeeRoundedUp) && *owed != 0;
            return Amount(fee + i128::from(up));
        }
        let fee = Instrument::fee(notional, ppm);
        let product = notional.0 * i128::from(ppm);
        if self.gets_wrong(Alteration::FeeRoundedUp) && product % 1_000_000 != 0 {
            return Amount(fee.0 + product.signum());
        }
        fee
    }

    /// Posts a trade. Both orders have their new `remaining` and `quote_left` already.
    pub(super) fn post_trade(
        &mut self,
        instrument: &Instrument,
        maker: &mut Order,
        taker: &mut Order,
        price: Price,
        quantity: Quantity,
    ) -> Posted {
        if !instrument.spec.rules.risk {
            return Posted::default();
        }
        let notional = instrument
            .notional(price, quantity)
            .expect("a trade is no larger than the order whose notional was checked");
        let taker_fee = self.fee(notional, taker.taker_fee_ppm, &mut taker.fee_owed);
        let mut maker_fee = self.fee(notional, maker.maker_fee_ppm, &mut maker.fee_owed);
        let capped = self.rules_version >= 2 && !self.gets_wrong(Alteration::RebateUncapped);
        if capped && maker_fee.0 + taker_fee.0 < 0 {
            maker_fee = Amount(-taker_fee.0);
            maker.fee_owed = 0;
        }
        let (buyer, buyer_fee, seller, seller_fee) = match taker.side {
            Side::Buy => (&mut *taker, taker_fee, &mut *maker, maker_fee),
            Side::Sell => (&mut *maker, maker_fee, &mut *taker, taker_fee),
        };
        let quote = instrument.spec.quote;
        let base = instrument.spec.base;
        let delivered = instrument.base_amount(quantity);

        let needed = match buyer.quote_left {
            Some(left) => left,
            None => Self::reserve_needed(
                instrument,
                Side::Buy,
                buyer.price,
                buyer.remaining,
                buyer.taker_fee_ppm,
                buyer.fee_owed,
            ),
        };
        let unreserved = Amount(buyer.reserved.0 - needed.0);
        buyer.reserved = needed;
        let paid = notional.0 + buyer_fee.0;
        let kept = self.gets_wrong(Alteration::ImprovementKept);
        let balance = self.balance_mut(buyer.account, quote);
        balance.reserved -= unreserved.0;
        balance.available += if kept { 0 } else { unreserved.0 - paid };
        self.balance_mut(buyer.account, base).available += delivered.0;

        seller.reserved = Amount(seller.reserved.0 - delivered.0);
        self.balance_mut(seller.account, base).reserved -= delivered.0;
        self.balance_mut(seller.account, quote).available += notional.0 - seller_fee.0;

        if !self.gets_wrong(Alteration::FeePostingDropped) {
            self.balance_mut(AccountId::FEES, quote).available += buyer_fee.0 + seller_fee.0;
        }
        Posted { notional, maker_fee, taker_fee, buyer_unreserved: unreserved }
    }
}
