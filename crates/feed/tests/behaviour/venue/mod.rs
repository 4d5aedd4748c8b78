//! A core and a feed side by side: commands go into the one, its events into the other.
#![allow(unreachable_pub, reason = "a test program has no public interface")]

use rialto_core::{Core, CoreConfig};
use rialto_desk::baseline_order;
use rialto_feed::{AuctionResult, Depth, Feed, FeedConfig, PriceLevel, Update};
use rialto_model::*;
use std::collections::BTreeMap;

pub type Commands = Vec<(Seq, Timestamp, Vec<Event>)>;

/// A book as a client keeps it: the first book it was given and the deltas after it.
#[derive(Default)]
pub struct Mirror {
    pub last_seq: Seq,
    pub levels: [BTreeMap<Price, PriceLevel>; 2],
    /// The prices of levels that a delta removed and that were never published.
    pub never_there: Vec<Price>,
}

impl Mirror {
    pub fn apply(&mut self, delta: &rialto_feed::BookDelta) {
        assert_eq!(delta.prev_seq, self.last_seq, "a gap in the deltas");
        assert!(delta.first_seq > delta.prev_seq && delta.first_seq <= delta.last_seq);
        self.last_seq = delta.last_seq;
        for side in [Side::Buy, Side::Sell] {
            for level in delta.side(side) {
                let levels = &mut self.levels[side as usize];
                match level.orders {
                    0 if levels.remove(&level.price).is_none() => {
                        self.never_there.push(level.price)
                    }
                    0 => {}
                    _ => drop(levels.insert(level.price, *level)),
                }
            }
        }
    }

    pub fn assert_equals(&self, depth: &Depth) {
        assert_eq!(self.last_seq, depth.last_seq);
        assert!(self.levels[0].values().rev().eq(&depth.bids), "bids differ");
        assert!(self.levels[1].values().eq(&depth.asks), "asks differ");
    }
}

pub struct Venue {
    pub core: Core,
    pub feed: Feed,
    pub history: Commands,
    pub mirrors: BTreeMap<InstrumentId, Mirror>,
}

impl Venue {
    pub fn new(config: FeedConfig) -> Venue {
        Venue {
            core: Core::new(CoreConfig::new(EngineId(0))),
            feed: Feed::new(config),
            history: Vec::new(),
            mirrors: BTreeMap::new(),
        }
    }

    /// Applies one command at `time`, after the ticks that are due before it.
    pub fn send(&mut self, time: Timestamp, command: &Command) -> Outcome {
        let time = time.max(self.core.time());
        self.catch_up(time);
        if self.core.next_background_work() <= time {
            self.apply(time, &Command::Tick);
            // A triggered order may have more to match than a command may.
            self.catch_up(time);
        }
        self.apply(time, command)
    }

    fn catch_up(&mut self, time: Timestamp) {
        while self.core.next_due() <= time {
            self.apply(self.core.next_due().max(self.core.time()), &Command::Tick);
        }
    }

    /// Applies ticks until nothing is left that an earlier command began.
    pub fn finish(&mut self) {
        while self.core.next_due() == Timestamp::ZERO || self.core.has_background_work() {
            self.apply(self.core.time(), &Command::Tick);
        }
    }

    pub fn apply(&mut self, time: Timestamp, command: &Command) -> Outcome {
        let seq = self.core.seq().next();
        let mut events = Vec::new();
        let outcome = self.core.apply(seq, time, command, &mut events);
        let Venue { feed, mirrors, .. } = self;
        let mut hear = |update: Update<'_>| match update {
            Update::Book(delta) => mirrors.get_mut(&delta.instrument).unwrap().apply(delta),
            Update::Instrument(instrument) => {
                let mirror = Mirror { last_seq: seq, ..Mirror::default() };
                mirrors.entry(instrument.id).or_insert(mirror);
            }
            _ => {}
        };
        fold(feed, seq, time, &events, &mut hear);
        self.history.push((seq, time, events));
        outcome
    }

    /// Compares the feed with the core in everything that both hold.
    pub fn compare(&self) {
        let (core, feed) = (&self.core, &self.feed);
        feed.check().unwrap();
        assert_eq!((feed.seq(), feed.time()), (core.seq(), core.time()));
        assert_eq!(feed.currencies(), core.currencies());
        assert!(feed.instruments().eq(core.instruments().map(|view| view.instrument)));
        let members = core.members().iter().map(|member| member.id);
        assert_eq!(feed.members().count(), members.clone().count());
        assert!(members.into_iter().all(|id| feed.member(id).is_some()));
        assert!(feed.restrictions(None).eq(core.restrictions()));
        for account in core.accounts() {
            let view = feed.account(account.id).unwrap();
            assert_eq!((view.member, view.name), (account.member, account.name));
            let due = (account.dead_man_due != Timestamp::MAX).then_some(account.dead_man_due);
            assert_eq!(view.dead_man, due);
            self.compare_balances(account.id);
            let held = core.withdrawals().into_iter();
            let held = held.filter(|held| held.transfer.account == account.id);
            let held = held.map(|held| (held.transfer.reference, held.seq, held.held_at));
            let told = feed.withdrawals(account.id).into_iter();
            assert!(held.eq(told.map(|told| (told.reference, told.held.seq, told.held.time))));
            if core.next_due() != Timestamp::ZERO {
                assert_eq!(view.open_orders, account.open_orders);
                let orders: Vec<_> = core.orders_of(account.id).map(|order| order.id).collect();
                let open: Vec<_> = feed.open_orders(account.id).map(|order| order.order).collect();
                assert_eq!(open, orders);
            }
        }
        for house in [AccountId::FEES, AccountId::TRANSIT] {
            self.compare_balances(house);
        }
        self.compare_calendars();
        for view in core.instruments() {
            assert_eq!(feed.calendar_of(view.instrument.id).unwrap_or_default(), view.calendar);
            let auction = feed.auction(view.instrument.id).unwrap();
            assert_eq!(auction.halted_until, view.halted_until);
            let limit_state = auction.limit_state.map(|it| (it.side, it.until));
            assert_eq!(limit_state, view.limit_state);
            self.compare_book(view.instrument.id);
            let last = (view.last_price != Price::ZERO).then_some(view.last_price);
            assert_eq!(feed.ticker(view.instrument.id).unwrap().last, last);
        }
    }

    fn compare_calendars(&self) {
        assert_eq!(self.feed.calendars().len(), self.core.calendars().len());
        for (told, held) in self.feed.calendars().iter().zip(self.core.calendars()) {
            assert_eq!((told.name, told.digest), (held.name, held.digest));
            let begun = told.begun.map(|it| (it.at, it.state));
            assert_eq!(begun, held.begun.map(|it| (it.at, it.state)));
            assert!(told.planned.iter().eq(held.ahead));
            assert_eq!(told.breaker.map(|it| (it.rule, it.is_armed)), held.breaker);
            assert_eq!(told.plan, held.draft);
        }
    }

    fn compare_balances(&self, account: AccountId) {
        for currency in self.core.currencies() {
            let core = self.core.balance(account, currency.id).unwrap();
            let feed = self.feed.balance(account, currency.id).unwrap();
            assert_eq!((feed.available, feed.reserved), (core.available, core.reserved));
        }
    }

    fn compare_book(&self, id: InstrumentId) {
        let book = self.feed.order_book(id, usize::MAX).unwrap();
        let depth = self.feed.depth(id, usize::MAX).unwrap();
        self.mirrors[&id].assert_equals(&depth);
        let best = self.feed.best_prices(id).unwrap();
        assert_eq!(
            (best.bid, best.ask),
            (depth.bids.first().copied(), depth.asks.first().copied())
        );
        let view = self.core.instrument(id).unwrap();
        assert_eq!(self.feed.terms(id), Some(view.terms));
        let mode = view.auction_rules.call_depth;
        if mode != CallDepth::Full && view.instrument.state.may_be_crossed() {
            let indicative = self.feed.auction(id).unwrap().indicative;
            let shown = indicative.filter(|_| mode == CallDepth::Indicative);
            let level = |left: i64| {
                let quantity = |it: AuctionResult| Quantity(it.volume.0 + left.max(0));
                let level = |it: AuctionResult| PriceLevel {
                    price: it.price,
                    quantity: quantity(it),
                    orders: 1,
                };
                shown.map(level).into_iter().collect::<Vec<_>>()
            };
            let surplus = shown.map_or(0, |it| it.surplus.0);
            assert_eq!((depth.bids, depth.asks), (level(surplus), level(-surplus)));
            assert!(book.bids.is_empty() && book.asks.is_empty());
            return;
        }
        let core_book = self.core.book(id).unwrap();
        let sides = [(Side::Buy, &book.bids, &depth.bids), (Side::Sell, &book.asks, &depth.asks)];
        for (side, orders, levels) in sides {
            assert_eq!(orders.len(), self.core.orders(id, side).count());
            for (public, order) in orders.iter().zip(self.core.orders(id, side)) {
                assert_eq!(public.order, order.id);
                assert_eq!((public.price, public.displayed), (order.price, displayed(&order)));
                self.compare_order(&order);
            }
            assert_eq!(levels.len(), core_book.level_count(side));
            for level in levels {
                let core_level = core_book.level(side, level.price).unwrap();
                let at_price = self.core.orders(id, side).filter(|it| it.price == level.price);
                let hidden: i64 = at_price.map(|it| it.remaining.0 - displayed(&it).0).sum();
                assert_eq!(level.quantity.0, core_level.quantity.0 - hidden);
            }
        }
    }

    fn compare_order(&self, order: &rialto_core::OrderState) {
        let view = self.feed.order(order.id).unwrap();
        assert!(view.status.is_open() && view.resting);
        assert_eq!(view.filled.0 > 0, view.status == OrderStatus::PartiallyFilled);
        let baseline = baseline_order(order);
        assert_eq!((view.order, view.terms), (baseline.order, baseline.terms));
        assert_eq!((view.quantity, view.filled), (baseline.quantity, baseline.filled));
        assert_eq!((view.remaining, view.reserved), (baseline.remaining, baseline.reserved));
        assert_eq!((view.iceberg, view.links), (baseline.iceberg, baseline.links));
        if !order.client_order_id.is_empty() {
            let found = self.feed.order_by_client_id(order.account, order.client_order_id);
            assert_eq!(found.map(|found| found.order), Some(order.id));
        }
    }
}

/// What an order on the book displays.
fn displayed(order: &rialto_core::OrderState) -> Quantity {
    order.iceberg.map_or(order.remaining, |iceberg| iceberg.displayed)
}

pub fn fold(
    feed: &mut Feed,
    seq: Seq,
    time: Timestamp,
    events: &[Event],
    hear: &mut impl FnMut(Update<'_>),
) {
    for event in events {
        feed.fold(seq, time, event, hear).unwrap();
    }
    feed.end_of(seq, time, hear).unwrap();
    // Now and then, as on a busy machine.
    if seq.0.is_multiple_of(3) {
        refresh(feed, hear);
    }
}

/// Computes the indicative prices that may have changed.
pub fn refresh(feed: &mut Feed, hear: &mut impl FnMut(Update<'_>)) {
    let calls: Vec<_> = feed.auctions_to_refresh().collect();
    calls.into_iter().for_each(|instrument| feed.refresh_auction(instrument, hear));
}
