//! The book of one instrument: orders in queues by price, and the changes since the last delta.

use crate::list::List;
use crate::orders::{Order, Orders, QUEUE};
use crate::update::BookDelta;
use crate::view::{BookOrder, PriceLevel};
use rialto_model::{InstrumentId, OrderKind, Price, Quantity, Seq, Side, Timestamp};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The orders at one price.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) queue: List<QUEUE>,
    /// What remains of its orders.
    pub(crate) total: i128,
    /// The part of it that icebergs do not display.
    pub(crate) hidden: i128,
    /// How many of its orders are market orders at their protection price.
    pub(crate) market: u32,
}

impl Level {
    const EMPTY: Level = Level { queue: List::EMPTY, total: 0, hidden: 0, market: 0 };
}

/// Why an order on a book becomes smaller, which decides what an iceberg displays then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A trade with an incoming order.
    Trade,
    /// A trade of an auction.
    Auction,
    /// Its owner or self-trade prevention has reduced it.
    Reduction,
}

/// Both sides of a book.
#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) bids: BTreeMap<Price, Level>,
    pub(crate) asks: BTreeMap<Price, Level>,
    /// Prices at which what is displayed has changed since the last delta.
    pub(crate) dirty: Vec<(Side, Price)>,
    /// Whether an order has changed since [`Book::take_changed`], hidden quantity included.
    changed: bool,
    dirty_since: Seq,
    pub(crate) last_delta: Seq,
    pub(crate) scratch: BookDelta,
}

impl Book {
    pub(crate) fn new(instrument: InstrumentId, last_delta: Seq) -> Book {
        Book {
            bids: BTreeMap::new(),
            asks: BTreeMap::new(),
            dirty: Vec::new(),
            changed: false,
            dirty_since: Seq::ZERO,
            last_delta,
            scratch: BookDelta {
                instrument,
                first_seq: Seq::ZERO,
                last_seq: Seq::ZERO,
                prev_seq: Seq::ZERO,
                time: Timestamp::ZERO,
                bids: Vec::new(),
                asks: Vec::new(),
            },
        }
    }

    fn side(&mut self, side: Side) -> &mut BTreeMap<Price, Level> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    /// The level of an order on the book.
    fn level_of(&mut self, order: &Order) -> &mut Level {
        let level = self.side(order.terms.side).get_mut(&order.terms.price);
        level.expect("a resting order stands in the level of its price")
    }

    pub(crate) fn levels_of(&self, side: Side) -> &BTreeMap<Price, Level> {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    fn mark(&mut self, side: Side, price: Price, seq: Seq) {
        if self.dirty.is_empty() {
            self.dirty_since = seq;
        }
        if self.dirty.last() != Some(&(side, price)) {
            self.dirty.push((side, price));
        }
    }

    /// Puts an order at the end of its price's queue.
    pub(crate) fn push_back(&mut self, orders: &mut Orders, slot: u32, seq: Seq) {
        let order = &mut orders.slab[slot as usize];
        order.resting = true;
        let (side, price, remaining) = (order.terms.side, order.terms.price, order.remaining);
        let hidden = order.hidden();
        let is_market = order.terms.kind == OrderKind::Market;
        let level = self.side(side).entry(price).or_insert(Level::EMPTY);
        level.total += i128::from(remaining.0);
        level.hidden += i128::from(hidden.0);
        level.market += u32::from(is_market);
        level.queue.push_back(&mut orders.slab, slot);
        self.changed = true;
        self.mark(side, price, seq);
    }

    /// Reduces an order by `by` in place; an order with nothing left leaves the book.
    pub(crate) fn reduce(
        &mut self,
        orders: &mut Orders,
        slot: u32,
        by: Quantity,
        cause: Cause,
        seq: Seq,
    ) {
        let order = &mut orders.slab[slot as usize];
        let (displayed, hidden) = (order.displayed(), order.hidden());
        order.reduce(by, cause);
        order.resting = order.remaining > Quantity::ZERO;
        let less_hidden = Quantity(hidden.0 - order.hidden().0);
        let is_seen = order.displayed() != displayed;
        let (leaves, side, price) = (!order.resting, order.terms.side, order.terms.price);
        self.take(orders, slot, (by, less_hidden), leaves);
        if is_seen {
            self.mark(side, price, seq);
        }
    }

    /// Adds to what an iceberg hides; it keeps its place and what it displays.
    pub(crate) fn enlarge(&mut self, orders: &mut Orders, slot: u32, by: Quantity) {
        let order = &mut orders.slab[slot as usize];
        order.remaining.0 += by.0;
        let level = self.level_of(order);
        level.total += i128::from(by.0);
        level.hidden += i128::from(by.0);
        self.changed = true;
    }

    /// Moves an order to the end of its price's queue.
    pub(crate) fn requeue(&mut self, orders: &mut Orders, slot: u32, seq: Seq) {
        let order = &orders.slab[slot as usize];
        let (side, price) = (order.terms.side, order.terms.price);
        let level = self.level_of(order);
        level.queue.remove(&mut orders.slab, slot);
        level.queue.push_back(&mut orders.slab, slot);
        self.mark(side, price, seq);
    }

    /// Takes an order with its remaining quantity off the book. An iceberg displays nothing then.
    pub(crate) fn remove(&mut self, orders: &mut Orders, slot: u32, seq: Seq) {
        let order = &mut orders.slab[slot as usize];
        order.resting = false;
        let (side, price, remaining) = (order.terms.side, order.terms.price, order.remaining);
        let hidden = order.hidden();
        order.display(Quantity::ZERO);
        self.take(orders, slot, (remaining, hidden), true);
        self.mark(side, price, seq);
    }

    /// Takes quantity off the level of an order, in all and of what is hidden.
    fn take(
        &mut self,
        orders: &mut Orders,
        slot: u32,
        (quantity, hidden): (Quantity, Quantity),
        leaves: bool,
    ) {
        self.changed = true;
        let terms = &orders.slab[slot as usize].terms;
        let (side, price) = (terms.side, terms.price);
        let is_market = terms.kind == OrderKind::Market;
        let Entry::Occupied(mut entry) = self.side(side).entry(price) else {
            unreachable!("a resting order stands in the level of its price");
        };
        let level = entry.get_mut();
        level.total -= i128::from(quantity.0);
        level.hidden -= i128::from(hidden.0);
        if leaves {
            level.market -= u32::from(is_market);
            level.queue.remove(&mut orders.slab, slot);
            if level.queue.len() == 0 {
                entry.remove();
            }
        }
    }

    pub(crate) fn levels(&self, side: Side) -> impl Iterator<Item = PriceLevel> + '_ {
        self.raw_levels(side).map(|(price, level)| shown(price, Some(level)))
    }

    /// Levels of a side with their queues, best first.
    pub(crate) fn raw_levels(&self, side: Side) -> impl Iterator<Item = (Price, &Level)> + '_ {
        // One of the two is empty, so that one type walks either way.
        let (bids, asks) = match side {
            Side::Buy => (Some(self.bids.iter().rev()), None),
            Side::Sell => (None, Some(self.asks.iter())),
        };
        let bids = bids.into_iter().flatten();
        bids.chain(asks.into_iter().flatten()).map(|(price, level)| (*price, level))
    }

    /// Orders of a side, first to trade first.
    pub(crate) fn orders<'a>(
        &'a self,
        side: Side,
        orders: &'a [Order],
    ) -> impl Iterator<Item = &'a Order> + 'a {
        self.raw_levels(side).flat_map(|(_, level)| level.queue.iter(orders))
    }

    pub(crate) fn best(&self, side: Side) -> Option<PriceLevel> {
        let best = match side {
            Side::Buy => self.bids.last_key_value(),
            Side::Sell => self.asks.first_key_value(),
        };
        best.map(|(price, level)| shown(*price, Some(level)))
    }

    /// Whether an order has changed since the last call, hidden quantity included: what would trade in an
    /// auction may then have changed.
    pub(crate) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Takes the changes since the last delta, if any.
    pub(crate) fn take_delta(&mut self, seq: Seq, time: Timestamp) -> Option<&BookDelta> {
        if self.dirty.is_empty() {
            return None;
        }
        self.dirty.sort_unstable();
        self.dirty.dedup();
        let delta = &mut self.scratch;
        delta.first_seq = self.dirty_since;
        delta.last_seq = seq;
        delta.prev_seq = self.last_delta;
        delta.time = time;
        delta.bids.clear();
        delta.asks.clear();
        for (side, price) in self.dirty.drain(..) {
            match side {
                Side::Buy => delta.bids.push(shown(price, self.bids.get(&price))),
                Side::Sell => delta.asks.push(shown(price, self.asks.get(&price))),
            }
        }
        delta.bids.reverse();
        self.last_delta = seq;
        Some(delta)
    }
}

/// A public level, without what is hidden; a price without orders is a level of zero orders.
pub(crate) fn shown(price: Price, level: Option<&Level>) -> PriceLevel {
    let parts = |level: &Level| (level.total - level.hidden, level.queue.len());
    let (displayed, orders) = level.map_or((0, 0), parts);
    let quantity = Quantity(i64::try_from(displayed).unwrap_or(i64::MAX));
    PriceLevel { price, quantity, orders }
}

impl From<&Order> for BookOrder {
    fn from(order: &Order) -> BookOrder {
        BookOrder { order: order.order, price: order.terms.price, displayed: order.displayed() }
    }
}
