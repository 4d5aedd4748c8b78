//! What a workload is made of.

use super::reference::{ReferenceBook, Tally, Totals};
use rialto_model::{OrderId, Price, Quantity, Side, TimeInForce};

/// One operation on one book. Order ids are the workload's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A new limit order.
    Place {
        /// Its id; ids rise from 1 in order of placing.
        id: OrderId,
        /// Buy or sell.
        side: Side,
        /// `Gtc` or `Ioc`; the workloads have no others.
        time_in_force: TimeInForce,
        /// Who placed it, from 1.
        user: u32,
        /// Its limit.
        price: Price,
        /// Its quantity.
        quantity: Quantity,
    },
    /// A new price for a resting order: it loses its place in the queue and may trade.
    Move {
        /// The order.
        id: OrderId,
        /// The new limit.
        price: Price,
    },
    /// Less quantity for a resting order, which keeps its place; by all of it, the order is gone.
    Reduce {
        /// The order.
        id: OrderId,
        /// By how much, at most what is open.
        by: Quantity,
    },
    /// A resting order goes.
    Cancel {
        /// The order.
        id: OrderId,
    },
}

/// A sequence of operations on an empty book, and where it must lead.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What it is, as the report names it.
    pub name: String,
    /// How many of the operations only fill the book or warm it up, outside of any timing.
    pub prefill: usize,
    /// All operations, those of the prefill included.
    pub operations: Vec<Operation>,
    /// What a right engine arrives at over all operations.
    pub expected: Totals,
}

impl Workload {
    /// Names a sequence of operations and finds its totals by running it through the
    /// [`ReferenceBook`].
    ///
    /// # Panics
    /// If an operation names an order that does not rest: a workload never does.
    #[must_use]
    pub fn new(name: String, prefill: usize, operations: Vec<Operation>) -> Workload {
        let mut book = ReferenceBook::default();
        let mut tally = Tally::default();
        for operation in &operations {
            let done = book.apply(operation, &mut |fill| tally.take(fill));
            assert!(done, "{name}: {operation:?} names an order that does not rest");
        }
        Workload { name, prefill, operations, expected: book.totals(&tally) }
    }

    /// The operations that are measured.
    #[must_use]
    pub fn measured(&self) -> &[Operation] {
        &self.operations[self.prefill..]
    }
}
