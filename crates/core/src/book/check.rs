//! Validation of a whole book, for tests and for invariant checks in debug builds.

use super::orders::{NONE, Orders};
use super::resting::{Book, key};
use rialto_model::{Price, Side};

/// A book whose parts disagree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BookViolation {
    /// A ladder is out of shape.
    #[error("the {side:?} ladder is damaged: {what}")]
    Ladder {
        /// The side.
        side: Side,
        /// The fault.
        what: &'static str,
    },
    /// A level does not agree with the ladder or with its orders.
    #[error("the {side:?} level at {price} is damaged: {what}")]
    Level {
        /// The side.
        side: Side,
        /// The price.
        price: Price,
        /// The fault.
        what: &'static str,
    },
    /// The count of a side is not the number of its orders.
    #[error("the {side:?} side counts {counted} orders and holds {held}")]
    Count {
        /// The side.
        side: Side,
        /// The count.
        counted: usize,
        /// The orders found.
        held: usize,
    },
}

impl Book {
    /// Checks that ladders, levels, queues, totals, counts and the index agree. It walks the whole
    /// book, so it is meant for tests and debug assertions.
    ///
    /// # Errors
    /// The first [`BookViolation`] that is found.
    pub fn check(&self, orders: &Orders) -> Result<(), BookViolation> {
        for side in [Side::Buy, Side::Sell] {
            let entries =
                self.ladder(side).check().map_err(|what| BookViolation::Ladder { side, what })?;
            let mut held = 0;
            for (entry_key, number) in entries {
                let level = &self.levels.slab[number as usize];
                let price = level.price;
                if level.side != side || key(side, price) != entry_key {
                    let what = "it stands at another price or side of the ladder";
                    return Err(BookViolation::Level { side, price, what });
                }
                self.check_queue(orders, number).map_err(|what| BookViolation::Level {
                    side,
                    price,
                    what,
                })?;
                held += level.orders as usize;
            }
            let counted = self.order_count(side);
            if counted != held {
                return Err(BookViolation::Count { side, counted, held });
            }
        }
        Ok(())
    }

    fn check_queue(&self, orders: &Orders, number: u32) -> Result<(), &'static str> {
        let level = &self.levels.slab[number as usize];
        let (mut at, mut prev, mut count, mut total) = (level.head, NONE, 0, 0_i128);
        while at != NONE {
            let node = &orders.nodes[at as usize];
            if node.level != number || node.prev != prev {
                return Err("an order in its queue is linked elsewhere");
            }
            if node.remaining.0 <= 0 {
                return Err("an order in its queue has nothing open");
            }
            if orders.find(node.id).map(|slot| slot.at()) != Some(at) {
                return Err("an order in its queue is missing from the index");
            }
            total += i128::from(node.remaining.0);
            count += 1;
            if count > level.orders {
                return Err("its queue is longer than its count");
            }
            (prev, at) = (at, node.next);
        }
        match () {
            () if prev != level.tail => Err("its queue does not end at its tail"),
            () if count != level.orders || count == 0 => Err("its count differs from its queue"),
            () if total != i128::from(level.quantity.0) => Err("its total differs from its queue"),
            () => Ok(()),
        }
    }
}
