//! Balances, and the postings that move value between them.
//!
//! Every posting is double: what one account gains another loses, so that the balances of all
//! accounts, the venue's own included, sum to zero in every currency at all times.

use crate::limits::HELD_MAX;
use rialto_model::{Amount, CurrencyId};

/// The balance of an account in a currency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Free to use or withdraw.
    pub available: Amount,
    /// Reserved for open orders and held withdrawals.
    pub reserved: Amount,
}

/// The balances of all accounts in all currencies, densely: accounts by their slot, currencies by
/// their number, padded to a power of two.
pub(crate) struct Ledger {
    balances: Vec<Balance>,
    /// The capacity for currencies, as a power of two.
    stride_bits: u32,
    accounts: usize,
    /// The balance of the fee account, by currency.
    fees: Vec<Amount>,
    /// The balance of the outside world, by currency: the negative of all other balances.
    transit: Vec<Amount>,
}

impl Ledger {
    pub(crate) fn new() -> Ledger {
        Ledger { balances: Vec::new(), stride_bits: 2, accounts: 0, fees: vec![], transit: vec![] }
    }

    pub(crate) fn add_account(&mut self) {
        self.accounts += 1;
        self.balances.resize(self.accounts << self.stride_bits, Balance::default());
    }

    pub(crate) fn add_currency(&mut self) {
        self.fees.push(Amount::ZERO);
        self.transit.push(Amount::ZERO);
        if self.fees.len() > 1 << self.stride_bits {
            let old_stride = 1 << self.stride_bits;
            self.stride_bits += 1;
            let mut wider = vec![Balance::default(); self.accounts << self.stride_bits];
            for (new, old) in wider.chunks_mut(old_stride * 2).zip(self.balances.chunks(old_stride))
            {
                new[..old_stride].copy_from_slice(old);
            }
            self.balances = wider;
        }
    }

    #[inline]
    fn at(&self, account: u32, currency: CurrencyId) -> usize {
        ((account as usize) << self.stride_bits) + usize::from(currency.0) - 1
    }

    #[inline]
    pub(crate) fn balance(&self, account: u32, currency: CurrencyId) -> Balance {
        self.balances[self.at(account, currency)]
    }

    #[inline]
    fn balance_mut(&mut self, account: u32, currency: CurrencyId) -> &mut Balance {
        let at = self.at(account, currency);
        &mut self.balances[at]
    }

    pub(crate) fn fees(&self, currency: CurrencyId) -> Amount {
        self.fees[usize::from(currency.0) - 1]
    }

    pub(crate) fn transit(&self, currency: CurrencyId) -> Amount {
        self.transit[usize::from(currency.0) - 1]
    }

    pub(crate) fn restore_house(&mut self, currency: CurrencyId, fees: Amount, transit: Amount) {
        self.fees[usize::from(currency.0) - 1] = fees;
        self.transit[usize::from(currency.0) - 1] = transit;
    }

    pub(crate) fn restore_balance(&mut self, account: u32, currency: CurrencyId, to: Balance) {
        *self.balance_mut(account, currency) = to;
    }

    /// Moves `amount` from available to reserved; a negative amount moves it back.
    #[inline]
    pub(crate) fn reserve(&mut self, account: u32, currency: CurrencyId, amount: Amount) {
        let balance = self.balance_mut(account, currency);
        balance.available.0 -= amount.0;
        balance.reserved.0 += amount.0;
        debug_assert!(balance.available.0 >= 0 && balance.reserved.0 >= 0);
    }

    /// Whether `amount` may be deposited without the total exceeding the largest amount.
    pub(crate) fn can_deposit(&self, currency: CurrencyId, amount: Amount) -> bool {
        let held = -self.transit(currency).0;
        held.checked_add(amount.0).is_some_and(|held| held <= HELD_MAX)
    }

    /// Pays out a reserved amount.
    pub(crate) fn pay_out(&mut self, account: u32, currency: CurrencyId, amount: Amount) {
        self.transit[usize::from(currency.0) - 1].0 += amount.0;
        let balance = self.balance_mut(account, currency);
        balance.reserved.0 -= amount.0;
        debug_assert!(balance.reserved.0 >= 0);
    }

    /// Credits an account from outside; a negative amount debits it.
    pub(crate) fn deposit(&mut self, account: u32, currency: CurrencyId, amount: Amount) {
        self.transit[usize::from(currency.0) - 1].0 -= amount.0;
        self.balance_mut(account, currency).available.0 += amount.0;
    }

    #[inline]
    pub(crate) fn post_trade(&mut self, posting: &TradePosting) {
        let TradePosting { base, quote, notional, .. } = *posting;
        let paid = self.balance_mut(posting.buyer, quote);
        paid.reserved.0 -= posting.buyer_unreserved.0;
        paid.available.0 += posting.buyer_unreserved.0 - notional.0 - posting.buyer_fee.0;
        debug_assert!(paid.available.0 >= 0 && paid.reserved.0 >= 0);
        self.balance_mut(posting.buyer, base).available.0 += posting.base_amount.0;
        let delivered = self.balance_mut(posting.seller, base);
        delivered.reserved.0 -= posting.base_amount.0;
        debug_assert!(delivered.reserved.0 >= 0);
        let received = self.balance_mut(posting.seller, quote);
        received.available.0 += notional.0 - posting.seller_fee.0;
        self.fees[usize::from(quote.0) - 1].0 += posting.buyer_fee.0 + posting.seller_fee.0;
    }

    /// The sum over all accounts of a currency, the venue's own included: always zero. It is not if it
    /// cannot be expressed, as of balances that were forged.
    pub(crate) fn sum(&self, currency: CurrencyId) -> i128 {
        let members = (0..self.accounts as u32).map(|account| self.balance(account, currency));
        let members = members.flat_map(|balance| [balance.available, balance.reserved]);
        let house = [self.fees(currency), self.transit(currency)];
        let sum = members.chain(house).try_fold(0_i128, |sum, amount| sum.checked_add(amount.0));
        sum.unwrap_or(i128::MAX)
    }
}

pub(crate) struct TradePosting {
    pub(crate) buyer: u32,
    pub(crate) seller: u32,
    pub(crate) base: CurrencyId,
    pub(crate) quote: CurrencyId,
    pub(crate) base_amount: Amount,
    pub(crate) notional: Amount,
    pub(crate) buyer_fee: Amount,
    pub(crate) seller_fee: Amount,
    /// The decrease of the buyer's reserve.
    pub(crate) buyer_unreserved: Amount,
}

#[cfg(test)]
mod tests {
    use super::*;

    const USD: CurrencyId = CurrencyId(1);

    fn ledger(accounts: usize, currencies: usize) -> Ledger {
        let mut ledger = Ledger::new();
        (0..accounts).for_each(|_| ledger.add_account());
        (0..currencies).for_each(|_| ledger.add_currency());
        ledger
    }

    #[test]
    fn a_deposit_is_owed_to_the_outside() {
        let mut ledger = ledger(1, 1);
        ledger.deposit(0, USD, Amount(5));
        assert_eq!(ledger.transit(USD), Amount(-5));
        assert_eq!(ledger.sum(USD), 0);
    }

    #[test]
    fn a_payout_clears_the_debt() {
        let mut ledger = ledger(1, 1);
        ledger.deposit(0, USD, Amount(5));
        ledger.reserve(0, USD, Amount(3));
        ledger.pay_out(0, USD, Amount(3));
        assert_eq!(ledger.transit(USD), Amount(-2));
        let rest = Balance { available: Amount(2), reserved: Amount::ZERO };
        assert_eq!((ledger.balance(0, USD), ledger.sum(USD)), (rest, 0));
    }

    #[test]
    fn more_currencies_leave_balances_where_they_were() {
        let mut ledger = ledger(3, 4);
        ledger.deposit(2, CurrencyId(4), Amount(7));
        (0..20).for_each(|_| ledger.add_currency());
        assert_eq!(ledger.balance(2, CurrencyId(4)).available, Amount(7));
        assert_eq!(ledger.balance(2, CurrencyId(24)), Balance::default());
    }

    #[test]
    fn the_sum_held_stays_below_its_bound() {
        let mut ledger = ledger(1, 1);
        ledger.deposit(0, USD, Amount(HELD_MAX - 1));
        assert!(ledger.can_deposit(USD, Amount(1)));
        assert!(!ledger.can_deposit(USD, Amount(2)));
        assert!(!ledger.can_deposit(USD, Amount::MAX));
    }

    #[test]
    fn the_legs_of_a_trade_sum_to_zero() {
        let mut ledger = ledger(2, 2);
        ledger.deposit(0, USD, Amount(1_000));
        ledger.deposit(1, CurrencyId(2), Amount(10));
        ledger.reserve(0, USD, Amount(505));
        ledger.reserve(1, CurrencyId(2), Amount(10));
        ledger.post_trade(&TradePosting {
            buyer: 0,
            seller: 1,
            base: CurrencyId(2),
            quote: USD,
            base_amount: Amount(10),
            notional: Amount(490),
            buyer_fee: Amount(5),
            seller_fee: Amount(-2),
            buyer_unreserved: Amount(505),
        });
        assert_eq!((ledger.sum(USD), ledger.sum(CurrencyId(2))), (0, 0));
        assert_eq!(ledger.balance(0, USD).available, Amount(505));
        assert_eq!(ledger.balance(1, USD).available, Amount(492));
        assert_eq!(ledger.fees(USD), Amount(3));
    }
}
