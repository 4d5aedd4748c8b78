//! The order book of the core, for the passes.

use super::passes::Matcher;
use crate::report::Risk;
use rialto_core::book::{Book, BookRefusal, LimitOrder, LimitOrderBook, Orders};
use rialto_model::{MemberId, OrderId, Quantity, Side, TimeInForce};
use rialto_workload::{Fill, Operation, Standing, Workload};
use std::borrow::Cow;

/// The reason why a book did not perform an operation.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotDone {
    /// The book refused the order.
    #[error(transparent)]
    BookRefusal(#[from] BookRefusal),
    /// The order does not rest.
    #[error("order {0} does not rest")]
    Unknown(OrderId),
    /// The book does not support the operation.
    #[error("this book only places and cancels")]
    Unsupported,
}

fn standing(book: &Book) -> Standing {
    Standing {
        resting_bids: book.order_count(Side::Buy) as u64,
        resting_asks: book.order_count(Side::Sell) as u64,
        best_bid: book.best(Side::Buy),
        best_ask: book.best(Side::Sell),
    }
}

/// The book as a library, with limit orders and cancels.
pub(super) struct LimitBook(LimitOrderBook);

impl Matcher for LimitBook {
    const NAME: &'static str = "book alone";
    const RISK: Risk = Risk::None;
    type Step = Operation;
    type Refusal = NotDone;

    fn fresh(workload: &Workload) -> LimitBook {
        let mut book = LimitOrderBook::with_capacity(workload.resting_max as usize + 1);
        book.reserve_levels(workload.resting_max as usize + 1);
        LimitBook(book)
    }

    fn steps(workload: &Workload) -> Cow<'_, [Operation]> {
        Cow::Borrowed(&workload.operations)
    }

    #[inline]
    fn apply(
        &mut self,
        operation: &Operation,
        sink: &mut impl FnMut(&Fill),
    ) -> Result<(), NotDone> {
        match *operation {
            Operation::Place {
                id,
                side,
                time_in_force: TimeInForce::Gtc,
                user,
                price,
                quantity,
            } => {
                let order = LimitOrder { id, side, price, quantity, owner: MemberId(user) };
                self.0.place(order, &mut |fill| {
                    let rialto_core::book::Fill { maker, taker, price, quantity, .. } = fill;
                    sink(&Fill { maker, taker, price, quantity });
                })?;
                Ok(())
            }
            Operation::Cancel { id } => match self.0.cancel(id) {
                Some(_) => Ok(()),
                None => Err(NotDone::Unknown(id)),
            },
            _ => Err(NotDone::Unsupported),
        }
    }

    fn standing(&self) -> Standing {
        standing(self.0.book())
    }
}

/// The book as the core uses it, with moves, reductions and immediate orders built from its parts.
pub(super) struct MovableBook {
    orders: Orders,
    book: Book,
}

impl MovableBook {
    #[inline]
    fn place(
        &mut self,
        order: LimitOrder,
        rests: bool,
        sink: &mut impl FnMut(&Fill),
    ) -> Result<(), NotDone> {
        let LimitOrder { id, side, price, quantity, .. } = order;
        let mut left = quantity;
        while left > Quantity::ZERO && self.book.reaches(side, price) {
            let maker_side = side.opposite();
            let Some(filled) = self.book.fill_front(&mut self.orders, maker_side, left) else {
                break;
            };
            left.0 -= filled.quantity.0;
            let (maker, price, quantity) = (filled.id, filled.price, filled.quantity);
            sink(&Fill { maker, taker: id, price, quantity });
        }
        if rests && left > Quantity::ZERO {
            self.book.insert(&mut self.orders, LimitOrder { quantity: left, ..order })?;
        }
        Ok(())
    }
}

impl Matcher for MovableBook {
    const NAME: &'static str = "book alone";
    const RISK: Risk = Risk::None;
    type Step = Operation;
    type Refusal = NotDone;

    fn fresh(workload: &Workload) -> MovableBook {
        let room = workload.resting_max as usize + 1;
        let mut book = MovableBook { orders: Orders::with_limit(room), book: Book::new() };
        book.orders.reserve(room);
        book.book.reserve(room);
        book
    }

    fn steps(workload: &Workload) -> Cow<'_, [Operation]> {
        Cow::Borrowed(&workload.operations)
    }

    #[inline]
    fn apply(
        &mut self,
        operation: &Operation,
        sink: &mut impl FnMut(&Fill),
    ) -> Result<(), NotDone> {
        let find = |orders: &Orders, id| orders.find(id).ok_or(NotDone::Unknown(id));
        match *operation {
            Operation::Place { id, side, time_in_force, user, price, quantity } => {
                let order = LimitOrder { id, side, price, quantity, owner: MemberId(user) };
                self.place(order, time_in_force != TimeInForce::Ioc, sink)
            }
            Operation::Move { id, price } => {
                let slot = find(&self.orders, id)?;
                let (side, _) = self.book.locate(&self.orders, slot);
                let owner = self.orders.get(slot).owner;
                let quantity = self.book.remove(&mut self.orders, slot);
                self.place(LimitOrder { id, side, price, quantity, owner }, true, sink)
            }
            Operation::Reduce { id, by } => {
                let slot = find(&self.orders, id)?;
                self.book.reduce(&mut self.orders, slot, by);
                Ok(())
            }
            Operation::Cancel { id } => {
                let slot = find(&self.orders, id)?;
                self.book.remove(&mut self.orders, slot);
                Ok(())
            }
        }
    }

    fn standing(&self) -> Standing {
        standing(&self.book)
    }
}
