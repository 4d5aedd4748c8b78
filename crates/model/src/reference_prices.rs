//! The prices that the ranges of an instrument are around.

use crate::{AuctionRules, InstrumentState, Price, PriceRange};

/// The prices that the ranges of an instrument are around. Zero is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReferencePrices {
    /// The reference price of the trading rules.
    pub rules: Price,
    /// The price of the last trade of an auction.
    pub auction: Price,
    /// The price of the last trade.
    pub last: Price,
}

impl ReferencePrices {
    /// The price that the dynamic range and the range of auctions are around, and from which an auction
    /// takes the nearest price.
    #[must_use]
    #[inline]
    pub fn dynamic_reference(&self) -> Price {
        if self.last == Price::ZERO { self.rules } else { self.last }
    }

    /// The price that the static range and the limits of continuous trading are around.
    #[must_use]
    #[inline]
    pub fn static_reference(&self) -> Price {
        if self.auction == Price::ZERO { self.rules } else { self.auction }
    }

    /// The limits of the day.
    #[must_use]
    pub fn daily_limits(&self, rules: &AuctionRules) -> Option<PriceRange> {
        PriceRange::around(self.rules, rules.daily_range_ppm)
    }

    /// The limits of continuous trading, in the state in which they are in force.
    #[must_use]
    pub fn trading_limits(
        &self,
        rules: &AuctionRules,
        state: InstrumentState,
    ) -> Option<PriceRange> {
        if state != InstrumentState::Open {
            return None;
        }
        PriceRange::around(self.static_reference(), rules.limit_range_ppm)
    }

    /// The range of a circuit breaker.
    #[must_use]
    pub fn breaker_range(&self, range_ppm: u32) -> Option<PriceRange> {
        PriceRange::around(self.rules, range_ppm)
    }

    /// The prices at which an order trades without an interruption, with a circuit breaker of this range,
    /// or of zero for none. `None` is all prices.
    #[must_use]
    pub fn trading_range(
        &self,
        rules: &AuctionRules,
        state: InstrumentState,
        breaker_ppm: u32,
    ) -> Option<PriceRange> {
        let ranges = [
            PriceRange::around(self.static_reference(), rules.static_range_ppm),
            PriceRange::around(self.dynamic_reference(), rules.dynamic_range_ppm),
            self.trading_limits(rules, state),
            self.breaker_range(breaker_ppm),
        ];
        ranges.into_iter().flatten().reduce(PriceRange::intersect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_around_the_price_that_there_is() {
        let mut prices =
            ReferencePrices { rules: Price(100), auction: Price::ZERO, last: Price::ZERO };
        let around = |low, high| Some(PriceRange { low: Price(low), high: Price(high) });
        let rules = AuctionRules {
            daily_range_ppm: 100_000,
            static_range_ppm: 50_000,
            dynamic_range_ppm: 20_000,
            ..AuctionRules::PLAIN
        };
        let open = InstrumentState::Open;
        assert_eq!(prices.trading_range(&rules, open, 0), around(98, 102));
        prices.last = Price(104);
        assert_eq!(prices.trading_range(&rules, open, 0), around(102, 105));
        prices.auction = Price(103);
        assert_eq!(prices.trading_range(&rules, open, 0), around(102, 106));
        assert_eq!(prices.trading_range(&rules, open, 30_000), around(102, 103));
        assert_eq!(prices.daily_limits(&rules), around(90, 110));
        assert_eq!(prices.trading_range(&AuctionRules::PLAIN, open, 0), None);
    }

    #[test]
    fn limits_of_continuous_trading_are_for_the_open_state() {
        let prices = ReferencePrices { rules: Price(100), auction: Price::ZERO, last: Price::ZERO };
        let rules = AuctionRules { limit_range_ppm: 10_000, ..AuctionRules::PLAIN };
        let limits = Some(PriceRange { low: Price(99), high: Price(101) });
        assert_eq!(prices.trading_range(&rules, InstrumentState::Open, 0), limits);
        assert_eq!(prices.trading_range(&rules, InstrumentState::Call, 0), None);
    }
}
