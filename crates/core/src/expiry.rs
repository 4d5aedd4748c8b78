//! The expiry of orders. From `expire_at` on an order is dead: nothing trades with it. It leaves
//! the book when a taker meets it, when something else would end it, or in background work.

use crate::book::Slot;
use crate::fok::within;
use crate::instruments::Market;
use crate::limits::FOK_DEPTH_MAX;
use crate::orders::Detail;
use crate::{Core, EventSink};
use rialto_model::{DoneReason, InstrumentState, Price, RejectReason, Side, Timestamp};

fn expiring(at: u32) -> Slot {
    Slot::new(at).expect("only orders on the book have an expiry")
}

impl Core {
    /// Whether there may be dead orders on books.
    #[inline]
    pub(crate) fn is_expiring(&self) -> bool {
        self.expiries.due_first() <= self.time && self.rules_since(2)
    }

    /// Whether an order is on the book past its expiry time. Under rules version 1 none is. An order that
    /// was alive when the uncrossing of its instrument began is alive until that has ended.
    #[inline]
    pub(crate) fn is_dead(&self, slot: Slot) -> bool {
        let detail = self.open.get(slot.at());
        detail.expire_at <= self.time && !self.is_kept_alive(detail)
    }

    /// Whether an order past its expiry time takes part in an uncrossing that began before.
    #[cold]
    fn is_kept_alive(&self, detail: &Detail) -> bool {
        let market = &self.markets[usize::from(detail.market)];
        let uncrosses = market.state() == InstrumentState::Uncrossing;
        uncrosses && detail.expire_at > market.uncrossing_since
    }

    /// Whether the order that expires first has expired and can be ended. While that order takes part in
    /// an uncrossing, the expired orders behind it stay on their books; they do not trade.
    pub(crate) fn can_expire(&self) -> bool {
        match self.expiries.first() {
            Some((due, at)) => due <= self.time && self.is_dead(expiring(at)),
            None => false,
        }
    }

    /// Refuses a command on an order past its expiry time.
    #[inline]
    pub(crate) fn check_alive(&self, slot: Slot) -> Result<(), RejectReason> {
        if self.is_dead(slot) { Err(RejectReason::OrderExpired) } else { Ok(()) }
    }

    /// The best price of a side at which an order that is not dead rests.
    #[inline]
    pub(crate) fn best_live(
        &self,
        market: &Market,
        side: Side,
    ) -> Result<Option<Price>, RejectReason> {
        if !self.is_expiring() {
            return Ok(market.book.best(side));
        }
        for (looked_at, slot) in (0..).zip(market.book.orders(&self.orders, side)) {
            if !self.is_dead(slot) {
                return Ok(Some(self.open.get(slot.at()).price));
            }
            if looked_at == FOK_DEPTH_MAX {
                return Err(RejectReason::TooDeep);
            }
        }
        Ok(None)
    }

    /// The first price at which an order of this side and limit would trade, if it would.
    #[inline]
    pub(crate) fn would_trade_at(
        &self,
        market: &Market,
        side: Side,
        limit: Price,
    ) -> Result<Option<Price>, RejectReason> {
        let best = self.best_live(market, side.opposite())?;
        Ok(best.filter(|&best| within(side, limit, best)))
    }

    /// Ends the orders past their expiry time, the earliest first.
    pub(crate) fn expire<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        self.expire_until(self.time, budget, sink)
    }

    /// Ends the orders that had expired at a time, the earliest first.
    pub(crate) fn expire_until<S: EventSink>(
        &mut self,
        time: Timestamp,
        budget: &mut u32,
        sink: &mut S,
    ) -> bool {
        let full = *budget;
        while let Some((due, at)) = self.expiries.first()
            && due <= time
            && *budget > 0
        {
            let slot = expiring(at);
            if !self.is_dead(slot) {
                break;
            }
            self.end_order(slot, DoneReason::Expired, sink);
            *budget -= 1;
        }
        *budget < full
    }
}
