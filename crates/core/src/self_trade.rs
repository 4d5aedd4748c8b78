//! Self-trade prevention.

use crate::book::Slot;
use crate::orders::Role;
use crate::taker::{Remaining, Taker};
use crate::{Core, EventSink};
use rialto_model::{
    Amount, DoneReason, Event, OrderId, Price, Quantity, ReduceReason, Reduced, SelfTrade,
};

impl Taker {
    /// Whether the taker ends when it meets an order of its member, which is left as it is.
    fn yields(&self) -> bool {
        match self.attributes.self_trade {
            SelfTrade::Allow | SelfTrade::CancelNewest => true,
            SelfTrade::CancelOldest | SelfTrade::CancelBoth => false,
            SelfTrade::Decrement => matches!(self.want, Remaining::Quote { .. }),
        }
    }
}

impl Core {
    /// Applies the taker's mode, which is not `Allow`, to the own maker in `slot`. Returns whether
    /// the taker ends.
    pub(crate) fn prevent_self_trade<S: EventSink>(
        &mut self,
        taker: &mut Taker,
        slot: Slot,
        budget: &mut u32,
        sink: &mut S,
    ) -> bool {
        if taker.yields() {
            return true;
        }
        *budget -= 1;
        match (taker.attributes.self_trade, taker.want) {
            (SelfTrade::Decrement, Remaining::Base(remaining)) => {
                self.decrement(taker, remaining, slot, budget, sink)
            }
            (mode, _) => {
                let ended = self.end_order(slot, DoneReason::SelfTrade, sink);
                *budget = budget.saturating_sub(ended);
                mode == SelfTrade::CancelBoth
            }
        }
    }

    /// Reduces both orders by the smaller remaining quantity. An order that would have nothing left
    /// ends with its full remaining quantity.
    fn decrement<S: EventSink>(
        &mut self,
        taker: &mut Taker,
        remaining: Quantity,
        slot: Slot,
        budget: &mut u32,
        sink: &mut S,
    ) -> bool {
        let maker = self.orders.get(slot);
        let by = remaining.min(maker.remaining);
        if maker.remaining == by {
            let ended = self.end_order(slot, DoneReason::SelfTrade, sink);
            *budget = budget.saturating_sub(ended);
        } else {
            if self.open.get(slot.at()).attributes.is_linked() {
                *budget = budget.saturating_sub(self.end_others(slot, sink));
            }
            self.reduce_order(slot, by, ReduceReason::SelfTrade, sink);
        }
        if remaining == by {
            return true;
        }
        taker.want = Remaining::Base(Quantity(remaining.0 - by.0));
        let released = self.shrink_taker(taker);
        sink.event(&Event::Reduced(Reduced {
            order: taker.order,
            account: self.accounts.get(taker.account).id,
            instrument: self.markets[usize::from(taker.market)].instrument.id,
            side: taker.attributes.side,
            reason: ReduceReason::SelfTrade,
            price: taker.limit,
            by,
            remaining: taker.remaining(),
            released,
        }));
        false
    }

    /// Sets a taker's reserve to what it needs now; returns what was released.
    fn shrink_taker(&mut self, taker: &mut Taker) -> Amount {
        let market = &self.markets[usize::from(taker.market)];
        let side = taker.attributes.side;
        let needed = market.reserve(side, taker.limit, taker.remaining(), taker.fees);
        let released = Amount(taker.reserved.0 - needed.0);
        taker.reserved = needed;
        if released != Amount::ZERO {
            let currency = market.reserved_currency(side);
            self.ledger.reserve(taker.account, currency, Amount(-released.0));
        }
        released
    }

    /// Makes a resting order smaller where it stands; less than all of it.
    pub(crate) fn reduce_order<S: EventSink>(
        &mut self,
        slot: Slot,
        by: Quantity,
        reason: ReduceReason,
        sink: &mut S,
    ) -> (OrderId, Price, Quantity) {
        let order = self.orders.get(slot);
        if self.open.get(slot.at()).attributes.is_linked() {
            self.end_others(slot, sink);
        }
        let detail = self.open.get_mut(slot.at());
        let market = &mut self.markets[usize::from(detail.market)];
        let side = detail.attributes.side;
        let remaining = market.book.reduce(&mut self.orders, slot, by);
        debug_assert!(remaining.0 > 0, "an order is reduced by less than all of it");
        if detail.attributes.role == Role::Iceberg {
            self.icebergs.get_mut(slot).limit_to(remaining);
        }
        let needed = market.reserve(side, detail.price, remaining, detail.fees);
        let released = Amount(detail.reserved.0 - needed.0);
        detail.reserved = needed;
        detail.total.0 -= by.0;
        if released != Amount::ZERO {
            let currency = market.reserved_currency(side);
            self.ledger.reserve(detail.account, currency, Amount(-released.0));
        }
        sink.event(&Event::Reduced(Reduced {
            order: order.id,
            account: self.accounts.get(detail.account).id,
            instrument: market.instrument.id,
            side,
            reason,
            price: detail.price,
            by,
            remaining,
            released,
        }));
        (order.id, detail.price, remaining)
    }
}
