//! Limits of continuous trading, and the limit state: the best price of a side stands at one of them.

use crate::instruments::Market;
use crate::{Core, EventSink};
use rialto_model::{Event, Price, PriceRange, Side, Timestamp};

/// The best price of a side stands at a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitState {
    pub(crate) side: Side,
    /// When trading is halted if it still stands there.
    pub(crate) ends: Timestamp,
}

impl Market {
    /// The limits of continuous trading, if it is in force and has some.
    pub(crate) fn trading_limits(&self) -> Option<PriceRange> {
        self.reference_prices().trading_limits(&self.auction_rules, self.state())
    }

    /// Whether a price is the last tick inside the limits of continuous trading, or beyond.
    fn is_at_limit(&self, side: Side, price: Price) -> bool {
        let Some(limits) = self.trading_limits() else { return false };
        let tick = self.rules().tick.0;
        match side {
            Side::Buy => price.0.checked_add(tick).is_none_or(|next| next > limits.high.0),
            Side::Sell => price.0 - tick < limits.low.0,
        }
    }

    /// The best price of a side, if it stands at the limit.
    fn best_at_limit(&self, side: Side) -> Option<Price> {
        self.book.best(side).filter(|&best| self.is_at_limit(side, best))
    }
}

impl Core {
    /// An order has come to rest. If it is alone at its price and at the limit, the time there begins, anew
    /// only if no better order stands there.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_limit<S: EventSink>(
        &mut self,
        at: u16,
        side: Side,
        price: Price,
        sink: &mut S,
    ) {
        let market = &self.markets[usize::from(at)];
        let is_alone = market.book.level(side, price).is_some_and(|level| level.orders == 1);
        // Before rules version 5 an order behind the best price, too, began the time anew.
        let is_new = market.limit_state.is_none_or(|known| known.side != side)
            || market.book.best(side) == Some(price)
            || !self.rules_since(5);
        if is_alone && is_new && market.is_at_limit(side, price) {
            self.enter_limit_state(at, side, price, sink);
        }
    }

    /// Continuous trading has begun, perhaps with a best price that stands at the limit. Both sides can do
    /// so only where no tick is inside the limits; the buys count then, before rules version 5 the sells.
    pub(crate) fn find_limit_state<S: EventSink>(&mut self, at: u16, sink: &mut S) {
        for side in [Side::Buy, Side::Sell] {
            if let Some(price) = self.markets[usize::from(at)].best_at_limit(side) {
                self.enter_limit_state(at, side, price, sink);
                if self.rules_since(5) {
                    return;
                }
            }
        }
    }

    fn enter_limit_state<S: EventSink>(&mut self, at: u16, side: Side, price: Price, sink: &mut S) {
        let market = &self.markets[usize::from(at)];
        let longest = u64::from(market.auction_rules.limit_state_ms) * Timestamp::MILLISECOND;
        let instrument = market.instrument.id;
        let until = self.time.saturating_add(longest);
        self.set_limit_state(at, Some(LimitState { side, ends: until }));
        sink.event(&Event::LimitStateSet { instrument, side, price, until });
    }

    /// Sets the limit state of an instrument that is open, and its timer.
    pub(crate) fn set_limit_state(&mut self, at: u16, limit_state: Option<LimitState>) {
        self.markets[usize::from(at)].limit_state = limit_state;
        self.settle_change(at);
    }

    /// The time at a limit is over: trading is halted if the best price still stands there.
    pub(crate) fn end_limit_state<S: EventSink>(&mut self, at: u16, sink: &mut S) {
        let market = &self.markets[usize::from(at)];
        let state = market.limit_state.expect("a limit state that ends is known");
        if market.best_at_limit(state.side).is_some() && market.auction_rules.halt_ms > 0 {
            self.halt_at_limit(at, sink);
            return;
        }
        let (instrument, side) = (market.instrument.id, state.side);
        self.set_limit_state(at, None);
        let (price, until) = (Price::ZERO, Timestamp::ZERO);
        sink.event(&Event::LimitStateSet { instrument, side, price, until });
    }
}
