//! From order id to slot: an open-addressing table.
//!
//! The hash is one multiplication by the golden ratio, which spreads sequential ids evenly over the
//! table: nearly every entry stands alone, and looking one up or closing its gap seldom loops.
//! (A table that keeps neighbouring ids in one cache line was measured a tenth slower.) Deleting
//! shifts later entries back, so that there are no tombstones and the table never degrades.

use super::prefetch::prefetch;
use rialto_model::OrderId;

/// Two to the 64th, divided by the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// Slot 0 is never handed out, so an entry that is all zero is empty.
const EMPTY: Entry = Entry { tag: 0, slot: 0 };

#[derive(Clone, Copy, PartialEq, Eq)]
struct Entry {
    /// The upper half of the hash. Its upper bits are the entry's home, and the whole tag
    /// distinguishes nearly all ids; the node in the slab decides the rest.
    tag: u32,
    slot: u32,
}

/// The position of an entry in the table, valid until the next insertion or removal.
#[derive(Clone, Copy)]
pub(super) struct EntryIndex(usize);

pub(super) struct Index {
    /// A power of two, at least twice as many as there are entries.
    entries: Vec<Entry>,
    /// The shift from a tag to its home: 32 less the bits of the table's size.
    shift: u32,
    len: usize,
}

impl Index {
    pub(super) fn new() -> Index {
        let bits = 6;
        Index { entries: vec![EMPTY; 1 << bits], shift: 32 - bits, len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    #[inline]
    fn tag(id: OrderId) -> u32 {
        (id.0.wrapping_mul(GOLDEN) >> 32) as u32
    }

    /// The home of an entry with this tag: its position unless others hold it.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        (tag >> self.shift) as usize
    }

    /// Prefetches the memory of the entry of `id`.
    #[inline]
    pub(super) fn prefetch(&self, id: OrderId) {
        if let Some(entry) = self.entries.get(self.home(Self::tag(id))) {
            prefetch(entry);
        }
    }

    /// Reserves room for `orders` entries, so that no insertion below that number rebuilds the
    /// table.
    pub(super) fn reserve(&mut self, orders: usize) {
        let wanted = (orders * 2).next_power_of_two();
        if wanted > self.entries.len() {
            self.rebuild(wanted);
        }
    }

    #[cold]
    #[inline(never)]
    fn rebuild(&mut self, size: usize) {
        let old = std::mem::replace(&mut self.entries, vec![EMPTY; size]);
        self.shift = 32 - size.ilog2();
        for entry in old {
            if entry.slot != 0 {
                let mut at = self.home(entry.tag);
                while self.entries[at].slot != 0 {
                    at = (at + 1) & self.mask();
                }
                self.entries[at] = entry;
            }
        }
    }

    /// Finds the entry of `id`; `is_it` tells whether a slot holds just that id.
    #[inline]
    pub(super) fn find(
        &self,
        id: OrderId,
        is_it: impl Fn(u32) -> bool,
    ) -> Option<(EntryIndex, u32)> {
        let tag = Self::tag(id);
        let mut at = self.home(tag);
        loop {
            let entry = self.entries[at & self.mask()];
            if entry.slot == 0 {
                return None;
            }
            if entry.tag == tag && is_it(entry.slot) {
                return Some((EntryIndex(at & self.mask()), entry.slot));
            }
            at += 1;
        }
    }

    /// Adds an entry, unless `is_it` finds that the id is there already.
    #[inline]
    pub(super) fn insert(&mut self, id: OrderId, slot: u32, is_it: impl Fn(u32) -> bool) -> bool {
        if (self.len + 1) * 2 > self.entries.len() {
            self.rebuild(self.entries.len() * 2);
        }
        let tag = Self::tag(id);
        let mut at = self.home(tag);
        loop {
            let mask = self.mask();
            let entry = &mut self.entries[at & mask];
            if entry.slot == 0 {
                *entry = Entry { tag, slot };
                self.len += 1;
                return true;
            }
            if entry.tag == tag && is_it(entry.slot) {
                return false;
            }
            at += 1;
        }
    }

    /// Removes the entry at `place` and closes the gap.
    #[inline]
    pub(super) fn remove(&mut self, place: EntryIndex) {
        let mask = self.mask();
        let mut gap = place.0;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let entry = self.entries[at];
            if entry.slot == 0 {
                break;
            }
            // An entry may move back into the gap only if the gap is not before its home.
            let from_home = at.wrapping_sub(self.home(entry.tag)) & mask;
            let from_gap = at.wrapping_sub(gap) & mask;
            if from_home >= from_gap {
                self.entries[gap & mask] = entry;
                gap = at;
            }
        }
        self.entries[gap & mask] = EMPTY;
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The id of each slot is kept beside the table.
    struct Rig {
        index: Index,
        ids: Vec<u64>,
    }

    impl Rig {
        fn find(&self, id: u64) -> Option<u32> {
            self.index.find(OrderId(id), |slot| self.ids[slot as usize] == id).map(|found| found.1)
        }
        fn insert(&mut self, id: u64) -> bool {
            let slot = self.ids.len() as u32;
            self.ids.push(id);
            self.index.insert(OrderId(id), slot, |slot| self.ids[slot as usize] == id)
        }
        fn remove(&mut self, id: u64) -> bool {
            match self.index.find(OrderId(id), |slot| self.ids[slot as usize] == id) {
                Some((place, _)) => {
                    self.index.remove(place);
                    true
                }
                None => false,
            }
        }
    }

    #[test]
    fn agrees_with_a_map_while_ids_come_and_go() {
        let mut rig = Rig { index: Index::new(), ids: vec![0] };
        let mut model = BTreeMap::new();
        let mut state = 7_u64;
        for step in 0..20_000_u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let id = state >> 52;
            if state & 1 << 20 == 0 {
                assert_eq!(rig.insert(id), !model.contains_key(&id), "step {step}");
                model.entry(id).or_insert(rig.ids.len() as u32 - 1);
            } else {
                assert_eq!(rig.remove(id), model.remove(&id).is_some(), "step {step}");
            }
            assert_eq!(rig.index.len(), model.len());
        }
        for id in 0..4_096 {
            assert_eq!(rig.find(id), model.get(&id).copied(), "id {id}");
        }
    }

    #[test]
    fn tells_ids_apart_that_share_a_tag() {
        // The inverse of the multiplier turns the wanted hash into an id.
        let inverse = (0..6).fold(1_u64, |inverse, _| {
            inverse.wrapping_mul(2_u64.wrapping_sub(GOLDEN.wrapping_mul(inverse)))
        });
        let [first, second] = [1, 2].map(|low| (7_u64 << 32 | low).wrapping_mul(inverse));
        assert_eq!(Index::tag(OrderId(first)), Index::tag(OrderId(second)));
        let mut rig = Rig { index: Index::new(), ids: vec![0] };
        assert!(rig.insert(first) && rig.insert(second));
        assert!(rig.remove(first));
        assert_eq!((rig.find(first), rig.find(second)), (None, Some(2)));
    }

    #[test]
    fn a_reserved_table_is_not_rebuilt() {
        let mut rig = Rig { index: Index::new(), ids: vec![0] };
        rig.index.reserve(1_000);
        let size = rig.index.entries.len();
        (1..=1_000).for_each(|id| assert!(rig.insert(id)));
        assert_eq!(rig.index.entries.len(), size);
    }
}
