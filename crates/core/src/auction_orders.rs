//! The orders that are for an auction only, by instrument and in order of entry.

use crate::orders::NIL;
use rialto_model::{Price, Side};

/// The ends of the list of an instrument, and how many market orders it has at each price.
#[derive(Clone, Debug)]
pub(crate) struct AuctionOrders {
    head: u32,
    tail: u32,
    /// The number of market orders at each protection price. These are few prices: one for each side,
    /// unless the rules change in between.
    market: Vec<(Side, Price, u32)>,
}

impl AuctionOrders {
    pub(crate) const EMPTY: AuctionOrders =
        AuctionOrders { head: NIL, tail: NIL, market: Vec::new() };

    /// Notes that a market order came to a price.
    pub(crate) fn add_market(&mut self, side: Side, price: Price) {
        match self.market.iter_mut().find(|at| (at.0, at.1) == (side, price)) {
            Some(at) => at.2 += 1,
            None => self.market.push((side, price, 1)),
        }
    }

    /// Notes that a market order left a price.
    pub(crate) fn remove_market(&mut self, side: Side, price: Price) {
        let at = self.market.iter().position(|at| (at.0, at.1) == (side, price));
        let at = at.expect("a market order was noted when it came");
        self.market[at].2 -= 1;
        if self.market[at].2 == 0 {
            self.market.swap_remove(at);
        }
    }

    /// How many market orders are at a price.
    #[inline]
    pub(crate) fn market_orders(&self, side: Side, price: Price) -> u32 {
        let mut market = self.market.iter();
        market.find(|at| (at.0, at.1) == (side, price)).map_or(0, |at| at.2)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NIL
    }

    /// The slot of the order that was entered first.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (self.head != NIL).then_some(self.head)
    }
}

#[derive(Clone, Copy)]
struct Link {
    prev: u32,
    next: u32,
}

/// The links of all lists, by the slots of the orders. There are none before the first such order.
pub(crate) struct AuctionLinks {
    links: Vec<Link>,
}

impl AuctionLinks {
    pub(crate) fn new() -> AuctionLinks {
        AuctionLinks { links: Vec::new() }
    }

    /// Makes room for as many slots as the slab has.
    pub(crate) fn cover(&mut self, slots: usize) {
        if self.links.len() < slots {
            self.links.resize(slots, Link { prev: NIL, next: NIL });
        }
    }

    /// Puts an order at the end of a list.
    pub(crate) fn append(&mut self, list: &mut AuctionOrders, slot: u32) {
        self.links[slot as usize] = Link { prev: list.tail, next: NIL };
        match list.tail {
            NIL => list.head = slot,
            tail => self.links[tail as usize].next = slot,
        }
        list.tail = slot;
    }

    /// Takes an order out of its list.
    pub(crate) fn unlink(&mut self, list: &mut AuctionOrders, slot: u32) {
        let Link { prev, next } = self.links[slot as usize];
        match prev {
            NIL => list.head = next,
            prev => self.links[prev as usize].next = next,
        }
        match next {
            NIL => list.tail = prev,
            next => self.links[next as usize].prev = prev,
        }
    }

    /// Replaces `from` by `to` in a list.
    pub(crate) fn replace(&mut self, list: &mut AuctionOrders, from: u32, to: u32) {
        let link = self.links[from as usize];
        self.links[to as usize] = link;
        match link.prev {
            NIL => list.head = to,
            prev => self.links[prev as usize].next = to,
        }
        match link.next {
            NIL => list.tail = to,
            next => self.links[next as usize].prev = to,
        }
    }

    /// The slots of a list, from the first.
    pub(crate) fn iter(&self, list: &AuctionOrders) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(list.first(), |&slot| {
            Some(self.links[slot as usize].next).filter(|&next| next != NIL)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_leave_and_are_replaced_where_they_stand() {
        let (mut links, mut list) = (AuctionLinks::new(), AuctionOrders::EMPTY);
        links.cover(9);
        [3, 1, 7, 4].into_iter().for_each(|slot| links.append(&mut list, slot));
        links.unlink(&mut list, 7);
        links.replace(&mut list, 3, 8);
        links.replace(&mut list, 4, 2);
        assert_eq!(links.iter(&list).collect::<Vec<_>>(), [8, 1, 2]);
        [1, 8, 2].into_iter().for_each(|slot| links.unlink(&mut list, slot));
        assert!(list.is_empty());
        links.append(&mut list, 5);
        assert_eq!(list.first(), Some(5));
    }
}
