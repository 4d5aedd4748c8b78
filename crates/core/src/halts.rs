//! Halts that end by themselves: of an instrument, of the instruments of a calendar, or of the venue;
//! and the circuit breakers that begin them.
//!
//! A halt of more than one instrument is made in slices. It is due at the time of its command, so that
//! no other command comes between.

use crate::instruments::Market;
use crate::limits::ORDERS_PER_COMMAND;
use crate::phases::WITH_AUCTIONS;
use crate::ranges::TimedCall;
use crate::timetable::HALT_ITEM;
use crate::{Core, EventSink};
use rialto_model::{
    AuctionRules, CircuitBreakerRule, Event, HaltCause, HaltScope, InstrumentState, Interrupted,
    Outcome, PPM, Price, PriceRange, RejectReason, Timestamp, TradingHalted,
};

/// A halt that has not been made for all its instruments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halting {
    /// The index of the calendar whose instruments are halted; all instruments if there is none.
    pub(crate) calendar: Option<u8>,
    pub(crate) since: Timestamp,
    pub(crate) halt: TimedHalt,
    /// The position of the next instrument.
    pub(crate) position: u32,
}

/// When a halt ends, and why it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimedHalt {
    pub(crate) until: Timestamp,
    pub(crate) cause: HaltCause,
}

/// The circuit breaker of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Breaker {
    /// The index of the instrument whose price is watched.
    pub(crate) market: u16,
    pub(crate) range_ppm: u32,
    pub(crate) halt_ms: u32,
    /// Whether it has not halted trading since it was set, or since the rules of the instrument were.
    pub(crate) is_armed: bool,
}

impl Breaker {
    /// Whether it could have been set.
    pub(crate) fn is_sound(&self) -> bool {
        self.range_ppm > 0 && i128::from(self.range_ppm) < PPM && is_halt(self.halt_ms)
    }
}

/// Whether a halt may last for this long.
fn is_halt(milliseconds: u32) -> bool {
    (1..=AuctionRules::CALL_MS_MAX).contains(&milliseconds)
}

impl Market {
    /// The range of the circuit breaker that watches this instrument, if it is armed.
    pub(crate) fn breaker_range(&self) -> Option<PriceRange> {
        self.reference_prices().breaker_range(self.breaker_ppm)
    }

    /// Whether it is halted for a time, and no less than until this one.
    fn is_halted_until(&self, time: Timestamp) -> bool {
        let is_halted = self.state() == InstrumentState::Halted;
        is_halted && self.call.is_some_and(|call| call.ends >= time)
    }

    /// Where its trading goes on after a halt, if a halt for a time can begin now.
    fn after_halt(&self) -> Option<InstrumentState> {
        match (self.state(), &self.call) {
            (
                InstrumentState::PreOpen
                | InstrumentState::Call
                | InstrumentState::ClosingCall
                | InstrumentState::Halted,
                Some(call),
            ) => Some(call.next),
            (InstrumentState::PreOpen, None) => Some(InstrumentState::PreOpen),
            (InstrumentState::Open, _) | (InstrumentState::Call, None) => {
                Some(InstrumentState::Open)
            }
            (InstrumentState::ClosingCall, None) => Some(InstrumentState::Closed),
            _ => None,
        }
    }
}

impl Core {
    pub(crate) fn halt_trading<S: EventSink>(
        &mut self,
        scope: HaltScope,
        duration_ms: u32,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        if !self.rules_since(WITH_AUCTIONS) {
            return Err(RejectReason::CommandUnknown);
        }
        let until = self.time.saturating_add(u64::from(duration_ms) * Timestamp::MILLISECOND);
        let halt = TimedHalt { until, cause: HaltCause::Operator };
        let calendar = match scope {
            HaltScope::Instrument(id) => {
                let at = self.market(id)?;
                check_length(duration_ms)?;
                let market = &self.markets[usize::from(at)];
                market.check_not_uncrossing()?;
                market.after_halt().ok_or(RejectReason::StateChangeInvalid)?;
                self.halt(at, halt, sink);
                return Ok(Outcome::Done);
            }
            HaltScope::Calendar(name) => Some(self.calendar(name)? as u8),
            HaltScope::Venue => None,
        };
        check_length(duration_ms)?;
        self.begin_halting(calendar, halt, sink);
        self.go_on_halting(&mut { ORDERS_PER_COMMAND }, sink);
        Ok(Outcome::Done)
    }

    /// Begins a halt of the instruments of a calendar, or of all instruments.
    fn begin_halting<S: EventSink>(&mut self, calendar: Option<u8>, halt: TimedHalt, sink: &mut S) {
        let scope = match calendar {
            Some(calendar) => HaltScope::Calendar(self.calendars[usize::from(calendar)].name),
            None => HaltScope::Venue,
        };
        let TimedHalt { until, cause } = halt;
        sink.event(&Event::TradingHalted(TradingHalted { scope, until, cause }));
        let since = self.time;
        self.set_halting(Some(Halting { calendar, since, halt, position: 0 }));
    }

    /// Sets what is left of a halt, and its timer.
    pub(crate) fn set_halting(&mut self, halting: Option<Halting>) {
        self.halting = halting;
        self.phase_changes.remove(HALT_ITEM);
        if let Some(Halting { since, .. }) = halting {
            self.phase_changes.insert(HALT_ITEM, since, HALT_RANK);
        }
        self.settle_due();
    }

    /// Halts some of the instruments that a halt is about. Returns whether there were events.
    pub(crate) fn go_on_halting<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let mut halting = self.halting.expect("a halt that goes on has begun");
        let mut noticed = false;
        while let Some(at) = self.halted_at(&halting) {
            if *budget == 0 {
                self.set_halting(Some(halting));
                return noticed;
            }
            *budget -= 1;
            halting.position += 1;
            let market = &mut self.markets[usize::from(at)];
            if market.state() == InstrumentState::Uncrossing {
                let known = market.halt_next.filter(|known| known.until >= halting.halt.until);
                market.halt_next = known.or(Some(halting.halt));
            } else if market.after_halt().is_some() && !market.is_halted_until(halting.halt.until) {
                self.halt(at, halting.halt, sink);
                noticed = true;
            }
        }
        self.set_halting(None);
        noticed
    }

    /// The instrument at the position of a halt.
    fn halted_at(&self, halting: &Halting) -> Option<u16> {
        let position = halting.position as usize;
        match halting.calendar {
            Some(calendar) => {
                self.calendars[usize::from(calendar)].instruments.get(position).copied()
            }
            None => (position < self.markets.len()).then_some(position as u16),
        }
    }

    /// Halts an instrument, or makes its halt longer.
    fn halt<S: EventSink>(&mut self, at: u16, halt: TimedHalt, sink: &mut S) {
        let market = &self.markets[usize::from(at)];
        let mut next = market.after_halt().expect("its state was checked");
        // Before rules version 5 a halt forgot what the call was that it interrupted.
        let keeps = self.rules_since(5);
        let extended = keeps && market.waits_for_command();
        let mut until = halt.until;
        if market.state() == InstrumentState::Halted {
            let known = market.call.expect("a halt for a time has an end");
            until = until.max(known.ends);
        } else {
            if !keeps && market.state() == InstrumentState::PreOpen {
                next = InstrumentState::PreOpen;
            }
            self.enter_phase(at, InstrumentState::Halted, sink);
        }
        let no_cancel_from = Timestamp::MAX;
        self.set_call(at, Some(TimedCall { ends: until, next, extended, no_cancel_from }));
        let scope = HaltScope::Instrument(self.markets[usize::from(at)].instrument.id);
        sink.event(&Event::TradingHalted(TradingHalted { scope, until, cause: halt.cause }));
    }

    /// Begins the halt that waited for the end of an instrument's auction.
    pub(crate) fn halt_after_auction<S: EventSink>(
        &mut self,
        at: u16,
        budget: &mut u32,
        sink: &mut S,
    ) {
        let market = &mut self.markets[usize::from(at)];
        let Some(halt) = market.halt_next.take() else { return };
        if halt.until > self.time && market.after_halt().is_some() {
            *budget = budget.saturating_sub(1);
            self.halt(at, halt, sink);
        }
    }

    /// Ends a halt whose time is over: by a call, or in `pre_open`.
    pub(crate) fn end_halt<S: EventSink>(&mut self, at: u16, sink: &mut S) {
        let halt = self.markets[usize::from(at)].call;
        let TimedCall { next, extended, .. } = halt.expect("a halt that ends by itself has an end");
        let phase = match next {
            InstrumentState::PreOpen => {
                self.enter_phase(at, InstrumentState::PreOpen, sink);
                return;
            }
            InstrumentState::Closed => InstrumentState::ClosingCall,
            _ => InstrumentState::Call,
        };
        self.enter_phase(at, phase, sink);
        let ends = match extended {
            true => Timestamp::MAX,
            false => self.time.saturating_add(self.markets[usize::from(at)].next_call_ns()),
        };
        let no_cancel_from = Timestamp::MAX;
        let own = TimedCall { ends, next, extended, no_cancel_from };
        let planned = self.planned_call(at).filter(|planned| planned.ends > ends);
        self.set_call(at, Some(planned.unwrap_or(own)));
    }

    /// Halts trading because the best price of a side has stood at a limit for too long.
    pub(crate) fn halt_at_limit<S: EventSink>(&mut self, at: u16, sink: &mut S) {
        let halt_ms = self.markets[usize::from(at)].auction_rules.halt_ms;
        let until = self.time.saturating_add(u64::from(halt_ms) * Timestamp::MILLISECOND);
        self.halt(at, TimedHalt { until, cause: HaltCause::LimitState }, sink);
    }

    pub(crate) fn set_circuit_breaker(
        &mut self,
        breaker: &CircuitBreakerRule,
    ) -> Result<(Event, Outcome), RejectReason> {
        let CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms } = *breaker;
        if !self.rules_since(WITH_AUCTIONS) {
            return Err(RejectReason::CommandUnknown);
        }
        let index = self.calendar(calendar)?;
        let market = self.market(instrument)?;
        let new = Breaker { market, range_ppm, halt_ms, is_armed: true };
        let follows = self.markets[usize::from(market)].calendar == Some(index as u8);
        if range_ppm > 0 && !(follows && new.is_sound()) {
            return Err(RejectReason::CircuitBreakerInvalid);
        }
        if let Some(old) = self.calendars[index].breaker.take() {
            self.markets[usize::from(old.market)].breaker_ppm = 0;
        }
        if range_ppm > 0 {
            self.calendars[index].breaker = Some(new);
            self.markets[usize::from(market)].breaker_ppm = range_ppm;
        }
        Ok((Event::CircuitBreakerSet(*breaker), Outcome::Done))
    }

    /// The circuit breaker of an instrument's calendar, whether it is armed or not, if it watches the
    /// instrument.
    fn breaker_on(&mut self, at: u16) -> Option<&mut Breaker> {
        let calendar = self.markets[usize::from(at)].calendar?;
        let breaker = self.calendars[usize::from(calendar)].breaker.as_mut();
        breaker.filter(|breaker| breaker.market == at)
    }

    /// Whether a circuit breaker watches an instrument.
    pub(crate) fn is_watched(&self, at: u16) -> bool {
        let breaker = |calendar: u8| self.calendars[usize::from(calendar)].breaker.as_ref();
        let found = self.markets[usize::from(at)].calendar.and_then(breaker);
        found.is_some_and(|breaker| breaker.market == at)
    }

    /// Arms the circuit breaker that watches an instrument, if there is one.
    pub(crate) fn arm_breaker(&mut self, at: u16) {
        if let Some(breaker) = self.breaker_on(at) {
            let range_ppm = breaker.range_ppm;
            breaker.is_armed = true;
            self.markets[usize::from(at)].breaker_ppm = range_ppm;
        }
    }

    /// Halts the calendar of an instrument if a trade at a price would be outside the range of its
    /// circuit breaker. Returns whether it was.
    pub(crate) fn trip_breaker<S: EventSink>(
        &mut self,
        at: u16,
        price: Price,
        sink: &mut S,
    ) -> bool {
        let market = &mut self.markets[usize::from(at)];
        let Some(range) = market.breaker_range().filter(|range| !range.contains(price)) else {
            return false;
        };
        market.breaker_ppm = 0;
        let (instrument, calendar) = (market.instrument.id, market.calendar);
        let breaker = self.breaker_on(at).expect("an armed circuit breaker is known");
        breaker.is_armed = false;
        let duration = u64::from(breaker.halt_ms) * Timestamp::MILLISECOND;
        let until = self.time.saturating_add(duration);
        let PriceRange { low, high } = range;
        let interrupted = Interrupted { instrument, price, low, high, until_command: false };
        sink.event(&Event::Interrupted(interrupted));
        let halt = TimedHalt { until, cause: HaltCause::CircuitBreaker };
        self.begin_halting(calendar, halt, sink);
        // Its book may be crossed by now, so that it cannot wait for its turn.
        self.halt(at, halt, sink);
        true
    }
}

/// The rank of a halt's timer: behind everything else that is due at the same time.
const HALT_RANK: u64 = 2 << 32;

fn check_length(duration_ms: u32) -> Result<(), RejectReason> {
    if is_halt(duration_ms) { Ok(()) } else { Err(RejectReason::HaltInvalid) }
}
