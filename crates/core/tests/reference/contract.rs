//! The terms of a contract: how much an order may be worth, and fees by the lot.

use super::entry::{Verdict, demand};
use super::{Alteration, Order, Reference};
use rialto_model::{
    Amount, ContractTerms, Event, InstrumentId, LotFees, Outcome, Quantity, RejectReason, Side,
    TradingRules,
};

/// Which fee an order owes in a trade.
#[derive(Clone, Copy)]
pub(super) enum Role {
    Maker,
    Taker,
    Auction,
}

/// Whether terms agree with themselves and with the rules.
pub(super) fn check_terms(terms: &ContractTerms, rules: &TradingRules) -> Verdict {
    let most = terms.notional_max.0;
    let reaches = most == 0 || most >= rules.notional_min.0;
    let fees_agree = terms.lot_fees.is_none_or(|LotFees { maker, taker, auction }| {
        taker.0 >= 0
            && taker.0 < 1 << 63
            && maker.0.unsigned_abs() <= taker.0.unsigned_abs()
            && auction.0 >= 0
            && auction.0 <= taker.0
    });
    let sound = (0..=1 << 100).contains(&most) && reaches && fees_agree;
    if sound { Ok(()) } else { Err(RejectReason::InvalidRules) }
}

impl Reference {
    pub(super) fn set_contract_terms(
        &mut self,
        id: InstrumentId,
        terms: &ContractTerms,
    ) -> Result<Outcome, RejectReason> {
        demand(self.rules_version >= 5, RejectReason::CommandUnknown)?;
        let listed = self.listed(id)?;
        demand(!listed.is_uncrossing(), RejectReason::InstrumentUncrossing)?;
        check_terms(terms, &listed.instrument.spec.rules)?;
        let is_open = self.orders.iter().any(|order| order.instrument == id);
        let same_fees = terms.lot_fees == listed.terms.lot_fees;
        let same_fees = same_fees || self.gets_wrong(Alteration::LotFeesChangeAnyTime);
        demand(same_fees || !is_open, RejectReason::HasOpenOrders)?;
        self.listed_mut(id)?.terms = *terms;
        self.events.push(Event::ContractTermsSet { instrument: id, terms: *terms });
        Ok(Outcome::Done)
    }

    /// The rates of an order that is entered or amended now.
    pub(super) fn rates(&self, id: InstrumentId) -> Result<[i32; 2], RejectReason> {
        let listed = self.listed(id)?;
        let rules = listed.instrument.spec.rules;
        let rates = [rules.maker_fee_ppm, rules.taker_fee_ppm];
        Ok(if listed.terms.lot_fees.is_some() { [0; 2] } else { rates })
    }

    /// The most that fees by the lot can come to for a quantity: nobody pays more than an incoming order.
    pub(super) fn lot_fees_at_most(&self, id: InstrumentId, quantity: Quantity) -> i128 {
        let listed = self.listed(id).expect("an order is in an instrument");
        let lots = i128::from(quantity.0) / i128::from(listed.instrument.spec.rules.lot.0);
        listed.terms.lot_fees.map_or(0, |fees| fees.taker.0 * lots)
    }

    /// Charges an order for a trade, by its rate or by the lot.
    pub(super) fn charge_as(
        &self,
        role: Role,
        order: &mut Order,
        notional: Amount,
        quantity: Quantity,
    ) -> i128 {
        let listed = self.of(order);
        let Some(fees) = listed.terms.lot_fees else {
            let ppm = match role {
                Role::Maker => order.maker_fee_ppm,
                Role::Taker => order.taker_fee_ppm,
                Role::Auction => listed.auction_rules.fee_ppm.min(order.taker_fee_ppm),
            };
            return self.charge(order, notional, ppm);
        };
        let of_lot = match role {
            Role::Maker => fees.maker,
            Role::Taker => fees.taker,
            Role::Auction => fees.auction,
        };
        let lots = quantity.0 / listed.instrument.spec.rules.lot.0;
        let fee = of_lot.0 * i128::from(lots);
        let is_cut = order.side == Side::Sell && !self.gets_wrong(Alteration::SellersPayOnTop);
        if is_cut { fee.min(notional.0) } else { fee }
    }
}
