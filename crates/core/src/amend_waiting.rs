//! Changing orders that wait for a trigger.

use crate::amend_linked::Reserves;
use crate::book::Slot;
use crate::conditional::waiting;
use crate::fees::Fees;
use crate::instruments::check_sum;
use crate::links::{Link, Part};
use crate::orders::{Detail, Role};
use crate::{Core, EventSink};
use rialto_model::{
    Amend, AmendTrigger, Amount, Condition, Event, Outcome, Price, Quantity, RejectReason, Trigger,
    TriggerSet,
};

/// The version since which waiting orders and orders of a pair can be amended.
pub(crate) const WITH_AMENDED_TRIGGERS: u32 = 10;

/// The amendment of a waiting order that has passed its checks.
struct WaitingChange {
    limit: Price,
    quantity: Quantity,
    /// If it changes.
    trigger: Option<Trigger>,
    fees: Fees,
    reserves: Reserves,
}

impl Core {
    pub(crate) fn amend_trigger<S: EventSink>(
        &mut self,
        change: &AmendTrigger,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        if !self.rules_since(WITH_AMENDED_TRIGGERS) {
            return Err(RejectReason::CommandUnknown);
        }
        let amend = &change.amend;
        let account = self.accounts.slot(amend.account)?;
        let slot = self.find_order(account, amend.account, &amend.order)?;
        self.check_alive(slot)?;
        let role = self.open.get(slot.at()).attributes.role;
        if !role.waits() || role.trails() {
            return Err(RejectReason::InvalidCombination);
        }
        self.amend_waiting(slot, amend, Some(change.trigger_price), sink)
    }

    /// Amends an order that waits, or one of a pair.
    #[cold]
    #[inline(never)]
    pub(crate) fn amend_linked_or_waiting<S: EventSink>(
        &mut self,
        slot: Slot,
        link: Option<Link>,
        amend: &Amend,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let link = link.filter(|link| link.part != Part::Entry);
        if !self.rules_since(WITH_AMENDED_TRIGGERS) {
            return Err(match link {
                Some(_) => RejectReason::OrderLinked,
                None => RejectReason::OrderWaiting,
            });
        }
        match link {
            Some(link) if !self.open.get(slot.at()).attributes.role.waits() => {
                self.amend_linked_on_book(slot, link, amend, sink)
            }
            _ => self.amend_waiting(slot, amend, None, sink),
        }
    }

    fn amend_waiting<S: EventSink>(
        &mut self,
        slot: Slot,
        amend: &Amend,
        trigger_price: Option<Price>,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let detail = *self.open.get(slot.at());
        let link = detail.attributes.is_linked().then(|| *self.links.get(slot));
        let change = self.plan_waiting_change(slot, &detail, link, amend, trigger_price)?;
        let outcome = self.change_waiting(slot, &detail, &change, sink);
        if let Some(link) = link {
            self.amend_leg(link, amend.price, change.trigger, sink);
        }
        Ok(outcome)
    }

    fn plan_waiting_change(
        &self,
        slot: Slot,
        detail: &Detail,
        link: Option<Link>,
        amend: &Amend,
        trigger_price: Option<Price>,
    ) -> Result<WaitingChange, RejectReason> {
        let market = &self.markets[usize::from(detail.market)];
        let (side, role) = (detail.attributes.side, detail.attributes.role);
        if role == Role::TrailingMarket && amend.price.is_some() {
            return Err(RejectReason::InvalidCombination);
        }
        let quantity = amend.quantity.unwrap_or(detail.total);
        if link.is_some() && quantity != detail.total {
            return Err(RejectReason::OrderLinked);
        }
        let old = self.trigger_of(slot, detail);
        let trigger = old
            .zip(trigger_price)
            .and_then(|(old, price)| (price != old.price).then_some(Trigger { price, ..old }));
        // An exit has a limit of its own if its leg has; of another order the venue does not keep that.
        let leg = link.and_then(|link| self.lists.get(link.list).leg(link.part));
        let is_protected = |old: Trigger| match leg {
            Some(leg) => leg.price == Price::ZERO,
            None => detail.price == market.protection_price(side, old.price),
        };
        let moved = old.zip(trigger).filter(|_| role == Role::WaitingMarket);
        let protected = moved
            .filter(|(old, _)| is_protected(*old))
            .map(|(_, new)| market.protection_price(side, new.price));
        let limit = amend.price.or(protected).unwrap_or(detail.price);
        let is_same = trigger.is_none() && limit == detail.price;
        let shrinks = is_same && quantity < detail.total;
        if self.is_barred(market, detail.account) {
            self.check_barred(market, detail.account, shrinks)?;
        }
        market.check_cancel(self.time)?;
        if is_same && quantity == detail.total {
            return Err(RejectReason::NothingToAmend);
        }
        market.check_quantity(quantity)?;
        if let Some(trigger) = trigger {
            let checked = market.check_price(trigger.price);
            checked.map_err(|_| RejectReason::TriggerPriceInvalid)?;
            if market.triggers.is_triggered(&self.orders, &self.waiting, slot) {
                return Err(RejectReason::OrderTriggered);
            }
        }
        if limit != detail.price {
            market.check_price(limit)?;
        }
        if let Some(trigger) = trigger {
            let last = market.last_price;
            if last != Price::ZERO && trigger.is_reached(side, last) {
                return Err(RejectReason::WouldTrigger);
            }
            if let Some(link) = link {
                self.check_level_in_list(link, trigger.price)?;
            }
        }
        market.check_notional(limit, quantity)?;
        let fees = if shrinks { detail.fees } else { market.fees(detail.fees.residue()) };
        let needed = market.reserve(side, limit, quantity, fees);
        let reserves = self.reserves_after(market, detail, link, needed);
        if !shrinks {
            self.check_affordable(market, detail, &reserves)?;
            let condition = match trigger.or(old) {
                Some(trigger) => Condition::Trigger(trigger),
                None => Condition::Trail(self.waiting.follower(slot).trail),
            };
            let leaving = if trigger.is_none() { detail.total } else { Quantity::ZERO };
            let held = || {
                let beside = market.triggers.quantity_beside(side, &condition);
                Quantity(beside.0 - leaving.0)
            };
            check_sum(held, quantity, self.limits.orders_max)?;
        }
        Ok(WaitingChange { limit, quantity, trigger, fees, reserves })
    }

    fn change_waiting<S: EventSink>(
        &mut self,
        slot: Slot,
        old: &Detail,
        change: &WaitingChange,
        sink: &mut S,
    ) -> Outcome {
        let WaitingChange { limit, quantity, trigger, fees, reserves } = change;
        let detail =
            Detail { price: *limit, total: *quantity, fees: *fees, reserved: reserves.own, ..*old };
        if let Some(other) = reserves.other.as_ref().filter(|other| other.new < other.old) {
            self.set_reserve(other, sink);
        }
        let is_changed =
            (detail.price, detail.total, detail.reserved) != (old.price, old.total, old.reserved);
        *self.open.get_mut(slot.at()) = detail;
        let attributes = detail.attributes;
        let market = &mut self.markets[usize::from(detail.market)];
        let (orders, waits) = (&mut self.orders, &mut self.waiting);
        if let Some(trigger) = trigger {
            let to = (trigger.price, detail.total);
            market.triggers.amend_trigger(orders, waits, slot, to);
        } else if detail.total != old.total {
            market.triggers.resize(orders, waits, slot, attributes, detail.total);
        }
        if detail.reserved != old.reserved {
            let more = Amount(detail.reserved.0 - old.reserved.0);
            self.ledger.reserve(detail.account, market.reserved_currency(attributes.side), more);
        }
        if is_changed {
            self.publish_amended(slot, old, sink);
        }
        if let Some(other) = reserves.other.as_ref().filter(|other| other.new > other.old) {
            self.set_reserve(other, sink);
        }
        let order = self.orders.get(slot).id;
        if let Some(trigger) = *trigger {
            sink.event(&Event::TriggerSet(TriggerSet {
                order,
                account: self.accounts.get(detail.account).id,
                instrument: self.markets[usize::from(detail.market)].instrument.id,
                side: attributes.side,
                trigger,
            }));
        }
        waiting(order, detail.price, detail.total)
    }
}
