//! The slab of resting orders that all books of a core share.

use super::index::{EntryIndex, Index};
use super::prefetch::prefetch;
use rialto_model::{MemberId, OrderId, Quantity};
use std::num::NonZeroU32;

/// No order: slot 0 is never handed out. Its node takes the writes that would go to the neighbour
/// of the first or last order of a queue, so that linking needs no branch.
pub(super) const NONE: u32 = 0;

/// The index of a resting order in [`Orders`].
///
/// A slot is reused after its order has left. A caller that stores one stores the order's id with
/// it and checks [`Orders::holds`]: ids are never reused, so that the id is the slot's generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(NonZeroU32);

impl Slot {
    #[inline]
    pub(crate) fn new(at: u32) -> Option<Slot> {
        NonZeroU32::new(at).map(Slot)
    }

    #[inline]
    pub(crate) fn at(self) -> u32 {
        self.0.get()
    }

    /// The position in arrays kept beside the slab; below [`Orders::slots`].
    #[must_use]
    #[inline]
    pub fn index(self) -> usize {
        self.0.get() as usize
    }
}

/// Why an order cannot rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BookRefusal {
    /// As many orders rest as the limit given to [`Orders::with_limit`] allows.
    #[error("the limit of resting orders is reached")]
    TooManyOrders,
    /// An order of this id rests already.
    #[error("an order with this id rests already")]
    DuplicateId,
    /// The quantities at the price would add up to more than a quantity can hold.
    #[error("the quantities at this price would add up to more than a quantity can hold")]
    LevelFull,
    /// The quantity is not positive.
    #[error("the quantity is not positive")]
    NoQuantity,
}

/// A resting order as the slab holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its id.
    pub id: OrderId,
    /// The owner.
    pub owner: MemberId,
    /// The remaining quantity, positive.
    pub remaining: Quantity,
}

/// Half a cache line, and aligned so that it never spans two.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Node {
    pub(super) id: OrderId,
    /// Zero in a free slot.
    pub(super) remaining: Quantity,
    /// The neighbours in the queue of the level; `next` also links the free slots.
    pub(super) prev: u32,
    pub(super) next: u32,
    pub(super) level: u32,
    pub(super) owner: MemberId,
}

const FREE: Node = Node {
    id: OrderId(0),
    remaining: Quantity(0),
    prev: NONE,
    next: NONE,
    level: 0,
    owner: MemberId(0),
};

/// All resting orders of a core: a slab, and an index by order id.
pub struct Orders {
    /// Grows as needed, unless [`Orders::reserve`] made room; the first node belongs to [`NONE`].
    pub(super) nodes: Vec<Node>,
    index: Index,
    /// The slots given back, linked by `next`, last in first out: the warmest is used first.
    free: u32,
    /// Slots from here on have never been used.
    fresh: u32,
    limit: u32,
}

impl Orders {
    /// The most orders that a slab can be asked to hold.
    pub const LIMIT_MAX: usize = 1 << 30;

    /// A slab of at most `limit` orders (and never more than [`Orders::LIMIT_MAX`]).
    #[must_use]
    pub fn with_limit(limit: usize) -> Orders {
        let limit = limit.min(Self::LIMIT_MAX) as u32;
        Orders { nodes: vec![FREE], index: Index::new(), free: NONE, fresh: 1, limit }
    }

    /// Makes room for `orders` resting orders, up to the limit, and touches the memory, so that
    /// no insertion below that number allocates or meets a page for the first time.
    pub fn reserve(&mut self, orders: usize) {
        let orders = orders.min(self.limit as usize);
        if self.nodes.len() <= orders {
            self.nodes.resize(orders + 1, FREE);
        }
        self.index.reserve(orders);
    }

    /// Prefetches the memory that the insertion of `id` writes: the next slot, and the entry in the
    /// index. The earlier it is called, the better. Returns the index of the slot.
    #[inline]
    pub fn prepare(&self, id: OrderId) -> usize {
        let slot = if self.free != NONE { self.free } else { self.fresh } as usize;
        self.index.prefetch(id);
        if let Some(node) = self.nodes.get(slot) {
            prefetch(node);
        }
        slot
    }

    /// Prefetches the entry of `id` in the index.
    #[inline]
    pub fn prefetch(&self, id: OrderId) {
        self.index.prefetch(id);
    }

    /// How many orders rest.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether no order rests.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many orders may rest.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit as usize
    }

    /// Every [`Slot::index`] handed out so far is below this number: the length for arrays that are
    /// kept beside the slab. It grows with insertions, except where [`Orders::reserve`] came first.
    #[must_use]
    #[inline]
    pub fn slots(&self) -> usize {
        self.nodes.len()
    }

    /// The slot of the order with this id, if it rests.
    #[must_use]
    #[inline]
    pub fn find(&self, id: OrderId) -> Option<Slot> {
        self.locate(id).and_then(|(_, at)| Slot::new(at))
    }

    /// The order in a slot.
    #[must_use]
    #[inline]
    pub fn get(&self, slot: Slot) -> Order {
        let node = &self.nodes[slot.index()];
        Order { id: node.id, owner: node.owner, remaining: node.remaining }
    }

    /// Whether the slot (still) holds this order.
    #[must_use]
    #[inline]
    pub fn holds(&self, slot: Slot, id: OrderId) -> bool {
        self.nodes.get(slot.index()).is_some_and(|node| node.id == id && node.remaining.0 > 0)
    }

    #[inline]
    pub(super) fn locate(&self, id: OrderId) -> Option<(EntryIndex, u32)> {
        self.index.find(id, |at| self.nodes[at as usize].id == id)
    }

    /// Takes a slot for an order that is not linked into a queue yet.
    #[inline]
    pub(super) fn admit(
        &mut self,
        id: OrderId,
        remaining: Quantity,
        owner: MemberId,
    ) -> Result<u32, BookRefusal> {
        if remaining.0 <= 0 {
            return Err(BookRefusal::NoQuantity);
        }
        if self.index.len() >= self.limit as usize {
            return Err(BookRefusal::TooManyOrders);
        }
        let reused = self.free;
        let at = if reused != NONE { reused } else { self.fresh };
        if at as usize >= self.nodes.len() {
            self.nodes.push(FREE);
        }
        let nodes = &self.nodes;
        if !self.index.insert(id, at, |at| nodes[at as usize].id == id) {
            return Err(BookRefusal::DuplicateId);
        }
        let node = &mut self.nodes[at as usize];
        self.free = node.next;
        self.fresh += u32::from(reused == NONE);
        node.id = id;
        node.remaining = remaining;
        node.owner = owner;
        Ok(at)
    }

    /// Gives back a slot whose order has left its queue.
    #[inline]
    pub(super) fn release(&mut self, at: u32, place: EntryIndex) {
        self.index.remove(place);
        let node = &mut self.nodes[at as usize];
        node.remaining = Quantity(0);
        node.next = self.free;
        self.free = at;
    }

    /// The place of a slot's order in the index.
    #[inline]
    pub(super) fn place_of(&self, at: u32) -> EntryIndex {
        let id = self.nodes[at as usize].id;
        let found = self.index.find(id, |other| other == at);
        found.expect("every resting order stands in the index").0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(orders: &mut Orders, id: u64) -> Result<u32, BookRefusal> {
        orders.admit(OrderId(id), Quantity(1), MemberId(1))
    }

    #[test]
    fn a_slot_used_again_no_longer_holds_the_first_order() {
        let mut orders = Orders::with_limit(10);
        let first = Slot::new(admit(&mut orders, 1).unwrap()).unwrap();
        let place = orders.place_of(first.at());
        orders.release(first.at(), place);
        assert!(!orders.holds(first, OrderId(1)));
        let second = Slot::new(admit(&mut orders, 2).unwrap()).unwrap();
        assert_eq!(first, second);
        assert!(orders.holds(second, OrderId(2)) && !orders.holds(first, OrderId(1)));
    }

    #[test]
    fn the_limit_holds() {
        let mut orders = Orders::with_limit(2);
        admit(&mut orders, 1).unwrap();
        admit(&mut orders, 2).unwrap();
        assert_eq!(admit(&mut orders, 3), Err(BookRefusal::TooManyOrders));
        assert_eq!(orders.len(), 2);
    }

    #[test]
    fn an_id_rests_once() {
        let mut orders = Orders::with_limit(5);
        admit(&mut orders, 1).unwrap();
        assert_eq!(admit(&mut orders, 1), Err(BookRefusal::DuplicateId));
        assert_eq!(admit(&mut orders, 2), Ok(2));
        assert_eq!(orders.find(OrderId(1)).map(Slot::index), Some(1));
    }
}
