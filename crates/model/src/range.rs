//! Ranges of prices.

use crate::{PPM, Price};

/// A range of prices, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceRange {
    /// The lowest price.
    pub low: Price,
    /// The highest price.
    pub high: Price,
}

impl PriceRange {
    /// All prices.
    pub const ALL: PriceRange = PriceRange { low: Price(i64::MIN), high: Price::MAX };

    /// The prices that are at most `ppm` millionths of a reference away from it; none if one of the
    /// two is zero.
    #[must_use]
    pub fn around(reference: Price, ppm: u32) -> Option<PriceRange> {
        if reference == Price::ZERO || ppm == 0 {
            return None;
        }
        let width = i128::from(reference.0) * i128::from(ppm) / PPM;
        let price = |price: i128| Price(price.clamp(0, i128::from(i64::MAX)) as i64);
        let reference = i128::from(reference.0);
        Some(PriceRange { low: price(reference - width), high: price(reference + width) })
    }

    /// Whether a price is in it.
    #[must_use]
    #[inline]
    pub fn contains(self, price: Price) -> bool {
        (self.low <= price) & (price <= self.high)
    }

    /// The prices that are in both, which may be none.
    #[must_use]
    pub fn intersect(self, other: PriceRange) -> PriceRange {
        PriceRange { low: self.low.max(other.low), high: self.high.min(other.high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_includes_both_ends_and_no_price_further_away() {
        let range = PriceRange::around(Price(10_000), 20_000).unwrap();
        assert_eq!(range, PriceRange { low: Price(9_800), high: Price(10_200) });
        assert!(range.contains(Price(9_800)) && range.contains(Price(10_200)));
        assert!(!range.contains(Price(9_799)) && !range.contains(Price(10_201)));
    }

    #[test]
    fn ends_between_prices_are_rounded_inwards() {
        let range = PriceRange::around(Price(101), 15_000).unwrap();
        assert_eq!(range, PriceRange { low: Price(100), high: Price(102) });
    }

    #[test]
    fn a_range_at_the_end_of_prices_is_cut() {
        let range = PriceRange::around(Price::MAX, 999_999).unwrap();
        assert_eq!(range.high, Price::MAX);
        assert!(range.low.0 > 0);
        assert_eq!(PriceRange::around(Price(5), 0), None);
        assert_eq!(PriceRange::around(Price::ZERO, 5), None);
    }
}
