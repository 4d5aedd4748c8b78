//! Halts that end by themselves, circuit breakers, and limits of continuous trading.

use super::auction::{Call, Span, intersection, span};
use super::entry::{Verdict, demand};
use super::{Alteration, Listed, ORDERS_PER_COMMAND, Order, Reference};
use rialto_model::{
    CircuitBreakerRule, Event, HaltCause, HaltScope, InstrumentId, InstrumentState, Interrupted,
    Outcome, Price, RejectReason, Side, Timestamp, TradingHalted,
};

/// A halt of one instrument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halt {
    pub until: Timestamp,
    pub then: After,
}

/// What comes after a halt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    pub phase: InstrumentState,
    /// The call that begins with the phase, if one does: its end is none if a command has to end it.
    pub call: Option<CallAfter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallAfter {
    pub next: InstrumentState,
    pub until_command: bool,
    pub extended: bool,
}

/// A halt that is still to be made for some instruments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halting {
    pub since: Timestamp,
    pub until: Timestamp,
    pub cause: HaltCause,
    pub waiting: Vec<InstrumentId>,
}

/// The best price of a side stands at a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtLimit {
    pub side: Side,
    pub until: Timestamp,
}

/// A circuit breaker, and whether it would halt anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    pub set: CircuitBreakerRule,
    pub is_armed: bool,
}

fn after(time: Timestamp, milliseconds: u32) -> Timestamp {
    time.saturating_add(u64::from(milliseconds) * 1_000_000)
}

fn is_a_halt(milliseconds: u32) -> bool {
    milliseconds > 0 && milliseconds <= 24 * 60 * 60 * 1_000
}

impl After {
    /// After continuous trading.
    pub const OPEN: After = After {
        phase: InstrumentState::Call,
        call: Some(CallAfter {
            next: InstrumentState::Open,
            until_command: false,
            extended: false,
        }),
    };

    /// The earlier rules know nothing but where the interrupted phase was to lead.
    pub fn by_next(next: InstrumentState, until_command: bool) -> After {
        use InstrumentState as S;
        let phase = match next {
            S::PreOpen => S::PreOpen,
            S::Closed => S::ClosingCall,
            _ => S::Call,
        };
        let call = CallAfter { next, until_command, extended: until_command };
        let is_call = phase != S::PreOpen || until_command;
        After { phase, call: is_call.then_some(call) }
    }
}

impl Listed {
    /// What comes after a halt, if one can begin.
    fn after_halt(&self, rules_version: u32) -> Option<After> {
        use InstrumentState as S;
        let phase = self.instrument.state;
        let until_command = self.call.is_some_and(|call| call.ends.is_none());
        let planned = self.call.map(|call| call.next);
        let next = match phase {
            S::Halted => return self.halt.map(|halt| halt.then),
            S::PreOpen if rules_version < 5 => S::PreOpen,
            S::PreOpen => planned.unwrap_or(S::PreOpen),
            S::Open => S::Open,
            S::Call => planned.unwrap_or(S::Open),
            S::ClosingCall => planned.unwrap_or(S::Closed),
            _ => return None,
        };
        if rules_version < 6 {
            return Some(After::by_next(next, until_command && rules_version == 5));
        }
        let call = self.call.map(|Call { next, extended, .. }| CallAfter {
            next,
            until_command,
            extended,
        });
        Some(if phase == S::Open { After::OPEN } else { After { phase, call } })
    }

    /// When its call, its halt or its limit state ends.
    pub(super) fn timed_until(&self) -> Option<Timestamp> {
        let halt = self.halt.map(|halt| halt.until);
        let limit = self.at_limit.map(|at| at.until);
        self.call.and_then(|call| call.ends).or(halt).or(limit)
    }

    /// The limits of continuous trading.
    pub(super) fn trading_limits(&self) -> Option<Span> {
        let is_open = self.instrument.state == InstrumentState::Open;
        let limits = span(self.static_reference(), self.auction_rules.limit_range_ppm);
        limits.filter(|_| is_open)
    }

    /// Whether the next tick behind a price is not allowed any more.
    fn is_at_limit(&self, side: Side, price: Price) -> bool {
        let Some((low, high)) = self.trading_limits() else { return false };
        let tick = i128::from(self.instrument.spec.rules.tick.0);
        match side {
            Side::Buy => i128::from(price.0) + tick > i128::from(high.0),
            Side::Sell => i128::from(price.0) - tick < i128::from(low.0),
        }
    }
}

impl Reference {
    pub(super) fn halt_trading(
        &mut self,
        scope: HaltScope,
        duration_ms: u32,
    ) -> Result<Outcome, RejectReason> {
        demand(self.rules_version >= 4, RejectReason::CommandUnknown)?;
        match scope {
            HaltScope::Instrument(id) => drop(self.listed(id)?),
            HaltScope::Calendar(name) => self.is_calendar(name)?,
            HaltScope::Venue => {}
        }
        demand(is_a_halt(duration_ms), RejectReason::HaltInvalid)?;
        let until = after(self.time, duration_ms);
        if let HaltScope::Instrument(id) = scope {
            let listed = self.listed(id)?;
            demand(!listed.is_uncrossing(), RejectReason::InstrumentUncrossing)?;
            let next = listed.after_halt(self.rules_version);
            demand(next.is_some(), RejectReason::StateChangeInvalid)?;
            self.halt(id, until, HaltCause::Operator);
            return Ok(Outcome::Done);
        }
        self.begin_halting(scope, until, HaltCause::Operator);
        self.go_on_halting(&mut 0);
        Ok(Outcome::Done)
    }

    fn begin_halting(&mut self, scope: HaltScope, until: Timestamp, cause: HaltCause) {
        self.events.push(Event::TradingHalted(TradingHalted { scope, until, cause }));
        let is_meant = |listed: &&Listed| match scope {
            HaltScope::Calendar(name) => listed.calendar == name,
            _ => true,
        };
        let meant = self.instruments.iter().filter(is_meant);
        let waiting = meant.map(|listed| listed.instrument.id).collect();
        assert!(self.halting.is_none(), "one halt is made after the other");
        self.halting = Some(Halting { since: self.time, until, cause, waiting });
    }

    pub(super) fn go_on_halting(&mut self, visited: &mut usize) {
        let Halting { since, until, cause, mut waiting } =
            self.halting.take().expect("a halt is to be made");
        while !waiting.is_empty() {
            if *visited >= ORDERS_PER_COMMAND {
                self.halting = Some(Halting { since, until, cause, waiting });
                return;
            }
            *visited += 1;
            let id = waiting.remove(0);
            let version = self.rules_version;
            let listed = self.listed_mut(id).expect("it is listed");
            if listed.is_uncrossing() {
                let longer = listed.halt_next.is_none_or(|(known, _)| known < until);
                if longer {
                    listed.halt_next = Some((until, cause));
                }
            } else if listed.after_halt(version).is_some()
                && listed.halt.is_none_or(|halt| halt.until < until)
            {
                self.halt(id, until, cause);
            }
        }
    }

    fn halt(&mut self, id: InstrumentId, until: Timestamp, cause: HaltCause) {
        let listed = self.listed(id).expect("it is listed");
        let version = if self.gets_wrong(Alteration::HaltsForgetThePhase) { 5 } else { 6 };
        let then = listed.after_halt(self.rules_version.min(version)).expect("it can be halted");
        let known = listed.halt;
        if known.is_none() {
            self.enter_phase(id, InstrumentState::Halted);
        }
        let halt = known
            .map_or(Halt { until, then }, |known| Halt { until: known.until.max(until), ..known });
        self.listed_mut(id).expect("it is listed").halt = Some(halt);
        let until = halt.until;
        let scope = HaltScope::Instrument(id);
        self.events.push(Event::TradingHalted(TradingHalted { scope, until, cause }));
    }

    /// Makes the halt that waited for an auction.
    pub(super) fn halt_after_auction(&mut self, id: InstrumentId, visited: &mut usize) {
        let listed = self.listed_mut(id).expect("it is listed");
        let Some((until, cause)) = listed.halt_next.take() else { return };
        let can_halt =
            self.listed(id).expect("it is listed").after_halt(self.rules_version).is_some();
        if until > self.time && can_halt {
            *visited += 1;
            self.halt(id, until, cause);
        }
    }

    /// The time of a halt is over.
    pub(super) fn end_halt(&mut self, id: InstrumentId) {
        let time = self.time;
        let halt = self.listed(id).expect("it is listed").halt.expect("it is halted");
        if self.gets_wrong(Alteration::HaltsWithoutCall) {
            return self.enter_phase(id, InstrumentState::Open);
        }
        self.enter_phase(id, halt.then.phase);
        if self.rules_version < 6 && halt.then.phase == InstrumentState::PreOpen {
            return;
        }
        let Some(CallAfter { next, until_command, extended }) = halt.then.call else { return };
        let listed = self.listed_mut(id).expect("it is listed");
        if until_command {
            listed.call = Some(Call { ends: None, next, extended: true, no_cancel_from: None });
            return;
        }
        let ends = time.saturating_add(listed.draw_length());
        let own = Call { ends: Some(ends), next, extended, no_cancel_from: None };
        listed.call = None;
        self.resume_timetable(id);
        let listed = self.listed_mut(id).expect("it is listed");
        let is_longer = |call: &Call| call.ends.is_some_and(|end| end > ends);
        listed.call = listed.call.filter(is_longer).or(Some(own));
    }

    /// An order has come to rest.
    pub(super) fn note_limit(&mut self, order: &Order) {
        let listed = self.of(order);
        let (id, side, price) = (order.instrument, order.side, order.price);
        let there = self.queue(id, side).iter().filter(|other| other.price == price).count();
        let best = self.queue(id, side).first().map(|first| first.price);
        let begins = listed.auction_rules.limit_state_ms > 0
            && listed.is_at_limit(side, price)
            && there == 1
            && (self.rules_version < 5
                || best == Some(price)
                || listed.at_limit.is_none_or(|at| at.side != side));
        if begins {
            self.begin_limit_state(id, side, price);
        }
    }

    fn best_at_limit(&self, id: InstrumentId, side: Side) -> Option<Price> {
        let best = self.queue(id, side).first()?.price;
        Some(best).filter(|best| self.listed(id).is_ok_and(|it| it.is_at_limit(side, *best)))
    }

    /// Continuous trading has begun.
    pub(super) fn find_limit_state(&mut self, id: InstrumentId) {
        let is_timed = self.listed(id).is_ok_and(|it| it.auction_rules.limit_state_ms > 0);
        for side in [Side::Buy, Side::Sell] {
            let is_second = self.listed(id).is_ok_and(|it| it.at_limit.is_some());
            if let Some(price) = self.best_at_limit(id, side).filter(|_| is_timed)
                && (!is_second || self.rules_version < 5)
            {
                self.begin_limit_state(id, side, price);
            }
        }
    }

    fn begin_limit_state(&mut self, instrument: InstrumentId, side: Side, price: Price) {
        let time = self.time;
        let listed = self.listed_mut(instrument).expect("it is listed");
        let until = after(time, listed.auction_rules.limit_state_ms);
        listed.at_limit = Some(AtLimit { side, until });
        self.events.push(Event::LimitStateSet { instrument, side, price, until });
    }

    /// The time at a limit is over.
    pub(super) fn end_limit_state(&mut self, instrument: InstrumentId) {
        let listed = self.listed_mut(instrument).expect("it is listed");
        let halt_ms = listed.auction_rules.halt_ms;
        let side = listed.at_limit.take().expect("it is at a limit").side;
        let stands = self.best_at_limit(instrument, side).is_some() && halt_ms > 0;
        if stands && !self.gets_wrong(Alteration::LimitStatesPass) {
            self.halt(instrument, after(self.time, halt_ms), HaltCause::LimitState);
            return;
        }
        let (price, until) = (Price::ZERO, Timestamp::ZERO);
        self.events.push(Event::LimitStateSet { instrument, side, price, until });
    }

    pub(super) fn set_circuit_breaker(
        &mut self,
        set: &CircuitBreakerRule,
    ) -> Result<Outcome, RejectReason> {
        demand(self.rules_version >= 4, RejectReason::CommandUnknown)?;
        self.is_calendar(set.calendar)?;
        let follows = self.listed(set.instrument)?.calendar == set.calendar;
        let has_price = self.listed(set.instrument)?.named_reference().is_some();
        let is_fine = follows
            && (has_price || self.rules_version < 6)
            && set.range_ppm < 1_000_000
            && is_a_halt(set.halt_ms);
        demand(is_fine || set.range_ppm == 0, RejectReason::CircuitBreakerInvalid)?;
        self.breakers.retain(|known| known.set.calendar != set.calendar);
        if set.range_ppm > 0 {
            self.breakers.push(Breaker { set: *set, is_armed: true });
        }
        self.events.push(Event::CircuitBreakerSet(*set));
        Ok(Outcome::Done)
    }

    /// An instrument with a circuit breaker keeps its calendar.
    pub(super) fn check_unwatched(&self, id: InstrumentId) -> Verdict {
        let watched = self.breakers.iter().any(|breaker| breaker.set.instrument == id);
        demand(!watched, RejectReason::CircuitBreakerInvalid)
    }

    pub(super) fn arm_breakers(&mut self, id: InstrumentId) {
        let own = self.breakers.iter_mut().filter(|breaker| breaker.set.instrument == id);
        own.for_each(|breaker| breaker.is_armed = true);
    }

    fn breaker_span(&self, id: InstrumentId) -> Option<(Span, CircuitBreakerRule)> {
        let is_own = |breaker: &&Breaker| breaker.set.instrument == id && breaker.is_armed;
        let breaker = self.breakers.iter().find(is_own)?;
        let reference = self.listed(id).ok()?.named_reference();
        Some((span(reference, breaker.set.range_ppm)?, breaker.set))
    }

    /// Halts everything that a circuit breaker is about, if a price is outside its range.
    pub(super) fn trips(&mut self, instrument: InstrumentId, price: Price) -> bool {
        let Some(((low, high), set)) = self.breaker_span(instrument) else { return false };
        if (low..=high).contains(&price) {
            return false;
        }
        for breaker in &mut self.breakers {
            breaker.is_armed &= breaker.set.instrument != instrument;
        }
        let until_command = false;
        let interrupted = Interrupted { instrument, price, low, high, until_command };
        self.events.push(Event::Interrupted(interrupted));
        let until = after(self.time, set.halt_ms);
        self.begin_halting(HaltScope::Calendar(set.calendar), until, HaltCause::CircuitBreaker);
        self.halt(instrument, until, HaltCause::CircuitBreaker);
        true
    }

    /// Where an order that arrives now may trade.
    pub(super) fn trading_span(&self, id: InstrumentId) -> Option<Span> {
        if self.gets_wrong(Alteration::RangesIgnored) {
            return None;
        }
        let listed = self.listed(id).ok()?;
        let breaker =
            self.breaker_span(id).filter(|_| !self.gets_wrong(Alteration::BreakersIgnored));
        let rules = listed.auction_rules;
        intersection([
            span(listed.static_reference(), rules.static_range_ppm),
            span(listed.reference(), rules.dynamic_range_ppm),
            listed.trading_limits(),
            breaker.map(|(span, _)| span),
        ])
    }
}
