//! A small cache in front of the ladder: the levels of recently used prices.
//!
//! Markets trade within a few hundred prices of the touch, so nearly every order finds its level
//! here, in one load. An entry may be out of date; its user checks the level itself.

use super::level::NO_LEVEL;
use rialto_model::{Price, Side};

/// Large enough that occupied levels of a busy book seldom share an entry.
const ENTRIES_BITS: u32 = 10;

#[derive(Clone, Copy)]
struct Entry {
    /// More bits of the hash, so that the level of another price is not loaded in vain.
    tag: u32,
    level: u32,
}

pub(super) struct Hint {
    entries: Box<[Entry; 1 << ENTRIES_BITS]>,
}

impl Hint {
    pub(super) fn new() -> Hint {
        Hint { entries: Box::new([Entry { tag: 0, level: NO_LEVEL }; 1 << ENTRIES_BITS]) }
    }

    #[inline]
    fn place(side: Side, price: Price) -> (usize, u32) {
        let hash =
            (price.0 as u64 ^ (u64::from(side as u8) << 63)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((hash >> (64 - ENTRIES_BITS)) as usize, (hash >> (32 - ENTRIES_BITS)) as u32)
    }

    /// The level that was last seen at this price, or none.
    #[inline]
    pub(super) fn get(&self, side: Side, price: Price) -> u32 {
        let (at, tag) = Self::place(side, price);
        let entry = self.entries[at];
        if entry.tag == tag { entry.level } else { NO_LEVEL }
    }

    #[inline]
    pub(super) fn set(&mut self, side: Side, price: Price, level: u32) {
        let (at, tag) = Self::place(side, price);
        self.entries[at] = Entry { tag, level };
    }
}
