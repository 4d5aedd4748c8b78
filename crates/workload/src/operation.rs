//! Workloads and their operations.

use super::reference::{ReferenceBook, Tally, Totals};
use rialto_model::{OrderId, Price, Quantity, Side, TimeInForce};
use serde_json::Value;
use std::collections::BTreeMap;

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
        /// The user who placed it, from 1.
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
        /// The reduction, at most the open quantity.
        by: Quantity,
    },
    /// A resting order goes.
    Cancel {
        /// The order.
        id: OrderId,
    },
}

/// A sequence of operations on an empty book, and its expected totals.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name in the report.
    pub name: String,
    /// The number of operations that only fill the book or warm it up, outside of any timing.
    pub prefill: usize,
    /// All operations, those of the prefill included.
    pub operations: Vec<Operation>,
    /// The expected totals over all operations.
    pub expected: Totals,
    /// The most orders that rest at once.
    pub resting_max: u64,
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
        let mut resting_max = 0;
        for operation in &operations {
            let done = book.apply(operation, &mut |fill| tally.take(fill));
            assert!(done, "{name}: {operation:?} names an order that does not rest");
            resting_max = resting_max.max(book.standing().resting());
        }
        let expected = Totals { tally, standing: book.standing() };
        Workload { name, prefill, operations, expected, resting_max }
    }

    /// The operations that are measured.
    #[must_use]
    pub fn measured(&self) -> &[Operation] {
        &self.operations[self.prefill..]
    }

    /// The totals as a row shows them once they have been verified.
    #[must_use]
    pub fn checks(&self) -> BTreeMap<String, Value> {
        let Totals { tally, standing } = &self.expected;
        let price = |price: Option<Price>| price.map_or(Value::Null, |price| price.0.into());
        // The largest workload trades far less than 2^64 units.
        let traded_quantity = tally.traded_quantity as u64;
        BTreeMap::from([
            ("operations".to_string(), self.operations.len().into()),
            ("trades".to_string(), tally.trades.into()),
            ("traded_quantity".to_string(), traded_quantity.into()),
            ("resting_bids".to_string(), standing.resting_bids.into()),
            ("resting_asks".to_string(), standing.resting_asks.into()),
            ("best_bid".to_string(), price(standing.best_bid)),
            ("best_ask".to_string(), price(standing.best_ask)),
            ("digest".to_string(), tally.digest.to_string().into()),
        ])
    }
}
