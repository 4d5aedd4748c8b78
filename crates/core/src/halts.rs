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

/// The first version of the rules in which a halt is followed by the phase that it interrupted.
pub(crate) const WITH_RESUMED_PHASES: u32 = 6;

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

/// A halt of an instrument that ends by itself, and what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halt {
    pub(crate) until: Timestamp,
    pub(crate) resumed: Resumed,
}

/// The phase that follows a halt: the one that it interrupted, or a call if trading was continuous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resumed {
    pub(crate) phase: InstrumentState,
    /// The phase after the auction that ends it.
    pub(crate) next: InstrumentState,
    pub(crate) end: PhaseEnd,
    /// Whether it was extended before the halt, because the price of its auction was out of range.
    pub(crate) extended: bool,
}

/// What ends a phase in which orders are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhaseEnd {
    /// Its time.
    Time = 0,
    /// A transition of the timetable, or a command.
    Transition = 1,
    /// Nothing but a command.
    Command = 2,
}

impl Resumed {
    /// The call that follows a halt of continuous trading.
    pub(crate) const CALL: Resumed = Resumed {
        phase: InstrumentState::Call,
        next: InstrumentState::Open,
        end: PhaseEnd::Time,
        extended: false,
    };

    /// What follows a halt before rules version 6, which knows no more of the interrupted phase than where
    /// it was to lead, and whether a command had to end it.
    pub(crate) fn before_version_6(next: InstrumentState, needs_command: bool) -> Resumed {
        let phase = match next {
            InstrumentState::PreOpen => InstrumentState::PreOpen,
            InstrumentState::Closed => InstrumentState::ClosingCall,
            _ => InstrumentState::Call,
        };
        let end = match phase {
            _ if needs_command => PhaseEnd::Command,
            InstrumentState::PreOpen => PhaseEnd::Transition,
            _ => PhaseEnd::Time,
        };
        Resumed { phase, next, end, extended: needs_command }
    }

    /// Whether a halt could be followed by it.
    pub(crate) fn is_sound(&self) -> bool {
        let by_end = match self.end {
            PhaseEnd::Time => true,
            PhaseEnd::Transition => !self.extended,
            PhaseEnd::Command => self.extended,
        };
        self.phase.collects() && follows_an_auction(self.next) && by_end
    }
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

/// Whether a phase can follow the uncrossing of a call.
pub(crate) fn follows_an_auction(next: InstrumentState) -> bool {
    next.collects() || matches!(next, InstrumentState::Open | InstrumentState::Closed)
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

    /// Goes on with its halt under rules version 6. Before, no call began with the `pre_open` after a halt,
    /// whether a command had to end it or not.
    pub(crate) fn adopt_halt(&mut self) {
        let halt = self.halt.iter_mut();
        for Halt { resumed, .. } in halt.filter(|it| it.resumed.phase == InstrumentState::PreOpen) {
            (resumed.end, resumed.extended) = (PhaseEnd::Transition, false);
        }
    }

    /// Whether it is halted for a time, and no less than until this one.
    fn is_halted_until(&self, time: Timestamp) -> bool {
        self.halt.is_some_and(|halt| halt.until >= time)
    }

    /// What follows a halt, if a halt for a time can begin now.
    fn after_halt(&self) -> Option<Resumed> {
        let phase = self.state();
        let by_default = match phase {
            InstrumentState::Halted => return self.halt.map(|halt| halt.resumed),
            InstrumentState::Open => return Some(Resumed::CALL),
            InstrumentState::PreOpen => InstrumentState::PreOpen,
            InstrumentState::Call => InstrumentState::Open,
            InstrumentState::ClosingCall => InstrumentState::Closed,
            _ => return None,
        };
        let (next, end, extended) = match self.call {
            None => (by_default, PhaseEnd::Transition, false),
            Some(TimedCall { next, extended, .. }) if self.waits_for_command() => {
                (next, PhaseEnd::Command, extended)
            }
            Some(TimedCall { next, extended, .. }) => (next, PhaseEnd::Time, extended),
        };
        Some(Resumed { phase, next, end, extended })
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
        let known = market.halt;
        let mut resumed = market.after_halt().expect("its state was checked");
        if known.is_none() {
            if !self.rules_since(WITH_RESUMED_PHASES) {
                resumed = self.resumed_before_version_6(resumed);
            }
            self.enter_phase(at, InstrumentState::Halted, sink);
        }
        let until = known.map_or(halt.until, |known| halt.until.max(known.until));
        self.markets[usize::from(at)].halt = Some(Halt { until, resumed });
        self.settle_change(at);
        let scope = HaltScope::Instrument(self.markets[usize::from(at)].instrument.id);
        sink.event(&Event::TradingHalted(TradingHalted { scope, until, cause: halt.cause }));
    }

    /// What follows a halt by the earlier rules: before version 5 it did not even know whether the
    /// interrupted phase was extended.
    #[cold]
    fn resumed_before_version_6(&self, interrupted: Resumed) -> Resumed {
        let knows_extensions = self.rules_since(5);
        let next = match interrupted.phase {
            InstrumentState::PreOpen if !knows_extensions => InstrumentState::PreOpen,
            _ => interrupted.next,
        };
        let needs_command = knows_extensions && interrupted.end == PhaseEnd::Command;
        Resumed::before_version_6(next, needs_command)
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

    /// Ends a halt whose time is over, by the phase that it interrupted or by a call.
    pub(crate) fn end_halt<S: EventSink>(&mut self, at: u16, sink: &mut S) {
        let halt = self.markets[usize::from(at)].halt;
        let Resumed { phase, next, end, extended } =
            halt.expect("a halt that ends by itself has an end").resumed;
        self.enter_phase(at, phase, sink);
        let forgets = !self.rules_since(WITH_RESUMED_PHASES) && phase == InstrumentState::PreOpen;
        let ends = match end {
            _ if forgets => return,
            PhaseEnd::Transition => return,
            PhaseEnd::Command => Timestamp::MAX,
            PhaseEnd::Time => {
                self.time.saturating_add(self.markets[usize::from(at)].next_call_ns())
            }
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
        let has_price = self.markets[usize::from(market)].rules().reference_price > Price::ZERO;
        let can_watch = follows && (has_price || !self.rules_since(6));
        if range_ppm > 0 && !(can_watch && new.is_sound()) {
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
