//! Auctions: phases, the price of all ticks that is best, and price ranges as inequalities.

mod best_price;
mod trades;

use super::arithmetic::{MILLION, largest, smallest};
use super::entry::{Verdict, demand};
use super::{Alteration, Listed, ORDERS_PER_COMMAND, Order, Reference, Work};
use rialto_model::{
    AuctionRules, DoneReason, Event, InstrumentId, InstrumentState, Interrupted, NewOrder,
    OrderKind, Outcome, PostOnly, Price, Quantity, RejectReason, Side, TimeInForce, Timestamp,
    TradingRules, Uncrossed,
};

/// Steps of a search for a price that count as an order.
const STEPS_PER_ORDER: usize = 8;

/// A call that ends by itself, or that was extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Nothing if a command has to end it.
    pub ends: Option<Timestamp>,
    pub next: InstrumentState,
    pub extended: bool,
    /// From when on members may not cancel.
    pub no_cancel_from: Option<Timestamp>,
}

/// An auction whose orders trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auction {
    pub instrument: InstrumentId,
    pub phase: InstrumentState,
    pub next: InstrumentState,
    /// Whether its price is compared with a range, and whether that is the extended one.
    pub compares: Option<bool>,
    pub stage: Stage,
}

/// What an auction does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Expiring,
    /// Searches for the price; the number of steps taken.
    Searching(usize),
    Trading(Price),
    Ending,
}

/// The price of an auction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Best {
    pub price: i64,
    pub volume: i128,
    pub surplus: i128,
}

/// The lowest and the highest price of a range.
pub type Span = (Price, Price);

pub(super) fn collects(state: InstrumentState) -> bool {
    use InstrumentState as S;
    [S::PreOpen, S::Call, S::ClosingCall].contains(&state)
}

/// Whether an order takes part in an auction only.
pub(super) fn is_for_auction(time_in_force: TimeInForce) -> bool {
    use TimeInForce as T;
    [T::AtOpen, T::AtClose, T::Gfa].contains(&time_in_force)
}

/// Whether a price is within `ppm` millionths of a reference.
fn is_within(reference: Price, ppm: u32, price: i128) -> bool {
    let from = i128::from(reference.0);
    (price - from).abs() * MILLION <= from * i128::from(ppm)
}

/// The prices within `ppm` millionths of a reference, unless one of the two is zero.
pub(super) fn span(reference: Option<Price>, ppm: u32) -> Option<Span> {
    let reference = reference.filter(|_| ppm > 0)?;
    let from = i128::from(reference.0);
    let low = smallest(0, from, |price| is_within(reference, ppm, price))?;
    let high = largest(from, i128::from(i64::MAX), |price| is_within(reference, ppm, price))?;
    Some((Price(low as i64), Price(high as i64)))
}

/// The prices that are in all of some ranges; nothing if there are none.
pub(super) fn intersection<const N: usize>(spans: [Option<Span>; N]) -> Option<Span> {
    spans.into_iter().flatten().reduce(|one, other| (one.0.max(other.0), one.1.min(other.1)))
}

fn contains(span: Span, price: Price) -> bool {
    (span.0..=span.1).contains(&price)
}

impl Listed {
    pub(super) fn named_reference(&self) -> Option<Price> {
        Some(self.instrument.spec.rules.reference_price).filter(|price| price.0 > 0)
    }

    pub(super) fn static_reference(&self) -> Option<Price> {
        self.auction_price.or(self.named_reference())
    }

    pub(super) fn reference(&self) -> Option<Price> {
        self.last_price.or(self.named_reference())
    }

    /// Where limits may be.
    fn limits(&self) -> Option<Span> {
        let daily = span(self.named_reference(), self.auction_rules.daily_range_ppm);
        intersection([daily, self.trading_limits()])
    }

    pub(super) fn check_limits(&self, price: Price) -> Verdict {
        let limits = self.limits();
        let inside = limits.is_none_or(|limits| contains(limits, price));
        demand(inside, RejectReason::PriceOutsideLimits)
    }

    /// The last tick inside the limits, where a limit is further away.
    pub(super) fn clip(&self, side: Side, limit: Price) -> Price {
        let Some(limits) = self.limits() else { return limit };
        let tick = i128::from(self.instrument.spec.rules.tick.0);
        let most = i128::from(i64::MAX) / tick;
        let is_inside = |ticks: i128| match side {
            Side::Buy => ticks * tick <= i128::from(limits.1.0),
            Side::Sell => ticks * tick >= i128::from(limits.0.0),
        };
        let ticks = match side {
            Side::Buy => largest(0, most, is_inside),
            Side::Sell => smallest(0, most, is_inside),
        };
        let end = ticks.map_or(Price::MAX, |ticks| Price((ticks * tick) as i64));
        if side == Side::Buy { limit.min(end) } else { limit.max(end) }
    }

    /// How long the next call lasts.
    pub(super) fn draw_length(&mut self) -> u64 {
        self.calls += 1;
        let id = self.instrument.id.0;
        let material = [&self.seed.to_le_bytes()[..], &id.to_le_bytes(), &self.calls.to_le_bytes()];
        let context = "rialto core 2026-11 random end of a call";
        let key = blake3::derive_key(context, &material.concat());
        let z = u64::from_le_bytes(key[..8].try_into().expect("eight bytes"));
        let most = u64::from(self.auction_rules.random_end_ms) * 1_000_000;
        u64::from(self.auction_rules.call_ms) * 1_000_000 + z % (most + 1)
    }

    pub(super) fn check_entry(&self) -> Verdict {
        use InstrumentState as S;
        match self.instrument.state {
            S::Open | S::PreOpen | S::Call | S::ClosingCall => Ok(()),
            S::Halted => Err(RejectReason::InstrumentHalted),
            S::Uncrossing => Err(RejectReason::InstrumentUncrossing),
            S::Withdrawn | S::Listed | S::Closed | S::Delisted => {
                Err(RejectReason::InstrumentClosed)
            }
        }
    }

    pub(super) fn check_phase(&self, new: &NewOrder) -> Verdict {
        use TimeInForce as T;
        let state = self.instrument.state;
        let accepted: &[T] = match state {
            InstrumentState::Open => &[T::Gtc, T::Day, T::Gfs, T::Gtd, T::Ioc, T::Fok],
            InstrumentState::ClosingCall => &[T::Gtc, T::Day, T::Gfs, T::Gtd, T::AtClose, T::Gfa],
            _ => &[T::Gtc, T::Day, T::Gfs, T::Gtd, T::AtOpen, T::Gfa],
        };
        let trades_now = (new.kind != OrderKind::Limit && !is_for_auction(new.time_in_force))
            || new.minimum_quantity != Quantity::ZERO;
        let fits = accepted.contains(&new.time_in_force)
            && (!collects(state) || (new.post_only == PostOnly::Off && !trades_now));
        demand(fits, RejectReason::WrongPhase)
    }

    pub(super) fn is_uncrossing(&self) -> bool {
        self.instrument.state == InstrumentState::Uncrossing
    }
}

/// Whether ticks and lots of resting orders are ones of the new rules too.
pub(super) fn keeps_grid(old: &TradingRules, new: &TradingRules) -> bool {
    old.tick.0 % new.tick.0 == 0 && old.lot.0 % new.lot.0 == 0
}

/// Whether rules of auctions agree with themselves.
fn are_sound(rules: &AuctionRules) -> bool {
    let day_ms = 24 * 60 * 60 * 1_000;
    let ranges = [
        rules.daily_range_ppm,
        rules.static_range_ppm,
        rules.dynamic_range_ppm,
        rules.auction_range_ppm,
        rules.extended_range_ppm,
        rules.limit_range_ppm,
    ];
    let interrupts = ranges[1..4].iter().any(|range| *range > 0);
    let conditions = [
        (0..=100_000).contains(&rules.fee_ppm),
        ranges.iter().all(|range| *range < 1_000_000),
        rules.extended_range_ppm == 0 || rules.auction_range_ppm > 0,
        rules.extended_range_ppm == 0 || rules.extended_range_ppm >= rules.auction_range_ppm,
        !interrupts || rules.call_ms > 0,
        rules.call_ms <= day_ms,
        rules.random_end_ms <= day_ms,
        rules.limit_state_ms <= day_ms,
        rules.limit_state_ms == 0 || rules.limit_range_ppm > 0,
        rules.halt_ms <= day_ms,
        if rules.limit_state_ms == 0 { rules.halt_ms == 0 } else { rules.halt_ms >= 1_000 },
    ];
    !conditions.contains(&false)
}

impl Reference {
    pub(super) fn set_auction_rules(
        &mut self,
        id: InstrumentId,
        rules: &AuctionRules,
        seed: u64,
    ) -> Result<Outcome, RejectReason> {
        demand(self.rules_version >= 4, RejectReason::CommandUnknown)?;
        let listed = self.listed_mut(id)?;
        demand(!listed.is_uncrossing(), RejectReason::InstrumentUncrossing)?;
        demand(are_sound(rules), RejectReason::InvalidRules)?;
        listed.auction_rules = *rules;
        (listed.seed, listed.calls) = (seed, 0);
        self.events.push(Event::AuctionRulesSet { instrument: id, rules: *rules });
        Ok(Outcome::Done)
    }

    pub(super) fn set_instrument_state(
        &mut self,
        id: InstrumentId,
        state: InstrumentState,
    ) -> Result<Outcome, RejectReason> {
        use InstrumentState as S;
        let listed = self.listed(id)?;
        let old = listed.instrument.state;
        let is_known =
            self.rules_version >= 4 || [S::Open, S::Halted, S::Withdrawn].contains(&state);
        demand(is_known, RejectReason::StateUnknown)?;
        demand(old != S::Uncrossing, RejectReason::InstrumentUncrossing)?;
        let closing = old == S::Withdrawn && self.work.contains(&Work::Instrument(id));
        demand(!closing || state == S::Withdrawn, RejectReason::HasOpenOrders)?;
        demand(state != S::Uncrossing, RejectReason::StateChangeInvalid)?;
        let is_final = old == S::Delisted && state != S::Delisted;
        demand(!is_final, RejectReason::StateChangeInvalid)?;
        let is_empty =
            !self.orders.iter().any(|order| order.instrument == id) && self.next_list(id).is_none();
        let needs_none = [S::Listed, S::Delisted].contains(&state);
        let may_have_any = !needs_none || self.gets_wrong(Alteration::DelistedWithOrders);
        demand(is_empty || may_have_any, RejectReason::HasOpenOrders)?;
        let trades = [S::Open, S::Closed].contains(&state) && old != S::Open;
        if trades && self.has_an_auction_to_do(id) {
            let auction = self.begin_uncrossing(id, state, None);
            let left = self.uncross(auction, &mut 0);
            self.auctions.extend(left);
            return Ok(Outcome::Done);
        }
        self.enter_phase(id, state);
        if state == S::Withdrawn && !closing {
            return Ok(self.begin_instrument(id));
        }
        Ok(Outcome::Done)
    }

    pub(super) fn enter_phase(&mut self, id: InstrumentId, state: InstrumentState) {
        let listed = self.listed_mut(id).expect("it was found before");
        listed.instrument.state = state;
        (listed.call, listed.halt, listed.at_limit) = (None, None, None);
        self.events.push(Event::InstrumentStateSet { instrument: id, state });
        self.pause_clearing(id);
        if state == InstrumentState::Open {
            self.find_limit_state(id);
        }
        self.begin_triggering(id);
    }

    pub(super) fn has_an_auction_to_do(&self, id: InstrumentId) -> bool {
        let mut orders = self.orders.iter().filter(|order| order.instrument == id);
        self.is_crossed(id) || orders.any(|order| is_for_auction(order.time_in_force))
    }

    pub fn is_crossed(&self, id: InstrumentId) -> bool {
        let best = |side| self.queue(id, side).first().map(|order| order.price);
        match (best(Side::Buy), best(Side::Sell)) {
            (Some(buy), Some(sell)) => buy >= sell,
            _ => false,
        }
    }

    pub(super) fn begin_uncrossing(
        &mut self,
        instrument: InstrumentId,
        next: InstrumentState,
        end_of_call: Option<Timestamp>,
    ) -> Auction {
        let early = self.gets_wrong(Alteration::OrdersEndBeforeTheCall);
        let is_valid_to_the_end = self.rules_version >= 5 && !early;
        let end = end_of_call.filter(|_| is_valid_to_the_end);
        let since = end.map_or(self.time, |end| Timestamp(end.0.saturating_sub(1)));
        let listed = self.listed_mut(instrument).expect("it was found before");
        let phase = listed.instrument.state;
        let compares = match listed.call {
            Some(Call { ends: None, .. }) => None,
            Some(call) => Some(call.extended),
            None => match listed.halt.and_then(|halt| halt.then.call) {
                Some(call) if call.until_command => None,
                Some(call) => Some(call.extended),
                None => Some(false),
            },
        };
        listed.uncrossing_since = since;
        self.enter_phase(instrument, InstrumentState::Uncrossing);
        Auction { instrument, phase, next, compares, stage: Stage::Expiring }
    }

    /// Ends a call, a halt or a limit state whose time is over.
    pub(super) fn end_timed_state(&mut self, id: InstrumentId, visited: &mut usize) {
        *visited += 1;
        match self.listed(id).expect("it was found").instrument.state {
            InstrumentState::Halted => self.end_halt(id),
            InstrumentState::Open => self.end_limit_state(id),
            _ => self.end_call(id),
        }
    }

    fn end_call(&mut self, id: InstrumentId) {
        let call = self.listed(id).expect("it was found").call.expect("it has an end");
        let auction = self.begin_uncrossing(id, call.next, call.ends);
        self.auctions.push(auction);
    }

    /// Continues an auction as far as one command may; returns what is left of it.
    pub(super) fn uncross(&mut self, mut auction: Auction, visited: &mut usize) -> Option<Auction> {
        let id = auction.instrument;
        loop {
            auction.stage = match auction.stage {
                Stage::Expiring => {
                    let since = self.listed(id).expect("it is listed").uncrossing_since;
                    self.expire_until(since, visited);
                    if self.orders.iter().any(|order| order.is_over(since)) {
                        return Some(auction);
                    }
                    Stage::Searching(0)
                }
                Stage::Searching(taken) => {
                    if *visited >= ORDERS_PER_COMMAND {
                        return Some(auction);
                    }
                    let all = self.search_steps(id);
                    let most = (ORDERS_PER_COMMAND - *visited) * STEPS_PER_ORDER;
                    let now = most.min(all - taken);
                    *visited += now.div_ceil(STEPS_PER_ORDER);
                    if taken + now < all {
                        auction.stage = Stage::Searching(taken + now);
                        return Some(auction);
                    }
                    match self.best_of_all_ticks(id) {
                        None => Stage::Ending,
                        Some(best) => match self.outside(&auction, Price(best.price)) {
                            Some((span, until_command)) => {
                                self.release_held_up();
                                self.extend(&auction, Price(best.price), span, until_command);
                                self.halt_after_auction(id, visited);
                                return None;
                            }
                            None => {
                                self.announce(id, best);
                                Stage::Trading(Price(best.price))
                            }
                        },
                    }
                }
                Stage::Trading(price) => {
                    if !self.trade_all_at(id, price, visited) {
                        return Some(auction);
                    }
                    if self.is_crossed(id) { Stage::Searching(0) } else { Stage::Ending }
                }
                Stage::Ending => {
                    let mut orders: Vec<Order> = self.orders.clone();
                    orders.retain(|order| {
                        order.instrument == id && is_for_auction(order.time_in_force)
                    });
                    orders.sort_by_key(|order| order.id);
                    for order in orders {
                        if !self.is_open_order(order.id) {
                            continue;
                        }
                        if *visited >= ORDERS_PER_COMMAND {
                            return Some(auction);
                        }
                        *visited += 1;
                        self.remove(order.id);
                        self.end(&order, DoneReason::AuctionEnded);
                    }
                    self.release_held_up();
                    self.enter_phase(id, auction.next);
                    self.resume_timetable(id);
                    self.halt_after_auction(id, visited);
                    return None;
                }
            };
        }
    }

    fn release_held_up(&mut self) {
        let held_up = std::mem::take(&mut self.held_up);
        self.sweeps.extend(held_up);
    }

    /// The range that the price of an auction is not in, and whether a command must end the call then.
    fn outside(&self, auction: &Auction, price: Price) -> Option<(Span, bool)> {
        let listed = self.listed(auction.instrument).expect("it is listed");
        let is_extended = auction.compares?;
        if self.gets_wrong(Alteration::AuctionsNeverExtended) {
            return None;
        }
        let by_command = !self.gets_wrong(Alteration::ExtendedCallsEndByThemselves);
        let rules = listed.auction_rules;
        let wide = span(listed.reference(), rules.extended_range_ppm);
        if let Some(span) = wide.filter(|span| !contains(*span, price)) {
            return Some((span, by_command));
        }
        let narrow = span(listed.reference(), rules.auction_range_ppm).filter(|_| !is_extended);
        narrow.filter(|span| !contains(*span, price)).map(|span| (span, false))
    }

    fn extend(&mut self, auction: &Auction, price: Price, span: Span, until_command: bool) {
        let phase = match auction.phase {
            phase if collects(phase) => phase,
            _ if auction.next == InstrumentState::Closed => InstrumentState::ClosingCall,
            _ => InstrumentState::Call,
        };
        self.begin_call(auction.instrument, phase, price, span, until_command);
        let listed = self.listed_mut(auction.instrument).expect("it is listed");
        let call = listed.call.as_mut().expect("it has just begun");
        (call.extended, call.next) = (true, auction.next);
    }

    /// Interrupts trading at a price outside the range of an order.
    pub(super) fn interrupt(&mut self, taker: &Order, price: Price) {
        if self.trips(taker.instrument, price) {
            return;
        }
        let span = taker.span.expect("only a range ends what an order may do");
        self.begin_call(taker.instrument, InstrumentState::Call, price, span, false);
    }

    fn begin_call(
        &mut self,
        instrument: InstrumentId,
        phase: InstrumentState,
        price: Price,
        (low, high): Span,
        until_command: bool,
    ) {
        let interrupted = Interrupted { instrument, price, low, high, until_command };
        self.events.push(Event::Interrupted(interrupted));
        self.enter_phase(instrument, phase);
        let time = self.time;
        let listed = self.listed_mut(instrument).expect("it is listed");
        let ends = (!until_command).then(|| time.saturating_add(listed.draw_length()));
        let next = InstrumentState::Open;
        listed.call = Some(Call { ends, next, extended: false, no_cancel_from: None });
    }

    fn announce(&mut self, instrument: InstrumentId, best: Best) {
        let bound = |sum: i128| {
            let most = i128::from(i64::MAX);
            Quantity(sum.clamp(-most, most) as i64)
        };
        self.events.push(Event::Uncrossed(Uncrossed {
            instrument,
            price: Price(best.price),
            volume: bound(best.volume),
            surplus: bound(best.surplus),
        }));
    }
}
