//! Walks over a side from the best price: level by level, or order by order.

use super::ladder::Step;
use super::level::{LevelView, NO_LEVEL};
use super::orders::{Orders, Slot};
use super::resting::{Book, key};
use rialto_model::{Price, Side};
use std::iter::FusedIterator;

/// The levels of a side, from the best; see [`Book::levels`].
#[derive(Clone)]
pub struct LevelWalk<'a> {
    book: &'a Book,
    side: Side,
    step: Step,
}

impl<'a> LevelWalk<'a> {
    #[inline]
    pub(super) fn new(book: &'a Book, side: Side) -> LevelWalk<'a> {
        LevelWalk { book, side, step: book.ladder(side).top() }
    }

    /// The levels that are worse than a price.
    pub(super) fn behind(book: &'a Book, side: Side, price: Price) -> LevelWalk<'a> {
        LevelWalk { book, side, step: book.ladder(side).worse_than(key(side, price)) }
    }

    #[inline]
    fn next_level(&mut self) -> u32 {
        self.book.ladder(self.side).step(&mut self.step)
    }
}

impl Iterator for LevelWalk<'_> {
    type Item = LevelView;

    #[inline]
    fn next(&mut self) -> Option<LevelView> {
        let number = self.next_level();
        (number != NO_LEVEL).then(|| self.book.levels.slab[number as usize].view())
    }
}

impl FusedIterator for LevelWalk<'_> {}

/// The orders of a side in priority; see [`Book::orders`].
#[derive(Clone)]
pub struct OrderWalk<'a> {
    levels: LevelWalk<'a>,
    orders: &'a Orders,
    next: Option<Slot>,
}

impl<'a> OrderWalk<'a> {
    #[inline]
    pub(super) fn new(book: &'a Book, orders: &'a Orders, side: Side) -> OrderWalk<'a> {
        let mut walk = OrderWalk { levels: LevelWalk::new(book, side), orders, next: None };
        walk.enter_level();
        walk
    }

    #[inline]
    fn enter_level(&mut self) {
        // The level of `NO_LEVEL` has no head, which ends the walk.
        let number = self.levels.next_level();
        self.next = Slot::new(self.levels.book.levels.slab[number as usize].head);
    }
}

impl Iterator for OrderWalk<'_> {
    type Item = Slot;

    #[inline]
    fn next(&mut self) -> Option<Slot> {
        let slot = self.next?;
        self.next = Slot::new(self.orders.nodes[slot.index()].next);
        if self.next.is_none() {
            self.enter_level();
        }
        Some(slot)
    }
}

impl FusedIterator for OrderWalk<'_> {}
