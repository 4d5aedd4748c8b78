//! Auctions: phases, results and indicative prices.

use crate::market::Market;
use crate::view::{AuctionResult, AuctionView, Moment};
use crate::{Feed, FoldError, Update};
use rialto_core::book::{CallLevel, UncrossTerms, price_grid, uncross_call};
use rialto_model::{
    AuctionRules, ContractTerms, InstrumentId, InstrumentState, Interrupted, PriceRange, Quantity,
    ReferencePrices, Side, Uncrossed,
};

impl Market {
    /// Whether its indicative price is published.
    pub(crate) fn is_in_call(&self) -> bool {
        matches!(self.instrument.state, InstrumentState::Call | InstrumentState::ClosingCall)
    }

    /// The prices that its ranges are around.
    pub(crate) fn reference_prices(&self) -> ReferencePrices {
        ReferencePrices {
            rules: self.instrument.spec.rules.reference_price,
            auction: self.auction_price.unwrap_or_default(),
            last: self.last_price.unwrap_or_default(),
        }
    }

    /// Computes the indicative price if it may have changed, and publishes it if it has.
    pub(crate) fn refresh_auction(&mut self, at: Moment, emit: &mut impl FnMut(Update<'_>)) {
        if !std::mem::take(&mut self.call_changed) {
            return;
        }
        let indicative = self.indicative();
        if indicative != self.auction.indicative {
            self.auction.indicative = indicative;
            self.auction.at = at;
            emit(Update::Auction(&self.auction));
        }
    }

    /// What would trade if the call ended now.
    fn indicative(&mut self) -> Option<AuctionResult> {
        let tick = self.instrument.spec.rules.tick;
        let mut grid = tick;
        if self.may_be_off_tick {
            let sides = [Side::Buy, Side::Sell].into_iter();
            let levels = sides.flat_map(|side| self.book.raw_levels(side));
            grid = price_grid(tick, levels.map(|(price, _)| price));
            self.may_be_off_tick = grid != tick;
        }
        let levels = |side| {
            self.book.raw_levels(side).map(|(price, level)| CallLevel {
                price,
                quantity: Quantity(clamp(level.total)),
                is_protection: level.market == level.queue.len(),
            })
        };
        let terms = UncrossTerms {
            tick: grid,
            reference: self.reference_prices().dynamic_reference(),
            market_buys: 0,
            market_sells: 0,
        };
        let found = uncross_call(levels(Side::Buy), levels(Side::Sell), &terms)?;
        Some(AuctionResult {
            price: found.price,
            volume: Quantity(clamp(found.volume)),
            surplus: Quantity(clamp(found.surplus)),
        })
    }
}

fn clamp(sum: i128) -> i64 {
    sum.clamp(-i128::from(i64::MAX), i128::from(i64::MAX)) as i64
}

impl Feed {
    pub(crate) fn set_state(
        &mut self,
        at: Moment,
        instrument: InstrumentId,
        state: InstrumentState,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        let index = self.market_index(at, instrument)?;
        self.touch(index);
        let market = &mut self.markets[index];
        let before = market.instrument.state;
        market.keep_uncovered(|market| market.instrument.state = state);
        market.phase_changed = true;
        market.call_changed = market.is_in_call();
        // An interruption is followed by its phase; another phase, or the same once more, ends it.
        let is_interrupted = std::mem::take(&mut market.interruption_begins);
        let auction = &mut market.auction;
        if !is_interrupted {
            // A call that a halt for a time has stopped goes on when the halt is over.
            let ended = auction.interrupted.take();
            let is_over = auction.halted_until.is_some_and(|until| until <= at.time);
            let stopped = market.halted_call.take();
            match (before, state) {
                (InstrumentState::Halted, InstrumentState::Halted) => market.halted_call = stopped,
                (_, InstrumentState::Halted) => market.halted_call = ended.map(|it| (before, it)),
                (InstrumentState::Halted, _) if is_over => {
                    let resumed = stopped.filter(|(phase, _)| *phase == state);
                    auction.interrupted = resumed.map(|(_, interrupted)| interrupted);
                }
                _ => {}
            }
        }
        (auction.state, auction.at, auction.indicative) = (state, at, None);
        (auction.halted_until, auction.limit_state) = (None, None);
        emit(Update::Instrument(&market.instrument));
        emit(Update::Auction(&market.auction));
        Ok(())
    }

    pub(crate) fn uncrossed(
        &mut self,
        at: Moment,
        event: &Uncrossed,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        let index = self.market_index(at, event.instrument)?;
        let auction = &mut self.markets[index].auction;
        let Uncrossed { price, volume, surplus, .. } = *event;
        auction.last = Some(AuctionResult { price, volume, surplus });
        auction.at = at;
        emit(Update::Auction(auction));
        Ok(())
    }

    pub(crate) fn interrupted(&mut self, at: Moment, event: &Interrupted) -> Result<(), FoldError> {
        let index = self.market_index(at, event.instrument)?;
        // The phase that follows publishes it.
        let market = &mut self.markets[index];
        (market.auction.interrupted, market.interruption_begins) = (Some(*event), true);
        Ok(())
    }

    pub(crate) fn set_auction_rules(
        &mut self,
        at: Moment,
        instrument: InstrumentId,
        rules: &AuctionRules,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        let index = self.market_index(at, instrument)?;
        self.touch(index);
        let market = &mut self.markets[index];
        market.keep_uncovered(|market| market.auction_rules = *rules);
        market.phase_changed = true;
        market.call_changed = market.is_in_call();
        emit(Update::Instrument(&market.instrument));
        Ok(())
    }

    /// The instruments in a call whose books have changed since [`Feed::refresh_auction`].
    pub fn auctions_to_refresh(&self) -> impl Iterator<Item = InstrumentId> + '_ {
        let changed = self.markets.iter().filter(|market| market.call_changed);
        changed.map(|market| market.instrument.id)
    }

    /// Computes the indicative price of a call, and publishes it if it has changed. The time that this
    /// takes grows with the number of levels that cross, so it is done on request and not with every
    /// order.
    pub fn refresh_auction(&mut self, instrument: InstrumentId, emit: &mut impl FnMut(Update<'_>)) {
        let at = self.now;
        let index = (instrument.0 as usize).wrapping_sub(1);
        let Some(market) = self.markets.get_mut(index) else { return };
        market.refresh_auction(at, emit);
        if market.is_covered() {
            market.publish_book(at, emit);
        }
    }

    /// The phase and the auction of an instrument; `None` if there is no such instrument. The indicative
    /// price is that of the last [`Feed::refresh_auction`].
    #[must_use]
    pub fn auction(&self, instrument: InstrumentId) -> Option<&AuctionView> {
        self.market(instrument).map(|market| &market.auction)
    }

    /// The rules of an instrument's auctions.
    #[must_use]
    pub fn auction_rules(&self, instrument: InstrumentId) -> Option<&AuctionRules> {
        self.market(instrument).map(|market| &market.auction_rules)
    }

    /// The terms of an instrument's contract.
    #[must_use]
    pub fn terms(&self, instrument: InstrumentId) -> Option<&ContractTerms> {
        self.market(instrument).map(|market| &market.terms)
    }

    /// The limits of the day of an instrument, if it has any.
    #[must_use]
    pub fn daily_limits(&self, instrument: InstrumentId) -> Option<PriceRange> {
        let market = self.market(instrument)?;
        market.reference_prices().daily_limits(&market.auction_rules)
    }

    /// The prices at which an order that arrives now trades without an interruption; `None` if these are
    /// all prices.
    #[must_use]
    pub fn trading_range(&self, instrument: InstrumentId) -> Option<PriceRange> {
        let market = self.market(instrument)?;
        let (state, breaker_ppm) = (market.instrument.state, self.breaker_ppm(instrument));
        market.reference_prices().trading_range(&market.auction_rules, state, breaker_ppm)
    }
}
