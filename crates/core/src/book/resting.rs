//! One instrument's resting orders: two sides of levels in price-time priority.

use super::hint::Hint;
use super::index::EntryIndex;
use super::ladder::Ladder;
use super::level::{LevelView, Levels, NO_LEVEL};
use super::orders::{BookRefusal, NONE, Orders, Slot};
use super::prefetch::prefetch;
use super::walk::{LevelWalk, OrderWalk};
use rialto_model::{MemberId, OrderId, Price, Quantity, Side};

/// The distance from the best level, in levels, of the level that is prefetched, ...
const FAR: usize = 9;
/// ... of the level whose first order is, ...
const SOON: usize = 6;
/// ... and of the level whose first order's index entry is.
const NEXT: usize = 3;

/// A fill of the order at the head of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filled {
    /// The slot of the order, which is free if the order was filled.
    pub slot: Slot,
    /// The order.
    pub id: OrderId,
    /// The owner.
    pub owner: MemberId,
    /// The price of its level.
    pub price: Price,
    /// The quantity of the fill.
    pub quantity: Quantity,
    /// The remaining quantity; zero means that the order has left the book.
    pub remaining: Quantity,
}

/// A limit order for a [`Book`].
#[derive(Clone, Copy, Debug)]
pub struct LimitOrder {
    /// Unique among the orders that rest.
    pub id: OrderId,
    /// Buys or sells.
    pub side: Side,
    /// The worst price.
    pub price: Price,
    /// The quantity, positive.
    pub quantity: Quantity,
    /// The owner.
    pub owner: MemberId,
}

/// The book of one instrument.
///
/// It holds levels and queues. The orders are in the [`Orders`] that its methods are given, which
/// must be the same every time. A [`Slot`] passed in must hold an order of this book.
pub struct Book {
    ladders: [Ladder; 2],
    pub(super) levels: Levels,
    hint: Hint,
    counts: [usize; 2],
}

/// Turns prices of a side into keys that ascend from worst to best; and back.
#[inline]
pub(super) fn key(side: Side, price: Price) -> i64 {
    // Flipping all bits reverses the order of all integers and, unlike negation, has no overflow.
    price.0 ^ -i64::from(side as u8)
}

impl Default for Book {
    fn default() -> Book {
        Book::new()
    }
}

impl Book {
    /// An empty book.
    #[must_use]
    pub fn new() -> Book {
        Book {
            ladders: [Ladder::new(), Ladder::new()],
            levels: Levels::new(),
            hint: Hint::new(),
            counts: [0; 2],
        }
    }

    /// Makes room for `levels` levels, so that no insertion below that number allocates.
    pub fn reserve(&mut self, levels: usize) {
        self.levels.reserve(levels);
        self.ladders.iter_mut().for_each(|ladder| ladder.reserve(levels));
    }

    #[inline]
    pub(super) fn ladder(&self, side: Side) -> &Ladder {
        &self.ladders[usize::from(side as u8 & 1)]
    }

    #[inline]
    fn ladder_mut(&mut self, side: Side) -> &mut Ladder {
        &mut self.ladders[usize::from(side as u8 & 1)]
    }

    #[inline]
    fn count_mut(&mut self, side: Side) -> &mut usize {
        &mut self.counts[usize::from(side as u8 & 1)]
    }

    /// Puts an order at the end of the queue at its price. It does not match: the caller has
    /// matched the order first, or leaves the book crossed on purpose.
    ///
    /// # Errors
    /// A [`BookRefusal`] that leaves everything as it was.
    #[inline(always)]
    pub fn insert(&mut self, orders: &mut Orders, order: LimitOrder) -> Result<Slot, BookRefusal> {
        let LimitOrder { id, side, price, quantity, owner } = order;
        self.insert_fields(orders, side, price, id, quantity, owner)
    }

    /// [`Self::insert`] with fields in registers. An order of 40 bytes would go through memory: the
    /// book alone was 8 % slower so in the mix of exchange-core.
    #[inline]
    fn insert_fields(
        &mut self,
        orders: &mut Orders,
        side: Side,
        price: Price,
        id: OrderId,
        quantity: Quantity,
        owner: MemberId,
    ) -> Result<Slot, BookRefusal> {
        let at = orders.admit(id, quantity, owner)?;
        if !self.link(orders, at, side, price, quantity) {
            let place = orders.place_of(at);
            orders.release(at, place);
            return Err(BookRefusal::LevelFull);
        }
        Ok(Slot::new(at).expect("the slab never hands out slot 0"))
    }

    /// Puts an order that has a slot at the end of the queue at a price. False, and nothing is done, if the
    /// quantities there would be too much.
    #[inline(always)]
    fn link(
        &mut self,
        orders: &mut Orders,
        at: u32,
        side: Side,
        price: Price,
        quantity: Quantity,
    ) -> bool {
        let number = match self.hinted(side, price) {
            NO_LEVEL => self.find_or_open(side, price),
            number => number,
        };
        let level = &mut self.levels.slab[number as usize];
        let Some(total) = level.quantity.checked_add(quantity) else { return false };
        let tail = level.tail;
        level.quantity = total;
        level.orders += 1;
        level.tail = at;
        if level.head == NONE {
            level.head = at;
        }
        let node = &mut orders.nodes[at as usize];
        node.level = number;
        node.prev = tail;
        node.next = NONE;
        orders.nodes[tail as usize].next = at;
        *self.count_mut(side) += 1;
        true
    }

    /// Moves an order of this book to the end of the queue at a price of another one. It keeps its slot.
    /// The quantities there must have room for it.
    pub(crate) fn move_to(
        &mut self,
        other: &mut Book,
        orders: &mut Orders,
        slot: Slot,
        (side, price): (Side, Price),
    ) {
        let quantity = self.unlink(orders, slot.at());
        let moved = other.link(orders, slot.at(), side, price, quantity);
        assert!(moved, "there is room for the order");
    }

    /// Moves an order to the end of the queue at another price, with another quantity. The quantities there
    /// must have room for it.
    pub(crate) fn move_to_price(
        &mut self,
        orders: &mut Orders,
        slot: Slot,
        price: Price,
        quantity: Quantity,
    ) {
        let (side, _) = self.locate(orders, slot);
        self.unlink(orders, slot.at());
        orders.nodes[slot.index()].remaining = quantity;
        let linked = self.link(orders, slot.at(), side, price, quantity);
        assert!(linked, "there is room for the order");
    }

    /// Changes the quantity of an order, which keeps its place. The quantities there must have room for it.
    pub(crate) fn resize(&mut self, orders: &mut Orders, slot: Slot, quantity: Quantity) {
        let remaining = orders.get(slot).remaining;
        if quantity < remaining {
            self.reduce(orders, slot, Quantity(remaining.0 - quantity.0));
        } else {
            self.enlarge(orders, slot, Quantity(quantity.0 - remaining.0));
        }
    }

    /// Moves an order to the end of the queue at its price.
    pub(crate) fn requeue(&mut self, orders: &mut Orders, slot: Slot) {
        if orders.nodes[slot.index()].next == NONE {
            return;
        }
        let (side, price) = self.locate(orders, slot);
        let quantity = self.unlink(orders, slot.at());
        let linked = self.link(orders, slot.at(), side, price, quantity);
        assert!(linked, "there is room where the order was");
    }

    /// Whether no other order is at the price of an order.
    pub(crate) fn is_alone(&self, orders: &Orders, slot: Slot) -> bool {
        self.levels.slab[orders.nodes[slot.index()].level as usize].orders == 1
    }

    /// Adds to an order, which keeps its place. The quantities there must have room for it.
    pub(crate) fn enlarge(&mut self, orders: &mut Orders, slot: Slot, by: Quantity) {
        let node = &mut orders.nodes[slot.index()];
        let level = &mut self.levels.slab[node.level as usize];
        let total = level.quantity.checked_add(by);
        level.quantity = total.expect("there is room for the quantity");
        node.remaining.0 += by.0;
    }

    /// The level at a price if the hint knows it, or none.
    #[inline]
    fn hinted(&self, side: Side, price: Price) -> u32 {
        let number = self.hint.get(side, price);
        let level = &self.levels.slab[number as usize];
        let is_it = (level.orders != 0) & (level.price == price) & (level.side == side);
        if is_it { number } else { NO_LEVEL }
    }

    /// Prefetches the level that an order at this price joins.
    #[inline]
    pub fn prepare(&self, side: Side, price: Price) {
        if self.hinted(side, price) == NO_LEVEL {
            self.ladder(side).prefetch(key(side, price));
        }
    }

    /// Prefetches the first orders of the levels behind the best one of a side, step by step: to be
    /// called each time that the best level is empty. Returns the slots of an order that trades
    /// soon, and of one that trades very soon.
    #[inline]
    pub fn prepare_makers(&self, orders: &Orders, side: Side) -> [Option<Slot>; 2] {
        let ladder = self.ladder(side);
        let level = |places| &self.levels.slab[ladder.behind_best(places) as usize];
        prefetch(level(FAR));
        let [soon, next] = [SOON, NEXT].map(|places| level(places).head);
        prefetch(&orders.nodes[soon as usize]);
        orders.prefetch(orders.nodes[next as usize].id);
        [soon, next].map(Slot::new)
    }

    /// Finds a level that the hint does not know, or opens one.
    #[inline(never)]
    fn find_or_open(&mut self, side: Side, price: Price) -> u32 {
        let key = key(side, price);
        let spot = self.ladder(side).seek(key);
        let mut number = spot.level;
        if number == NO_LEVEL {
            number = self.levels.open(price, side);
            self.ladder_mut(side).insert(spot, key, number);
        }
        self.hint.set(side, price, number);
        number
    }

    /// Takes an order out of the book; returns its remaining quantity.
    #[inline]
    pub fn remove(&mut self, orders: &mut Orders, slot: Slot) -> Quantity {
        let place = orders.place_of(slot.at());
        self.remove_at(orders, slot.at(), place)
    }

    #[inline]
    pub(super) fn remove_at(
        &mut self,
        orders: &mut Orders,
        at: u32,
        place: EntryIndex,
    ) -> Quantity {
        let remaining = self.unlink(orders, at);
        orders.release(at, place);
        remaining
    }

    /// Takes an order out of its queue. It keeps its slot.
    #[inline(always)]
    fn unlink(&mut self, orders: &mut Orders, at: u32) -> Quantity {
        let node = orders.nodes[at as usize];
        // Where there is no neighbour, the write goes to the node of `NONE`, which is never read.
        orders.nodes[node.prev as usize].next = node.next;
        orders.nodes[node.next as usize].prev = node.prev;
        let level = &mut self.levels.slab[node.level as usize];
        level.head = if node.prev == NONE { node.next } else { level.head };
        level.tail = if node.next == NONE { node.prev } else { level.tail };
        level.quantity = Quantity(level.quantity.0 - node.remaining.0);
        level.orders -= 1;
        let (side, price) = (level.side, level.price);
        if level.orders == 0 {
            self.levels.close(node.level);
            self.ladder_mut(side).remove(key(side, price));
        }
        *self.count_mut(side) -= 1;
        node.remaining
    }

    /// Reduces an order by `by`, without changing its priority; returns the remaining quantity. At
    /// zero, the order leaves the book. `by` must not be negative.
    #[inline]
    pub fn reduce(&mut self, orders: &mut Orders, slot: Slot, by: Quantity) -> Quantity {
        debug_assert!(by.0 >= 0, "an order is never reduced by less than nothing");
        let node = &mut orders.nodes[slot.index()];
        if by >= node.remaining {
            self.remove(orders, slot);
            return Quantity::ZERO;
        }
        node.remaining.0 -= by.0;
        self.levels.slab[node.level as usize].quantity.0 -= by.0;
        node.remaining
    }

    /// Fills the order with the highest priority of a side with as much of `quantity` as it has
    /// open, at its price. `None` if nothing rests on that side. `quantity` must be positive.
    #[inline]
    pub fn fill_front(
        &mut self,
        orders: &mut Orders,
        side: Side,
        quantity: Quantity,
    ) -> Option<Filled> {
        let slot = self.front(side)?;
        let node = orders.nodes[slot.index()];
        let price = self.levels.slab[node.level as usize].price;
        let quantity = quantity.min(node.remaining);
        let remaining = self.reduce(orders, slot, quantity);
        Some(Filled { slot, id: node.id, owner: node.owner, price, quantity, remaining })
    }

    /// The best price of a side: the highest to buy, the lowest to sell.
    #[must_use]
    #[inline]
    pub fn best(&self, side: Side) -> Option<Price> {
        let number = self.ladder(side).best();
        (number != NO_LEVEL).then(|| self.levels.slab[number as usize].price)
    }

    /// The order with the highest priority of a side: the first of its best level.
    #[must_use]
    #[inline]
    pub fn front(&self, side: Side) -> Option<Slot> {
        // The level of `NO_LEVEL` has no head, so an empty side needs no branch of its own.
        Slot::new(self.levels.slab[self.ladder(side).best() as usize].head)
    }

    /// Whether the best price of the side opposite to `side` is at `limit` or better, so that an
    /// order of that side and limit would trade.
    #[must_use]
    #[inline]
    pub fn reaches(&self, side: Side, limit: Price) -> bool {
        let other = side.opposite();
        let number = self.ladder(other).best();
        let best = self.levels.slab[number as usize].price;
        (number != NO_LEVEL) & (key(other, best) >= key(other, limit))
    }

    /// The level at a price, if any order rests there.
    #[must_use]
    #[inline]
    pub fn level(&self, side: Side, price: Price) -> Option<LevelView> {
        let number = match self.hinted(side, price) {
            NO_LEVEL => self.ladder(side).seek(key(side, price)).level,
            number => number,
        };
        (number != NO_LEVEL).then(|| self.levels.slab[number as usize].view())
    }

    /// The first and the last order of the level at a price, if any order rests there.
    #[must_use]
    pub fn ends_at(&self, side: Side, price: Price) -> Option<(Slot, Slot)> {
        let number = self.ladder(side).seek(key(side, price)).level;
        let level = &self.levels.slab[number as usize];
        // The level of `NO_LEVEL` has neither.
        Slot::new(level.head).zip(Slot::new(level.tail))
    }

    /// The side and price at which an order rests.
    #[must_use]
    #[inline]
    pub fn locate(&self, orders: &Orders, slot: Slot) -> (Side, Price) {
        let level = &self.levels.slab[orders.nodes[slot.index()].level as usize];
        (level.side, level.price)
    }

    /// The levels of a side, from the best.
    #[must_use]
    #[inline]
    pub fn levels(&self, side: Side) -> LevelWalk<'_> {
        LevelWalk::new(self, side)
    }

    /// The levels of a side that are worse than a price, from the best of them.
    #[must_use]
    pub fn levels_behind(&self, side: Side, price: Price) -> LevelWalk<'_> {
        LevelWalk::behind(self, side, price)
    }

    /// The orders of a side in priority: by price from the best, then by time.
    #[must_use]
    #[inline]
    pub fn orders<'a>(&'a self, orders: &'a Orders, side: Side) -> OrderWalk<'a> {
        OrderWalk::new(self, orders, side)
    }

    /// The orders of the buys in priority, and then those of the sells.
    pub(crate) fn all_orders<'a>(&'a self, orders: &'a Orders) -> impl Iterator<Item = Slot> + 'a {
        [Side::Buy, Side::Sell].into_iter().flat_map(move |side| self.orders(orders, side))
    }

    /// How many levels of a side are occupied.
    #[must_use]
    #[inline]
    pub fn level_count(&self, side: Side) -> usize {
        self.ladder(side).len()
    }

    /// How many orders rest on a side.
    #[must_use]
    #[inline]
    pub fn order_count(&self, side: Side) -> usize {
        self.counts[usize::from(side as u8 & 1)]
    }

    /// Whether the best buy price is at or above the best sell price.
    #[must_use]
    #[inline]
    pub fn is_crossed(&self) -> bool {
        self.best(Side::Sell).is_some_and(|price| self.reaches(Side::Sell, price))
    }
}
