//! Linked orders: pairs of which one trades, and the exits of an entry. This module holds what is linked, and
//! ends what a linked order takes with it.

use crate::book::Slot;
use crate::by_slot::BySlot;
use crate::orders::{NIL, STAND_IN};
use crate::taker::Taker;
use crate::{Core, EventSink};
use rialto_model::{
    Amount, DoneReason, Event, Handling, Leg, NewOrder, OrderId, OrdersLinked, Price, Quantity,
    SelfTrade, Side,
};

/// The version since which there are linked orders.
pub(crate) const WITH_LINKS: u32 = 9;

/// The most lists that room is made for in advance. More are allocated when they are entered.
pub(crate) const LISTS_RESERVED: usize = 4_096;

/// What an order is in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The order that enters exits as it trades.
    Entry,
    /// The order of a pair at a better price: the first of [`List::orders`].
    Better,
    /// The order of a pair at a worse price: the second.
    Worse,
}

/// The list of an order, and what it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// An index into [`Lists`].
    pub(crate) list: u32,
    pub(crate) part: Part,
}

/// In the place of an order that is not linked.
pub(crate) const NO_LINK: Link = Link { list: NIL, part: Part::Entry };

/// The links of all orders that are not on their way through the book.
pub(crate) type SlotLinks = BySlot<Link>;

/// Linked orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List {
    /// The first order: that of the pair, or the entry.
    pub(crate) id: OrderId,
    /// The account's slot.
    pub(crate) account: u32,
    pub(crate) market: u16,
    /// The side of the orders of the pair.
    pub(crate) side: Side,
    /// The slot of the entry; [`STAND_IN`] while it is on its way through the book, [`NIL`] if it is not open.
    pub(crate) entry: u32,
    /// What the entry has traded, less what exits that have ended were for.
    pub(crate) filled: Quantity,
    /// For how much of that exits are open.
    pub(crate) exits_quantity: Quantity,
    /// The exits, if it has an entry.
    pub(crate) legs: [Option<Leg>; 2],
    /// The slots of the pair, or [`NIL`]. Of two, the second reserves only what it needs beyond the first.
    pub(crate) orders: [u32; 2],
    /// What exits have from their entry.
    pub(crate) self_trade: Option<SelfTrade>,
    pub(crate) handling: Handling,
    /// Whether it is in the queue of its instrument: its exits are to be entered or enlarged.
    pub(crate) is_queued: bool,
}

impl List {
    /// The list of a first order without open orders.
    pub(crate) fn new(
        id: OrderId,
        terms: &NewOrder,
        account: u32,
        market: u16,
        side: Side,
    ) -> List {
        List {
            id,
            account,
            market,
            side,
            entry: NIL,
            filled: Quantity::ZERO,
            exits_quantity: Quantity::ZERO,
            legs: [None; 2],
            orders: [NIL; 2],
            self_trade: terms.self_trade,
            handling: terms.handling,
            is_queued: false,
        }
    }

    /// The leg of an exit, if the list has an entry.
    pub(crate) fn leg(&self, part: Part) -> Option<Leg> {
        match part {
            Part::Entry => None,
            Part::Better => self.legs[0],
            Part::Worse => self.legs[1],
        }
    }

    pub(crate) fn leg_mut(&mut self, part: Part) -> Option<&mut Leg> {
        match part {
            Part::Entry => None,
            Part::Better => self.legs[0].as_mut(),
            Part::Worse => self.legs[1].as_mut(),
        }
    }

    /// Whether the prices of its exits are on both sides of the limit of its entry.
    pub(crate) fn surrounds(&self, limit: Price) -> bool {
        let [take_profit, stop_loss] = self.legs;
        let better = take_profit.and_then(|leg| leg.nearest_price());
        let worse = stop_loss.and_then(|leg| leg.nearest_price());
        better.is_none_or(|price| is_better(self.side, price, limit))
            && worse.is_none_or(|price| is_better(self.side, limit, price))
    }
}

/// Whether one price is better than another for an order of a side to trade at.
pub(crate) fn is_better(side: Side, price: Price, than: Price) -> bool {
    match side {
        Side::Buy => price < than,
        Side::Sell => price > than,
    }
}

/// All lists.
pub(crate) struct Lists {
    lists: Vec<List>,
    free: Vec<u32>,
}

impl Lists {
    pub(crate) fn new() -> Lists {
        Lists { lists: Vec::new(), free: Vec::new() }
    }

    /// Makes room for this many lists.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.lists.reserve(count);
        self.free.reserve(self.lists.capacity());
    }

    pub(crate) fn add(&mut self, list: List) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.lists[at as usize] = list;
                at
            }
            None => {
                self.lists.push(list);
                // Each may be free, so that no end of a list allocates.
                self.free.reserve(self.lists.capacity());
                self.lists.len() as u32 - 1
            }
        }
    }

    pub(crate) fn remove(&mut self, at: u32) {
        debug_assert!(!self.get(at).is_queued, "a queued list is not forgotten");
        self.lists[at as usize].account = NIL;
        self.free.push(at);
    }

    #[inline]
    pub(crate) fn get(&self, at: u32) -> &List {
        &self.lists[at as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> &mut List {
        &mut self.lists[at as usize]
    }

    /// All lists, and their indices.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, &List)> {
        (0..).zip(&self.lists).filter(|(_, list)| list.account != NIL)
    }
}

impl Core {
    /// How many orders of an account count as open in an instrument. Each queued list counts as one, because its
    /// entry may have ended.
    #[inline(always)]
    pub(crate) fn open_orders(&self, account: u32, market: u16) -> u32 {
        let open = self.open_counts.get(account, market);
        match self.markets[usize::from(market)].queued_lists.is_empty() {
            true => open,
            false => open + self.queued_lists_of(account, market),
        }
    }

    #[cold]
    #[inline(never)]
    fn queued_lists_of(&self, account: u32, market: u16) -> u32 {
        self.queued_counts.get(account, market)
    }

    /// Queues a list, which is not queued.
    fn queue_list(&mut self, at: u32) {
        let list = self.lists.get_mut(at);
        list.is_queued = true;
        let (account, market) = (list.account, list.market);
        self.queued_counts.increase(account, market);
        self.markets[usize::from(market)].queued_lists.push_back(at);
    }

    /// Takes the first list out of the queue of an instrument.
    pub(crate) fn take_queued_list(&mut self, market: u16) -> Option<u32> {
        let at = self.markets[usize::from(market)].queued_lists.pop_front()?;
        let list = self.lists.get_mut(at);
        list.is_queued = false;
        let account = list.account;
        self.queued_counts.decrease(account, market);
        Some(at)
    }

    /// Restores that a list is queued. Returns whether it can be.
    pub(crate) fn restore_queued(&mut self, at: u32, market: u16) -> bool {
        let list = self.lists.get(at);
        let fits = list.market == market && !list.is_queued;
        if fits {
            self.queue_list(at);
        }
        fits
    }

    /// Links an order that was just put into a slot.
    pub(crate) fn join_list(&mut self, slot: Slot, link: Link) {
        self.links.set(slot, link);
        let list = self.lists.get_mut(link.list);
        match link.part {
            Part::Entry => list.entry = slot.at(),
            Part::Better => list.orders[0] = slot.at(),
            Part::Worse => list.orders[1] = slot.at(),
        }
    }

    /// Tells which orders of a list are linked.
    pub(crate) fn publish_links<S: EventSink>(&self, at: u32, sink: &mut S) {
        let list = self.lists.get(at);
        let id = |slot: u32| if slot == NIL { OrderId(0) } else { self.order_at(slot).id };
        self.publish_linked(list, list.orders.map(id), sink);
    }

    /// Tells which orders, or zero, are of a list.
    pub(crate) fn publish_linked<S: EventSink>(
        &self,
        list: &List,
        [take_profit, stop_loss]: [OrderId; 2],
        sink: &mut S,
    ) {
        sink.event(&Event::OrdersLinked(OrdersLinked {
            list: list.id,
            account: self.accounts.get(list.account).id,
            instrument: self.markets[usize::from(list.market)].instrument.id,
            side: list.side,
            take_profit,
            stop_loss,
        }));
    }

    /// The entry of a list has traded this much and is in this slot, or [`NIL`].
    fn entry_changed(&mut self, at: u32, filled: Quantity, slot: u32) {
        let list = self.lists.get_mut(at);
        (list.filled, list.entry) = (filled, slot);
        let list = *list;
        let has_ended = slot == NIL && list.orders == [NIL; 2];
        if list.filled > list.exits_quantity && !list.is_queued {
            self.queue_list(at);
            self.begin_triggering(list.market);
        } else if has_ended && list.filled == list.exits_quantity {
            self.lists.remove(at);
        }
    }

    /// A taker with exits rests in this slot, or has ended if there is none.
    #[cold]
    #[inline(never)]
    pub(crate) fn linked_taker_stopped(&mut self, taker: &Taker, slot: Option<Slot>) {
        let Some(link) = taker.link else { return };
        if let Some(slot) = slot {
            self.join_list(slot, link);
        }
        if link.part == Part::Entry {
            self.entry_changed(link.list, taker.filled, slot.map_or(NIL, Slot::at));
        }
    }

    /// An order on the book that is linked is about to trade. Returns how many others that ends.
    #[cold]
    #[inline(never)]
    pub(crate) fn linked_order_trades<S: EventSink>(
        &mut self,
        slot: Slot,
        quantity: Quantity,
        sink: &mut S,
    ) -> u32 {
        let Link { list, part } = *self.links.get(slot);
        if part != Part::Entry {
            return self.end_list(list, Some(slot), sink);
        }
        let is_filled = self.orders.get(slot).remaining == quantity;
        let filled = Quantity(self.lists.get(list).filled.0 + quantity.0);
        self.entry_changed(list, filled, if is_filled { NIL } else { slot.at() });
        0
    }

    /// A linked order is triggered or reduced. Returns how many others that ends.
    #[cold]
    #[inline(never)]
    pub(crate) fn end_others<S: EventSink>(&mut self, slot: Slot, sink: &mut S) -> u32 {
        let Link { list, part } = *self.links.get(slot);
        if part == Part::Entry { 0 } else { self.end_list(list, Some(slot), sink) }
    }

    /// A linked order that was in this slot has ended. Returns how many others that ends.
    #[cold]
    #[inline(never)]
    pub(crate) fn linked_order_ended<S: EventSink>(&mut self, slot: Slot, sink: &mut S) -> u32 {
        let Link { list, part } = *self.links.get(slot);
        if part == Part::Entry {
            let filled = self.lists.get(list).filled;
            self.entry_changed(list, filled, NIL);
            return 0;
        }
        let place = &mut self.lists.get_mut(list).orders;
        place.iter_mut().filter(|order| **order == slot.at()).for_each(|order| *order = NIL);
        self.end_list(list, None, sink)
    }

    /// Ends the orders of a list except one: those of its pair, then its entry. What the entry traded without
    /// exits gets exits of its own. Returns how many orders have ended.
    pub(crate) fn end_list<S: EventSink>(
        &mut self,
        at: u32,
        except: Option<Slot>,
        sink: &mut S,
    ) -> u32 {
        let list = self.lists.get_mut(at);
        let [first, second] = list.orders;
        let linked = [first, second, list.entry];
        (list.orders, list.entry) = ([NIL; 2], NIL);
        (list.filled.0, list.exits_quantity) =
            (list.filled.0 - list.exits_quantity.0, Quantity::ZERO);
        let is_over = list.filled == Quantity::ZERO;
        for slot in linked.into_iter().filter(|slot| *slot != NIL) {
            debug_assert!(slot != STAND_IN, "no order of a list trades while its entry does");
            let attributes = &mut self.open.get_mut(slot).attributes;
            *attributes = attributes.with_link(false);
        }
        if is_over {
            self.lists.remove(at);
        } else {
            self.entry_changed(at, self.lists.get(at).filled, NIL);
        }
        let mut ended = 0;
        for slot in linked.into_iter().filter_map(|slot| (slot != NIL).then(|| Slot::new(slot))?) {
            if Some(slot) != except {
                self.end_order(slot, DoneReason::Linked, sink);
                ended += 1;
            }
        }
        ended
    }

    /// What an order reserves that needs this much: of two that are linked, the second only what the first does
    /// not.
    pub(crate) fn beyond_its_pair(&self, slot: Slot, needed: Amount) -> Amount {
        if !self.open.get(slot.at()).attributes.is_linked() {
            return needed;
        }
        let Link { list, part } = *self.links.get(slot);
        let first = self.lists.get(list).orders[0];
        match part {
            Part::Worse if first != NIL => {
                Amount((needed.0 - self.open.get(first).reserved.0).max(0))
            }
            _ => needed,
        }
    }

    /// Whether the lists and their orders agree.
    pub(crate) fn lists_are_sound(&self) -> bool {
        let (mut linked, mut queued) = (0, 0);
        let lists_are_sound = self.lists.all().all(|(at, list)| {
            let parts = [
                (list.orders[0], Part::Better),
                (list.orders[1], Part::Worse),
                (list.entry, Part::Entry),
            ];
            let mut open = parts.into_iter().filter(|(slot, _)| *slot != NIL);
            let are_linked = open.all(|(slot, part)| {
                if slot == STAND_IN {
                    let link = Some(Link { list: at, part });
                    let taker = self.urgent.as_ref();
                    return taker.is_some_and(|taker| taker.link == link && taker.order == list.id);
                }
                linked += 1;
                let detail = self.open.get(slot);
                let Some(order) = Slot::new(slot) else { return false };
                let held = self.orders.get(order);
                let fits = match part {
                    Part::Entry => {
                        held.id == list.id
                            && !detail.attributes.role.waits()
                            && detail.attributes.side == list.side.opposite()
                            && list.filled.0 == detail.total.0 - held.remaining.0
                    }
                    Part::Better | Part::Worse => {
                        let leg = list.leg(part);
                        detail.attributes.side == list.side
                            && held.remaining == detail.total
                            && (list.exits_quantity == Quantity::ZERO
                                || detail.total == list.exits_quantity)
                            && (list.exits_quantity == Quantity::ZERO) == leg.is_none()
                            && (part == Part::Better || detail.attributes.role.waits())
                    }
                };
                fits && detail.attributes.is_linked()
                    && *self.links.get(order) == Link { list: at, part }
                    && (detail.account, detail.market) == (list.account, list.market)
            });
            let has_exits = list.legs.iter().any(Option::is_some);
            let is_pair = !has_exits && list.entry == NIL && !list.orders.contains(&NIL);
            let is_covered = (list.exits_quantity > Quantity::ZERO) == (list.orders != [NIL; 2]);
            let waits = list.filled > list.exits_quantity;
            queued += usize::from(list.is_queued);
            are_linked
                && (is_pair && list.filled == Quantity::ZERO || has_exits && is_covered)
                && (list.entry != NIL || list.orders != [NIL; 2] || waits)
                && (waits || !list.is_queued)
                && (!waits || list.is_queued || list.entry != NIL)
        });
        let all = self.markets.iter().flat_map(|market| market.slots(&self.orders, &self.waiting));
        let marked = all.filter(|slot| self.open.get(slot.at()).attributes.is_linked()).count();
        // None is queued twice, so that all are if as many have the flag.
        let places: usize = self.markets.iter().map(|market| market.queued_lists.len()).sum();
        lists_are_sound && marked == linked && places == queued
    }
}
