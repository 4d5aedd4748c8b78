//! The trades of an auction, at its price.

use super::super::contract::Role;
use super::super::matching::Deal;
use super::super::{Alteration, ORDERS_PER_COMMAND, Order, Reference};
use rialto_model::{DoneReason, InstrumentId, Price, Quantity, ReduceReason, SelfTrade, Side};

impl Reference {
    /// Trades the best buy with the best sell as long as the price suits both; false if a command may
    /// do no more.
    pub(super) fn trade_all_at(
        &mut self,
        id: InstrumentId,
        price: Price,
        visited: &mut usize,
    ) -> bool {
        loop {
            let front = |side| self.queue(id, side).first().copied();
            let (Some(buy), Some(sell)) = (front(Side::Buy), front(Side::Sell)) else {
                return true;
            };
            if buy.price < price || sell.price > price {
                return true;
            }
            if ORDERS_PER_COMMAND - *visited < 2 {
                // One order is not worth a turn.
                *visited = ORDERS_PER_COMMAND;
                return false;
            }
            *visited += 2;
            let mode = self.of(&buy).auction_rules.self_trade;
            if self.same_member(buy.account, sell.account) && mode != SelfTrade::Allow {
                self.part_own(mode, buy, sell);
            } else {
                self.trade_both(buy, sell, price);
            }
        }
    }

    fn part_own(&mut self, mode: SelfTrade, buy: Order, sell: Order) {
        let mut both = [buy, sell];
        both.sort_by_key(|order| order.id);
        let by = buy.remaining.min(sell.remaining);
        for (order, is_newer) in both.into_iter().zip([false, true]) {
            let ends = match mode {
                SelfTrade::CancelNewest => is_newer,
                SelfTrade::CancelOldest => !is_newer,
                SelfTrade::CancelBoth => true,
                SelfTrade::Decrement => order.remaining == by,
                SelfTrade::Allow => false,
            };
            if ends {
                self.remove(order.id);
                self.end(&order, DoneReason::SelfTrade);
            } else if mode == SelfTrade::Decrement {
                self.end_list_of(order.id);
                let smaller = self.reduce(&order, ReduceReason::SelfTrade, by);
                *self.open_order_mut(order.id) = smaller;
            }
        }
    }

    /// A trade of two orders that both rest. The event names the one entered later as the taker.
    fn trade_both(&mut self, buy: Order, sell: Order, price: Price) {
        let quantity = buy.remaining.min(sell.remaining);
        let (mut maker, mut taker) = if buy.id < sell.id { (buy, sell) } else { (sell, buy) };
        self.end_list_of(buy.id);
        self.end_list_of(sell.id);
        let listed = self.of(&buy);
        let risk = listed.instrument.spec.rules.risk;
        let notional = listed.notional(price, quantity).expect("it was checked at the limits");
        let buyer_held = self.hold(&buy).0;
        let mut fees = [0; 2];
        for (order, fee) in [&mut maker, &mut taker].into_iter().zip(&mut fees) {
            if risk {
                let free = self.gets_wrong(Alteration::AuctionsAreFree);
                *fee =
                    if free { 0 } else { self.charge_as(Role::Auction, order, notional, quantity) };
            }
            order.filled = Quantity(order.filled.0 + quantity.0);
            order.remaining = Quantity(order.remaining.0 - quantity.0);
            if let Some(parts) = &mut order.parts {
                parts.begin(order.remaining);
            }
        }
        self.listed_mut(buy.instrument).expect("it is listed").auction_price = Some(price);
        let buyer = if maker.side == Side::Buy { &maker } else { &taker };
        let buyer_released = buyer_held - self.hold(buyer).0;
        let [maker_fee, taker_fee] = fees;
        let notional = if risk { notional.0 } else { 0 };
        let deal = Deal {
            maker,
            taker,
            price,
            quantity,
            notional,
            maker_fee,
            taker_fee,
            buyer_released,
            shows_new_tranche: false,
        };
        if taker.remaining == Quantity::ZERO {
            self.remove(taker.id);
            self.finish(&taker, None);
        } else {
            *self.open_order_mut(taker.id) = taker;
        }
        self.trade(&deal, true);
    }
}
