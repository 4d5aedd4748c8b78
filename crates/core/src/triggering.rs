//! Conditional orders while they wait. A trade marks what its price has reached; background work then makes
//! trailing stops active, and enters triggered orders one after the other, as if each came in at that moment.

use crate::book::Slot;
use crate::exits::ORDERS_PER_LIST;
use crate::instruments::Market;
use crate::links::WITH_LINKS;
use crate::orders::{Detail, Role, STAND_IN};
use crate::taker::{Remaining, Taker};
use crate::triggers::{Step, WITH_TRAILING};
use crate::{Core, EventSink};
use rialto_model::{
    Amount, DoneReason, Event, InstrumentState, Price, Quantity, Side, Timestamp, TrailActivated,
    Triggered,
};

/// The most price levels that a turn of an instrument visits; below it, the same before rules version 7.
const LEVELS_PER_TURN: u32 = 4_096;
const LEVELS_BEFORE_TRAILING: u32 = 1_024;
/// The number of levels that a turn visits at no cost. Beyond it, `LEVELS_PER_ORDER` levels count as one order of
/// the command.
const LEVELS_FREE: u32 = 2_048;
const LEVELS_PER_ORDER: u32 = 8;
/// The most that are visited to see whether an instrument needs a turn.
const LEVELS_PER_CHECK: u32 = 64;

impl Core {
    /// Marks the triggers that a last price reaches. Must follow every trade.
    #[inline]
    pub(crate) fn reach_triggers(&mut self, at: u16, last: Price) {
        if self.markets[usize::from(at)].triggers.are_reached(last) {
            self.mark_triggers(at, last);
        }
    }

    #[cold]
    fn mark_triggers(&mut self, at: u16, last: Price) {
        let market = &mut self.markets[usize::from(at)];
        let tick = market.rules().tick;
        if market.triggers.mark(&self.waiting, last, tick) {
            self.begin_triggering(at);
        }
    }

    /// Gives an instrument a turn if it trades, and exits or triggered orders are to be entered. Must follow a change to
    /// `open`.
    pub(crate) fn begin_triggering(&mut self, at: u16) {
        let levels = match self.rules_since(WITH_TRAILING) {
            true => LEVELS_PER_CHECK,
            false => LEVELS_BEFORE_TRAILING,
        };
        let market = &mut self.markets[usize::from(at)];
        if market.state() != InstrumentState::Open || market.triggers.has_turn {
            return;
        }
        let tick = market.rules().tick;
        let (orders, waiting) = (&mut self.orders, &mut self.waiting);
        let mut levels_left = levels;
        if market.has_queued_lists()
            || market.triggers.next(orders, waiting, tick, &mut levels_left).is_some()
            || levels_left == 0
        {
            market.triggers.has_turn = true;
            self.background.wait_triggering(at);
        }
    }

    /// Enters exits and orders that were triggered, and makes trailing stops active, of the instrument whose turn it
    /// is. Returns whether there were events.
    pub(crate) fn trigger_next<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let at = self.background.take_triggering().expect("an instrument waits for its turn");
        // Since rules version 7 the trades of its own orders give it no other turn before this one ends.
        self.markets[usize::from(at)].triggers.has_turn = self.rules_since(WITH_TRAILING);
        *budget -= 1;
        let levels = match self.rules_since(WITH_TRAILING) {
            true => LEVELS_PER_TURN,
            false => LEVELS_BEFORE_TRAILING,
        };
        let (mut has_events, mut levels_left) = (false, levels);
        while *budget > 0 {
            if self.markets[usize::from(at)].state() != InstrumentState::Open {
                break;
            }
            if let Some(list) = self.take_queued_list(at) {
                *budget = budget.saturating_sub(ORDERS_PER_LIST);
                has_events |= self.update_exits(list, budget, sink);
            } else {
                let market = &mut self.markets[usize::from(at)];
                let tick = market.rules().tick;
                let (orders, waiting) = (&mut self.orders, &mut self.waiting);
                let step = market.triggers.next(orders, waiting, tick, &mut levels_left);
                let Some(step) = step else { break };
                *budget -= 1;
                has_events = true;
                match step {
                    Step::Activate(slot) => self.activate(at, slot, sink),
                    Step::Enter(slot) => self.enter_triggered(slot, budget, sink),
                }
            }
            if self.markets[usize::from(at)].state() != InstrumentState::Open {
                // The events of an interruption are more than those of an order: no other work is
                // done in the same command.
                *budget = 0;
            }
        }
        if self.rules_since(WITH_TRAILING) {
            self.markets[usize::from(at)].triggers.has_turn = false;
            let visited = levels - levels_left;
            let counted = visited.saturating_sub(LEVELS_FREE) / LEVELS_PER_ORDER;
            *budget = budget.saturating_sub(counted);
        }
        self.begin_triggering(at);
        has_events
    }

    /// Makes a trailing stop that was just added active, whose activation price the last price has reached:
    /// at once, unless prices are queued.
    pub(crate) fn activate_new<S: EventSink>(
        &mut self,
        at: u16,
        slot: Slot,
        side: Side,
        sink: &mut S,
    ) {
        let mut levels_left = LEVELS_PER_CHECK;
        let market = &mut self.markets[usize::from(at)];
        let (last, tick) = (market.last_price, market.rules().tick);
        let (orders, waiting) = (&mut self.orders, &mut self.waiting);
        let step = market.triggers.next(orders, waiting, tick, &mut levels_left);
        if step.is_none() && market.triggers.marks.is_empty() {
            return self.activate(at, slot, sink);
        }
        market.triggers.add_own_mark(&self.orders, side, last);
        self.begin_triggering(at);
    }

    /// Queues the last price behind the prices of a time when no order trailed and not each was queued.
    pub(crate) fn queue_last_price(&mut self, at: u16) {
        let Market { triggers, last_price, .. } = &mut self.markets[usize::from(at)];
        if triggers.marks.back().is_some_and(|mark| mark.price != *last_price) {
            triggers.add_mark(Side::Sell, *last_price);
            triggers.update_bounds();
        }
    }

    /// Makes a trailing stop follow the price.
    fn activate<S: EventSink>(&mut self, at: u16, slot: Slot, sink: &mut S) {
        let market = &mut self.markets[usize::from(at)];
        let (id, tick, last) = (market.instrument.id, market.rules().tick, market.last_price);
        let detail = self.open.get(slot.at());
        let (side, account) = (detail.attributes.side, detail.account);
        let order = self.orders.get(slot).id;
        let (orders, waiting) = (&mut self.orders, &mut self.waiting);
        market.triggers.activate(orders, waiting, slot, (side, last), tick);
        let extreme = market.triggers.extreme(&self.waiting, slot, side);
        sink.event(&Event::TrailActivated(TrailActivated {
            order,
            account: self.accounts.get(account).id,
            instrument: id,
            side,
            extreme: extreme.expect("it is active"),
        }));
    }

    /// Enters an order that was triggered, or ends it if it would be refused.
    fn enter_triggered<S: EventSink>(&mut self, slot: Slot, budget: &mut u32, sink: &mut S) {
        let order = self.orders.get(slot);
        let detail = *self.open.get(slot.at());
        let Detail { account, expire_at, fees, client, market: at, .. } = detail;
        let mut attributes = detail.attributes;
        let side = attributes.side;
        let market = &self.markets[usize::from(at)];
        let mut limit = detail.price;
        if attributes.role == Role::TrailingMarket {
            // The limit it was accepted with is the worst of all that it might have had.
            let (waiting, tick) = (&self.waiting, market.rules().tick);
            let trigger =
                market.triggers.trigger_price(&self.orders, waiting, slot, &attributes, tick);
            let trigger = trigger.expect("it was reached");
            let protection = market.protection_price(side, trigger);
            limit = match side {
                Side::Buy => limit.min(protection),
                Side::Sell => limit.max(protection),
            };
        }
        if attributes.role.is_market() {
            limit = market.clip_to_limits(side, market.clip_to_collar(side, limit));
        }
        let mut entry = self.check_triggered(market, account, side, limit, order.remaining);
        if self.is_dead(slot) {
            entry = Err(DoneReason::Expired);
        }
        if let Err(reason) = entry {
            self.end_order(slot, reason, sink);
            return;
        }
        if attributes.is_linked() {
            *budget = budget.saturating_sub(self.end_others(slot, sink));
            attributes = attributes.with_link(false);
        }
        let market = &self.markets[usize::from(at)];
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
        let triggers = &mut self.markets[usize::from(at)].triggers;
        triggers.remove(&mut self.orders, &mut self.waiting, slot, attributes);
        if self.rules_version >= WITH_LINKS {
            triggers.forget_marks_if_none_wait();
        }
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
            display_quantity: Quantity::ZERO,
            link: None,
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
            .and_then(|()| match self.rules_since(WITH_TRAILING) {
                true => market.check_notional(limit, quantity),
                false => Ok(()),
            })
            .map_err(|_| DoneReason::Refused)
    }
}
