//! Price ranges: the limits of a day, and the ranges that interrupt trading or extend a call.
//!
//! The range of trades is fixed when an order arrives, the range of an auction when its price has been
//! found.

use crate::fok::within;
use crate::halts::PhaseEnd;
use crate::instruments::Market;
use crate::taker::Taker;
use crate::timetable::change_item;
use crate::{Core, EventSink};
use rialto_model::{
    AuctionRules, Event, InstrumentId, InstrumentState, Interrupted, Price, PriceRange,
    ReferencePrices, RejectReason, Side, Timestamp,
};

/// The prices at which an order may trade without an interruption.
#[derive(Clone, Copy)]
pub(crate) struct Reach {
    pub(crate) side: Side,
    pub(crate) limit: Price,
    pub(crate) range: PriceRange,
}

impl Reach {
    #[inline]
    pub(crate) fn allows(self, price: Price) -> bool {
        within(self.side, self.limit, price) && self.range.contains(price)
    }
}

/// A call that ends at a time, or that was extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimedCall {
    /// [`Timestamp::MAX`] if a command has to end it.
    pub(crate) ends: Timestamp,
    /// The phase after it.
    pub(crate) next: InstrumentState,
    /// Whether it was extended, because the price of its auction was out of range.
    pub(crate) extended: bool,
    /// From when on members may not cancel or amend; [`Timestamp::MAX`] is never.
    pub(crate) no_cancel_from: Timestamp,
}

impl Market {
    /// Whether a command has to end its call, or the call that goes on after its halt.
    pub(crate) fn waits_for_command(&self) -> bool {
        self.call.is_some_and(|call| call.ends == Timestamp::MAX)
            || self.halt.is_some_and(|halt| halt.resumed.end == PhaseEnd::Command)
    }

    /// The prices that its ranges are around.
    #[inline]
    pub(crate) fn reference_prices(&self) -> ReferencePrices {
        ReferencePrices {
            rules: self.rules().reference_price,
            auction: self.auction_price,
            last: self.last_price,
        }
    }

    /// The price that the dynamic range and the range of auctions are around.
    #[inline]
    pub(crate) fn reference(&self) -> Price {
        self.reference_prices().dynamic_reference()
    }

    /// The limits of the day and those of continuous trading.
    #[cold]
    #[inline(never)]
    fn limits(&self) -> PriceRange {
        let daily = self.reference_prices().daily_limits(&self.auction_rules);
        let trading = self.trading_limits();
        daily.unwrap_or(PriceRange::ALL).intersect(trading.unwrap_or(PriceRange::ALL))
    }

    /// Whether its rules have limits.
    #[inline]
    fn has_limits(&self) -> bool {
        self.auction_rules.daily_range_ppm | self.auction_rules.limit_range_ppm != 0
    }

    /// Refuses a price outside the limits of the day and of continuous trading.
    #[inline]
    pub(crate) fn check_limits(&self, price: Price) -> Result<(), RejectReason> {
        if self.has_limits() && !self.limits().contains(price) {
            return Err(RejectReason::PriceOutsideLimits);
        }
        Ok(())
    }

    /// The limit of a market order, no further than the last tick inside the limits.
    pub(crate) fn clip_to_limits(&self, side: Side, limit: Price) -> Price {
        if !self.has_limits() {
            return limit;
        }
        let limits = self.limits();
        let tick = self.rules().tick.0;
        match side {
            Side::Buy => limit.min(Price(limits.high.0 / tick * tick)),
            Side::Sell => {
                let lowest = i128::from(limits.low.0) + i128::from(tick) - 1;
                let lowest = lowest / i128::from(tick) * i128::from(tick);
                i64::try_from(lowest).map_or(Price::MAX, |lowest| limit.max(Price(lowest)))
            }
        }
    }

    /// The range of prices at which an order that arrives now trades without an interruption.
    #[inline]
    pub(crate) fn trading_range(&self) -> PriceRange {
        let AuctionRules { static_range_ppm, dynamic_range_ppm, limit_range_ppm, .. } =
            self.auction_rules;
        match static_range_ppm | dynamic_range_ppm | limit_range_ppm | self.breaker_ppm {
            0 => PriceRange::ALL,
            _ => self.ranges(),
        }
    }

    #[cold]
    #[inline(never)]
    fn ranges(&self) -> PriceRange {
        let (rules, breaker_ppm) = (&self.auction_rules, self.breaker_ppm);
        let range = self.reference_prices().trading_range(rules, self.state(), breaker_ppm);
        range.unwrap_or(PriceRange::ALL)
    }

    /// When its call, its halt or its limit state ends, if that has an end.
    pub(crate) fn change_due(&self) -> Option<Timestamp> {
        let limit_state = self.limit_state.map(|state| state.ends);
        let halt = self.halt.map(|halt| halt.until);
        let due = limit_state.or(halt).or(self.call.map(|call| call.ends));
        due.filter(|&due| due != Timestamp::MAX)
    }

    /// How long the next call that interrupts or extends lasts, in nanoseconds.
    pub(crate) fn next_call_ns(&mut self) -> u64 {
        let AuctionRules { call_ms, random_end_ms, .. } = self.auction_rules;
        let most = u64::from(random_end_ms) * Timestamp::MILLISECOND;
        self.calls += 1;
        let drawn = draw(CONTEXT, self.seed, self.instrument.id, self.calls);
        u64::from(call_ms) * Timestamp::MILLISECOND + drawn % (most + 1)
    }
}

/// Separates the ends of interruptions and extensions from any other use of a seed.
const CONTEXT: &str = "rialto core 2026-11 random end of a call";

/// A number that nobody can tell from earlier ones without the seed.
pub(crate) fn draw(context: &str, seed: u64, instrument: InstrumentId, number: u64) -> u64 {
    let mut hash = blake3::Hasher::new_derive_key(context);
    hash.update(&seed.to_le_bytes());
    hash.update(&instrument.0.to_le_bytes());
    hash.update(&number.to_le_bytes());
    let mut first = [0; 8];
    hash.finalize_xof().fill(&mut first);
    u64::from_le_bytes(first)
}

impl Core {
    /// Interrupts trading, by a call or by the halt of a circuit breaker, because the next trade of an order would be outside its range.
    #[cold]
    #[inline(never)]
    pub(crate) fn interrupt<S: EventSink>(&mut self, taker: &Taker, price: Price, sink: &mut S) {
        if self.trip_breaker(taker.market, price, sink) {
            return;
        }
        let phases = (InstrumentState::Call, InstrumentState::Open);
        self.begin_call(taker.market, phases, (price, taker.range), false, sink);
    }

    /// Extends the call whose auction found a price out of range.
    pub(crate) fn extend_call<S: EventSink>(
        &mut self,
        at: u16,
        phases: (InstrumentState, InstrumentState),
        outside: (Price, PriceRange),
        until_command: bool,
        sink: &mut S,
    ) {
        self.begin_call(at, phases, outside, until_command, sink);
        let call = &mut self.markets[usize::from(at)].call;
        call.as_mut().expect("the call has just begun").extended = true;
    }

    /// Begins a call of a phase, and what comes after it.
    fn begin_call<S: EventSink>(
        &mut self,
        at: u16,
        (phase, next): (InstrumentState, InstrumentState),
        (price, PriceRange { low, high }): (Price, PriceRange),
        until_command: bool,
        sink: &mut S,
    ) {
        let instrument = self.markets[usize::from(at)].instrument.id;
        let interrupted = Interrupted { instrument, price, low, high, until_command };
        sink.event(&Event::Interrupted(interrupted));
        self.enter_phase(at, phase, sink);
        let market = &mut self.markets[usize::from(at)];
        let mut ends = Timestamp::MAX;
        if !until_command {
            ends = self.time.saturating_add(market.next_call_ns());
        }
        let no_cancel_from = Timestamp::MAX;
        self.set_call(at, Some(TimedCall { ends, next, extended: false, no_cancel_from }));
    }

    /// Sets the end of an instrument's call, and its timer.
    pub(crate) fn set_call(&mut self, at: u16, call: Option<TimedCall>) {
        self.markets[usize::from(at)].call = call;
        self.settle_change(at);
    }

    /// Sets the timer of an instrument, after its call, its halt or its limit state has changed.
    pub(crate) fn settle_change(&mut self, at: u16) {
        self.phase_changes.remove(change_item(at));
        if let Some(due) = self.markets[usize::from(at)].change_due() {
            self.phase_changes.insert(change_item(at), due, u64::from(at));
        }
        self.settle_due();
    }

    /// Ends the call of an instrument whose time is over.
    pub(crate) fn end_call<S: EventSink>(&mut self, at: u16, sink: &mut S) {
        let call = self.markets[usize::from(at)].call;
        let TimedCall { next, ends, .. } = call.expect("a call that has an end is known");
        let since = self.last_moment_before(ends);
        let auction = self.begin_uncrossing(at, next, since, sink);
        self.background.wait_uncrossing(auction);
    }
}
