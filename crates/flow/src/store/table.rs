//! Numbers of runs by hash.

use super::record::RunNumber;
use crate::prefetch::prefetch;

/// How many places a table begins with; a power of two, as always.
const PLACES_MIN: usize = 64;

/// Holds one number for each hash, at the first free place from where the hash points to. Unlike
/// the tables of the standard library, it can prefetch an entry.
#[derive(Default)]
pub(super) struct Table {
    /// A power of two of them, or none yet, of which a quarter is always free.
    places: Vec<Place>,
    count: usize,
}

#[derive(Clone, Copy, Default)]
struct Place {
    hash: u64,
    /// One more than the number; zero where the place is free.
    held: u64,
}

impl Place {
    fn number(self) -> Option<RunNumber> {
        self.held.checked_sub(1).map(RunNumber)
    }
}

impl Table {
    /// The position of a hash.
    fn at(&self, hash: u64) -> usize {
        hash as usize & self.places.len().wrapping_sub(1)
    }

    fn behind(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }

    /// Prefetches the position of a hash.
    pub(super) fn approach(&self, hash: u64) {
        if let Some(place) = self.places.get(self.at(hash)) {
            prefetch(place);
        }
    }

    /// The place of a hash, or the free one where it would go; nothing in a table without places.
    fn find(&self, hash: u64) -> Option<usize> {
        let mut at = self.at(hash);
        loop {
            let place = self.places.get(at)?;
            if place.held == 0 || place.hash == hash {
                return Some(at);
            }
            at = self.behind(at);
        }
    }

    pub(super) fn get(&self, hash: u64) -> Option<RunNumber> {
        self.places[self.find(hash)?].number()
    }

    /// Holds a number for a hash from now on, in the place of any other.
    pub(super) fn set(&mut self, hash: u64, number: RunNumber) {
        if (self.count + 1) * 4 > self.places.len() * 3 {
            self.grow();
        }
        let Some(at) = self.find(hash) else { return };
        let place = &mut self.places[at];
        self.count += usize::from(place.held == 0);
        *place = Place { hash, held: number.0 + 1 };
    }

    fn grow(&mut self) {
        let places = vec![Place::default(); (self.places.len() * 2).max(PLACES_MIN)];
        for place in std::mem::replace(&mut self.places, places) {
            if place.held != 0
                && let Some(at) = self.find(place.hash)
            {
                self.places[at] = place;
            }
        }
    }

    /// Removes a hash.
    pub(super) fn remove(&mut self, hash: u64) {
        let Some(mut free) = self.find(hash) else { return };
        if self.places[free].held == 0 {
            return;
        }
        self.count -= 1;
        // Entries that probed past this position move up, or would not be found.
        let mut at = free;
        loop {
            self.places[free] = Place::default();
            loop {
                at = self.behind(at);
                let place = self.places[at];
                if place.held == 0 {
                    return;
                }
                // It may move unless it points to somewhere behind the free place.
                let mask = self.places.len() - 1;
                let went = at.wrapping_sub(self.at(place.hash)) & mask;
                let gap = at.wrapping_sub(free) & mask;
                if went >= gap {
                    self.places[free] = place;
                    free = at;
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds(
            changes in prop::collection::vec((0_u64..48, any::<bool>()), 0..400),
            // Hashes that point to few places, to the last ones among them, and to all.
            spread in prop_oneof![Just(1_u64), Just(61), Just(1 << 20), Just(u64::MAX / 7)],
        ) {
            let hash = |key: u64| key.wrapping_mul(spread).wrapping_sub(3);
            let mut table = Table::default();
            let mut model = HashMap::new();
            for (count, (key, holds)) in changes.into_iter().enumerate() {
                if holds {
                    let number = RunNumber(count as u64);
                    table.set(hash(key), number);
                    model.insert(key, number);
                } else {
                    table.remove(hash(key));
                    model.remove(&key);
                }
                prop_assert_eq!(table.count, model.len());
                for key in 0..48 {
                    prop_assert_eq!(table.get(hash(key)), model.get(&key).copied());
                }
            }
        }
    }

    #[test]
    fn it_grows() {
        let mut table = Table::default();
        for key in 0..10_000_u64 {
            table.set(key.wrapping_mul(0x9e37_79b9_7f4a_7c15), RunNumber(key));
        }
        let found = |key: u64| table.get(key.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        assert!((0..10_000).all(|key| found(key) == Some(RunNumber(key))));
        assert_eq!(found(10_000), None);
        assert!(table.places.len() <= 16_384);
    }
}
