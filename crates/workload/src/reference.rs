//! A slow and simple order book, with which every other result is compared.

use super::operation::Operation;
use crate::digest::FillDigest;
use rialto_model::{OrderId, Price, Quantity, Side, TimeInForce};
use std::collections::{BTreeMap, HashMap};

/// One trade between a resting and an incoming order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The resting order.
    pub maker: OrderId,
    /// The incoming order.
    pub taker: OrderId,
    /// The price: that of the resting order.
    pub price: Price,
    /// The quantity.
    pub quantity: Quantity,
}

/// Totals of fills: count, volume and digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of fills.
    pub trades: u64,
    /// Sum of their quantities.
    pub traded_quantity: i128,
    /// Their digest.
    pub digest: FillDigest,
}

impl Tally {
    /// Counts a fill.
    pub fn take(&mut self, fill: &Fill) {
        self.trades += 1;
        self.traded_quantity += i128::from(fill.quantity.0);
        self.digest.fill(fill.maker, fill.taker, fill.price, fill.quantity);
    }
}

/// The resting orders of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Buy orders that rest.
    pub resting_bids: u64,
    /// Sell orders that rest.
    pub resting_asks: u64,
    /// The highest price of a resting buy order.
    pub best_bid: Option<Price>,
    /// The lowest price of a resting sell order.
    pub best_ask: Option<Price>,
}

impl Standing {
    /// Orders that rest, on both sides.
    #[must_use]
    pub fn resting(&self) -> u64 {
        self.resting_bids + self.resting_asks
    }
}

/// Everything by which two engines that ran the same operations are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// The totals of fills.
    pub tally: Tally,
    /// The resting orders at the end.
    pub standing: Standing,
}

/// An order in the book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resting {
    /// Its id.
    pub id: OrderId,
    /// The user who placed it.
    pub user: u32,
    /// Its limit.
    pub price: Price,
    /// The open quantity.
    pub left: Quantity,
}

/// Where an order stands in its side: better prices first, then earlier arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    distance: i64,
    arrival: u64,
}

impl Rank {
    fn new(side: Side, price: Price, arrival: u64) -> Rank {
        // Bids count downwards, so that the best order of either side has the lowest rank.
        let distance = if side == Side::Buy { -price.0 } else { price.0 };
        Rank { distance, arrival }
    }
}

/// Price-time priority at the maker's price, one sorted map of orders a side.
#[derive(Clone, Debug, Default)]
pub struct ReferenceBook {
    bids: BTreeMap<Rank, Resting>,
    asks: BTreeMap<Rank, Resting>,
    places: HashMap<OrderId, (Side, Rank)>,
    arrivals: u64,
}

impl ReferenceBook {
    /// Does one operation and hands every fill to `sink`. False if it names an order that does not
    /// rest.
    pub fn apply(&mut self, operation: &Operation, sink: &mut impl FnMut(&Fill)) -> bool {
        match *operation {
            Operation::Place { id, side, time_in_force, user, price, quantity } => {
                let rests = time_in_force != TimeInForce::Ioc;
                self.place(side, Resting { id, user, price, left: quantity }, rests, sink);
                true
            }
            Operation::Move { id, price } => match self.take(id) {
                Some((side, order)) => {
                    self.place(side, Resting { price, ..order }, true, sink);
                    true
                }
                None => false,
            },
            Operation::Reduce { id, by } => self.reduce(id, by),
            Operation::Cancel { id } => self.take(id).is_some(),
        }
    }

    /// The order with this id, and its side.
    #[must_use]
    pub fn get(&self, id: OrderId) -> Option<(Side, &Resting)> {
        let (side, rank) = self.places.get(&id)?;
        self.side(*side).get(rank).map(|order| (*side, order))
    }

    /// The best price of a side.
    #[must_use]
    pub fn best(&self, side: Side) -> Option<Price> {
        self.side(side).first_key_value().map(|(_, order)| order.price)
    }

    /// The number of orders that rest on a side.
    #[must_use]
    pub fn count(&self, side: Side) -> usize {
        self.side(side).len()
    }

    /// How many orders rest, and the best prices.
    #[must_use]
    pub fn standing(&self) -> Standing {
        Standing {
            resting_bids: self.bids.len() as u64,
            resting_asks: self.asks.len() as u64,
            best_bid: self.best(Side::Buy),
            best_ask: self.best(Side::Sell),
        }
    }

    fn side(&self, side: Side) -> &BTreeMap<Rank, Resting> {
        match side {
            Side::Buy => &self.bids,
            Side::Sell => &self.asks,
        }
    }

    fn side_mut(&mut self, side: Side) -> &mut BTreeMap<Rank, Resting> {
        match side {
            Side::Buy => &mut self.bids,
            Side::Sell => &mut self.asks,
        }
    }

    fn take(&mut self, id: OrderId) -> Option<(Side, Resting)> {
        let (side, rank) = self.places.remove(&id)?;
        self.side_mut(side).remove(&rank).map(|order| (side, order))
    }

    fn reduce(&mut self, id: OrderId, by: Quantity) -> bool {
        let Some(&(side, rank)) = self.places.get(&id) else { return false };
        let Some(order) = self.side_mut(side).get_mut(&rank) else { return false };
        if by >= order.left {
            return self.take(id).is_some();
        }
        order.left.0 -= by.0;
        true
    }

    fn place(&mut self, side: Side, mut order: Resting, rests: bool, sink: &mut impl FnMut(&Fill)) {
        let (other, limit) = match side {
            Side::Buy => (&mut self.asks, Rank::new(Side::Sell, order.price, u64::MAX)),
            Side::Sell => (&mut self.bids, Rank::new(Side::Buy, order.price, u64::MAX)),
        };
        while order.left > Quantity::ZERO {
            let Some(mut best) = other.first_entry().filter(|best| *best.key() <= limit) else {
                break;
            };
            let maker = best.get_mut();
            let quantity = maker.left.min(order.left);
            maker.left.0 -= quantity.0;
            order.left.0 -= quantity.0;
            let fill = Fill { maker: maker.id, taker: order.id, price: maker.price, quantity };
            if maker.left == Quantity::ZERO {
                best.remove();
                self.places.remove(&fill.maker);
            }
            sink(&fill);
        }
        if rests && order.left > Quantity::ZERO {
            self.arrivals += 1;
            let rank = Rank::new(side, order.price, self.arrivals);
            self.places.insert(order.id, (side, rank));
            self.side_mut(side).insert(rank, order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(id: u64, side: Side, price: i64, quantity: i64) -> Operation {
        Operation::Place {
            id: OrderId(id),
            side,
            time_in_force: TimeInForce::Gtc,
            user: 1,
            price: Price(price),
            quantity: Quantity(quantity),
        }
    }

    /// Runs operations and returns fills as (maker, taker, price, quantity).
    fn run(book: &mut ReferenceBook, operations: &[Operation]) -> Vec<(u64, u64, i64, i64)> {
        let mut fills = Vec::new();
        for operation in operations {
            let done = book.apply(operation, &mut |fill| {
                fills.push((fill.maker.0, fill.taker.0, fill.price.0, fill.quantity.0));
            });
            assert!(done, "{operation:?}");
        }
        fills
    }

    #[test]
    fn trades_by_price_then_time_at_the_makers_price() {
        let mut book = ReferenceBook::default();
        let fills = run(
            &mut book,
            &[
                place(1, Side::Sell, 102, 5),
                place(2, Side::Sell, 101, 5),
                place(3, Side::Sell, 101, 5),
                place(4, Side::Buy, 102, 12),
            ],
        );
        assert_eq!(fills, [(2, 4, 101, 5), (3, 4, 101, 5), (1, 4, 102, 2)]);
        assert_eq!(book.get(OrderId(1)).map(|(_, order)| order.left), Some(Quantity(3)));
    }

    #[test]
    fn a_limit_holds_and_the_rest_of_an_order_rests() {
        let mut book = ReferenceBook::default();
        let fills = run(
            &mut book,
            &[
                place(1, Side::Buy, 100, 5),
                place(2, Side::Buy, 99, 5),
                place(3, Side::Sell, 100, 7),
            ],
        );
        assert_eq!(fills, [(1, 3, 100, 5)]);
        assert_eq!(book.best(Side::Sell), Some(Price(100)));
        assert_eq!(book.best(Side::Buy), Some(Price(99)));
    }

    #[test]
    fn a_moved_order_goes_behind_the_others_and_may_trade() {
        let mut book = ReferenceBook::default();
        let fills = run(
            &mut book,
            &[
                place(1, Side::Buy, 100, 5),
                place(2, Side::Buy, 101, 5),
                Operation::Move { id: OrderId(2), price: Price(100) },
                place(3, Side::Sell, 105, 8),
                Operation::Move { id: OrderId(3), price: Price(100) },
            ],
        );
        assert_eq!(fills, [(1, 3, 100, 5), (2, 3, 100, 3)]);
    }

    #[test]
    fn a_reduced_order_keeps_its_place_until_nothing_is_left() {
        let mut book = ReferenceBook::default();
        let fills = run(
            &mut book,
            &[
                place(1, Side::Buy, 100, 5),
                place(2, Side::Buy, 100, 5),
                Operation::Reduce { id: OrderId(1), by: Quantity(4) },
                place(3, Side::Sell, 100, 2),
                Operation::Reduce { id: OrderId(2), by: Quantity(4) },
            ],
        );
        assert_eq!(fills, [(1, 3, 100, 1), (2, 3, 100, 1)]);
        assert_eq!(book.count(Side::Buy), 0);
    }

    #[test]
    fn the_remainder_of_an_immediate_order_is_cancelled() {
        let mut book = ReferenceBook::default();
        let immediate = Operation::Place {
            id: OrderId(2),
            side: Side::Sell,
            time_in_force: TimeInForce::Ioc,
            user: 1,
            price: Price(100),
            quantity: Quantity(9),
        };
        let fills = run(&mut book, &[place(1, Side::Buy, 100, 5), immediate]);
        assert_eq!(fills, [(1, 2, 100, 5)]);
        assert_eq!((book.count(Side::Buy), book.count(Side::Sell)), (0, 0));
    }

    #[test]
    fn an_order_that_does_not_rest_is_not_found() {
        let mut book = ReferenceBook::default();
        assert!(!book.apply(&Operation::Cancel { id: OrderId(1) }, &mut |_| {}));
    }
}
