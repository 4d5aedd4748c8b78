//! A book that stands alone: plain limit orders, matched at the resting order's price.

use super::orders::{Order, Orders, Refused};
use super::resting::Book;
use rialto_model::{MemberId, OrderId, Price, Quantity, Side};

/// A trade between a resting order and an incoming one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The order that rested.
    pub maker: OrderId,
    /// Whose it is.
    pub maker_owner: MemberId,
    /// The order that came in.
    pub taker: OrderId,
    /// The price of the resting order.
    pub price: Price,
    /// How much was traded.
    pub quantity: Quantity,
}

/// A limit order book for use as a library: orders, and one [`Book`].
///
/// Orders are good till cancelled and match in price-time priority at the resting order's price.
/// Ids are the caller's; they must be unique among resting orders.
pub struct LimitOrderBook {
    orders: Orders,
    book: Book,
}

impl LimitOrderBook {
    /// A book with room for `orders` resting orders, which is also its limit.
    #[must_use]
    pub fn with_capacity(orders: usize) -> LimitOrderBook {
        let mut book = LimitOrderBook { orders: Orders::with_limit(orders), book: Book::new() };
        book.orders.reserve(orders);
        book.book.reserve(orders.min(Self::LEVELS_READY));
        book
    }

    /// Levels that room is made for from the start; more of them make the book grow as it goes.
    const LEVELS_READY: usize = 4_096;

    /// Places a limit order: trades what the price reaches, calls `on_fill` for each fill in turn,
    /// and lets the rest rest. Returns the quantity that rests.
    ///
    /// # Errors
    /// [`Refused`] if the quantity is not positive, or if what is left after trading cannot rest:
    /// the fills stand, and the remainder is dropped. An id that rests already is refused before
    /// anything trades.
    #[inline]
    pub fn place(
        &mut self,
        id: OrderId,
        side: Side,
        price: Price,
        quantity: Quantity,
        owner: MemberId,
        on_fill: &mut impl FnMut(Fill),
    ) -> Result<Quantity, Refused> {
        let mut left = quantity;
        if self.book.reaches(side, price) && quantity.0 > 0 {
            if self.orders.find(id).is_some() {
                return Err(Refused::DuplicateId);
            }
            let maker_side = side.opposite();
            while let Some(filled) = self.book.fill_front(&mut self.orders, maker_side, left) {
                on_fill(Fill {
                    maker: filled.id,
                    maker_owner: filled.owner,
                    taker: id,
                    price: filled.price,
                    quantity: filled.quantity,
                });
                left.0 -= filled.quantity.0;
                if left.0 == 0 {
                    return Ok(Quantity::ZERO);
                }
                if !self.book.reaches(side, price) {
                    break;
                }
            }
        }
        self.book.insert(&mut self.orders, side, price, id, left, owner)?;
        Ok(left)
    }

    /// Cancels a resting order; returns it as it was, or nothing if no such order rests.
    #[inline]
    pub fn cancel(&mut self, id: OrderId) -> Option<Order> {
        let (place, at) = self.orders.locate(id)?;
        let owner = self.orders.nodes[at as usize].owner;
        let remaining = self.book.remove_at(&mut self.orders, at, place);
        Some(Order { id, owner, remaining })
    }

    /// The levels and queues.
    #[must_use]
    #[inline]
    pub fn book(&self) -> &Book {
        &self.book
    }

    /// The resting orders.
    #[must_use]
    #[inline]
    pub fn orders(&self) -> &Orders {
        &self.orders
    }
}
