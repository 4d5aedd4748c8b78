//! Orders that wait for a trigger. A trade marks what its price has reached; background work then enters
//! the orders, one after the other, as if they came in at that moment.

use crate::apply::refuse;
use crate::book::{Book, LimitOrder, Orders, Slot};
use crate::instruments::{Market, check_sum};
use crate::orders::{Attributes, Detail, Role, STAND_IN};
use crate::taker::{Remaining, Taker};
use crate::{Core, EventSink};
use rialto_model::{
    Accepted, Amount, Command, ConditionalOrder, DoneReason, Event, InstrumentState, NewOrder,
    OrderId, OrderKind, OrderSize, OrderStatus, Outcome, PostOnly, Price, Quantity, RejectReason,
    Side, TimeInForce, Timestamp, TriggerSet, Triggered,
};
use std::collections::VecDeque;

/// The version since which orders may wait for a trigger.
pub(crate) const WITH_TRIGGERS: u32 = 6;

/// At how many trigger prices one command may look for orders that were triggered.
const LOOKS_PER_COMMAND: u32 = 1_024;

/// A price that has reached triggers whose orders have not all been entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The side of [`Triggers::book`].
    pub(crate) side: Side,
    pub(crate) price: Price,
    /// Newer orders came to wait after the price was reached.
    pub(crate) upto: OrderId,
    /// The trigger price behind which the next order is looked for, if some were passed over.
    pub(crate) behind: Option<Price>,
}

/// The orders of an instrument that wait.
pub(crate) struct Triggers {
    /// The orders at their trigger prices. A sell side's are triggered at or above them, the lowest first; a
    /// buy side's at or below them, the highest first.
    pub(crate) book: Book,
    /// No last price below this reaches a trigger that is not in `reached`.
    pub(crate) above: Price,
    /// No last price above this does.
    pub(crate) below: Price,
    /// The newest order that has come to wait.
    pub(crate) newest: OrderId,
    /// In the order in which the prices were reached.
    pub(crate) reached: VecDeque<Reached>,
    /// Whether its instrument has a turn in background work.
    pub(crate) has_turn: bool,
}

impl Triggers {
    pub(crate) fn new() -> Triggers {
        Triggers {
            book: Book::new(),
            above: Price::MAX,
            below: Price::ZERO,
            newest: OrderId(0),
            reached: VecDeque::new(),
            has_turn: false,
        }
    }

    /// How many orders wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.book.order_count(Side::Buy) + self.book.order_count(Side::Sell)
    }

    /// Whether a last price may reach a trigger that was not reached before.
    #[inline]
    pub(crate) fn are_reached(&self, last: Price) -> bool {
        (last >= self.above) | (last <= self.below)
    }

    /// Marks the triggers that a last price reaches. Returns whether there are any.
    #[cold]
    fn mark(&mut self, orders: &Orders, last: Price) -> bool {
        let mut is_any = false;
        for side in [Side::Sell, Side::Buy] {
            let from = if side == Side::Sell { self.above } else { self.below };
            if !reaches(side, last, from) {
                continue;
            }
            // The order that was expected there may have been cancelled.
            let mut next = self.unreached(orders, side, Some(from));
            if let Some(price) = next
                && reaches(side, last, price)
            {
                is_any = true;
                let upto = self.newest;
                match self.reached.back_mut() {
                    Some(mark) if mark.side == side && mark.upto == upto => mark.price = last,
                    _ => self.reached.push_back(Reached { side, price: last, upto, behind: None }),
                }
                next = self.unreached(orders, side, Some(last));
            }
            match side {
                Side::Sell => self.above = next.unwrap_or(Price::MAX),
                Side::Buy => self.below = next.unwrap_or(Price::ZERO),
            }
        }
        is_any
    }

    /// The first trigger price from `from` on at which an order waits that no price has reached.
    fn unreached(&self, orders: &Orders, side: Side, from: Option<Price>) -> Option<Price> {
        let inside = from.and_then(|from| match side {
            Side::Sell => from.0.checked_sub(1),
            Side::Buy => from.0.checked_add(1),
        });
        let levels = match inside {
            Some(price) => self.book.levels_behind(side, Price(price)),
            None => self.book.levels(side),
        };
        let is_unreached = |price: &Price| {
            let covering = self.reached.iter().filter(|mark| mark.covers(side, *price));
            let upto = covering.map(|mark| mark.upto).max().unwrap_or(OrderId(0));
            let last = self.book.ends_at(side, *price).map(|(_, last)| orders.get(last).id);
            last.is_some_and(|last| last > upto)
        };
        levels.map(|level| level.price).find(is_unreached)
    }

    /// Makes later prices find an order that has come to wait.
    fn expect(&mut self, order: OrderId, side: Side, price: Price) {
        self.newest = order;
        match side {
            Side::Sell => self.above = self.above.min(price),
            Side::Buy => self.below = self.below.max(price),
        }
    }

    /// The next order whose trigger was reached. `looks` counts down at how many trigger prices it may
    /// look; at zero there may be more.
    fn next(&mut self, orders: &Orders, looks: &mut u32) -> Option<Slot> {
        while let Some(mark) = self.reached.front_mut()
            && *looks > 0
        {
            *looks -= 1;
            let mut levels = match mark.behind {
                None => self.book.levels(mark.side),
                Some(price) => self.book.levels_behind(mark.side, price),
            };
            let price = levels.next().map(|level| level.price);
            let Some(price) = price.filter(|price| mark.covers(mark.side, *price)) else {
                self.reached.pop_front();
                continue;
            };
            match self.book.ends_at(mark.side, price) {
                Some((first, _)) if orders.get(first).id <= mark.upto => return Some(first),
                // Only orders are left here that came later.
                _ => mark.behind = Some(price),
            }
        }
        None
    }
}

impl Reached {
    /// Whether it is about the orders at a trigger price.
    pub(crate) fn covers(&self, side: Side, price: Price) -> bool {
        self.side == side && reaches(side, self.price, price)
    }
}

/// Whether a last price reaches a trigger price on a side of [`Triggers::book`].
fn reaches(side: Side, last: Price, trigger: Price) -> bool {
    match side {
        Side::Sell => last >= trigger,
        Side::Buy => last <= trigger,
    }
}

/// An order that may wait.
struct Plan {
    market: u16,
    /// The side of [`Triggers::book`].
    trigger_side: Side,
    quantity: Quantity,
    limit: Price,
    expire_at: Timestamp,
    reserved: Amount,
}

impl Core {
    pub(crate) fn place_conditional<S: EventSink>(
        &mut self,
        order: &ConditionalOrder,
        sink: &mut S,
    ) -> Outcome {
        match self.try_place_conditional(order, sink) {
            Ok(outcome) => outcome,
            Err(reason) => refuse(&Command::PlaceConditional(*order), reason, sink),
        }
    }

    fn try_place_conditional<S: EventSink>(
        &mut self,
        order: &ConditionalOrder,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        if !self.rules_since(WITH_TRIGGERS) {
            return Err(RejectReason::CommandUnknown);
        }
        let terms = &order.terms;
        let account = self.accounts.slot(terms.account)?;
        if terms.client_order_id.is_empty() {
            let plan = self.plan_conditional(account, order)?;
            return Ok(self.wait_for_trigger(account, order, &plan, 0, sink));
        }
        if let Some(at) = self.client_ids.find(terms.account, &terms.client_order_id) {
            return self.repeat(at, terms, Some(&order.trigger), sink);
        }
        let plan = self.plan_conditional(account, order);
        let answer = match &plan {
            Ok(plan) => {
                let order = OrderId::from_parts(self.engine, self.order_count + 1);
                waiting(order, plan.limit, plan.quantity)
            }
            Err(reason) => Outcome::Rejected { reason: *reason },
        };
        let trigger = Some(order.trigger);
        let at = self.client_ids.remember(account, terms, trigger, answer, plan.is_ok());
        let outcome = plan.map(|plan| self.wait_for_trigger(account, order, &plan, at + 1, sink));
        self.shrink_client_ids();
        outcome
    }

    /// Makes all the checks of an order that is to wait, in the order that decides which reason is
    /// given.
    fn plan_conditional(
        &self,
        account: u32,
        order: &ConditionalOrder,
    ) -> Result<Plan, RejectReason> {
        let ConditionalOrder { terms, trigger, immediate } = order;
        let at = self.market(terms.instrument)?;
        let market = &self.markets[usize::from(at)];
        if self.is_barred(market, account) {
            self.check_barred(market, account, false)?;
        }
        let quantity = check_combination(terms)?;
        market.check_quantity(quantity)?;
        let is_on_tick = market.check_price(trigger.price).is_ok();
        if !is_on_tick {
            return Err(RejectReason::TriggerPriceInvalid);
        }
        let limit = match (terms.kind, terms.price) {
            (OrderKind::Market, Price::ZERO) => market.protection_price(terms.side, trigger.price),
            (_, price) => price,
        };
        market.check_price(limit)?;
        let expire_at = self.expiry(market, terms)?;
        let last = market.last_price;
        let is_reached = last != Price::ZERO && trigger.is_reached(terms.side, last);
        if is_reached && !immediate {
            return Err(RejectReason::WouldTrigger);
        }
        if self.open_counts.get(account, at) >= market.rules().open_orders_max {
            return Err(RejectReason::OpenOrdersLimit);
        }
        if self.orders.len() >= self.orders.limit() {
            return Err(RejectReason::VenueFull);
        }
        market.check_notional(limit, quantity)?;
        let trigger_side = if trigger.rises(terms.side) { Side::Sell } else { Side::Buy };
        let waiting = || {
            let level = market.triggers.book.level(trigger_side, trigger.price);
            level.map_or(Quantity::ZERO, |level| level.quantity)
        };
        check_sum(waiting, quantity, self.limits.orders_max)?;
        let reserved = market.reserve(terms.side, limit, quantity, market.fees(0));
        if market.rules().risk {
            let currency = market.reserved_currency(terms.side);
            if self.ledger.balance(account, currency).available < reserved {
                return Err(RejectReason::InsufficientBalance);
            }
        }
        Ok(Plan { market: at, trigger_side, quantity, limit, expire_at, reserved })
    }

    /// Accepts an order that waits: numbers it and reserves what it needs once it is triggered.
    fn wait_for_trigger<S: EventSink>(
        &mut self,
        account: u32,
        order: &ConditionalOrder,
        plan: &Plan,
        client: u32,
        sink: &mut S,
    ) -> Outcome {
        let ConditionalOrder { terms, trigger, .. } = order;
        let id = self.next_order_id();
        let market = &mut self.markets[usize::from(plan.market)];
        let self_trade = terms.self_trade.unwrap_or(market.rules().self_trade);
        if plan.reserved != Amount::ZERO {
            let currency = market.reserved_currency(terms.side);
            self.ledger.reserve(account, currency, plan.reserved);
        }
        let role = match terms.kind {
            OrderKind::Market => Role::WaitingMarket,
            _ => Role::Waiting,
        };
        let NewOrder { side, time_in_force, post_only, handling, .. } = *terms;
        let attributes = Attributes {
            role,
            ..Attributes::new(side, time_in_force, post_only, self_trade, handling)
        };
        let waits = LimitOrder {
            id,
            side: plan.trigger_side,
            price: trigger.price,
            quantity: plan.quantity,
            owner: self.accounts.get(account).member,
        };
        let slot = market.triggers.book.insert(&mut self.orders, waits);
        let slot = slot.expect("the room for an order that waits was checked when it came in").at();
        market.triggers.expect(id, plan.trigger_side, trigger.price);
        let detail = Detail {
            reserved: plan.reserved,
            price: plan.limit,
            total: plan.quantity,
            expire_at: plan.expire_at,
            fees: market.fees(0),
            account,
            client,
            market: plan.market,
            attributes,
        };
        self.open.cover(self.orders.slots());
        *self.open.get_mut(slot) = detail;
        self.open.append(self.accounts.get_mut(account), slot);
        self.open_counts.increase(account, plan.market);
        if plan.expire_at != Timestamp::MAX {
            self.expiries.insert(slot, plan.expire_at, id.0);
        }
        let mut accepted = *terms;
        accepted.price = plan.limit;
        accepted.self_trade = Some(self_trade);
        if time_in_force.ends_by_timetable() {
            accepted.expire_at = plan.expire_at;
        }
        let reserved = plan.reserved;
        sink.event(&Event::Accepted(Accepted {
            order: id,
            terms: accepted,
            reserved,
            rests: false,
        }));
        sink.event(&Event::TriggerSet(TriggerSet {
            order: id,
            account: terms.account,
            instrument: terms.instrument,
            side,
            trigger: *trigger,
        }));
        let last = self.markets[usize::from(plan.market)].last_price;
        if last != Price::ZERO {
            self.reach_triggers(plan.market, last);
        }
        waiting(id, plan.limit, plan.quantity)
    }

    /// Marks the triggers that a last price reaches. Must follow every trade.
    #[inline]
    pub(crate) fn reach_triggers(&mut self, at: u16, last: Price) {
        let market = &mut self.markets[usize::from(at)];
        if market.triggers.are_reached(last) && market.triggers.mark(&self.orders, last) {
            self.begin_triggering(at);
        }
    }

    /// Gives an instrument a turn if it trades and orders were triggered. Must follow a change to `open`.
    pub(crate) fn begin_triggering(&mut self, at: u16) {
        let market = &mut self.markets[usize::from(at)];
        if market.state() != InstrumentState::Open || market.triggers.has_turn {
            return;
        }
        let mut looks = LOOKS_PER_COMMAND;
        if market.triggers.next(&self.orders, &mut looks).is_some() || looks == 0 {
            market.triggers.has_turn = true;
            self.background.wait_triggering(at);
        }
    }

    /// Enters orders that were triggered, of the instrument whose turn it is. Returns whether there were
    /// events.
    pub(crate) fn trigger_next<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let at = self.background.take_triggering().expect("an instrument waits for its turn");
        self.markets[usize::from(at)].triggers.has_turn = false;
        *budget -= 1;
        let (mut entered, mut looks) = (false, LOOKS_PER_COMMAND);
        while *budget > 0 {
            let market = &mut self.markets[usize::from(at)];
            if market.state() != InstrumentState::Open {
                return entered;
            }
            let Some(slot) = market.triggers.next(&self.orders, &mut looks) else { break };
            *budget -= 1;
            self.enter_triggered(slot, budget, sink);
            entered = true;
            if self.markets[usize::from(at)].state() != InstrumentState::Open {
                // The events of an interruption are more than those of an order: no other work is
                // done in the same command.
                *budget = 0;
            }
        }
        self.begin_triggering(at);
        entered
    }

    /// Enters an order that was triggered, or ends it if it would be refused.
    fn enter_triggered<S: EventSink>(&mut self, slot: Slot, budget: &mut u32, sink: &mut S) {
        let order = self.orders.get(slot);
        let detail = *self.open.get(slot.at());
        let Detail { account, expire_at, fees, client, market: at, .. } = detail;
        let mut attributes = detail.attributes;
        let side = attributes.side;
        let market = &self.markets[usize::from(at)];
        let limit = match attributes.role {
            Role::WaitingMarket => {
                market.clip_to_limits(side, market.clip_to_collar(side, detail.price))
            }
            _ => detail.price,
        };
        let mut entry = self.check_triggered(market, account, side, limit, order.remaining);
        if self.is_dead(slot) {
            entry = Err(DoneReason::Expired);
        }
        if let Err(reason) = entry {
            return self.end_order(slot, reason, sink);
        }
        let reserved = market.reserve(side, limit, order.remaining, fees);
        let released = Amount(detail.reserved.0 - reserved.0);
        if released != Amount::ZERO {
            let currency = market.reserved_currency(side);
            self.ledger.reserve(account, currency, Amount(-released.0));
        }
        sink.event(&Event::Triggered(Triggered {
            order: order.id,
            account: self.accounts.get(account).id,
            instrument: market.instrument.id,
            side,
            price: limit,
            remaining: order.remaining,
            released,
        }));
        let range = market.trading_range();
        self.markets[usize::from(at)].triggers.book.remove(&mut self.orders, slot);
        self.relist(slot.at(), STAND_IN, account);
        if expire_at != Timestamp::MAX {
            self.expiries.remove(slot.at());
        }
        attributes.role = Role::Plain;
        let taker = Taker {
            order: order.id,
            account,
            member: order.owner,
            market: at,
            attributes,
            rests: !attributes.time_in_force.trades_at_once(),
            amended: true,
            limit,
            range,
            expire_at,
            want: Remaining::Base(order.remaining),
            filled: Quantity::ZERO,
            reserved,
            fees,
            client,
        };
        self.send_to_match(taker, budget, sink);
    }

    /// Whether an order that was triggered may be entered, or else why it ends.
    fn check_triggered(
        &self,
        market: &Market,
        account: u32,
        side: Side,
        limit: Price,
        quantity: Quantity,
    ) -> Result<(), DoneReason> {
        if self.is_barred(market, account) {
            self.check_barred(market, account, false).map_err(|_| DoneReason::Restricted)?;
        }
        let leaving = Quantity::ZERO;
        market
            .check_price(limit)
            .and_then(|()| market.check_collar(limit))
            .and_then(|()| market.check_limits(limit))
            .and_then(|()| {
                market.check_level(side, limit, quantity, leaving, self.limits.orders_max)
            })
            .map_err(|_| DoneReason::Refused)
    }
}

/// Whether the attributes of an order that waits go together; its quantity.
fn check_combination(terms: &NewOrder) -> Result<Quantity, RejectReason> {
    let time_in_force = terms.time_in_force;
    let fits = matches!(terms.kind, OrderKind::Limit | OrderKind::Market)
        && terms.post_only == PostOnly::Off
        && terms.minimum_quantity == Quantity::ZERO
        && time_in_force != TimeInForce::Fok
        && !time_in_force.is_for_auction();
    match terms.size {
        OrderSize::Base(quantity) if fits => Ok(quantity),
        _ => Err(RejectReason::InvalidCombination),
    }
}

fn waiting(order: OrderId, price: Price, remaining: Quantity) -> Outcome {
    let (status, filled, repeated) = (OrderStatus::Waiting, Quantity::ZERO, false);
    Outcome::Order { order, status, price, filled, remaining, repeated }
}
