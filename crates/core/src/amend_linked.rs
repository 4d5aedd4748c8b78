//! Changing linked orders: what the other orders of their list have to do with it.

use crate::amend::OrderBefore;
use crate::book::Slot;
use crate::instruments::Market;
use crate::links::{Link, List, Part, is_better};
use crate::orders::{Detail, NIL, STAND_IN};
use crate::{Core, EventSink};
use rialto_model::{
    Amend, Amended, Amount, Condition, Event, ExitsSet, Outcome, Price, Quantity, RejectReason,
    Trigger,
};

/// What the other order of a pair reserves after an amendment.
pub(crate) struct OtherReserve {
    pub(crate) slot: Slot,
    pub(crate) old: Amount,
    pub(crate) new: Amount,
}

/// What an amended order reserves, and the other one of its pair if that changes.
pub(crate) struct Reserves {
    pub(crate) own: Amount,
    pub(crate) other: Option<OtherReserve>,
}

impl Core {
    /// Amends the order of a pair that stands on the book. It may not trade.
    pub(crate) fn amend_linked_on_book<S: EventSink>(
        &mut self,
        slot: Slot,
        link: Link,
        amend: &Amend,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let detail = *self.open.get(slot.at());
        if amend.quantity.is_some_and(|quantity| quantity != detail.total) {
            return Err(RejectReason::OrderLinked);
        }
        let market = &self.markets[usize::from(detail.market)];
        if self.is_barred(market, detail.account) {
            self.check_barred(market, detail.account, false)?;
        }
        let before = OrderBefore {
            link: Some(link),
            remaining: self.orders.get(slot).remaining,
            display_quantity: Quantity::ZERO,
        };
        let change = self.check_change(market, &detail, &before, amend)?;
        let (side, limit, quantity) = (detail.attributes.side, change.price, change.quantity);
        if !market.state().collects() && market.book.reaches(side, limit) {
            return Err(RejectReason::WouldCross);
        }
        let fees = market.fees(detail.fees.residue());
        let needed = market.reserve(side, limit, quantity, fees);
        let reserves = self.reserves_after(market, &detail, Some(link), needed);
        self.check_affordable(market, &detail, &reserves)?;
        market.check_level(side, limit, quantity, Quantity::ZERO, self.limits.orders_max)?;
        if let Some(other) = reserves.other.as_ref().filter(|other| other.new < other.old) {
            self.set_reserve(other, sink);
        }
        let outcome = self
            .reenter(slot, &detail, before.remaining, &change, sink)
            .expect("its checks have passed");
        if let Some(other) = reserves.other.as_ref().filter(|other| other.new > other.old) {
            self.set_reserve(other, sink);
        }
        self.amend_leg(link, Some(limit), None, sink);
        Ok(outcome)
    }

    /// What an order reserves that would need this much, and the other one of its pair.
    pub(crate) fn reserves_after(
        &self,
        market: &Market,
        detail: &Detail,
        link: Option<Link>,
        needed: Amount,
    ) -> Reserves {
        let Some(Link { list, part }) = link else { return Reserves { own: needed, other: None } };
        let [first, second] = self.lists.get(list).orders.map(in_slot);
        match (part, first, second) {
            (Part::Better, _, Some(slot)) => {
                let second = self.open.get(slot.at());
                let side = detail.attributes.side;
                let its = market.reserve(side, second.price, second.total, second.fees);
                let (old, new) = (second.reserved, Amount((its.0 - needed.0).max(0)));
                let other = (old != new).then_some(OtherReserve { slot, old, new });
                Reserves { own: needed, other }
            }
            (Part::Worse, Some(slot), _) => {
                let beyond = needed.0 - self.open.get(slot.at()).reserved.0;
                Reserves { own: Amount(beyond.max(0)), other: None }
            }
            _ => Reserves { own: needed, other: None },
        }
    }

    pub(crate) fn check_affordable(
        &self,
        market: &Market,
        detail: &Detail,
        reserves: &Reserves,
    ) -> Result<(), RejectReason> {
        let others = reserves.other.as_ref().map_or(0, |other| other.new.0 - other.old.0);
        let more = reserves.own.0 - detail.reserved.0 + others;
        let currency = market.reserved_currency(detail.attributes.side);
        if more > 0 && self.ledger.balance(detail.account, currency).available.0 < more {
            return Err(RejectReason::InsufficientBalance);
        }
        Ok(())
    }

    /// Changes what a waiting order reserves.
    pub(crate) fn set_reserve<S: EventSink>(&mut self, change: &OtherReserve, sink: &mut S) {
        let OtherReserve { slot, old, new } = *change;
        let detail = self.open.get_mut(slot.at());
        let before = *detail;
        detail.reserved = new;
        let currency =
            self.markets[usize::from(detail.market)].reserved_currency(detail.attributes.side);
        self.ledger.reserve(detail.account, currency, Amount(new.0 - old.0));
        self.publish_amended(slot, &before, sink);
    }

    /// Tells how a waiting order differs from what it was.
    pub(crate) fn publish_amended<S: EventSink>(&self, slot: Slot, old: &Detail, sink: &mut S) {
        let new = self.open.get(slot.at());
        sink.event(&Event::Amended(Amended {
            order: self.orders.get(slot).id,
            account: self.accounts.get(new.account).id,
            instrument: self.markets[usize::from(new.market)].instrument.id,
            side: new.attributes.side,
            old_price: old.price,
            old_remaining: old.total,
            price: new.price,
            quantity: new.total,
            remaining: new.total,
            old_reserved: old.reserved,
            reserved: new.reserved,
        }));
    }

    /// Refuses the price from which an order of a list would trade, its trigger price or else its limit, unless it
    /// is on its side of those of the other orders.
    pub(crate) fn check_level_in_list(&self, link: Link, level: Price) -> Result<(), RejectReason> {
        let list = self.lists.get(link.list);
        let [first, second] = list.orders.map(|order| self.level_of(order));
        let entry = in_slot(list.entry).map(|slot| self.open.get(slot.at()).price);
        let is_better = |price: Option<Price>, than: Option<Price>| {
            price.zip(than).is_none_or(|(price, than)| is_better(list.side, price, than))
        };
        let own = Some(level);
        let fits = match link.part {
            Part::Entry => list.surrounds(level),
            Part::Better => is_better(own, second) && is_better(own, entry),
            Part::Worse => is_better(first, own) && is_better(entry, own),
        };
        if fits { Ok(()) } else { Err(RejectReason::ExitPriceInvalid) }
    }

    /// The price from which an order of a pair may trade. None of a trailing stop, or without an order.
    fn level_of(&self, slot: u32) -> Option<Price> {
        let slot = in_slot(slot)?;
        let detail = self.open.get(slot.at());
        match detail.attributes.role.waits() {
            true => self.trigger_of(slot, detail).map(|trigger| trigger.price),
            false => Some(detail.price),
        }
    }

    /// Gives the leg of an amended exit its new prices, for the exits that are entered later.
    pub(crate) fn amend_leg<S: EventSink>(
        &mut self,
        link: Link,
        price: Option<Price>,
        trigger: Option<Trigger>,
        sink: &mut S,
    ) {
        let list = self.lists.get_mut(link.list);
        let Some(leg) = list.leg_mut(link.part) else { return };
        leg.price = price.unwrap_or(leg.price);
        if let Some(trigger) = trigger {
            leg.condition = Some(Condition::Trigger(trigger));
        }
        let List { id, account, market, side, entry, legs: [take_profit, stop_loss], .. } = *list;
        if in_slot(entry).is_some() {
            sink.event(&Event::ExitsSet(ExitsSet {
                order: id,
                account: self.accounts.get(account).id,
                instrument: self.markets[usize::from(market)].instrument.id,
                side: side.opposite(),
                take_profit,
                stop_loss,
            }));
        }
    }
}

/// The slot of a linked order that is open and not on its way through the book.
fn in_slot(slot: u32) -> Option<Slot> {
    if slot == NIL || slot == STAND_IN { None } else { Slot::new(slot) }
}
