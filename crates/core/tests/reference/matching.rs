//! Trading an incoming order with what stands on the other side.

use super::place::{allows, floor_lot};
use super::{Alteration, ORDERS_PER_COMMAND, Order, Reference};
use rialto_model::{
    Amount, Done, DoneReason, Event, Instrument, OrderStatus, Outcome, Price, Quantity,
    ReduceReason, Reduced, Rested, SelfTrade, Side, Trade, TradeId,
};

impl Reference {
    /// Matches an order that is on no book until nothing is left of it, nothing stands against it
    /// or it has touched as many makers as one command may.
    pub(super) fn take(&mut self, mut taker: Order, touched: &mut usize) -> Outcome {
        let extra = usize::from(self.gets_wrong(Alteration::OneMakerTooMany));
        loop {
            if taker.quote_left.is_none() && taker.remaining == Quantity::ZERO {
                self.finish(&taker, None, Quantity::ZERO);
                return Self::answer(&taker, OrderStatus::Filled, Quantity::ZERO);
            }
            let maker = match self.best(taker.instrument, taker.side.opposite()) {
                Some(maker) if allows(taker.side, taker.price, maker.price) => maker,
                _ => return self.leave(taker),
            };
            if *touched == ORDERS_PER_COMMAND + extra {
                self.taking = Some(taker);
                return Self::standing(&taker);
            }
            if self.is_dead(&maker) {
                *touched += 1;
                self.remove(maker.id);
                self.end(&maker, DoneReason::Expired, maker.remaining);
                continue;
            }
            let own = self.same_member(maker.account, taker.account)
                && taker.self_trade != SelfTrade::Allow
                && !self.gets_wrong(Alteration::SelfTradeAllowed);
            if own {
                match taker.self_trade {
                    SelfTrade::CancelOldest | SelfTrade::CancelBoth => {
                        *touched += 1;
                        self.remove(maker.id);
                        self.end(&maker, DoneReason::SelfTrade, maker.remaining);
                        if taker.self_trade == SelfTrade::CancelBoth {
                            return self.end(&taker, DoneReason::SelfTrade, taker.remaining);
                        }
                    }
                    SelfTrade::Decrement if taker.quote_left.is_none() => {
                        *touched += 1;
                        let by = maker.remaining.min(taker.remaining);
                        self.decrement_maker(maker, by);
                        taker.remaining = Quantity(taker.remaining.0 - by.0);
                        if taker.remaining == Quantity::ZERO {
                            return self.end(&taker, DoneReason::SelfTrade, by);
                        }
                        self.reduce(&mut taker, ReduceReason::SelfTrade, by);
                    }
                    _ => return self.end(&taker, DoneReason::SelfTrade, taker.remaining),
                }
                continue;
            }
            let quantity = match taker.quote_left {
                None => taker.remaining.min(maker.remaining),
                Some(left) => maker.remaining.min(self.affordable(&taker, left, maker.price)),
            };
            if quantity == Quantity::ZERO {
                return self.end(&taker, DoneReason::QuoteSpent, Quantity::ZERO);
            }
            *touched += 1;
            self.trade(&mut taker, maker, quantity);
        }
    }

    /// How much an order sized in quote currency can trade next at a price, in whole lots.
    fn affordable(&self, taker: &Order, left: Amount, price: Price) -> Quantity {
        let by_amount = self.affordable_of_amount(taker, left, price);
        let instrument = self.instrument_of(taker);
        if taker.side == Side::Buy || !instrument.spec.rules.risk {
            return by_amount;
        }
        let held = taker.reserved.0 / instrument.base_amount(Quantity(1)).0;
        by_amount.min(floor_lot(held, instrument.spec.rules.lot))
    }

    /// How much `left` is worth at a price, in whole lots.
    pub(super) fn affordable_of_amount(
        &self,
        taker: &Order,
        left: Amount,
        price: Price,
    ) -> Quantity {
        let instrument = self.instrument_of(taker);
        let rules = instrument.spec.rules;
        let lot = if self.gets_wrong(Alteration::LotIgnored) { Quantity(1) } else { rules.lot };
        let one = instrument
            .notional(price, Quantity(1))
            .expect("a resting order's notional was checked when it was entered");
        match taker.side {
            Side::Buy => {
                let rate = 1_000_000 + i128::from(taker.taker_fee_ppm);
                let free = (left.0 * 1_000_000 - taker.fee_owed).max(0);
                floor_lot(free / (rate * one.0), lot)
            }
            Side::Sell => floor_lot(left.0 / one.0, lot),
        }
    }

    /// What an order sized in quote currency spends on a trade.
    pub(super) fn spent(
        &self,
        instrument: &Instrument,
        taker: &mut Order,
        price: Price,
        quantity: Quantity,
    ) -> Amount {
        let notional = instrument
            .notional(price, quantity)
            .expect("what is affordable is no more than the amount");
        match taker.side {
            Side::Buy => {
                let ppm = taker.taker_fee_ppm;
                Amount(notional.0 + self.fee(notional, ppm, &mut taker.fee_owed).0)
            }
            Side::Sell => notional,
        }
    }

    fn trade(&mut self, taker: &mut Order, mut maker: Order, quantity: Quantity) {
        let instrument = self.instrument_of(taker);
        let price = if self.gets_wrong(Alteration::TakerPrice) { taker.price } else { maker.price };
        maker.remaining = Quantity(maker.remaining.0 - quantity.0);
        maker.filled = Quantity(maker.filled.0 + quantity.0);
        taker.filled = Quantity(taker.filled.0 + quantity.0);
        match taker.quote_left {
            None => taker.remaining = Quantity(taker.remaining.0 - quantity.0),
            Some(left) => {
                let mut sized = *taker;
                let spent = self.spent(&instrument, &mut sized, price, quantity);
                taker.quote_left = Some(Amount(left.0 - spent.0));
                if !instrument.spec.rules.risk {
                    // Where balances are kept the fee is charged with the posting.
                    taker.fee_owed = sized.fee_owed;
                }
            }
        }
        let posted = self.post_trade(&instrument, &mut maker, taker, price, quantity);
        if maker.remaining == Quantity::ZERO {
            self.remove(maker.id);
            self.finish(&maker, None, Quantity::ZERO);
        } else {
            *self.open_order_mut(maker.id) = maker;
        }
        self.trades_made += 1;
        self.listed_mut(taker.instrument).expect("it is listed").last_price = Some(price);
        self.events.push(Event::Trade(Trade {
            trade: TradeId::from_parts(self.engine, self.trades_made),
            instrument: taker.instrument,
            taker_side: taker.side,
            price,
            quantity,
            maker_order: maker.id,
            taker_order: taker.id,
            maker_account: maker.account,
            taker_account: taker.account,
            maker_remaining: maker.remaining,
            taker_remaining: taker.remaining,
            notional: posted.notional,
            maker_fee: posted.maker_fee,
            taker_fee: posted.taker_fee,
            buyer_unreserved: posted.buyer_unreserved,
        }));
    }

    fn decrement_maker(&mut self, mut maker: Order, by: Quantity) {
        maker.remaining = Quantity(maker.remaining.0 - by.0);
        if maker.remaining == Quantity::ZERO {
            self.remove(maker.id);
            self.end(&maker, DoneReason::SelfTrade, by);
        } else {
            self.reduce(&mut maker, ReduceReason::SelfTrade, by);
            *self.open_order_mut(maker.id) = maker;
        }
    }

    /// Nothing stands against the order any more: it goes to the book or ends.
    fn leave(&mut self, order: Order) -> Outcome {
        if !order.can_rest() {
            return self.end(&order, DoneReason::Remainder, order.remaining);
        }
        self.orders.push(order);
        self.events.push(Event::Rested(Rested {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            price: order.price,
            remaining: order.remaining,
        }));
        Self::standing(&order)
    }

    /// Ends an order that is on no book.
    pub(super) fn end(
        &mut self,
        order: &Order,
        reason: DoneReason,
        remaining: Quantity,
    ) -> Outcome {
        let reason = if self.is_dead(order) { DoneReason::Expired } else { reason };
        let released = self.release_all(order);
        self.finish(order, Some(reason), remaining);
        self.events.push(Event::Done(Done {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            reason,
            price: order.price,
            remaining,
            released,
        }));
        let status = match reason {
            DoneReason::QuoteSpent => OrderStatus::Filled,
            DoneReason::Expired => OrderStatus::Expired,
            _ => OrderStatus::Cancelled,
        };
        Self::answer(order, status, remaining)
    }

    /// Tells that an order whose `remaining` has shrunk goes on.
    pub(super) fn reduce(&mut self, order: &mut Order, reason: ReduceReason, by: Quantity) {
        let released = self.shrink_reserve(order);
        self.events.push(Event::Reduced(Reduced {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            reason,
            price: order.price,
            by,
            remaining: order.remaining,
            released,
        }));
    }

    fn answer(order: &Order, status: OrderStatus, remaining: Quantity) -> Outcome {
        Outcome::Order {
            order: order.id,
            status,
            price: order.price,
            filled: order.filled,
            remaining,
            repeated: false,
        }
    }

    /// The answer about an order that stands or goes on.
    pub(super) fn standing(order: &Order) -> Outcome {
        let status = if order.filled == Quantity::ZERO {
            OrderStatus::Open
        } else {
            OrderStatus::PartiallyFilled
        };
        Self::answer(order, status, order.remaining)
    }
}
