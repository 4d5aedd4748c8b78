//! Price levels: the queue and the totals at one price.

use super::orders::NONE;
use rialto_model::{Price, Quantity, Side};

/// No level: the first of the slab, which is never handed out.
pub(super) const NO_LEVEL: u32 = 0;

/// A price level as seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelView {
    /// The price.
    pub price: Price,
    /// The sum of the remaining quantities at this price.
    pub quantity: Quantity,
    /// The number of orders at this price.
    pub orders: u32,
}

/// Half a cache line. (It is not aligned to one, which was measured to gain nothing and would keep
/// the allocator from growing the slab in place.)
#[derive(Clone, Copy)]
pub(super) struct Level {
    pub(super) price: Price,
    pub(super) quantity: Quantity,
    pub(super) head: u32,
    pub(super) tail: u32,
    /// Zero in a free level.
    pub(super) orders: u32,
    pub(super) side: Side,
}

const FREE: Level = Level {
    price: Price(0),
    quantity: Quantity(0),
    head: NONE,
    tail: NONE,
    orders: 0,
    side: Side::Buy,
};

impl Level {
    pub(super) fn view(&self) -> LevelView {
        LevelView { price: self.price, quantity: self.quantity, orders: self.orders }
    }
}

/// The levels of both sides of a book.
pub(super) struct Levels {
    pub(super) slab: Vec<Level>,
    /// The levels given back, linked by `head`.
    free: u32,
    /// Levels from here on have never been used.
    fresh: u32,
}

impl Levels {
    pub(super) fn new() -> Levels {
        Levels { slab: vec![FREE], free: NO_LEVEL, fresh: 1 }
    }

    pub(super) fn reserve(&mut self, levels: usize) {
        if self.slab.len() <= levels {
            self.slab.resize(levels + 1, FREE);
        }
    }

    /// Takes a level without orders.
    #[inline]
    pub(super) fn open(&mut self, price: Price, side: Side) -> u32 {
        let reused = self.free;
        let at = if reused != NO_LEVEL { reused } else { self.fresh };
        if at as usize >= self.slab.len() {
            self.slab.push(FREE);
        }
        let level = &mut self.slab[at as usize];
        self.free = level.head;
        self.fresh += u32::from(reused == NO_LEVEL);
        *level = Level { price, side, ..FREE };
        at
    }

    /// Gives back a level without orders.
    #[inline]
    pub(super) fn close(&mut self, at: u32) {
        let level = &mut self.slab[at as usize];
        level.head = self.free;
        self.free = at;
    }
}
