//! Trading an incoming order with what stands on the other side.
//!
//! What will happen is worked out before anything does: the makers within the limit, best first, and
//! what the order does with each. [`Reference::take`] then carries that out, and a fill-or-kill order
//! is asked of the same list.

use super::arithmetic::{MILLION, largest};
use super::auction::collects;
use super::contract::Role;
use super::prices::allows;
use super::{Alteration, ORDERS_PER_COMMAND, Order, Reference};
use rialto_model::{
    Amount, Done, DoneReason, Event, OrderStatus, Outcome, Price, Quantity, ReduceReason, Reduced,
    Rested, SelfTrade, Side, Trade, TradeId,
};
use std::collections::VecDeque;

/// What an incoming order does with a maker, each of which counts towards what one command may.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The maker's time is over: it ends.
    Expires(Order),
    /// The maker is of the same member and ends.
    Cancels(Order),
    /// Both are of one member and lose as much; the one that had no more ends with it.
    Reduces(Order, Quantity),
    Trades(Box<Deal>),
}

/// A trade, and both orders as they are after it.
#[derive(Clone, Debug)]
pub(super) struct Deal {
    pub(super) maker: Order,
    pub(super) taker: Order,
    pub(super) price: Price,
    pub(super) quantity: Quantity,
    pub(super) notional: i128,
    pub(super) maker_fee: i128,
    pub(super) taker_fee: i128,
    /// By how much the buyer has less to give away than before.
    pub(super) buyer_released: i128,
    /// Whether the maker is an iceberg that displays a new tranche after it.
    pub(super) shows_new_tranche: bool,
}

/// Why an order goes no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Filled,
    /// Nobody is left within its limit.
    Alone,
    /// It met an order of its own member and ends.
    Own,
    /// It cannot pay another lot.
    Spent,
    /// More than one command may do.
    Unfinished,
    /// The next maker is outside its range.
    OutOfRange,
}

/// All that an incoming order would do.
pub(super) struct Way {
    pub(super) steps: Vec<Step>,
    /// The orders that the command has touched: the makers, and those that are linked to one that
    /// trades.
    pub(super) cost: usize,
    pub(super) ending: Ending,
    /// The maker at which it ends, if it has met another one.
    pub(super) next: Option<Order>,
}

impl Step {
    /// The maker that is met.
    pub(super) fn maker(&self) -> &Order {
        match self {
            Step::Expires(maker) | Step::Cancels(maker) | Step::Reduces(maker, _) => maker,
            Step::Trades(deal) => &deal.maker,
        }
    }
}

impl Reference {
    /// What an order that is on no book would do in at most `steps_max` steps if it traded now.
    pub(super) fn way(&self, mut taker: Order, steps_max: usize) -> Way {
        let mut makers = VecDeque::from(self.queue(taker.instrument, taker.side.opposite()));
        if collects(self.of(&taker).instrument.state) {
            makers.clear();
        }
        makers.retain(|maker| allows(taker.side, taker.price, maker.price));
        let mut steps = Vec::new();
        let (mut linked, mut over) = (0, Vec::new());
        let mut count = |steps: &[Step]| {
            if let Some(id) = steps.last().map(|step| step.maker().id)
                && !over.contains(&id)
            {
                over.push(id);
                linked += self.orders_that_end_with(id).len();
            }
            steps.len() + linked
        };
        let mut places = self.places_taken;
        let ending = loop {
            if taker.is_filled() {
                break Ending::Filled;
            }
            let Some(first) = makers.front() else { break Ending::Alone };
            let at_price = makers.iter().filter(|other| other.price == first.price).count();
            let maker = makers.front_mut().expect("there is one");
            if count(&steps) >= steps_max {
                break Ending::Unfinished;
            }
            if self.is_dead(maker) {
                steps.push(Step::Expires(*maker));
                makers.pop_front();
                continue;
            }
            if taker.span.is_some_and(|(low, high)| !(low..=high).contains(&maker.price)) {
                break Ending::OutOfRange;
            }
            let own = self.same_member(maker.account, taker.account)
                && !self.gets_wrong(Alteration::SelfTradeAllowed);
            match taker.self_trade {
                SelfTrade::Allow => {}
                _ if !own => {}
                SelfTrade::CancelOldest => {
                    steps.push(Step::Cancels(*maker));
                    makers.pop_front();
                    continue;
                }
                SelfTrade::CancelBoth => {
                    steps.push(Step::Cancels(*maker));
                    break Ending::Own;
                }
                SelfTrade::Decrement if taker.quote_left.is_none() => {
                    let by = maker.remaining.min(taker.remaining);
                    steps.push(Step::Reduces(*maker, by));
                    if by == taker.remaining {
                        break Ending::Own;
                    }
                    taker.remaining = Quantity(taker.remaining.0 - by.0);
                    // It had less than the taker, which continues: it is the one that ends.
                    makers.pop_front();
                    continue;
                }
                SelfTrade::CancelNewest | SelfTrade::Decrement => break Ending::Own,
            }
            let others = match self.gets_wrong(Alteration::IcebergsTradeTrancheByTranche) {
                true => 1,
                false => at_price - 1,
            };
            let quantity = maker.offers(others).min(self.wanted(&taker, maker.price));
            if quantity == Quantity::ZERO {
                break Ending::Spent;
            }
            let mut deal = self.deal(taker, *maker, quantity);
            if deal.shows_new_tranche && !self.gets_wrong(Alteration::IcebergsKeepTheirPlace) {
                places += 1;
                deal.maker.place = places;
            }
            (taker, *maker) = (deal.taker, deal.maker);
            if maker.remaining == Quantity::ZERO {
                makers.pop_front();
            } else if deal.shows_new_tranche {
                makers.make_contiguous()[..at_price].sort_by_key(|other| other.place);
            }
            steps.push(Step::Trades(Box::new(deal)));
        };
        let next = match ending {
            Ending::Filled => None,
            _ => makers.front().copied(),
        };
        let cost = count(&steps);
        Way { steps, cost, ending, next }
    }

    /// How much an order would take at a price, if there were enough: what is left of it, or the
    /// most whole lots that its amount pays with their fee to the last millionth, and that the
    /// account has.
    pub(super) fn wanted(&self, taker: &Order, price: Price) -> Quantity {
        let Some(left) = taker.quote_left else { return taker.remaining };
        let listed = self.of(taker);
        let lot = listed.instrument.spec.rules.lot;
        let lot = if self.gets_wrong(Alteration::LotIgnored) { 1 } else { i128::from(lot.0) };
        let most = taker.deliverable.map_or(i64::MAX, |most| most.0 - taker.filled.0);
        let is_paid = |lots: i128| {
            let quantity = Quantity(i64::try_from(lots * lot).expect("no more than the most"));
            let rate = if taker.side == Side::Buy { i128::from(taker.taker_fee_ppm) } else { 0 };
            let owed = if taker.side == Side::Buy { taker.fee_not_charged() } else { 0 };
            let by_lot = match taker.side {
                Side::Buy => self.lot_fees_at_most(taker.instrument, quantity),
                Side::Sell => 0,
            };
            let notional = listed.notional(price, quantity);
            notional.is_some_and(|it| {
                it.0 * (MILLION + rate) + owed + by_lot * MILLION <= left.0 * MILLION
            })
        };
        let lots = largest(0, i128::from(most) / lot, is_paid).unwrap_or(0);
        Quantity(i64::try_from(lots * lot).expect("no more than the most"))
    }

    /// A trade of so much, and what it costs both.
    fn deal(&self, taker: Order, maker: Order, quantity: Quantity) -> Deal {
        let (mut taker, mut maker) = (taker, maker);
        let listed = self.of(&taker);
        let risk = listed.instrument.spec.rules.risk;
        let price = if self.gets_wrong(Alteration::TakerPrice) { taker.price } else { maker.price };
        let notional = listed.notional(price, quantity);
        let notional = notional.expect("a trade is no larger than the orders, which were checked");
        let held = |taker: &Order, maker: &Order| {
            self.hold(if taker.side == Side::Buy { taker } else { maker }).0
        };
        let before = held(&taker, &maker);

        // Where risk is off nobody is charged, but an amount to be spent shrinks by the fee too.
        let pays_from_amount = taker.side == Side::Buy && taker.quote_left.is_some();
        let (mut taker_fee, mut maker_fee) = (0, 0);
        if risk || pays_from_amount {
            taker_fee = self.charge_as(Role::Taker, &mut taker, notional, quantity);
        }
        if let Some(left) = &mut taker.quote_left {
            left.0 -= notional.0 + if pays_from_amount { taker_fee } else { 0 };
        } else {
            taker.remaining = Quantity(taker.remaining.0 - quantity.0);
        }
        if risk {
            maker_fee = self.charge_as(Role::Maker, &mut maker, notional, quantity);
        }
        let is_capped = self.rules_version >= 2 && !self.gets_wrong(Alteration::RebateUncapped);
        if is_capped && maker_fee < -taker_fee {
            maker_fee = -taker_fee;
            maker.owe_nothing();
        }
        taker.filled = Quantity(taker.filled.0 + quantity.0);
        taker.traded_at = Some(price);
        maker.filled = Quantity(maker.filled.0 + quantity.0);
        maker.remaining = Quantity(maker.remaining.0 - quantity.0);
        let shows_new_tranche = maker.use_up(quantity);
        let buyer_released = before - held(&taker, &maker);
        let (notional, taker_fee) = if risk { (notional.0, taker_fee) } else { (0, 0) };
        Deal {
            maker,
            taker,
            price,
            quantity,
            notional,
            maker_fee,
            taker_fee,
            buyer_released,
            shows_new_tranche,
        }
    }

    /// Lets an order that is on no book trade as far as one command may; then it rests, ends or
    /// waits for the next Tick.
    pub(super) fn take(&mut self, taker: Order, visited: &mut usize) -> Outcome {
        let extra = usize::from(self.gets_wrong(Alteration::OneMakerTooMany));
        let way = self.way(taker, ORDERS_PER_COMMAND - *visited + extra);
        *visited = (*visited + way.cost).min(ORDERS_PER_COMMAND + extra);
        let mut taker = taker;
        for step in way.steps {
            match step {
                Step::Expires(maker) => {
                    self.remove(maker.id);
                    self.end(&maker, DoneReason::Expired);
                }
                Step::Cancels(maker) => {
                    self.remove(maker.id);
                    self.end(&maker, DoneReason::SelfTrade);
                }
                Step::Reduces(maker, by) => {
                    if maker.remaining == by {
                        self.remove(maker.id);
                        self.end(&maker, DoneReason::SelfTrade);
                    } else {
                        self.end_list_of(maker.id);
                        let smaller = self.reduce(&maker, ReduceReason::SelfTrade, by);
                        *self.open_order_mut(maker.id) = smaller;
                    }
                    if by < taker.remaining {
                        taker = self.reduce(&taker, ReduceReason::SelfTrade, by);
                    }
                }
                Step::Trades(deal) => {
                    self.end_list_of(deal.maker.id);
                    self.trade(&deal, false);
                    taker = deal.taker;
                }
            }
        }
        match way.ending {
            Ending::Filled => {
                self.finish(&taker, None);
                self.stop_as_entry(taker.id);
                self.end_as_entry(taker.id);
                Self::answer(&taker, OrderStatus::Filled)
            }
            Ending::Unfinished => {
                self.taking = Some(taker);
                Self::standing(&taker)
            }
            Ending::Own => self.end(&taker, DoneReason::SelfTrade),
            Ending::Spent => self.end(&taker, DoneReason::QuoteSpent),
            Ending::Alone => self.stop(&taker),
            Ending::OutOfRange => {
                let outcome = self.stop(&taker);
                let next = way.next.expect("a maker is out of range");
                self.interrupt(&taker, next.price);
                outcome
            }
        }
    }

    /// Lets what is left of an order rest, if it may.
    pub(super) fn stop(&mut self, taker: &Order) -> Outcome {
        let Some(resting) = self.as_it_rests(taker) else {
            return self.end(taker, DoneReason::Remainder);
        };
        if resting.price != taker.price {
            self.tell_amended(taker, &resting);
        }
        let taker = &resting;
        self.stand(*taker);
        self.events.push(Event::Rested(Rested {
            order: taker.id,
            account: taker.account,
            instrument: taker.instrument,
            side: taker.side,
            price: taker.price,
            remaining: taker.remaining,
        }));
        self.stop_as_entry(taker.id);
        self.note_limit(taker);
        Self::standing(taker)
    }

    /// An incoming order as it rests, if it may. One for five levels rests at the last price that it traded at, on the
    /// tick and between its exits.
    fn as_it_rests(&self, taker: &Order) -> Option<Order> {
        let mut resting = Order { five_levels: false, traded_at: None, ..*taker };
        let rests_at_limit = self.gets_wrong(Alteration::FiveLevelsRestAtTheirLimit);
        if taker.five_levels && !rests_at_limit {
            resting.price = taker.traded_at?;
            self.of(taker).check_price(resting.price).ok()?;
            if !self.fits_its_exits(taker, resting.price) {
                return None;
            }
        }
        taker.can_rest().then_some(resting)
    }

    pub(super) fn trade(&mut self, deal: &Deal, auction: bool) {
        let Deal { maker, taker, .. } = deal;
        if self.of(taker).instrument.spec.rules.risk {
            self.post_deal(deal);
        }
        if maker.remaining == Quantity::ZERO {
            self.remove(maker.id);
            self.finish(maker, None);
        } else {
            *self.open_order_mut(maker.id) = *maker;
        }
        self.trades_made += 1;
        let listed = self.listed_mut(taker.instrument).expect("an order stays in its instrument");
        listed.last_price = Some(deal.price);
        self.events.push(Event::Trade(Trade {
            trade: TradeId::from_parts(self.engine, self.trades_made),
            instrument: taker.instrument,
            taker_side: taker.side,
            auction,
            price: deal.price,
            quantity: deal.quantity,
            maker_order: maker.id,
            taker_order: taker.id,
            maker_account: maker.account,
            taker_account: taker.account,
            maker_remaining: maker.remaining,
            taker_remaining: taker.remaining,
            notional: Amount(deal.notional),
            maker_fee: Amount(deal.maker_fee),
            taker_fee: Amount(deal.taker_fee),
            buyer_unreserved: Amount(deal.buyer_released),
        }));
        self.places_taken = self.places_taken.max(maker.place);
        if deal.shows_new_tranche {
            self.tell_new_tranche(maker);
        }
        // In an auction both rest, and the buy comes first.
        let mut both = [(maker, true), (taker, auction)];
        both.sort_by_key(|(order, _)| order.side == Side::Sell && auction);
        for (order, rests) in both {
            self.trade_as_entry(order, rests);
        }
        self.look_at_triggers(taker.instrument);
    }

    /// Puts an order at the end of the queue of its price.
    pub(super) fn stand(&mut self, order: Order) {
        self.places_taken += 1;
        let mut order = Order { place: self.places_taken, span: None, ..order };
        if let Some(parts) = &mut order.parts {
            parts.begin(order.remaining);
        }
        self.orders.push(order);
    }

    /// Ends an order that is on no book any more with all that is left of it.
    pub(super) fn end(&mut self, order: &Order, reason: DoneReason) -> Outcome {
        let reason = if self.is_dead(order) { DoneReason::Expired } else { reason };
        let mut released = self.hold(order);
        if self.gets_wrong(Alteration::ReleaseForgotten) {
            self.never_release(order, released);
            released = Amount::ZERO;
        }
        self.finish(order, Some(reason));
        self.events.push(Event::Done(Done {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            reason,
            price: order.price,
            remaining: order.remaining,
            released,
        }));
        self.end_list_of(order.id);
        self.stop_as_entry(order.id);
        self.end_as_entry(order.id);
        let status = match reason {
            DoneReason::QuoteSpent => OrderStatus::Filled,
            DoneReason::Expired => OrderStatus::Expired,
            _ => OrderStatus::Cancelled,
        };
        Self::answer(order, status)
    }

    /// Tells that an order continues with less, and returns it.
    pub(super) fn reduce(&mut self, order: &Order, reason: ReduceReason, by: Quantity) -> Order {
        let mut smaller = Order { remaining: Quantity(order.remaining.0 - by.0), ..*order };
        smaller.hide_less();
        self.events.push(Event::Reduced(Reduced {
            order: order.id,
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            reason,
            price: order.price,
            by,
            remaining: smaller.remaining,
            released: Amount(self.hold(order).0 - self.hold(&smaller).0),
        }));
        smaller
    }

    pub(super) fn answer(order: &Order, status: OrderStatus) -> Outcome {
        Outcome::Order {
            order: order.id,
            status,
            price: order.price,
            filled: order.filled,
            remaining: order.remaining,
            repeated: false,
        }
    }

    /// The answer about an order that stands or continues.
    pub(super) fn standing(order: &Order) -> Outcome {
        let is_untouched = order.filled == Quantity::ZERO;
        let status = if is_untouched { OrderStatus::Open } else { OrderStatus::PartiallyFilled };
        Self::answer(order, status)
    }
}
