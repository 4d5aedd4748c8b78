//! Conditional orders: after each trade all waiting orders are looked at.

use super::arithmetic::{largest, price, smallest};
use super::auction::is_for_auction;
use super::entry::{Check, Verdict, demand};
use super::prices::is_near;
use super::trailing::{Follows, never};
use super::{Alteration, Entered, ORDERS_PER_COMMAND, Order, Reference};
use rialto_model::{
    Accepted, Amount, Condition, ConditionalOrder, DoneReason, Event, InstrumentId,
    InstrumentState, NewOrder, OrderId, OrderKind, OrderSize, OrderStatus, Outcome, PostOnly,
    Price, Quantity, RejectReason, Side, TimeInForce, TrailSet, TrailingOrder, Trigger,
    TriggerKind, TriggerSet, Triggered,
};

/// A conditional order as it is entered.
#[derive(Clone, Copy)]
pub struct Conditional {
    pub terms: NewOrder,
    pub condition: Condition,
    pub immediate: bool,
}

impl From<&ConditionalOrder> for Conditional {
    fn from(new: &ConditionalOrder) -> Conditional {
        let ConditionalOrder { terms, trigger, immediate } = *new;
        Conditional { terms, condition: Condition::Trigger(trigger), immediate }
    }
}

impl From<&TrailingOrder> for Conditional {
    fn from(new: &TrailingOrder) -> Conditional {
        let condition = Condition::Trail(new.trail);
        Conditional { terms: new.terms, condition, immediate: false }
    }
}

/// What an order waits for. A trailing stop is a stop whose trigger price moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    pub kind: TriggerKind,
    pub at: Price,
    /// Whether it is a market order.
    pub is_market: bool,
    /// Of the orders with one trigger price the one with the smaller number comes first.
    pub arrived: u64,
    /// Which of all prices that did something to waiting orders triggered it, once one has.
    pub reached: Option<u64>,
    pub follows: Option<Follows>,
}

impl Waits {
    pub(super) fn rises(&self, side: Side) -> bool {
        matches!(
            (self.kind, side),
            (TriggerKind::Stop, Side::Buy) | (TriggerKind::TakeProfit, Side::Sell)
        )
    }

    pub(super) fn is_reached(&self, side: Side, last: Price) -> bool {
        if self.rises(side) { self.at <= last } else { self.at >= last }
    }
}

const BEFORE_MEMORY: [Check<Conditional>; 3] = [
    ("command that the version knows", |venue, new| {
        let since = if matches!(new.condition, Condition::Trail(_)) { 7 } else { 6 };
        demand(venue.rules_version >= since, RejectReason::CommandUnknown)
    }),
    ("account", |venue, new| venue.account(new.terms.account).map(drop)),
    ("client order id (repeat, conflict)", |venue, new| {
        let before = venue.entered_before(&new.terms);
        let is_same =
            |first: Entered| first.body == new.terms && first.condition == Some(new.condition);
        demand(before.is_none_or(is_same), RejectReason::ClientIdConflict)
    }),
];

const CHECKS: [Check<Conditional>; 15] = [
    ("instrument", |venue, new| venue.listed(new.terms.instrument).map(drop)),
    ("its state", |venue, new| venue.listed(new.terms.instrument)?.check_entry()),
    ("restriction of the account", |venue, new| venue.account_enters(new.terms.account)),
    ("restriction of the instrument", |venue, new| {
        venue.instrument_is_entered(new.terms.instrument)
    }),
    ("combination of attributes", |_, new| {
        has_attributes_that_agree(&new.terms)?;
        let trails = matches!(new.condition, Condition::Trail(_));
        let is_priced = new.terms.kind == OrderKind::Market && new.terms.price != Price::ZERO;
        demand(!(trails && is_priced), RejectReason::InvalidCombination)
    }),
    ("quantity", |venue, new| {
        venue.listed(new.terms.instrument)?.check_quantity(quantity(&new.terms))
    }),
    ("trigger price, or distance, activation price and first trigger price", |venue, new| {
        let listed = venue.listed(new.terms.instrument)?;
        match new.condition {
            Condition::Trigger(trigger) => {
                let verdict = listed.check_price(trigger.price);
                verdict.map_err(|_| RejectReason::TriggerPriceInvalid)
            }
            Condition::Trail(trail) => venue.check_trail(listed, new.terms.side, &trail),
        }
    }),
    ("price and tick", |venue, new| {
        venue.listed(new.terms.instrument)?.check_price(venue.limit_waiting(new))
    }),
    ("expiry", |venue, new| venue.expires_at(&new.terms).map(drop)),
    ("whether the last price has reached the trigger price", |venue, new| {
        let is_reached = venue.is_reached_now(new) && !new.immediate;
        demand(!is_reached, RejectReason::WouldTrigger)
    }),
    ("open orders of the account", |venue, new| {
        venue.account_has_room(&NewOrder { time_in_force: TimeInForce::Gtc, ..new.terms })
    }),
    ("room in the venue", |venue, new| {
        venue.venue_has_room(&NewOrder { time_in_force: TimeInForce::Gtc, ..new.terms })
    }),
    ("smallest and largest notional", |venue, new| {
        let listed = venue.listed(new.terms.instrument)?;
        listed.check_notional(listed.notional(venue.limit_waiting(new), quantity(&new.terms)))
    }),
    ("balance", |venue, new| {
        let order = venue.waiting(new)?;
        let available = venue.available(order.account, venue.held_currency(&order));
        demand(venue.hold(&order).0 <= available, RejectReason::InsufficientBalance)
    }),
    ("room at the trigger price", |venue, new| {
        let order = venue.waiting(new)?;
        venue.check_where_it_waits(&order)
    }),
];

/// The names of the checks of a conditional order, in their order.
pub fn conditional_checks() -> Vec<&'static str> {
    BEFORE_MEMORY.iter().chain(&CHECKS).map(|(name, _)| *name).collect()
}

fn has_attributes_that_agree(new: &NewOrder) -> Verdict {
    let contradictions = [
        ![OrderKind::Limit, OrderKind::Market].contains(&new.kind),
        matches!(new.size, OrderSize::Quote(_)),
        new.post_only != PostOnly::Off,
        new.minimum_quantity != Quantity::ZERO,
        new.time_in_force == TimeInForce::Fok,
        is_for_auction(new.time_in_force),
    ];
    demand(!contradictions.contains(&true), RejectReason::InvalidCombination)
}

fn quantity(new: &NewOrder) -> Quantity {
    match new.size {
        OrderSize::Base(quantity) => quantity,
        OrderSize::Quote(_) => unreachable!("the combination was checked before"),
    }
}

impl Reference {
    pub(super) fn place_conditional(&mut self, new: &Conditional) -> Result<Outcome, RejectReason> {
        BEFORE_MEMORY.iter().try_for_each(|(_, check)| check(self, new))?;
        if let Some(first) = self.entered_before(&new.terms) {
            return Ok(self.repeat(&new.terms, &first));
        }
        let verdict = self.check_waiting(new);
        let answer = verdict.map(|()| self.let_wait(new, 0));
        if !new.terms.client_order_id.is_empty() {
            let answer = answer.unwrap_or_else(|reason| Outcome::Rejected { reason });
            let (body, condition) = (new.terms, Some(new.condition));
            let entered = Entered {
                body,
                condition,
                displays: None,
                list: None,
                answer,
                in_window: true,
                finish: None,
            };
            self.account_mut(new.terms.account)?.entered.push(entered);
        }
        answer
    }

    /// The checks of an order that is not remembered.
    pub(super) fn check_waiting(&self, new: &Conditional) -> Verdict {
        self.check_all(&CHECKS, new)
    }

    pub(super) fn is_reached_now(&self, new: &Conditional) -> bool {
        let Condition::Trigger(Trigger { kind, price }) = new.condition else { return false };
        let waits =
            Waits { kind, at: price, is_market: false, arrived: 0, reached: None, follows: None };
        let last = self.listed(new.terms.instrument).expect("it was found").last_price;
        last.is_some_and(|last| waits.is_reached(new.terms.side, last))
    }

    /// The limit of a waiting order: its own, or the farthest tick within the protection of the
    /// rules around the trigger price.
    fn limit_waiting(&self, new: &Conditional) -> Price {
        let terms = &new.terms;
        if terms.kind == OrderKind::Limit || terms.price != Price::ZERO {
            return terms.price;
        }
        let trigger = match new.condition {
            Condition::Trigger(trigger) => trigger.price,
            Condition::Trail(trail) => self.first_trigger(terms, &trail),
        };
        self.protected(terms.instrument, terms.side, trigger)
    }

    /// The farthest tick within the protection of the rules around a trigger price.
    pub(super) fn protected(&self, id: InstrumentId, side: Side, trigger: Price) -> Price {
        let rules = self.listed(id).expect("it was found").instrument.spec.rules;
        let tick = i128::from(rules.tick.0);
        let most = i128::from(i64::MAX) / tick;
        let reaches =
            |ticks: i128| is_near(side, trigger, ticks * tick, rules.market_protection_ppm);
        let ticks = match side {
            Side::Buy => largest(0, most, reaches),
            Side::Sell => smallest(1, most, reaches),
        };
        ticks.and_then(|ticks| price(ticks * tick)).expect("the trigger price is on the tick")
    }

    /// Refuses a large order where the quantities that wait with it would add up to too much.
    pub(super) fn check_where_it_waits(&self, order: &Order) -> Verdict {
        let place = |order: &Order| {
            order.waits.map(|waits| match waits.follows {
                None => (waits.rises(order.side), waits.at),
                Some(_) => (false, Price(-1)),
            })
        };
        let others = self.orders.iter().filter(|other| {
            other.instrument == order.instrument
                && place(other) == place(order)
                && other.id != order.id
        });
        self.check_sum(others, order)
    }

    /// The order as it would wait.
    pub(super) fn waiting(&self, new: &Conditional) -> Result<Order, RejectReason> {
        let terms = &new.terms;
        let rules = self.listed(terms.instrument)?.instrument.spec.rules;
        let [maker_fee_ppm, taker_fee_ppm] = self.rates(terms.instrument)?;
        Ok(Order {
            id: OrderId::from_parts(self.engine, self.orders_entered + 1),
            account: terms.account,
            instrument: terms.instrument,
            side: terms.side,
            time_in_force: terms.time_in_force,
            post_only: PostOnly::Off,
            self_trade: terms.self_trade.unwrap_or(rules.self_trade),
            handling: terms.handling,
            expire_at: self.expires_at(terms)?,
            client_order_id: terms.client_order_id,
            price: self.limit_waiting(new),
            filled: Quantity::ZERO,
            remaining: quantity(terms),
            quote_left: None,
            deliverable: None,
            maker_fee_ppm,
            taker_fee_ppm,
            fees_owed: 0,
            fees_charged: 0,
            place: 0,
            is_market: false,
            five_levels: false,
            traded_at: None,
            span: None,
            waits: Some(self.condition_of(new)),
            parts: None,
            covered: 0,
        })
    }

    /// Accepts an order of which another one that it is linked to holds so much.
    pub(super) fn let_wait(&mut self, new: &Conditional, covered: i128) -> Outcome {
        let mut order = self.waiting(new).expect("the checks have passed");
        order.covered = covered;
        self.arrivals += 1;
        if let Some(waits) = &mut order.waits {
            waits.arrived = self.arrivals;
        }
        let mut terms = new.terms;
        terms.price = order.price;
        terms.self_trade = Some(order.self_trade);
        terms.expire_at = order.expire_at;
        let reserved = self.hold(&order);
        self.orders_entered += 1;
        self.orders.push(order);
        self.events.push(Event::Accepted(Accepted {
            order: order.id,
            terms,
            reserved,
            rests: false,
        }));
        let Order { id, account, instrument, side, waits, .. } = order;
        self.events.push(match (new.condition, waits.and_then(|waits| waits.follows)) {
            (Condition::Trigger(trigger), _) => {
                Event::TriggerSet(TriggerSet { order: id, account, instrument, side, trigger })
            }
            (Condition::Trail(_), follows) => {
                let trail = follows.expect("a trailing stop follows the price").trail;
                Event::TrailSet(TrailSet { order: id, account, instrument, side, trail })
            }
        });
        let had_turn = self.triggering.contains(&instrument);
        let is_alone = self.next_triggered(instrument).is_none();
        self.look_at_triggers(instrument);
        let new = self.orders.last().and_then(|order| order.waits?.follows);
        if is_alone && new.is_some_and(|follows| follows.since.is_some()) {
            self.tell_activation(id);
            if !had_turn {
                self.triggering.retain(|other| *other != instrument);
            }
        }
        Self::answer(&order, OrderStatus::Waiting)
    }

    fn condition_of(&self, new: &Conditional) -> Waits {
        let is_market = new.terms.kind == OrderKind::Market;
        match new.condition {
            Condition::Trigger(Trigger { kind, price }) => {
                Waits { kind, at: price, is_market, arrived: 0, reached: None, follows: None }
            }
            Condition::Trail(trail) => Waits {
                kind: TriggerKind::Stop,
                at: never(new.terms.side),
                is_market,
                arrived: 0,
                reached: None,
                follows: Some(Follows::new(self.resolved(&new.terms, &trail))),
            },
        }
    }

    /// Notes which waiting orders the last price triggers for the first time, and which trailing stops it makes
    /// active.
    pub(super) fn look_at_triggers(&mut self, id: InstrumentId) {
        let listed = self.listed(id).expect("it was found");
        let Some(last) = listed.last_price else { return };
        let is_open = listed.instrument.state == InstrumentState::Open;
        let tick = listed.instrument.spec.rules.tick;
        let number = self.prices_that_triggered;
        let stands_still = self.gets_wrong(Alteration::TrailsStandStill);
        let mut is_any = false;
        for order in self.orders.iter_mut().filter(|order| order.instrument == id) {
            let side = order.side;
            let Some(waits) = &mut order.waits else { continue };
            if let Some(follows) = &mut waits.follows {
                is_any |= follows.look(side, last, number, stands_still);
                if waits.reached.is_none() {
                    waits.at = follows.trigger(side, tick).unwrap_or(never(side));
                }
            }
            if waits.reached.is_none() && waits.is_reached(side, last) {
                waits.reached = Some(number);
                is_any = true;
            }
        }
        self.prices_that_triggered += u64::from(is_any);
        let has_turn = self.rules_version >= 7 && self.entering == Some(id);
        if is_any && is_open && !has_turn && !self.triggering.contains(&id) {
            self.triggering.push(id);
        }
    }

    /// What comes next for the waiting orders of an instrument: what was triggered first; of what one price
    /// did, first the trailing stops that became active, then orders triggered at or above their trigger
    /// price, then the nearest trigger price, and then the one that has waited for it longest. Trailing stops
    /// come behind others with their trigger price, the nearest first.
    fn next_triggered(&self, id: InstrumentId) -> Option<Order> {
        let own = self.orders.iter().filter(|order| order.instrument == id);
        let rank = |order: &&Order| {
            let waits = order.waits?;
            if let Some(rank) = waits.follows.and_then(|follows| follows.activation(order.side)) {
                return Some((
                    rank.0,
                    order.side == Side::Buy,
                    0,
                    rank.1,
                    Default::default(),
                    waits.arrived,
                ));
            }
            let reached = waits.reached?;
            let rises = waits.rises(order.side);
            let distance = if rises { waits.at.0 } else { -waits.at.0 };
            if self.gets_wrong(Alteration::TriggersByAge) {
                return Some((reached, !rises, 1, 0, Default::default(), order.id.0));
            }
            let trails = waits.follows.map(|follows| follows.place(order.side));
            Some((reached, !rises, 1, distance, trails.unwrap_or_default(), waits.arrived))
        };
        let all = own.filter(|order| rank(order).is_some());
        all.min_by_key(|order| rank(order)).copied()
    }

    /// The waiting orders of an instrument: first the ones triggered at or below their trigger price, the
    /// highest price first, then the ones triggered at or above it, the lowest first, at one price as they began
    /// to wait for it; and then the trailing stops by age.
    pub fn waiting_queue(&self, id: InstrumentId) -> Vec<Order> {
        let waits = |order: &&Order| order.instrument == id && order.waits.is_some();
        let mut queue: Vec<Order> = self.orders.iter().filter(waits).copied().collect();
        queue.sort_by_key(|order| {
            let waits = order.waits.expect("only such were taken");
            let rises = waits.rises(order.side);
            match waits.follows {
                Some(_) => (true, true, 0, order.id.0),
                None => (false, rises, if rises { waits.at.0 } else { -waits.at.0 }, waits.arrived),
            }
        });
        queue
    }

    /// An instrument that trades has a turn if orders were triggered or lists are to be read.
    pub(super) fn begin_triggering(&mut self, id: InstrumentId) {
        let is_open =
            self.listed(id).expect("it was found").instrument.state == InstrumentState::Open;
        let has_some = self.next_triggered(id).is_some() || self.next_list(id).is_some();
        if is_open && !self.triggering.contains(&id) && has_some {
            self.triggering.push(id);
        }
    }

    /// Reads the lists of an instrument, and enters its orders that were triggered, as far as one command may.
    pub(super) fn enter_all_triggered(&mut self, id: InstrumentId, visited: &mut usize) {
        let is_open = |venue: &Reference| {
            venue.listed(id).expect("it was found").instrument.state == InstrumentState::Open
        };
        self.entering = Some(id);
        while *visited < ORDERS_PER_COMMAND && is_open(self) {
            if let Some(list) = self.next_list(id) {
                self.read_list(list, visited);
                if !is_open(self) {
                    *visited = ORDERS_PER_COMMAND;
                }
                continue;
            }
            let Some(order) = self.next_triggered(id) else { break };
            *visited += 1;
            if order
                .waits
                .is_some_and(|waits| waits.follows.is_some_and(|it| !it.told && it.since.is_some()))
            {
                self.tell_activation(order.id);
                continue;
            }
            self.enter_triggered(&order, visited);
            if !is_open(self) {
                *visited = ORDERS_PER_COMMAND;
            }
        }
        self.entering = None;
        self.begin_triggering(id);
    }

    fn enter_triggered(&mut self, waiting: &Order, visited: &mut usize) {
        self.remove(waiting.id);
        let waits = waiting.waits.expect("it waits");
        let span = self.trading_span(waiting.instrument);
        let mut order = Order { waits: None, span, covered: 0, ..*waiting };
        let held = self.hold(waiting);
        if self.is_dead(&order) {
            self.end(waiting, DoneReason::Expired);
            return;
        }
        let last = self.of(&order).last_price;
        let is_still = last.is_some_and(|last| waits.is_reached(order.side, last));
        if self.gets_wrong(Alteration::TriggersForget) && !is_still {
            self.orders.push(Order { waits: Some(Waits { reached: None, ..waits }), ..order });
            return;
        }
        if waits.is_market {
            if waits.follows.is_some() {
                let Order { instrument, side, price, .. } = order;
                let now = self.protected(instrument, side, waits.at);
                order.price = if side == Side::Buy { price.min(now) } else { price.max(now) };
            }
            order.price = self.clipped(&order);
        }
        let mut allowed = self.account_enters(order.account);
        allowed = allowed.and_then(|()| self.instrument_is_entered(order.instrument));
        if allowed.is_err() && !self.gets_wrong(Alteration::TriggeredThoughRestricted) {
            self.end(waiting, DoneReason::Restricted);
            return;
        }
        if self.check_triggered(&order).is_err() {
            self.end(waiting, DoneReason::Refused);
            return;
        }
        let ended = self.end_list_of(order.id);
        *visited = (*visited + ended).min(ORDERS_PER_COMMAND);
        self.events.push(Event::Triggered(Triggered {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            price: order.price,
            remaining: order.remaining,
            released: Amount(held.0 - self.hold(&order).0),
        }));
        self.take(order, visited);
    }

    /// The limit of a triggered market order, inside the collar and the limits as they are now.
    fn clipped(&self, order: &Order) -> Price {
        let Order { account, instrument, side, remaining, price, .. } = *order;
        let as_new = NewOrder::limit(account, instrument, side, remaining, price);
        self.of(order).clip(side, self.collared(&as_new, price))
    }

    fn check_triggered(&self, order: &Order) -> Verdict {
        let listed = self.of(order);
        listed.check_price(order.price)?;
        demand(self.is_in_collar(listed, order.price), RejectReason::PriceOutsideCollar)?;
        listed.check_limits(order.price)?;
        self.check_level(order)?;
        match self.rules_version >= 7 {
            true => listed.check_notional(listed.notional(order.price, order.remaining)),
            false => Ok(()),
        }
    }
}
