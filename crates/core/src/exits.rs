//! The exits of an entry: background work enters them for what the entry has traded, and makes them larger as it
//! trades on.

use crate::book::Slot;
use crate::instruments::{Market, check_sum};
use crate::links::{List, Part};
use crate::order_lists::LegPlan;
use crate::orders::NIL;
use crate::place::Extras;
use crate::{Core, EventSink};
use rialto_model::{
    Amended, Amount, Condition, DoneReason, Event, ExitsRefused, Leg, NewOrder, OrderId, Price,
    Quantity, RejectReason, Rested,
};

/// How many orders of a command it counts as to look at a list.
pub(crate) const ORDERS_PER_LIST: u32 = 4;

/// An exit that has passed its checks, and its terms.
type Exit = (NewOrder, LegPlan);

/// An exit that is to become larger.
struct Larger {
    slot: Slot,
    old_reserved: Amount,
    reserved: Amount,
}

impl Market {
    pub(crate) fn has_queued_lists(&self) -> bool {
        !self.queued_lists.is_empty()
    }
}

impl Core {
    /// Makes the exits of a list be for all that its entry has traded. Returns whether there were events.
    pub(crate) fn update_exits<S: EventSink>(
        &mut self,
        at: u32,
        budget: &mut u32,
        sink: &mut S,
    ) -> bool {
        let list = *self.lists.get(at);
        let done = match list.orders {
            [NIL, NIL] => self.enter_exits(at, &list, budget, sink),
            _ => self.enlarge_exits(at, &list, sink),
        };
        match done {
            Ok(()) => true,
            // A later trade may be enough.
            Err(RejectReason::NotionalTooSmall) if list.entry != NIL => false,
            Err(reason) => {
                self.refuse_exits(at, reason, sink);
                true
            }
        }
    }

    /// Gives up the exits of a list for what is not covered, and its entry with them. Exits that are open stay.
    fn refuse_exits<S: EventSink>(&mut self, at: u32, reason: RejectReason, sink: &mut S) {
        let list = self.lists.get(at);
        sink.event(&Event::ExitsRefused(ExitsRefused {
            order: list.id,
            account: self.accounts.get(list.account).id,
            instrument: self.markets[usize::from(list.market)].instrument.id,
            reason,
        }));
        self.end_entry(at, sink);
    }

    /// Ends the entry of a list. Exits that are open are followed by no others.
    fn end_entry<S: EventSink>(&mut self, at: u32, sink: &mut S) {
        let list = self.lists.get_mut(at);
        list.filled = list.exits_quantity;
        let entry = std::mem::replace(&mut list.entry, NIL);
        if list.orders == [NIL, NIL] {
            self.lists.remove(at);
        }
        if let Some(slot) = (entry != NIL).then(|| Slot::new(entry)).flatten() {
            let attributes = &mut self.open.get_mut(entry).attributes;
            *attributes = attributes.with_link(false);
            self.end_order(slot, DoneReason::Linked, sink);
        }
    }

    /// Forgets the first queued list of an instrument that was withdrawn.
    pub(crate) fn drop_queued_list<S: EventSink>(&mut self, market: u16, sink: &mut S) {
        let at = self.take_queued_list(market).expect("a list is queued");
        self.refuse_exits(at, RejectReason::InstrumentClosed, sink);
    }

    /// Enters the exits of a list.
    fn enter_exits<S: EventSink>(
        &mut self,
        at: u32,
        list: &List,
        budget: &mut u32,
        sink: &mut S,
    ) -> Result<(), RejectReason> {
        let account = list.account;
        let [take_profit, stop_loss] = list.legs;
        let take_profit = take_profit.map(|leg| self.plan_exit(list, &leg)).transpose()?;
        let stop_loss = stop_loss.map(|leg| self.plan_exit(list, &leg)).transpose()?;
        if take_profit.is_some() && stop_loss.is_some() {
            self.check_room_for_two(account, list.market)?;
        }
        if let Some((terms, LegPlan::Plain(plan))) = &take_profit
            && plan.crosses
        {
            self.end_entry(at, sink);
            self.publish_linked(list, [self.following_order_id(), OrderId(0)], sink);
            self.accept(account, terms, plan, Extras::NONE, budget, sink);
            return Ok(());
        }
        let last = self.markets[usize::from(list.market)].last_price;
        for (which, exit) in [&take_profit, &stop_loss].into_iter().enumerate() {
            if let Some((terms, LegPlan::Waiting(plan))) = exit
                && let Condition::Trigger(trigger) = plan.condition
                && trigger.is_reached(list.side, last)
            {
                self.end_entry(at, sink);
                let mut orders = [OrderId(0); 2];
                orders[which] = self.following_order_id();
                self.publish_linked(list, orders, sink);
                self.wait_for_trigger(account, terms, plan, (0, None), sink);
                return Ok(());
            }
        }
        self.lists.get_mut(at).exits_quantity = list.filled;
        match (take_profit, stop_loss) {
            (Some((terms, first)), Some((other, LegPlan::Waiting(second)))) => {
                self.accept_pair(account, &terms, 0, at, (&first, (&second, &other)), sink);
            }
            (Some((terms, only)), _) => {
                self.accept_leg(account, &terms, &only, 0, (at, Part::Better), sink);
                self.publish_links(at, sink);
            }
            (None, Some((terms, only))) => {
                self.accept_leg(account, &terms, &only, 0, (at, Part::Worse), sink);
                self.publish_links(at, sink);
            }
            (None, None) => unreachable!("an entry has an exit"),
        }
        Ok(())
    }

    /// Checks an exit as an order that is entered now.
    fn plan_exit(&self, list: &List, leg: &Leg) -> Result<Exit, RejectReason> {
        let market = &self.markets[usize::from(list.market)];
        let (account, quantity) = (self.accounts.get(list.account).id, list.filled);
        let instrument = market.instrument.id;
        let entry = NewOrder {
            self_trade: list.self_trade,
            handling: list.handling,
            ..NewOrder::limit(account, instrument, list.side, quantity, Price::ZERO)
        };
        let terms = leg.order(&entry, list.side, quantity);
        let plan = match leg.condition {
            None => LegPlan::Plain(self.plan(list.account, &terms)?),
            Some(condition) => {
                let plan = self.plan_conditional(list.account, &terms, condition, true)?;
                LegPlan::Waiting(plan)
            }
        };
        Ok((terms, plan))
    }

    /// Makes the exits of a list larger.
    fn enlarge_exits<S: EventSink>(
        &mut self,
        at: u32,
        list: &List,
        sink: &mut S,
    ) -> Result<(), RejectReason> {
        let larger = self.plan_larger(list)?;
        self.lists.get_mut(at).exits_quantity = list.filled;
        for exit in larger.into_iter().flatten() {
            self.enlarge_exit(list, &exit, sink);
        }
        Ok(())
    }

    fn plan_larger(&self, list: &List) -> Result<[Option<Larger>; 2], RejectReason> {
        let market = &self.markets[usize::from(list.market)];
        if self.is_barred(market, list.account) {
            self.check_barred(market, list.account, false)?;
        }
        let mut larger = [None, None];
        let (mut first, mut more) = (Amount::ZERO, 0);
        for (which, &slot) in list.orders.iter().enumerate() {
            let Some(slot) = (slot != NIL).then(|| Slot::new(slot)).flatten() else { continue };
            let detail = self.open.get(slot.at());
            market.check_quantity(list.filled)?;
            match market.check_notional(detail.price, list.filled) {
                // What it is worth was enough when it was entered.
                Err(RejectReason::NotionalTooSmall) => {}
                checked => checked?,
            }
            let most = self.limits.orders_max;
            match list.legs[which].and_then(|leg| leg.condition) {
                Some(condition) => {
                    let beside = market.triggers.quantity_beside(list.side, &condition);
                    let beside = || Quantity(beside.0 - list.exits_quantity.0);
                    check_sum(beside, list.filled, most)?;
                }
                None => market.check_level(
                    list.side,
                    detail.price,
                    list.filled,
                    list.exits_quantity,
                    most,
                )?,
            }
            let needed = market.reserve(list.side, detail.price, list.filled, detail.fees);
            let reserved = Amount((needed.0 - first.0).max(0));
            first = needed;
            more += reserved.0 - detail.reserved.0;
            larger[which] = Some(Larger { slot, old_reserved: detail.reserved, reserved });
        }
        let currency = market.reserved_currency(list.side);
        let available = self.ledger.balance(list.account, currency).available;
        if market.rules().risk && available.0 < more {
            return Err(RejectReason::InsufficientBalance);
        }
        Ok(larger)
    }

    fn enlarge_exit<S: EventSink>(&mut self, list: &List, larger: &Larger, sink: &mut S) {
        let Larger { slot, old_reserved, reserved } = *larger;
        let market = &mut self.markets[usize::from(list.market)];
        let more = Amount(reserved.0 - old_reserved.0);
        if more != Amount::ZERO {
            self.ledger.reserve(list.account, market.reserved_currency(list.side), more);
        }
        let detail = self.open.get_mut(slot.at());
        (detail.total, detail.reserved) = (list.filled, reserved);
        let (price, attributes) = (detail.price, detail.attributes);
        let by = Quantity(list.filled.0 - list.exits_quantity.0);
        let waits = attributes.role.waits();
        match waits {
            true => {
                let (orders, waiting) = (&mut self.orders, &self.waiting);
                market.triggers.resize(orders, waiting, slot, attributes, list.filled);
            }
            false => {
                market.book.enlarge(&mut self.orders, slot, by);
                market.book.requeue(&mut self.orders, slot);
            }
        }
        let (order, account) = (self.orders.get(slot).id, self.accounts.get(list.account).id);
        let (instrument, side, remaining) = (market.instrument.id, list.side, list.filled);
        sink.event(&Event::Amended(Amended {
            order,
            account,
            instrument,
            side,
            old_price: price,
            old_remaining: list.exits_quantity,
            price,
            quantity: list.filled,
            remaining,
            old_reserved,
            reserved,
        }));
        if !waits {
            let rested = Rested { order, account, instrument, side, price, remaining };
            sink.event(&Event::Rested(rested));
            if self.markets[usize::from(list.market)].auction_rules.limit_state_ms != 0 {
                self.note_limit(list.market, side, price, sink);
            }
        }
    }
}
