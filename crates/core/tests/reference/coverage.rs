//! What the sequences came across, so that a generator that has stopped testing something is noticed.

mod amend;
mod linked;
pub mod names;
pub mod no_cancel;

use super::Reference;
use names::event_kind;
use rialto_model::{
    AccountId, Amount, Command, DoneReason, Event, HaltCause, HaltScope, InstrumentId,
    InstrumentState, OrderId, OrderKind, OrderSize, OrderStatus, Outcome, PostOnly, ReduceReason,
    RejectReason, Rejected, Restrict, RestrictionTarget, SelfTrade, Side, TimeInForce, Timestamp,
    TradingHalted,
};
use std::collections::{BTreeMap, BTreeSet};

/// How often each thing happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    times: BTreeMap<String, u64>,
    /// The entries of which an exit was amended.
    amended_entries: BTreeSet<OrderId>,
}

impl Coverage {
    pub fn saw(&mut self, what: impl Into<String>) {
        *self.times.entry(what.into()).or_default() += 1;
    }

    pub fn times(&self, what: &str) -> u64 {
        self.times.get(what).copied().unwrap_or(0)
    }

    pub fn reject(&self, reason: RejectReason) -> u64 {
        self.times(&format!("reject {reason:?}"))
    }

    pub fn done(&self, reason: DoneReason) -> u64 {
        self.times(&format!("done {reason:?}"))
    }

    pub fn add(&mut self, other: &Coverage) {
        for (what, times) in &other.times {
            *self.times.entry(what.clone()).or_default() += times;
        }
    }

    /// All counts, one on each line.
    pub fn report(&self) -> String {
        self.times.iter().map(|(what, times)| format!("{times:>8} {what}\n")).collect()
    }

    /// Counts the effects of a command.
    pub fn note(&mut self, command: &Command, events: &[Event], outcome: &Outcome) {
        let transition = events.iter().any(|it| matches!(it, Event::TransitionBegun { .. }));
        let interrupted = events.iter().any(|it| matches!(it, Event::Interrupted(_)));
        let mut ends = 0;
        let mut amended = false;
        let mut auction = false;
        let mut traded = false;
        for event in events {
            self.saw(event_kind(event));
            match event {
                Event::Rejected(rejected) => self.saw(format!("reject {:?}", rejected.reason)),
                Event::Done(done) => {
                    self.saw(format!("done {:?}", done.reason));
                    ends += u32::from(done.reason == DoneReason::Expired);
                }
                Event::Reduced(reduced) => match reduced.reason {
                    ReduceReason::Amended => self.saw("reduced by amendment"),
                    ReduceReason::SelfTrade => self.saw("reduced by self-trade prevention"),
                },
                Event::Amended(_) => amended = matches!(command, Command::Amend(_)),
                Event::Rested(_) if amended => self.saw("amended and rested"),
                Event::Trade(trade) if trade.auction => {
                    self.saw("trade of an auction");
                    if trade.maker_fee.0 > 0 {
                        self.saw("fee of an auction");
                    }
                    auction = true;
                }
                Event::InstrumentStateSet { state: InstrumentState::Uncrossing, .. }
                    if *command == Command::Tick =>
                {
                    self.saw("call ended by time");
                }
                Event::Interrupted(it) => {
                    let extends = events.iter().any(|event| {
                        matches!(
                            event,
                            Event::InstrumentStateSet { state: InstrumentState::Uncrossing, .. }
                        )
                    });
                    self.saw(match (it.until_command, extends || *command == Command::Tick) {
                        (true, _) => "call until a command",
                        (false, true) => "call extended",
                        (false, false) => "trading interrupted",
                    });
                }
                Event::Trade(trade) => {
                    traded = true;
                    if trade.price.0 >= 200 {
                        self.saw("trade at a far price");
                    }
                    if amended {
                        self.saw("amended and traded");
                    }
                    if trade.maker_fee.0 < 0 {
                        self.saw("maker rebate");
                    }
                    if trade.notional.0 == 0 {
                        self.saw("trade without risk");
                    }
                }
                Event::Accepted(accepted) => {
                    let terms = &accepted.terms;
                    if terms.kind == OrderKind::Market && accepted.rests {
                        self.saw("market order for an auction");
                    }
                    if terms.time_in_force == TimeInForce::Day {
                        self.saw("day order");
                    }
                    if terms.time_in_force == TimeInForce::Gfs {
                        self.saw("session order");
                    }
                    if let Command::Place(entered) = command
                        && terms.post_only == PostOnly::Slide
                        && terms.price != entered.price
                    {
                        self.saw("post-only price slid");
                    }
                }
                Event::InstrumentStateSet {
                    state: InstrumentState::Call | InstrumentState::ClosingCall,
                    ..
                } if *command == Command::Tick && !transition && !interrupted => {
                    self.saw("halt ended by time");
                }
                Event::TradingHalted(halted) => self.note_halt(command, halted, events),
                Event::LimitStateSet { until: Timestamp::ZERO, .. } => {
                    self.saw("limit state ended");
                }
                _ => {}
            }
        }
        self.note_transitions(events);
        let own = |event: &Event| matches!(event, Event::Done(done) if done.reason == DoneReason::SelfTrade);
        if *command == Command::Tick && auction {
            self.saw("auction continued by a Tick");
        }
        if events.iter().any(|event| matches!(event, Event::Uncrossed(_))) && events.iter().any(own)
        {
            self.saw("prevented in an auction");
        }
        if matches!(outcome, Outcome::Rejected { reason: RejectReason::InstrumentUncrossing }) {
            self.saw("refused while an auction trades");
        }
        if ends == 256 {
            self.saw("256 expiries in one Tick");
        }
        match command {
            Command::Tick => self.note_tick(events, traded),
            Command::HoldWithdrawal(_) if *outcome == Outcome::Repeated => {
                self.saw("hold repeated");
            }
            Command::SettleWithdrawal { .. } if *outcome == Outcome::Repeated => {
                self.saw("settlement repeated");
            }
            Command::ReleaseWithdrawal { .. } if *outcome == Outcome::Repeated => {
                self.saw("release repeated");
            }
            Command::Place(new) if traded => self.note_traded(new, outcome, events),
            _ => {}
        }
        if let Command::Place(new) = command {
            let by_prevention = |event: &Event| {
                matches!(event, Event::Done(done) if done.reason == DoneReason::SelfTrade)
                    || matches!(event, Event::Reduced(_))
            };
            if let (Some(mode), true) = (new.self_trade, events.iter().any(by_prevention)) {
                self.saw(format!("self-trade {mode:?}"));
            }
        }
        if matches!(outcome, Outcome::Cancelling { pending: true, .. }) {
            self.saw("mass cancel left pending");
        }
    }

    /// Counts what restrictions do.
    pub fn note_restrictions(&mut self, command: &Command, events: &[Event], now: &Reference) {
        let reduced = |event: &Event| matches!(event, Event::Reduced(reduced) if reduced.reason == ReduceReason::Amended);
        if let (Command::Amend(amend), true) = (command, events.iter().any(reduced))
            && now.account_enters(amend.account).is_err()
        {
            self.saw("reduced under a restriction");
        }
        let cleared = |event: &Event| matches!(event, Event::Done(done) if done.reason == DoneReason::Restricted);
        if let Command::Restrict(restrict) = command
            && events.iter().any(cleared)
        {
            match restrict.target {
                RestrictionTarget::Member(_) => self.saw("accounts of a member cancelled"),
                RestrictionTarget::Venue => self.saw("accounts of the venue cancelled"),
                RestrictionTarget::Account(_) | RestrictionTarget::Instrument(_) => {}
            }
        }
        let progress =
            |event: &Event| matches!(event, Event::CancelProgress { account: AccountId(0), .. });
        if *command == Command::Tick && events.iter().any(cleared) && events.iter().any(progress) {
            self.saw("orders of an instrument cleared in a Tick");
        }
        if now.instruments.iter().any(|listed| listed.clearing && listed.is_uncrossing()) {
            self.saw("clearing held up by an auction");
        }
        let both = |set: &Restrict| {
            let mut others = now.restrictions.iter();
            others.any(|other| other.target == set.target && other.by_member != set.by_member)
        };
        if matches!(command, Command::Restrict(_)) && now.restrictions.iter().any(both) {
            self.saw("a member's own restriction beside an operator's");
        }
    }

    /// Counts the calls that wait for a command again after a halt.
    pub fn note_waiting(&mut self, command: &Command, events: &[Event], now: &Reference) {
        let called = |event: &Event| match event {
            Event::InstrumentStateSet { instrument, .. } => Some(*instrument),
            _ => None,
        };
        let waits = |id: InstrumentId| {
            now.listed(id).is_ok_and(|it| it.call.is_some_and(|call| call.ends.is_none()))
        };
        let is_extended = events.iter().any(|it| matches!(it, Event::Interrupted(_)));
        if *command == Command::Tick && !is_extended && events.iter().filter_map(called).any(waits)
        {
            self.saw("halt of a call that waits for a command ended");
        }
    }

    /// Counts what triggers do.
    pub fn note_triggers(&mut self, command: &Command, events: &[Event], now: &Reference) {
        let triggered = events.iter().filter_map(|event| match event {
            Event::Triggered(triggered) => Some(triggered),
            _ => None,
        });
        for event in events {
            let Event::TrailActivated(active) = event else { continue };
            let order = now.orders.iter().find(|order| order.id == active.order);
            let waits = order.and_then(|order| order.waits);
            let starts_at = waits.and_then(|it| it.follows).map(|it| it.trail.activation_price);
            if starts_at.is_some_and(|price| price != active.extreme) {
                self.saw("trailing stop active beyond its activation price");
            }
        }
        for one in triggered.clone() {
            self.saw("order triggered");
            let trades = |event: &Event| matches!(event, Event::Trade(trade) if trade.taker_order == one.order);
            if events.iter().any(trades) {
                self.saw("triggered order traded");
            }
        }
        let is_left =
            now.orders.iter().any(|order| order.waits.is_some_and(|waits| waits.reached.is_some()));
        if triggered.clone().count() > 20 && is_left {
            self.saw("orders triggered in several Ticks");
        }
        let restricted = |event: &Event| matches!(event, Event::Done(done) if done.reason == DoneReason::Restricted);
        let cancels = |event: &Event| matches!(event, Event::CancelProgress { .. });
        if events.iter().any(restricted) && !events.iter().any(cancels) {
            self.saw("triggered order restricted");
        }
        let number = now.prices_that_triggered;
        if triggered.count() > 0 && number > self.times("prices that triggered") {
            self.saw("triggered order triggered others");
        }
        self.times.insert("prices that triggered".to_owned(), number);
        if let Command::PlaceConditional(_) = command
            && !now.triggering.is_empty()
        {
            self.saw("order triggered at entry");
        }
    }

    /// Counts what icebergs do.
    pub fn note_icebergs(&mut self, command: &Command, events: &[Event], now: &Reference) {
        let iceberg = |id: OrderId| now.orders.iter().find(|it| it.id == id && it.parts.is_some());
        for pair in events.windows(2) {
            let [Event::Trade(trade), Event::IcebergRefreshed(refreshed)] = pair else { continue };
            let Some(order) = iceberg(refreshed.order) else { continue };
            let beside = now.queue(order.instrument, order.side);
            if beside.iter().any(|it| it.price == order.price && it.place < order.place) {
                self.saw("iceberg displayed a new tranche behind others");
            }
            if order.parts.is_some_and(|parts| trade.quantity > parts.most) {
                self.saw("several tranches of an iceberg traded at once");
            }
            if let Command::Place(new) = command
                && new.time_in_force == TimeInForce::Fok
            {
                self.saw("fill-or-kill took what was hidden");
            }
        }
        for event in events {
            match event {
                Event::Trade(trade) if trade.auction => {
                    let both = [trade.maker_order, trade.taker_order];
                    if both.into_iter().any(|id| iceberg(id).is_some()) {
                        self.saw("iceberg traded in an auction");
                    }
                }
                Event::Amended(it)
                    if it.price == it.old_price
                        && it.remaining > it.old_remaining
                        && iceberg(it.order).is_some() =>
                {
                    self.saw("iceberg grew in its place");
                }
                _ => {}
            }
        }
    }

    /// Counts what the terms of contracts do.
    pub fn note_contracts(&mut self, command: &Command, events: &[Event], now: &Reference) {
        let terms = |id: InstrumentId| now.listed(id).map(|listed| listed.terms);
        for event in events {
            let Event::Trade(trade) = event else { continue };
            let by_lot = terms(trade.instrument).is_ok_and(|terms| terms.lot_fees.is_some());
            if !by_lot || trade.notional == Amount::ZERO {
                continue;
            }
            self.saw("trade with fees by the lot");
            if trade.auction {
                self.saw("auction with fees by the lot");
            }
            let of_seller =
                if trade.taker_side == Side::Sell { trade.taker_fee } else { trade.maker_fee };
            if of_seller == trade.notional {
                self.saw("seller paid all that it was paid");
            }
        }
        let [Event::Rejected(Rejected { reason: RejectReason::NotionalTooLarge, .. })] = events
        else {
            return;
        };
        if let Command::Place(new) = command
            && terms(new.instrument).is_ok_and(|terms| terms.notional_max != Amount::ZERO)
        {
            self.saw("order above the largest notional");
        }
    }

    fn note_halt(&mut self, command: &Command, halted: &TradingHalted, events: &[Event]) {
        let HaltScope::Instrument(id) = halted.scope else {
            if halted.cause == HaltCause::CircuitBreaker {
                self.saw("circuit breaker halted trading");
            }
            return;
        };
        let entered = |event: &Event| {
            let state = InstrumentState::Halted;
            matches!(event, Event::InstrumentStateSet { instrument, state: it } if (*instrument, *it) == (id, state))
        };
        let left = |event: &Event| {
            let state = InstrumentState::Uncrossing;
            matches!(event, Event::InstrumentStateSet { instrument, state: it } if *instrument == id && *it != state)
        };
        if !events.iter().any(entered) {
            self.saw("halt made longer");
        }
        if events.iter().filter(|event| left(event)).count() > 1 {
            self.saw("halt after an auction");
        }
        if halted.cause == HaltCause::LimitState && *command == Command::Tick {
            self.saw("limit state halted trading");
        }
    }

    fn note_transitions(&mut self, events: &[Event]) {
        let begins = |event: &&Event| matches!(event, Event::TransitionBegun { .. });
        let uncrosses = |event: &&Event| {
            let state = InstrumentState::Uncrossing;
            matches!(event, Event::InstrumentStateSet { state: it, .. } if *it == state)
        };
        if events.iter().filter(begins).count() > 1 {
            self.saw("transitions due at once");
        }
        let begun = events.iter().skip_while(|event| !begins(event));
        if begun.clone().any(|event| uncrosses(&event)) {
            self.saw("transition led to an auction");
        }
    }

    /// Notes that a taker must be continued by a Tick.
    pub fn note_suspended(&mut self, command: &Command, taker: &super::Order) {
        if taker.quote_left.is_some() {
            self.saw("taker sized in quote continued by a Tick");
        }
        if matches!(command, Command::Amend(_)) {
            self.saw("amended order continued by a Tick");
        }
        if taker.five_levels && taker.can_rest() {
            self.saw("order for five levels that may rest continued by a Tick");
        }
    }

    fn note_tick(&mut self, events: &[Event], traded: bool) {
        if traded {
            self.saw("taker continued by a Tick");
        }
        if events.iter().any(|event| matches!(event, Event::CancelProgress { pending: false, .. }))
        {
            self.saw("background work finished by a Tick");
        }
    }

    fn note_traded(&mut self, new: &rialto_model::NewOrder, outcome: &Outcome, events: &[Event]) {
        if new.minimum_quantity.0 > 0 {
            self.saw("minimum quantity traded at once");
        }
        let rests = events.iter().any(|event| matches!(event, Event::Rested(_)));
        match new.kind {
            OrderKind::Market if rests => self.saw("rest of a market order stands"),
            OrderKind::BestPrice if rests => self.saw("rest of an order for the best price stands"),
            OrderKind::FiveLevels => {
                let mut prices: Vec<_> = events.iter().filter_map(traded_at).collect();
                prices.dedup();
                if prices.len() > 1 {
                    self.saw("order for five levels traded at several prices");
                }
            }
            _ => {}
        }
        let filled = matches!(outcome, Outcome::Order { status: OrderStatus::Filled, .. });
        if new.time_in_force == TimeInForce::Fok && filled {
            self.saw("fill-or-kill filled");
        }
        if new.kind == OrderKind::Market && new.price.0 != 0 {
            self.saw("market with protection price");
        }
        if let OrderSize::Quote(_) = new.size {
            self.saw(match new.side {
                rialto_model::Side::Buy => "market buy sized in quote",
                rialto_model::Side::Sell => "market sell sized in quote",
            });
            if new.time_in_force == TimeInForce::Fok {
                self.saw("fill-or-kill sized in quote");
            }
        }
        if new.self_trade == Some(SelfTrade::Allow) {
            self.saw("self-trade Allow");
        }
    }
}

fn traded_at(event: &Event) -> Option<rialto_model::Price> {
    match event {
        Event::Trade(trade) => Some(trade.price),
        _ => None,
    }
}
