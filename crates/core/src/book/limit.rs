//! A book that stands alone: plain limit orders, matched at the resting order's price.

use super::orders::{BookRefusal, Order, Orders};
use super::resting::{Book, LimitOrder};
use rialto_model::{MemberId, OrderId, Price, Quantity};

/// A trade between a resting order and an incoming one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The order that rested.
    pub maker: OrderId,
    /// The owner of the resting order.
    pub maker_owner: MemberId,
    /// The order that came in.
    pub taker: OrderId,
    /// The price of the resting order.
    pub price: Price,
    /// The quantity.
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

    /// Levels that room is made for from the start.
    const LEVELS_READY: usize = 4_096;

    /// Makes room for `levels` price levels. A book has room for 4,096 from the start; more of them
    /// make it grow as it goes, which takes a moment each time that the room doubles.
    pub fn reserve_levels(&mut self, levels: usize) {
        self.book.reserve(levels);
    }

    /// Places a limit order: trades what the price reaches, calls `on_fill` for each fill in turn,
    /// and lets the rest rest. Returns the quantity that rests.
    ///
    /// # Errors
    /// [`BookRefusal`] if the quantity is not positive, or if what is left after trading cannot rest:
    /// the fills stand, and the remainder is dropped. An id that rests already is refused before
    /// anything trades.
    #[inline]
    pub fn place(
        &mut self,
        order: LimitOrder,
        on_fill: &mut impl FnMut(Fill),
    ) -> Result<Quantity, BookRefusal> {
        let LimitOrder { id, side, price, quantity, .. } = order;
        let mut left = quantity;
        if self.book.reaches(side, price) && quantity.0 > 0 {
            if self.orders.find(id).is_some() {
                return Err(BookRefusal::DuplicateId);
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
        self.book.insert(&mut self.orders, LimitOrder { quantity: left, ..order })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::Side;

    /// The resting quantity, and the maker, price and quantity of each fill.
    type Outcome = (Result<i64, BookRefusal>, Vec<(u64, i64, i64)>);

    fn place(book: &mut LimitOrderBook, id: u64, side: Side, price: i64, quantity: i64) -> Outcome {
        let mut fills = Vec::new();
        let (id, price, quantity) = (OrderId(id), Price(price), Quantity(quantity));
        let order = LimitOrder { id, side, price, quantity, owner: MemberId(1) };
        let rests = book.place(order, &mut |fill| {
            fills.push((fill.maker.0, fill.price.0, fill.quantity.0));
        });
        (rests.map(|rests| rests.0), fills)
    }

    fn rest(book: &mut LimitOrderBook, id: u64, side: Side, price: i64, quantity: i64) {
        assert_eq!(place(book, id, side, price, quantity), (Ok(quantity), vec![]));
    }

    fn book() -> LimitOrderBook {
        LimitOrderBook::with_capacity(4)
    }

    #[test]
    fn better_prices_trade_first_and_older_orders_before_younger_ones() {
        let mut book = book();
        rest(&mut book, 1, Side::Buy, 10, 1);
        rest(&mut book, 2, Side::Buy, 12, 1);
        rest(&mut book, 3, Side::Buy, 12, 1);
        let (rests, fills) = place(&mut book, 4, Side::Sell, 10, 5);
        assert_eq!(fills, [(2, 12, 1), (3, 12, 1), (1, 10, 1)]);
        assert_eq!(rests, Ok(2));
        assert_eq!(book.book().best(Side::Sell), Some(Price(10)));
    }

    #[test]
    fn a_partly_filled_order_keeps_its_priority() {
        let mut book = book();
        rest(&mut book, 1, Side::Sell, 10, 5);
        rest(&mut book, 2, Side::Sell, 10, 5);
        assert_eq!(place(&mut book, 3, Side::Buy, 10, 2).1, [(1, 10, 2)]);
        assert_eq!(place(&mut book, 4, Side::Buy, 10, 4).1, [(1, 10, 3), (2, 10, 1)]);
    }

    #[test]
    fn an_order_that_does_not_cross_rests_without_a_trade() {
        let mut book = book();
        rest(&mut book, 1, Side::Sell, 11, 5);
        assert_eq!(place(&mut book, 2, Side::Buy, 10, 5), (Ok(5), vec![]));
        assert!(!book.book().is_crossed());
    }

    #[test]
    fn an_id_that_rests_is_refused_before_anything_trades() {
        let mut book = book();
        rest(&mut book, 1, Side::Sell, 11, 5);
        rest(&mut book, 2, Side::Buy, 10, 5);
        for id in [1, 2] {
            assert_eq!(
                place(&mut book, id, Side::Buy, 11, 5),
                (Err(BookRefusal::DuplicateId), vec![])
            );
        }
        assert_eq!(book.orders().len(), 2);
    }

    #[test]
    fn nothing_and_less_are_no_quantities() {
        let mut book = book();
        rest(&mut book, 1, Side::Sell, 10, 5);
        for (price, quantity) in [(9, 0), (10, 0), (10, -1)] {
            let refused = place(&mut book, 2, Side::Buy, price, quantity);
            assert_eq!(refused, (Err(BookRefusal::NoQuantity), vec![]));
        }
    }

    #[test]
    fn a_full_book_still_trades_and_cancels() {
        let mut book = book();
        (1..=4).for_each(|id| assert!(place(&mut book, id, Side::Sell, 10, 1).0.is_ok()));
        assert_eq!(place(&mut book, 5, Side::Sell, 10, 1).0, Err(BookRefusal::TooManyOrders));
        assert_eq!(place(&mut book, 6, Side::Buy, 10, 1), (Ok(0), vec![(1, 10, 1)]));
        assert!(book.cancel(OrderId(2)).is_some());
        assert_eq!(book.orders().len(), 2);
    }

    #[test]
    fn the_total_of_a_level_fits_a_quantity() {
        let mut book = book();
        rest(&mut book, 1, Side::Sell, 10, i64::MAX - 1);
        assert_eq!(place(&mut book, 2, Side::Sell, 10, 2).0, Err(BookRefusal::LevelFull));
        assert_eq!(book.cancel(OrderId(2)), None);
        assert_eq!(book.book().check(book.orders()), Ok(()));
        assert_eq!(place(&mut book, 3, Side::Sell, 10, 1).0, Ok(1));
    }
}
