//! An order's fee rates, and the residue of its fee: the part below the smallest unit that has not
//! been charged yet.

use rialto_model::{Amount, Instrument};

const RESIDUE_BITS: u32 = 20;
const RATE_BITS: u32 = 22;

/// Both rates and the residue, in one word: they share the cache line of a resting order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fees(u64);

impl Fees {
    /// No rates and nothing owed.
    pub(crate) const NONE: Fees = Fees(0);
    /// The largest absolute rate that fits, far above what an instrument may set.
    pub(crate) const PPM_MAX: i32 = (1 << (RATE_BITS - 1)) - 1;

    /// The rates of an order, in millionths, and its residue in millionths of the smallest unit,
    /// which is below a million.
    #[inline]
    pub(crate) fn new(maker_ppm: i32, taker_ppm: i32, residue: u32) -> Fees {
        debug_assert!(maker_ppm.abs() <= Self::PPM_MAX && taker_ppm.abs() <= Self::PPM_MAX);
        debug_assert!(i128::from(residue) < rialto_model::PPM, "a residue is below one unit");
        let rate = |ppm: i32| u64::from(ppm as u32) & ((1 << RATE_BITS) - 1);
        let rates = rate(maker_ppm) << RATE_BITS | rate(taker_ppm);
        Fees(rates << RESIDUE_BITS | u64::from(residue))
    }

    /// The rate where the order rests.
    #[inline]
    pub(crate) fn maker_ppm(self) -> i32 {
        (self.0 as i64 >> (RATE_BITS + RESIDUE_BITS)) as i32
    }

    /// The rate where the order comes in.
    #[inline]
    pub(crate) fn taker_ppm(self) -> i32 {
        ((self.0 << RATE_BITS) as i64 >> (RATE_BITS + RESIDUE_BITS)) as i32
    }

    /// The residue, in millionths of the smallest unit.
    #[inline]
    pub(crate) fn residue(self) -> u32 {
        (self.0 & ((1 << RESIDUE_BITS) - 1)) as u32
    }

    /// The rates of fees that owe nothing, and a residue.
    #[inline]
    pub(crate) fn with_residue(self, residue: u32) -> Fees {
        debug_assert!(self.residue() == 0 && i128::from(residue) < rialto_model::PPM);
        Fees(self.0 | u64::from(residue))
    }

    #[inline]
    fn set_residue(&mut self, residue: u32) {
        self.0 = self.0 >> RESIDUE_BITS << RESIDUE_BITS | u64::from(residue);
    }

    /// Charges an incoming order for a trade: `by_order` since rules version 2; before, each trade
    /// was charged alone and its residue was dropped.
    #[inline]
    pub(crate) fn charge_taker(&mut self, by_order: bool, notional: Amount) -> Amount {
        if !by_order {
            return Instrument::fee(notional, self.taker_ppm());
        }
        let (fee, residue) = Instrument::accrued_fee(notional, self.taker_ppm(), self.residue());
        self.set_residue(residue);
        fee
    }

    /// Charges an order for a trade of an auction by its rate, or by the order's own rate if that is
    /// lower: its reserve covers no more.
    #[inline]
    pub(crate) fn charge_auction(&mut self, fee_ppm: i32, notional: Amount) -> Amount {
        let ppm = fee_ppm.min(self.taker_ppm());
        let (fee, residue) = Instrument::accrued_fee(notional, ppm, self.residue());
        self.set_residue(residue);
        fee
    }

    /// Charges a resting order for a trade, as [`Fees::charge_taker`] does. A rebate is at most the fee of the incoming order; what
    /// that cuts off is not owed later.
    #[inline]
    pub(crate) fn charge_maker(
        &mut self,
        by_order: bool,
        notional: Amount,
        taker_fee: Amount,
    ) -> Amount {
        if !by_order {
            return Instrument::fee(notional, self.maker_ppm());
        }
        let (fee, residue) = Instrument::accrued_fee(notional, self.maker_ppm(), self.residue());
        if fee.0 + taker_fee.0 < 0 {
            self.set_residue(0);
            return Amount(-taker_fee.0);
        }
        self.set_residue(residue);
        fee
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_residue_are_distinguished() {
        for maker in [-Fees::PPM_MAX, -100_000, -1, 0, 1, 100_000, Fees::PPM_MAX] {
            for taker in [0, 1, 100_000, Fees::PPM_MAX] {
                for residue in [0, 1, 999_999] {
                    let fees = Fees::new(maker, taker, residue);
                    let told = (fees.maker_ppm(), fees.taker_ppm(), fees.residue());
                    assert_eq!(told, (maker, taker, residue));
                }
            }
        }
    }

    #[test]
    fn the_fees_of_parts_add_up_to_the_fee_of_the_whole() {
        let mut fees = Fees::new(0, 30, 0);
        let charged: i128 = (0..100_000).map(|_| fees.charge_taker(true, Amount(7)).0).sum();
        assert_eq!((charged, fees.residue()), (21, 0));
        let mut before = Fees::new(0, 30, 0);
        assert_eq!(before.charge_taker(false, Amount(7)), Amount::ZERO);
        assert_eq!(before, Fees::new(0, 30, 0));
    }

    #[test]
    fn a_rebate_is_at_most_the_takers_fee() {
        let mut fees = Fees::new(-100, 300, 0);
        assert_eq!(fees.charge_maker(true, Amount(1_000_000), Amount(30)), Amount(-30));
        assert_eq!(fees.residue(), 0);
        assert_eq!(fees.charge_maker(true, Amount(1_000_000), Amount(300)), Amount(-100));
        assert_eq!(fees.charge_maker(false, Amount(1_000_000), Amount(30)), Amount(-100));
    }

    #[test]
    fn a_rebate_is_rounded_down_like_every_fee() {
        let mut fees = Fees::new(-100, 300, 0);
        assert_eq!(fees.charge_maker(true, Amount(1), Amount(1)), Amount(-1));
        assert_eq!(fees.residue(), 999_900);
        assert_eq!(fees.charge_maker(true, Amount(9_999), Amount(1)), Amount(0));
        assert_eq!(fees.residue(), 0);
    }
}
