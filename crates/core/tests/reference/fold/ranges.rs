//! The price ranges of an instrument, as its events tell them.

use rialto_model::{AuctionRules, Instrument, Price};

/// The prices that are no more than these millionths of a price away from it; all if one of the two is zero.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Range {
    around: Price,
    ppm: u32,
}

impl Range {
    pub fn contains(self, price: Price) -> bool {
        let (around, ppm) = (i128::from(self.around.0), i128::from(self.ppm));
        let away = (i128::from(price.0) - around).abs();
        around == 0 || ppm == 0 || away * 1_000_000 <= around * ppm
    }
}

/// What the ranges of an instrument are around, and how wide they are. Those of circuit breakers are left out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ranges {
    pub rules: AuctionRules,
    pub last_price: Price,
    /// The price of the last trade in an auction.
    pub auction_price: Price,
    /// Whether a call was extended since the last continuous trading: the price of its next auction is compared with
    /// another range, or with none.
    pub was_extended: bool,
}

impl Ranges {
    /// The ranges of an order that arrives now: the static and the dynamic one, and the limits of continuous trading.
    pub fn of_order(&self, instrument: &Instrument) -> [Range; 3] {
        let reference = instrument.spec.rules.reference_price;
        let or_reference = |price: Price| if price == Price::ZERO { reference } else { price };
        let (fixed, moving) = (or_reference(self.auction_price), or_reference(self.last_price));
        [
            Range { around: fixed, ppm: self.rules.static_range_ppm },
            Range { around: moving, ppm: self.rules.dynamic_range_ppm },
            Range { around: fixed, ppm: self.rules.limit_range_ppm },
        ]
    }

    /// The range of the price of an auction, if nothing was extended before.
    pub fn of_auction(&self, instrument: &Instrument) -> Range {
        let [_, moving, _] = self.of_order(instrument);
        let ppm = if self.was_extended { 0 } else { self.rules.auction_range_ppm };
        Range { ppm, ..moving }
    }
}
