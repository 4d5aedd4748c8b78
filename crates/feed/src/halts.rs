//! Halts that end by themselves, circuit breakers and limit states.

use crate::view::{BreakerView, LimitStateView, Moment};
use crate::{Feed, FoldError, Update};
use rialto_model::{
    CircuitBreakerRule, HaltCause, HaltScope, InstrumentId, InstrumentState, PriceRange, Side,
    Timestamp, TradingHalted,
};

impl Feed {
    pub(crate) fn trading_halted(
        &mut self,
        at: Moment,
        halted: &TradingHalted,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        match halted.scope {
            HaltScope::Venue => {}
            HaltScope::Calendar(calendar) => {
                let unknown = FoldError::UnknownCalendar { seq: at.seq, calendar };
                let index = self.calendar_index(calendar).ok_or(unknown)?;
                if halted.cause == HaltCause::CircuitBreaker {
                    let breaker = self.calendars[index].breaker.as_mut().ok_or(unknown)?;
                    breaker.is_armed = false;
                }
            }
            HaltScope::Instrument(instrument) => {
                let index = self.market_index(at, instrument)?;
                let auction = &mut self.markets[index].auction;
                if auction.state != InstrumentState::Halted {
                    return Err(FoldError::NotHalted { seq: at.seq, instrument });
                }
                (auction.halted_until, auction.at) = (Some(halted.until), at);
                emit(Update::Auction(auction));
            }
        }
        Ok(())
    }

    pub(crate) fn circuit_breaker_set(
        &mut self,
        at: Moment,
        rule: &CircuitBreakerRule,
    ) -> Result<(), FoldError> {
        let unknown = FoldError::UnknownCalendar { seq: at.seq, calendar: rule.calendar };
        let index = self.calendar_index(rule.calendar).ok_or(unknown)?;
        self.market_index(at, rule.instrument)?;
        let breaker = BreakerView { rule: *rule, is_armed: true };
        self.calendars[index].breaker = Some(breaker).filter(|_| rule.range_ppm > 0);
        Ok(())
    }

    /// The trading rules of an instrument were set: the circuit breaker that watches it is armed.
    pub(crate) fn arm_breakers(&mut self, instrument: InstrumentId) {
        let breakers = self.calendars.iter_mut().filter_map(|calendar| calendar.breaker.as_mut());
        let own = breakers.filter(|breaker| breaker.rule.instrument == instrument);
        own.for_each(|breaker| breaker.is_armed = true);
    }

    pub(crate) fn limit_state_set(
        &mut self,
        at: Moment,
        instrument: InstrumentId,
        side: Side,
        until: Timestamp,
        emit: &mut impl FnMut(Update<'_>),
    ) -> Result<(), FoldError> {
        let index = self.market_index(at, instrument)?;
        let auction = &mut self.markets[index].auction;
        let state = LimitStateView { side, until };
        auction.limit_state = Some(state).filter(|_| until > Timestamp::ZERO);
        auction.at = at;
        emit(Update::Auction(auction));
        Ok(())
    }

    /// The limits of continuous trading of an instrument, while they are in force.
    #[must_use]
    pub fn trading_limits(&self, instrument: InstrumentId) -> Option<PriceRange> {
        let market = self.market(instrument)?;
        let state = market.instrument.state;
        market.reference_prices().trading_limits(&market.auction_rules, state)
    }

    /// The range of the armed circuit breaker that watches an instrument; zero without one.
    pub(crate) fn breaker_ppm(&self, instrument: InstrumentId) -> u32 {
        let mut breakers = self.calendars.iter().filter_map(|calendar| calendar.breaker);
        let own = |it: &BreakerView| it.is_armed && it.rule.instrument == instrument;
        breakers.find(own).map_or(0, |breaker| breaker.rule.range_ppm)
    }
}
