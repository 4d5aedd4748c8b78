//! The terms of a contract: how much an order may be worth, and fees by the lot.

use crate::Core;
use crate::instruments::{Market, NOTIONAL_CHECKED};
use rialto_model::{
    Amount, ContractTerms, Event, InstrumentId, LotFees, Outcome, Price, Quantity, RejectReason,
    Side,
};

impl Core {
    pub(crate) fn set_contract_terms(
        &mut self,
        id: InstrumentId,
        terms: &ContractTerms,
    ) -> Result<(Event, Outcome), RejectReason> {
        if !self.rules_since(5) {
            return Err(RejectReason::CommandUnknown);
        }
        let at = usize::from(self.market(id)?);
        let market = &mut self.markets[at];
        market.check_not_uncrossing()?;
        terms.check(market.rules()).map_err(|_| RejectReason::InvalidRules)?;
        // An open order has reserved the fees that were in force, and holds their rates.
        if terms.lot_fees != market.terms.lot_fees && market.open_orders() > 0 {
            return Err(RejectReason::HasOpenOrders);
        }
        market.set_terms(*terms);
        Ok((Event::ContractTermsSet { instrument: id, terms: *terms }, Outcome::Done))
    }
}

impl Market {
    /// The fees of the incoming and of the resting order in a trade, where they are by the lot. A seller
    /// pays no more than it is paid, and a rebate is at most the fee of the incoming order.
    #[cold]
    pub(crate) fn lot_fees(
        &self,
        fees: &LotFees,
        taker_side: Side,
        quantity: Quantity,
        notional: Amount,
    ) -> (Amount, Amount) {
        let taker = self.lot_fee(fees.taker, taker_side, quantity, notional);
        let maker = self.lot_fee(fees.maker, taker_side.opposite(), quantity, notional);
        (taker, maker.max(Amount(-taker.0)))
    }

    /// The fee of one side of a trade at `fee` a lot.
    pub(crate) fn lot_fee(
        &self,
        fee: Amount,
        side: Side,
        quantity: Quantity,
        notional: Amount,
    ) -> Amount {
        let fee = LotFees::of(fee, quantity, self.rules().lot);
        match side {
            Side::Buy => fee,
            Side::Sell => fee.min(notional),
        }
    }

    /// What it costs at most to buy a quantity at a price, where fees are by the lot.
    #[cold]
    pub(crate) fn cost_by_lot(&self, price: Price, quantity: Quantity) -> Amount {
        self.terms.buy_reserve(&self.instrument, price, quantity).expect(NOTIONAL_CHECKED)
    }

    /// The quantity that an amount buys at a price, with fees by the lot.
    #[cold]
    pub(crate) fn affordable_by_lot(&self, fees: &LotFees, price: Price, left: Amount) -> i128 {
        let lot = self.rules().lot;
        match self.instrument.notional(price, lot) {
            Some(notional) => left.0 / (notional.0 + fees.taker.0) * i128::from(lot.0),
            None => 0,
        }
    }
}
