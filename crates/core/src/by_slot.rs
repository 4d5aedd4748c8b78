//! What only some orders have, by slot.

use crate::book::Slot;

const BLOCK_BITS: u32 = 10;

/// Values of orders by slot, in blocks. A block is allocated when its first value is set.
pub(crate) struct BySlot<T> {
    blocks: Vec<Option<Box<[T]>>>,
    vacant: T,
}

impl<T: Copy> BySlot<T> {
    /// No values. `vacant` fills the places of orders that have none.
    pub(crate) fn new(vacant: T) -> BySlot<T> {
        BySlot { blocks: Vec::new(), vacant }
    }

    /// The value of an order, which was set.
    pub(crate) fn get(&self, slot: Slot) -> &T {
        let (block, at) = Self::place(slot);
        &self.blocks[block].as_ref().expect("`set` allocated its block")[at]
    }

    /// The value of an order, which was set.
    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut T {
        let (block, at) = Self::place(slot);
        &mut self.blocks[block].as_mut().expect("`set` allocated its block")[at]
    }

    pub(crate) fn set(&mut self, slot: Slot, value: T) {
        let (block, at) = Self::place(slot);
        if self.blocks.len() <= block {
            self.blocks.resize_with(block + 1, || None);
        }
        let vacant = || vec![self.vacant; 1 << BLOCK_BITS].into_boxed_slice();
        self.blocks[block].get_or_insert_with(vacant)[at] = value;
    }

    fn place(slot: Slot) -> (usize, usize) {
        let slot = slot.index();
        (slot >> BLOCK_BITS, slot & ((1 << BLOCK_BITS) - 1))
    }
}
