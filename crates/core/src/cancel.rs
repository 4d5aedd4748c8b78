//! Ending orders: one by one, many at once, and with the instrument.

use crate::background::Scope;
use crate::book::{Order, Slot};
use crate::client_ids::End;
use crate::instruments::Market;
use crate::limits::ORDERS_PER_COMMAND;
use crate::links::WITH_LINKS;
use crate::orders::{Detail, NIL, Role};
use crate::work::{BackgroundTask, CancelMany};
use crate::{Core, EventSink};
use rialto_model::{
    AccountId, Amount, Done, DoneReason, Event, InstrumentId, InstrumentState, MassCancel, OrderId,
    OrderRef, OrderStatus, Outcome, Quantity, RejectReason, Side, Timestamp,
};

impl Core {
    #[inline]
    pub(crate) fn order_at(&self, slot: u32) -> Order {
        let slot = Slot::new(slot).expect("slot 0 holds no order");
        self.orders.get(slot)
    }

    /// The open order of an account that is named.
    #[inline]
    pub(crate) fn find_order(
        &self,
        slot: u32,
        account: AccountId,
        order: &OrderRef,
    ) -> Result<Slot, RejectReason> {
        let id = match order {
            OrderRef::Id(id) => Some(*id),
            OrderRef::Client(name) => {
                let at = self.client_ids.find(account, name);
                at.and_then(|at| self.client_ids.get(at).order())
            }
        };
        id.and_then(|id| self.orders.find(id))
            .filter(|found| self.open.get(found.at()).account == slot)
            .ok_or(RejectReason::UnknownOrder)
    }

    #[inline]
    pub(crate) fn cancel<S: EventSink>(
        &mut self,
        account: AccountId,
        order: &OrderRef,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let owner = self.accounts.slot(account)?;
        let slot = self.find_order(owner, account, order)?;
        self.check_alive(slot)?;
        let detail = self.open.get(slot.at());
        self.markets[usize::from(detail.market)].check_cancel(self.time)?;
        let (price, total) = (detail.price, detail.total);
        let Order { id, remaining, .. } = self.orders.get(slot);
        self.end_order(slot, DoneReason::Cancelled, sink);
        Ok(Outcome::Order {
            order: id,
            status: OrderStatus::Cancelled,
            price,
            filled: Quantity(total.0 - remaining.0),
            remaining,
            repeated: false,
        })
    }

    /// Ends a resting order. One past its expiry time ends as expired, for any cause. Returns how many orders end
    /// with it.
    #[inline]
    pub(crate) fn end_order<S: EventSink>(
        &mut self,
        slot: Slot,
        reason: DoneReason,
        sink: &mut S,
    ) -> u32 {
        let order = self.orders.get(slot);
        let detail = self.open.get(slot.at());
        let (account, side, price) = (detail.account, detail.attributes.side, detail.price);
        let released = detail.reserved;
        let dead = detail.expire_at <= self.time && self.is_dead(slot) && self.rules_since(2);
        let reason = if dead { DoneReason::Expired } else { reason };
        let market = &mut self.markets[usize::from(detail.market)];
        if released != Amount::ZERO {
            let currency = market.reserved_currency(side);
            self.ledger.reserve(account, currency, Amount(-released.0));
        }
        let attributes = detail.attributes;
        if attributes.role.waits() {
            market.triggers.remove(&mut self.orders, &mut self.waiting, slot, attributes);
            if self.rules_version >= WITH_LINKS {
                market.triggers.forget_marks_if_none_wait();
            }
        } else {
            market.book.remove(&mut self.orders, slot);
        }
        let instrument = market.instrument.id;
        self.retire(slot.at(), Some(reason), order.remaining);
        sink.event(&Event::Done(Done {
            order: order.id,
            account: self.accounts.get(account).id,
            instrument,
            side,
            reason,
            price,
            remaining: order.remaining,
            released,
        }));
        if attributes.is_linked() { self.linked_order_ended(slot, sink) } else { 0 }
    }

    /// Removes the data of an order that has left the book with `remaining`. There is no `reason`
    /// if it was filled.
    #[inline]
    pub(crate) fn retire(&mut self, slot: u32, reason: Option<DoneReason>, remaining: Quantity) {
        let detail = self.open.get(slot);
        let (account, market, client) = (detail.account, detail.market, detail.client);
        if detail.attributes.time_in_force.is_for_auction() {
            let list = &mut self.markets[usize::from(market)].auction_orders;
            self.auction_links.unlink(list, slot);
            if detail.attributes.role == Role::Market {
                list.remove_market(detail.attributes.side, detail.price);
            }
        }
        if detail.attributes.role == Role::Iceberg {
            self.markets[usize::from(market)].icebergs -= 1;
        }
        if detail.expire_at != Timestamp::MAX {
            self.expiries.remove(slot);
        }
        self.delist(slot, account, market);
        if client != 0 {
            let detail = *self.open.get(slot);
            let filled = Quantity(detail.total.0 - remaining.0);
            self.end_named(client, &detail, reason, filled, remaining);
        }
    }

    /// Remembers by its client order id how an order ended.
    #[inline(never)]
    pub(crate) fn end_named(
        &mut self,
        client: u32,
        detail: &Detail,
        reason: Option<DoneReason>,
        filled: Quantity,
        remaining: Quantity,
    ) {
        let end = self.rules_since(2).then_some(End {
            seq: self.seq,
            time: self.time,
            reason,
            price: detail.price,
            self_trade: detail.attributes.self_trade,
            expire_at: detail.expire_at,
            filled,
            remaining,
        });
        self.client_ids.end(client - 1, end);
    }

    /// Takes an order out of its account's list, the background work and the counts.
    #[inline]
    pub(crate) fn delist(&mut self, slot: u32, account: u32, market: u16) {
        let owner = self.accounts.get_mut(account);
        let next = self.open.unlink(owner, slot);
        let under_way = owner.under_way;
        if under_way > 0 {
            self.moved(under_way, slot, next);
        }
        self.open_counts.decrease(account, market);
    }

    /// The slot `from` in an account's list was replaced by `to`.
    #[cold]
    pub(crate) fn moved(&mut self, under_way: u32, from: u32, to: u32) {
        if !self.rules_since(2) {
            return self.works.moved(from, to);
        }
        let sweep = self.background.sweep_mut(under_way - 1);
        if sweep.cursor == from {
            sweep.cursor = to;
        }
    }

    pub(crate) fn mass_cancel<S: EventSink>(
        &mut self,
        command: &MassCancel,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let account = self.accounts.slot(command.account)?;
        let market = command.instrument.map(|id| self.market(id)).transpose()?;
        if self.rules_since(2) {
            let scopes = [Side::Buy, Side::Sell].map(|side| {
                let meant = command.side.is_none_or(|only| only == side);
                meant.then_some(Scope::Side(market, side))
            });
            return Ok(self.sweep(account, &scopes, market, sink));
        }
        let work = CancelMany {
            account,
            market,
            side: command.side,
            on_disconnect_only: false,
            reason: DoneReason::MassCancelled,
            upto: self.newest_order(),
            cursor: self.accounts.get(account).head,
        };
        self.begin_cancelling(work, sink)
    }

    pub(crate) fn disconnect<S: EventSink>(
        &mut self,
        account: AccountId,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let account = self.accounts.slot(account)?;
        if self.rules_since(2) {
            return Ok(self.sweep(account, &[Some(Scope::Disconnect)], None, sink));
        }
        let work = CancelMany {
            account,
            market: None,
            side: None,
            on_disconnect_only: true,
            reason: DoneReason::Disconnected,
            upto: self.newest_order(),
            cursor: self.accounts.get(account).head,
        };
        self.begin_cancelling(work, sink)
    }

    pub(crate) fn newest_order(&self) -> OrderId {
        OrderId::from_parts(self.engine, self.order_count)
    }

    fn begin_cancelling<S: EventSink>(
        &mut self,
        work: CancelMany,
        sink: &mut S,
    ) -> Result<Outcome, RejectReason> {
        let open_orders = self.accounts.get(work.account).open_orders;
        if open_orders > ORDERS_PER_COMMAND && self.works.is_full(&self.limits) {
            return Err(RejectReason::VenueFull);
        }
        let mut budget = ORDERS_PER_COMMAND;
        let (cancelled, pending) = self.start_cancelling(work, &mut budget, sink);
        Ok(Outcome::Cancelling { cancelled, pending })
    }

    /// Does the first part of a mass cancel, and queues the rest.
    pub(crate) fn start_cancelling<S: EventSink>(
        &mut self,
        mut work: CancelMany,
        budget: &mut u32,
        sink: &mut S,
    ) -> (u32, bool) {
        let (cancelled, pending) = self.cancel_some(&mut work, budget, |_, _| true, sink);
        if pending {
            self.accounts.get_mut(work.account).under_way += 1;
            self.works.push(BackgroundTask::Cancel(work));
        }
        (cancelled, pending)
    }

    /// Visits up to `budget` orders of a mass cancel that is not in the queue; returns how many it
    /// cancelled and whether more are to be visited.
    ///
    /// It stops when `has_room` returns false for the reserve of the next order.
    pub(crate) fn cancel_some<S: EventSink>(
        &mut self,
        work: &mut CancelMany,
        budget: &mut u32,
        has_room: impl Fn(&S, Amount) -> bool,
        sink: &mut S,
    ) -> (u32, bool) {
        let mut cancelled = 0;
        while *budget > 0 && self.is_ahead(work) {
            let at = work.cursor;
            let order = self.open.get(at);
            let is_meant = work.is_meant(order);
            if is_meant && !has_room(sink, order.reserved) {
                break;
            }
            *budget -= 1;
            work.cursor = self.open.next(at);
            if is_meant {
                let slot = Slot::new(at).expect("only orders on the book are visited");
                self.end_order(slot, work.reason, sink);
                cancelled += 1;
            }
        }
        let pending = self.is_ahead(work);
        sink.event(&Event::CancelProgress {
            account: self.accounts.get(work.account).id,
            instrument: work.market.map_or(InstrumentId(0), |at| InstrumentId(u32::from(at) + 1)),
            cancelled,
            pending,
        });
        (cancelled, pending)
    }

    /// Whether orders are left to visit.
    fn is_ahead(&self, work: &CancelMany) -> bool {
        work.cursor != NIL && self.order_at(work.cursor).id <= work.upto
    }

    /// Begins to cancel the orders of a withdrawn or restricted instrument, and queues the rest.
    pub(crate) fn close_and_queue<S: EventSink>(
        &mut self,
        market: u16,
        budget: &mut u32,
        sink: &mut S,
    ) -> Outcome {
        let (cancelled, pending) = self.close_some(market, budget, |_, _| true, sink);
        match pending {
            true if self.rules_since(2) => self.background.begin_closing(market),
            true => self.works.push(BackgroundTask::Close(market)),
            false => self.background.end_closing(market),
        }
        Outcome::Cancelling { cancelled, pending }
    }

    /// Cancels up to `budget` orders of a withdrawn or restricted instrument: the best buy price
    /// first, then sells, then the waiting orders. It stops where `has_room` says that the end of an order with this reserve has no room.
    pub(crate) fn close_some<S: EventSink>(
        &mut self,
        market: u16,
        budget: &mut u32,
        has_room: impl Fn(&S, Amount) -> bool,
        sink: &mut S,
    ) -> (u32, bool) {
        let is_withdrawn = self.markets[usize::from(market)].state() == InstrumentState::Withdrawn;
        let reason = match is_withdrawn {
            true => DoneReason::InstrumentClosed,
            false => DoneReason::Restricted,
        };
        let mut cancelled = 0;
        let pending = loop {
            let Market { book, triggers, .. } = &self.markets[usize::from(market)];
            let resting = book.front(Side::Buy).or_else(|| book.front(Side::Sell));
            let Some(slot) = resting.or_else(|| triggers.front()) else {
                if !is_withdrawn || !self.markets[usize::from(market)].has_queued_lists() {
                    break false;
                }
                if *budget == 0 {
                    break true;
                }
                *budget -= 1;
                self.drop_queued_list(market, sink);
                continue;
            };
            if *budget == 0 || !has_room(sink, self.open.get(slot.at()).reserved) {
                break true;
            }
            *budget -= 1;
            self.end_order(slot, reason, sink);
            cancelled += 1;
        };
        let market = &mut self.markets[usize::from(market)];
        market.closing = pending && is_withdrawn;
        market.clearing = pending && !is_withdrawn;
        let (account, instrument) = (AccountId(0), market.instrument.id);
        sink.event(&Event::CancelProgress { account, instrument, cancelled, pending });
        (cancelled, pending)
    }
}
