//! What everybody owns is the sum of all postings, and what of it is bound is the sum over the open
//! orders and the withdrawals that are held. Neither is kept: both are added up when they are asked
//! for.

use super::arithmetic::MILLION;
use super::matching::Deal;
use super::{Alteration, Order, Reference};
use rialto_model::{AccountId, Amount, CurrencyId, Side};
use std::collections::BTreeMap;

/// One leg: what an account gains of a currency, or loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    pub account: AccountId,
    pub currency: CurrencyId,
    pub amount: i128,
}

impl Reference {
    pub(super) fn post(&mut self, account: AccountId, currency: CurrencyId, amount: i128) {
        self.postings.push(Posting { account, currency, amount });
    }

    /// All that an account has ever gained and lost of a currency.
    pub(super) fn owned(&self, account: AccountId, currency: CurrencyId) -> i128 {
        let postings = self.postings.iter();
        let own = postings.filter(|leg| leg.account == account && leg.currency == currency);
        own.map(|leg| leg.amount).sum()
    }

    /// What an account owns and nothing binds.
    pub(super) fn available(&self, account: AccountId, currency: CurrencyId) -> i128 {
        let bound = self.bound().filter(|leg| leg.account == account && leg.currency == currency);
        self.owned(account, currency) - bound.map(|leg| leg.amount).sum::<i128>()
    }

    /// What binds anything of what anybody owns.
    fn bound(&self) -> impl Iterator<Item = Posting> + '_ {
        let orders = self.orders.iter().chain(&self.taking).map(|order| Posting {
            account: order.account,
            currency: self.held_currency(order),
            amount: self.hold(order).0,
        });
        let withdrawals = self.held.iter().map(|transfer| Posting {
            account: transfer.account,
            currency: transfer.currency,
            amount: transfer.amount.0,
        });
        orders.chain(withdrawals).chain(self.never_released.iter().copied())
    }

    /// Available and bound, wherever one of them is not zero.
    pub fn balances(&self) -> BTreeMap<(AccountId, CurrencyId), (i128, i128)> {
        let mut balances = BTreeMap::<_, (i128, i128)>::new();
        for leg in &self.postings {
            balances.entry((leg.account, leg.currency)).or_default().0 += leg.amount;
        }
        for leg in self.bound() {
            let balance = balances.entry((leg.account, leg.currency)).or_default();
            *balance = (balance.0 - leg.amount, balance.1 + leg.amount);
        }
        balances.retain(|_, balance| *balance != (0, 0));
        balances
    }

    /// The currency that an order gives away.
    pub(super) fn held_currency(&self, order: &Order) -> CurrencyId {
        let spec = self.of(order).instrument.spec;
        if order.side == Side::Buy { spec.quote } else { spec.base }
    }

    /// What an order holds: what it needs, without what an order that it is linked to holds.
    pub fn hold(&self, order: &Order) -> Amount {
        Amount(self.need(order).0 - order.covered)
    }

    /// The most that an order may still have to give away: a sell what it delivers, a buy what it
    /// pays at its limit, the fee of an incoming order included.
    pub fn need(&self, order: &Order) -> Amount {
        let listed = self.of(order);
        if !listed.instrument.spec.rules.risk {
            return Amount::ZERO;
        }
        Amount(match (order.side, order.quote_left, order.deliverable) {
            (Side::Buy, Some(left), _) => left.0,
            (Side::Buy, None, _) => {
                let notional = listed.notional(order.price, order.remaining);
                let notional = notional.expect("it was checked when the order was entered").0;
                let fee = notional * i128::from(order.taker_fee_ppm) + order.fee_not_charged();
                let by_lot = self.lot_fees_at_most(order.instrument, order.remaining);
                notional + fee.div_euclid(MILLION) + by_lot
            }
            (Side::Sell, None, _) => listed.base_amount(order.remaining),
            (Side::Sell, Some(_), Some(most)) => {
                listed.base_amount(most) - listed.base_amount(order.filled)
            }
            (Side::Sell, Some(_), None) => 0,
        })
    }

    /// Goes on binding what an order has bound.
    pub(super) fn never_release(&mut self, order: &Order, amount: Amount) {
        let (account, currency) = (order.account, self.held_currency(order));
        self.never_released.push(Posting { account, currency, amount: amount.0 });
    }

    /// Charges an order for a trade. All its fees together are its rate times all that it traded,
    /// rounded down; under the first rules each trade is charged alone, rounded towards zero.
    pub(super) fn charge(&self, order: &mut Order, notional: Amount, ppm: i32) -> i128 {
        let owed = notional.0 * i128::from(ppm);
        let up = self.gets_wrong(Alteration::FeeRoundedUp);
        if self.rules_version < 2 || self.gets_wrong(Alteration::FeeByTrade) {
            let away = if up && owed % MILLION != 0 { owed.signum() } else { 0 };
            return owed / MILLION + away;
        }
        order.fees_owed += owed;
        let fee = order.fees_owed.div_euclid(MILLION) - order.fees_charged;
        order.fees_charged += fee;
        fee + i128::from(up && order.fee_not_charged() != 0)
    }

    /// Both sides of a trade, and the venue's fee.
    pub(super) fn post_deal(&mut self, deal: &Deal) {
        let listed = self.of(&deal.taker);
        let (base, quote) = (listed.instrument.spec.base, listed.instrument.spec.quote);
        let delivered = listed.base_amount(deal.quantity);
        let taker = (deal.taker.account, deal.taker_fee);
        let maker = (deal.maker.account, deal.maker_fee);
        let (buyer, seller) =
            if deal.taker.side == Side::Buy { (taker, maker) } else { (maker, taker) };
        let kept = self.gets_wrong(Alteration::ImprovementKept);
        let pays = if kept { deal.buyer_released } else { deal.notional + buyer.1 };
        self.post(buyer.0, quote, -pays);
        self.post(buyer.0, base, delivered);
        self.post(seller.0, base, -delivered);
        self.post(seller.0, quote, deal.notional - seller.1);
        if !self.gets_wrong(Alteration::FeePostingDropped) {
            self.post(AccountId::FEES, quote, buyer.1 + seller.1);
        }
    }
}
