//! Matching: the taker trades at the makers' prices, then rests or ends.

use crate::book::{LimitOrder, Slot};
use crate::ledger::TradePosting;
use crate::orders::{Role, STAND_IN};
use crate::taker::{Remaining, Taker};
use crate::{Core, EventSink};
use rialto_model::{
    Amount, Done, DoneReason, Event, Iceberg, OrderStatus, Outcome, Price, Quantity, Rested,
    SelfTrade, Side, Timestamp, Trade, TradeId,
};

/// Why a taker stopped matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is filled, or nothing is left at an allowed price.
    Exhausted,
    /// It met an order of its own member.
    SelfTrade,
    /// Its amount does not buy another lot.
    Spent,
    /// It has touched as many makers as one command may.
    Suspended,
    /// It would trade at this price, which is outside its range.
    Interrupted(Price),
}

impl Taker {
    /// The short answer about this order.
    #[inline]
    pub(crate) fn outcome(&self, status: OrderStatus) -> Outcome {
        Outcome::Order {
            order: self.order,
            status,
            price: self.limit,
            filled: self.filled,
            remaining: self.remaining(),
            repeated: false,
        }
    }

    /// The status of a taker that rests or continues to match.
    #[inline]
    fn open_status(&self) -> OrderStatus {
        if self.filled.0 > 0 { OrderStatus::PartiallyFilled } else { OrderStatus::Open }
    }
}

impl Core {
    /// Matches an accepted or amended order as far as one command may. The remainder rests, ends or
    /// waits for the next command.
    #[inline(never)]
    pub(crate) fn send_to_match<S: EventSink>(
        &mut self,
        mut taker: Taker,
        budget: &mut u32,
        sink: &mut S,
    ) -> Outcome {
        let stop = self.take(&mut taker, budget, sink);
        let is_over = matches!(stop, Stop::Exhausted | Stop::Interrupted(_)) && !taker.is_filled();
        if taker.attributes.role == Role::FiveLevels && is_over {
            self.limit_to_last_trade(&mut taker, sink);
        }
        let reason = match stop {
            Stop::Suspended => {
                self.urgent = Some(taker);
                self.settle_due();
                return taker.outcome(taker.open_status());
            }
            Stop::Exhausted if taker.is_filled() => {
                debug_assert!(taker.reserved == Amount::ZERO, "a filled order reserves nothing");
                self.forget_taker(&taker, None, Quantity::ZERO);
                return taker.outcome(OrderStatus::Filled);
            }
            Stop::Exhausted if taker.rests => return self.rest_remainder(&taker, sink),
            Stop::Interrupted(price) if taker.rests => {
                let outcome = self.rest_remainder(&taker, sink);
                self.interrupt(&taker, price, sink);
                return outcome;
            }
            Stop::Exhausted | Stop::Interrupted(_) => DoneReason::Remainder,
            Stop::SelfTrade => DoneReason::SelfTrade,
            Stop::Spent => DoneReason::QuoteSpent,
        };
        self.end_taker(&taker, reason, taker.remaining(), sink);
        if let Stop::Interrupted(price) = stop {
            self.interrupt(&taker, price, sink);
        }
        let spent = stop == Stop::Spent;
        taker.outcome(if spent { OrderStatus::Filled } else { OrderStatus::Cancelled })
    }

    /// Puts what is left of a taker on the book.
    pub(crate) fn rest_remainder<S: EventSink>(&mut self, taker: &Taker, sink: &mut S) -> Outcome {
        self.rest(taker);
        sink.event(&Event::Rested(Rested {
            order: taker.order,
            account: self.accounts.get(taker.account).id,
            instrument: self.markets[usize::from(taker.market)].instrument.id,
            side: taker.attributes.side,
            price: taker.limit,
            remaining: taker.remaining(),
        }));
        if self.markets[usize::from(taker.market)].auction_rules.limit_state_ms != 0 {
            self.note_limit(taker.market, taker.attributes.side, taker.limit, sink);
        }
        taker.outcome(taker.open_status())
    }

    /// Ends a taker that is not filled.
    pub(crate) fn end_taker<S: EventSink>(
        &mut self,
        taker: &Taker,
        reason: DoneReason,
        remaining: Quantity,
        sink: &mut S,
    ) {
        let side = taker.attributes.side;
        let market = &self.markets[usize::from(taker.market)];
        if taker.reserved != Amount::ZERO {
            let released = Amount(-taker.reserved.0);
            self.ledger.reserve(taker.account, market.reserved_currency(side), released);
        }
        sink.event(&Event::Done(Done {
            order: taker.order,
            account: self.accounts.get(taker.account).id,
            instrument: market.instrument.id,
            side,
            reason,
            price: taker.limit,
            remaining,
            released: taker.reserved,
        }));
        self.forget_taker(taker, Some(reason), remaining);
    }

    /// Removes the data of a taker that does not rest, except how it ended.
    fn forget_taker(&mut self, taker: &Taker, reason: Option<DoneReason>, remaining: Quantity) {
        if taker.amended {
            self.delist(STAND_IN, taker.account, taker.market);
        }
        if taker.client != 0 {
            let filled = taker.filled;
            self.end_named(taker.client, &taker.detail(), reason, filled, remaining);
        }
        if taker.link.is_some() {
            self.linked_taker_stopped(taker, None);
        }
    }

    /// Puts the remainder of a taker on the book.
    #[inline(always)]
    pub(crate) fn rest(&mut self, taker: &Taker) {
        let order = LimitOrder {
            id: taker.order,
            side: taker.attributes.side,
            price: taker.limit,
            quantity: taker.remaining(),
            owner: taker.member,
        };
        let market = &mut self.markets[usize::from(taker.market)];
        let slot = market
            .book
            .insert(&mut self.orders, order)
            .expect("the room for an order that can rest was checked when it came in");
        self.open.cover(self.orders.slots());
        *self.open.get_mut(slot.at()) = taker.detail();
        if taker.attributes.role == Role::Iceberg {
            market.icebergs += 1;
            self.icebergs.set(slot, Iceberg::new(taker.display_quantity, order.quantity));
        }
        if taker.attributes.time_in_force.is_for_auction() {
            self.auction_links.cover(self.orders.slots());
            self.auction_links.append(&mut market.auction_orders, slot.at());
            if taker.attributes.role == Role::Market {
                market.auction_orders.add_market(order.side, order.price);
            }
        }
        let account = self.accounts.get_mut(taker.account);
        if taker.amended {
            self.open.replace(account, STAND_IN, slot.at());
            let under_way = account.under_way;
            if under_way > 0 {
                self.moved(under_way, STAND_IN, slot.at());
            }
        } else {
            self.open.append(account, slot.at());
            self.open_counts.increase(taker.account, taker.market);
        }
        if taker.expire_at != Timestamp::MAX {
            self.expiries.insert(slot.at(), taker.expire_at, taker.order.0);
        }
        if taker.link.is_some() {
            self.linked_taker_stopped(taker, Some(slot));
        }
    }

    /// Trades until nothing is left to do or `budget` makers have been touched.
    fn take<S: EventSink>(&mut self, taker: &mut Taker, budget: &mut u32, sink: &mut S) -> Stop {
        let side = taker.attributes.side;
        let at = usize::from(taker.market);
        let expiring = self.is_expiring();
        loop {
            let market = &self.markets[at];
            if taker.is_filled() || !market.book.reaches(side, taker.limit) {
                return Stop::Exhausted;
            }
            if *budget == 0 {
                return Stop::Suspended;
            }
            let slot = market.book.front(side.opposite());
            let slot = slot.expect("a side that is reached has an order");
            if expiring && self.is_dead(slot) {
                *budget -= 1;
                let ended = self.end_order(slot, DoneReason::Expired, sink);
                *budget = budget.saturating_sub(ended);
                continue;
            }
            // The level's price: it has just been read, and the maker's own is in a line of its own.
            let price =
                market.book.best(side.opposite()).expect("a side that is reached has a price");
            if !taker.range.contains(price) {
                return Stop::Interrupted(price);
            }
            let maker = self.orders.get(slot);
            let mode = taker.attributes.self_trade;
            if maker.owner == taker.member && mode != SelfTrade::Allow {
                if self.prevent_self_trade(taker, slot, budget, sink) {
                    return Stop::SelfTrade;
                }
                continue;
            }
            let mut offered = maker.remaining;
            if market.icebergs > 0 {
                offered = self.offered(market, slot, offered);
            }
            let quantity = match taker.want {
                Remaining::Base(remaining) => remaining.min(offered),
                Remaining::Quote { left, base_left } => {
                    let base_left = base_left.min(Quantity(i64::MAX - taker.filled.0));
                    let fees = taker.fees;
                    market.affordable(side, price, left, base_left, fees).min(offered)
                }
            };
            if quantity == Quantity::ZERO {
                return Stop::Spent;
            }
            *budget -= 1;
            if self.open.get(slot.at()).attributes.is_linked() {
                *budget = budget.saturating_sub(self.linked_order_trades(slot, quantity, sink));
            }
            self.trade(taker, slot, quantity, sink);
        }
    }

    /// Trades with the maker in `slot`, the first of its side.
    #[inline]
    fn trade<S: EventSink>(
        &mut self,
        taker: &mut Taker,
        slot: Slot,
        quantity: Quantity,
        sink: &mut S,
    ) {
        let by_order = self.rules_since(2);
        let market = &mut self.markets[usize::from(taker.market)];
        let side = taker.attributes.side;
        let maker = self.orders.get(slot);
        let price = self.open.get(slot.at()).price;
        match &mut taker.want {
            Remaining::Base(remaining) => remaining.0 -= quantity.0,
            Remaining::Quote { left, base_left } => {
                // The fee is charged below, where balances are kept.
                let mut fees = taker.fees;
                left.0 -= market.cost(side, price, quantity, by_order, &mut fees).0;
                base_left.0 -= quantity.0;
                if !market.rules().risk {
                    taker.fees = fees;
                }
            }
        }
        taker.filled.0 += quantity.0;
        market.last_price = price;
        let maker_remaining = Quantity(maker.remaining.0 - quantity.0);
        let detail = self.open.get_mut(slot.at());
        let maker_account = detail.account;
        let maker_role = detail.attributes.role;
        let (mut notional, mut maker_fee, mut taker_fee) = (Amount(0), Amount(0), Amount(0));
        let mut buyer_unreserved = Amount(0);
        if market.rules().risk {
            let instrument = &market.instrument;
            notional = instrument
                .notional(price, quantity)
                .expect("the notional of the maker was checked when it came in");
            taker_fee = taker.fees.charge_taker(by_order, notional);
            maker_fee = detail.fees.charge_maker(by_order, notional, taker_fee);
            if let Some(fees) = &market.terms.lot_fees {
                (taker_fee, maker_fee) = market.lot_fees(fees, side, quantity, notional);
            }
            let base_amount = instrument.base_amount(quantity);
            let needed = match (side, taker.want) {
                (Side::Buy, Remaining::Quote { left, .. }) => left,
                (Side::Buy, Remaining::Base(left)) => {
                    market.reserve(Side::Buy, taker.limit, left, taker.fees)
                }
                (Side::Sell, _) => market.reserve(Side::Buy, price, maker_remaining, detail.fees),
            };
            let (buyer, seller) = match side {
                Side::Buy => (&mut taker.reserved, &mut detail.reserved),
                Side::Sell => (&mut detail.reserved, &mut taker.reserved),
            };
            buyer_unreserved.0 = buyer.0 - needed.0;
            *buyer = needed;
            seller.0 -= base_amount.0;
            let (buyer, seller, buyer_fee, seller_fee) = match side {
                Side::Buy => (taker.account, maker_account, taker_fee, maker_fee),
                Side::Sell => (maker_account, taker.account, maker_fee, taker_fee),
            };
            self.ledger.post_trade(&TradePosting {
                buyer,
                seller,
                base: instrument.spec.base,
                quote: instrument.spec.quote,
                base_amount,
                notional,
                buyer_fee,
                seller_fee,
                buyer_unreserved,
            });
        }
        let instrument = market.instrument.id;
        let levels = market.book.level_count(side.opposite());
        market.book.reduce(&mut self.orders, slot, quantity);
        if maker_remaining == Quantity::ZERO {
            if market.book.level_count(side.opposite()) < levels {
                let [soon, next] = market.book.prepare_makers(&self.orders, side.opposite());
                if let Some(soon) = soon {
                    self.open.prefetch(soon.index());
                    self.open.prefetch_link(soon.index());
                }
                if let Some(next) = next {
                    self.open.prefetch_neighbours(next.index());
                }
            }
            self.retire(slot.at(), None, Quantity::ZERO);
        }
        self.trade_count += 1;
        sink.event(&Event::Trade(Trade {
            trade: TradeId::from_parts(self.engine, self.trade_count),
            instrument,
            taker_side: side,
            auction: false,
            price,
            quantity,
            maker_order: maker.id,
            taker_order: taker.order,
            maker_account: self.accounts.get(maker_account).id,
            taker_account: self.accounts.get(taker.account).id,
            maker_remaining,
            taker_remaining: taker.remaining(),
            notional,
            maker_fee,
            taker_fee,
            buyer_unreserved,
        }));
        if maker_role == Role::Iceberg && maker_remaining != Quantity::ZERO {
            self.trade_iceberg(slot, quantity, maker_remaining, sink);
        }
        self.reach_triggers(taker.market, price);
    }
}
