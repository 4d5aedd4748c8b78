//! Uncrossing: the orders of a call trade with each other at one price, in slices.
//!
//! [`rules`](crate::rules) says what happens; this module has its progress.

use crate::book::{CallLevel, LevelView, Slot, UncrossSearch, UncrossTerms, Uncrossing};
use crate::instruments::Market;
use crate::ledger::TradePosting;
use crate::limits::SEARCH_STEPS_PER_ORDER;
use crate::orders::Role;
use crate::sink::Noticing;
use crate::{Core, EventSink};
use rialto_model::{
    Amount, DoneReason, Event, InstrumentState, LotFees, Price, PriceRange, Quantity, ReduceReason,
    SelfTrade, Side, Timestamp, Trade, TradeId, Uncrossed,
};

/// Orders that a trade of an auction touches.
const ORDERS_PER_TRADE: u32 = 2;

/// An auction whose orders trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Auction {
    /// The index of the instrument.
    pub(crate) market: u16,
    /// The phase that its orders were collected in.
    pub(crate) phase: InstrumentState,
    /// The phase after it.
    pub(crate) next: InstrumentState,
    /// The range that its price is compared with.
    pub(crate) check: PriceCheck,
    pub(crate) stage: Stage,
}

impl Auction {
    /// The phase in which its call goes on if it is extended. It may have been halted before the
    /// uncrossing.
    fn collecting_phase(&self) -> InstrumentState {
        match self.next {
            _ if self.phase.collects() => self.phase,
            InstrumentState::Closed => InstrumentState::ClosingCall,
            _ => InstrumentState::Call,
        }
    }
}

/// The range that the price of an auction is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PriceCheck {
    /// None: a command ended a call that waited for one.
    Off,
    /// The range of auctions.
    First,
    /// The range of auctions after an extension.
    Extended,
}

/// What an auction does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there are few auctions at a time")]
pub(crate) enum Stage {
    /// Ends the orders that had expired when it began.
    Expiring,
    Searching(UncrossSearch),
    /// Trades at the price.
    Trading(Price),
    /// Ends the orders that were for the auction only.
    Ending,
}

impl Core {
    /// Begins the uncrossing of an instrument, whose book is frozen until it has ended. Orders that were
    /// over at the time `since` take no part.
    pub(crate) fn begin_uncrossing<S: EventSink>(
        &mut self,
        at: u16,
        next: InstrumentState,
        since: Timestamp,
        sink: &mut S,
    ) -> Auction {
        let market = &mut self.markets[usize::from(at)];
        let phase = market.state();
        let was_extended = market.call.is_some_and(|call| call.extended)
            || market.halt.is_some_and(|halt| halt.resumed.extended);
        let check = match was_extended {
            _ if market.waits_for_command() => PriceCheck::Off,
            true => PriceCheck::Extended,
            false => PriceCheck::First,
        };
        market.uncrossing_since = since;
        self.enter_phase(at, InstrumentState::Uncrossing, sink);
        Auction { market: at, phase, next, check, stage: Stage::Expiring }
    }

    /// The time at which orders must have been over, so that they take no part in the auction after a call
    /// that ended at a time: the last moment before. Before rules version 5 it was the present, so that
    /// an order which was valid until the end of the call took no part.
    pub(crate) fn last_moment_before(&self, end: Timestamp) -> Timestamp {
        if self.rules_since(5) { Timestamp(end.0.saturating_sub(1)) } else { self.time }
    }

    /// Continues the auction whose turn it is.
    pub(crate) fn uncross_next<S: EventSink>(&mut self, budget: &mut u32, sink: &mut S) -> bool {
        let auction = self.background.take_uncrossing();
        let mut auction = auction.expect("an uncrossing waits for its turn");
        *budget -= 1;
        let mut sink = Noticing { sink, noticed: false };
        if !self.uncross_some(&mut auction, budget, &mut sink) {
            self.background.wait_uncrossing(auction);
        }
        sink.noticed
    }

    /// Continues an auction as far as the budget lasts. Returns whether it has ended.
    pub(crate) fn uncross_some<S: EventSink>(
        &mut self,
        auction: &mut Auction,
        budget: &mut u32,
        sink: &mut S,
    ) -> bool {
        let at = usize::from(auction.market);
        loop {
            auction.stage = match &mut auction.stage {
                Stage::Expiring => {
                    let since = self.markets[at].uncrossing_since;
                    self.expire_until(since, budget, sink);
                    if self.expiries.due_first() <= since {
                        return false;
                    }
                    self.begin_search(auction.market)
                }
                Stage::Searching(search) => {
                    let mut search = *search;
                    let Some(found) = self.search(auction.market, &mut search, budget) else {
                        auction.stage = Stage::Searching(search);
                        return false;
                    };
                    match found {
                        None => Stage::Ending,
                        Some(found) => {
                            if let Some((range, until_command)) = self.outside(auction, found.price)
                            {
                                let phases = (auction.collecting_phase(), auction.next);
                                let outside = (found.price, range);
                                self.background.release_held_up();
                                self.extend_call(
                                    auction.market,
                                    phases,
                                    outside,
                                    until_command,
                                    sink,
                                );
                                self.halt_after_auction(auction.market, budget, sink);
                                return true;
                            }
                            self.announce(auction.market, &found, sink);
                            Stage::Trading(found.price)
                        }
                    }
                }
                Stage::Trading(price) => {
                    let price = *price;
                    if !self.trade_crossing(auction.market, price, budget, sink) {
                        return false;
                    }
                    // Orders that self-trade prevention ended can leave others that cross.
                    match self.markets[at].book.is_crossed() {
                        true => self.begin_search(auction.market),
                        false => Stage::Ending,
                    }
                }
                Stage::Ending => {
                    while let Some(slot) = self.markets[at].auction_orders.first() {
                        if *budget == 0 {
                            return false;
                        }
                        *budget -= 1;
                        let slot = Slot::new(slot).expect("only orders on the book are listed");
                        self.end_order(slot, DoneReason::AuctionEnded, sink);
                    }
                    self.background.release_held_up();
                    self.enter_phase(auction.market, auction.next, sink);
                    self.resume_timetable(auction.market);
                    self.halt_after_auction(auction.market, budget, sink);
                    return true;
                }
            };
        }
    }

    fn begin_search(&mut self, market: u16) -> Stage {
        self.markets[usize::from(market)].settle_grid();
        Stage::Searching(UncrossSearch::new(&self.uncross_terms(market)))
    }

    fn uncross_terms(&self, market: u16) -> UncrossTerms {
        let market = &self.markets[usize::from(market)];
        UncrossTerms {
            tick: market.grid,
            reference: market.reference(),
            market_buys: 0,
            market_sells: 0,
        }
    }

    /// Continues the search for the price. The outer `None` says that the budget is used up, the inner
    /// one that nothing trades.
    fn search(
        &self,
        market: u16,
        search: &mut UncrossSearch,
        budget: &mut u32,
    ) -> Option<Option<Uncrossing>> {
        if *budget == 0 {
            return None;
        }
        let allowed = *budget * SEARCH_STEPS_PER_ORDER;
        let mut left = allowed;
        let found = self.search_steps(market, search, &mut left);
        *budget -= (allowed - left).div_ceil(SEARCH_STEPS_PER_ORDER);
        found
    }

    /// Searches on for the price. Nothing if the steps did not last; otherwise what trades.
    fn search_steps(
        &self,
        market: u16,
        search: &mut UncrossSearch,
        steps: &mut u32,
    ) -> Option<Option<Uncrossing>> {
        let terms = self.uncross_terms(market);
        let Market { book, auction_orders, .. } = &self.markets[usize::from(market)];
        let side = |side: Side, next: Option<Price>| {
            let levels = match next {
                Some(price) => book.levels_behind(side, price),
                None => book.levels(side),
            };
            let level = move |level: LevelView| CallLevel {
                price: level.price,
                quantity: level.quantity,
                is_protection: auction_orders.market_orders(side, level.price) == level.orders,
            };
            levels.map(level).peekable()
        };
        let mut buys = side(Side::Buy, search.buys.next.limit);
        let mut sells = side(Side::Sell, search.sells.next.limit);
        let more = search.go_on(&mut buys, &mut sells, steps, terms.tick);
        (!more).then(|| search.result(&mut buys, &mut sells, &terms))
    }

    /// Whether a search in the book of an instrument comes to this point.
    pub(crate) fn search_reaches(&self, market: u16, point: &UncrossSearch) -> bool {
        let mut search = UncrossSearch::new(&self.uncross_terms(market));
        while search != *point {
            if self.search_steps(market, &mut search, &mut 1).is_some() {
                return false;
            }
        }
        true
    }

    /// The range that the price of an auction is outside of, if it is, and whether its call then lasts
    /// until a command ends it.
    fn outside(&self, auction: &Auction, price: Price) -> Option<(PriceRange, bool)> {
        let market = &self.markets[usize::from(auction.market)];
        let rules = &market.auction_rules;
        let range = |ppm| {
            let range = PriceRange::around(market.reference(), ppm);
            range.filter(|range| !range.contains(price))
        };
        let extended = range(rules.extended_range_ppm);
        match auction.check {
            PriceCheck::Off => None,
            PriceCheck::Extended => extended.map(|range| (range, true)),
            PriceCheck::First => match (extended, range(rules.auction_range_ppm)) {
                (Some(range), _) => Some((range, true)),
                (None, range) => range.map(|range| (range, false)),
            },
        }
    }

    /// Publishes the price at which orders are to trade.
    fn announce<S: EventSink>(&self, market: u16, found: &Uncrossing, sink: &mut S) {
        let market = &self.markets[usize::from(market)];
        let bound = |sum: i128| {
            let most = i128::from(i64::MAX);
            Quantity(sum.clamp(-most, most) as i64)
        };
        sink.event(&Event::Uncrossed(Uncrossed {
            instrument: market.instrument.id,
            price: found.price,
            volume: bound(found.volume),
            surplus: bound(found.surplus),
        }));
    }

    /// Trades at a price while orders of both sides allow it. Returns false if the budget did not
    /// last.
    fn trade_crossing<S: EventSink>(
        &mut self,
        market: u16,
        price: Price,
        budget: &mut u32,
        sink: &mut S,
    ) -> bool {
        loop {
            let book = &self.markets[usize::from(market)].book;
            if !(book.reaches(Side::Sell, price) && book.reaches(Side::Buy, price)) {
                return true;
            }
            if *budget < ORDERS_PER_TRADE {
                // What is left is enough for nobody, and would use up the next one's turn.
                *budget = 0;
                return false;
            }
            *budget -= ORDERS_PER_TRADE;
            let front = |side| book.front(side).expect("a side that is reached has an order");
            let (buy, sell) = (front(Side::Buy), front(Side::Sell));
            let mode = self.markets[usize::from(market)].auction_rules.self_trade;
            let is_own = self.orders.get(buy).owner == self.orders.get(sell).owner;
            if is_own && mode != SelfTrade::Allow {
                self.prevent_own_auction_trade(mode, buy, sell, sink);
            } else {
                self.trade_at(market, price, buy, sell, sink);
            }
        }
    }

    /// Applies a mode, which is not `Allow`, to two orders of one member.
    fn prevent_own_auction_trade<S: EventSink>(
        &mut self,
        mode: SelfTrade,
        buy: Slot,
        sell: Slot,
        sink: &mut S,
    ) {
        let (bought, sold) = (self.orders.get(buy), self.orders.get(sell));
        let (older, newer) = if bought.id < sold.id { (buy, sell) } else { (sell, buy) };
        let by = bought.remaining.min(sold.remaining);
        for slot in [older, newer] {
            let ends = match mode {
                SelfTrade::CancelNewest => slot == newer,
                SelfTrade::CancelOldest => slot == older,
                SelfTrade::Allow | SelfTrade::CancelBoth => true,
                SelfTrade::Decrement => self.orders.get(slot).remaining == by,
            };
            if ends {
                self.end_order(slot, DoneReason::SelfTrade, sink);
            } else if mode == SelfTrade::Decrement {
                self.reduce_order(slot, by, ReduceReason::SelfTrade, sink);
            }
        }
    }

    /// Trades two resting orders with each other at the price of the auction.
    fn trade_at<S: EventSink>(
        &mut self,
        at: u16,
        price: Price,
        buy: Slot,
        sell: Slot,
        sink: &mut S,
    ) {
        let (bought, sold) = (self.orders.get(buy), self.orders.get(sell));
        let quantity = bought.remaining.min(sold.remaining);
        for slot in [buy, sell] {
            if self.open.get(slot.at()).attributes.is_linked() {
                self.linked_order_trades(slot, quantity, sink);
            }
        }
        let market = &mut self.markets[usize::from(at)];
        let buy_left = Quantity(bought.remaining.0 - quantity.0);
        let sell_left = Quantity(sold.remaining.0 - quantity.0);
        let buyer = self.open.get(buy.at()).account;
        let seller = self.open.get(sell.at()).account;
        let (mut notional, mut buyer_unreserved) = (Amount::ZERO, Amount::ZERO);
        let (mut buyer_fee, mut seller_fee) = (Amount::ZERO, Amount::ZERO);
        if market.rules().risk {
            let instrument = &market.instrument;
            notional = instrument
                .notional(price, quantity)
                .expect("a limit of at least the price was checked when the order came in");
            let base_amount = instrument.base_amount(quantity);
            let fee_ppm = market.auction_rules.fee_ppm;
            let detail = self.open.get_mut(buy.at());
            buyer_fee = detail.fees.charge_auction(fee_ppm, notional);
            let needed = market.reserve(Side::Buy, detail.price, buy_left, detail.fees);
            buyer_unreserved = Amount(detail.reserved.0 - needed.0);
            detail.reserved = needed;
            let detail = self.open.get_mut(sell.at());
            seller_fee = detail.fees.charge_auction(fee_ppm, notional);
            detail.reserved.0 -= base_amount.0;
            if let Some(LotFees { auction, .. }) = market.terms.lot_fees {
                buyer_fee = market.lot_fee(auction, Side::Buy, quantity, notional);
                seller_fee = market.lot_fee(auction, Side::Sell, quantity, notional);
            }
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
        (market.last_price, market.auction_price) = (price, price);
        market.book.reduce(&mut self.orders, buy, quantity);
        market.book.reduce(&mut self.orders, sell, quantity);
        let instrument = market.instrument.id;
        for (slot, left) in [(buy, buy_left), (sell, sell_left)] {
            if left == Quantity::ZERO {
                self.retire(slot.at(), None, Quantity::ZERO);
            } else if self.open.get(slot.at()).attributes.role == Role::Iceberg {
                self.display_again(slot, left);
            }
        }
        self.trade_count += 1;
        let buyer = (bought.id, self.accounts.get(buyer).id, buy_left, buyer_fee);
        let seller = (sold.id, self.accounts.get(seller).id, sell_left, seller_fee);
        // The order that was entered later counts as the incoming one.
        let (taker_side, maker, taker) = match bought.id < sold.id {
            true => (Side::Sell, buyer, seller),
            false => (Side::Buy, seller, buyer),
        };
        sink.event(&Event::Trade(Trade {
            trade: TradeId::from_parts(self.engine, self.trade_count),
            instrument,
            taker_side,
            auction: true,
            price,
            quantity,
            maker_order: maker.0,
            taker_order: taker.0,
            maker_account: maker.1,
            taker_account: taker.1,
            maker_remaining: maker.2,
            taker_remaining: taker.2,
            notional,
            maker_fee: maker.3,
            taker_fee: taker.3,
            buyer_unreserved,
        }));
        self.reach_triggers(at, price);
    }
}
