//! Numbers of runs by hash.

use super::record::RunNumber;
use crate::prefetch::prefetch;

/// The number of buckets of a new table; a power of two, as always.
const BUCKETS_MIN: usize = 64;

/// Holds one number for each hash, in the first free bucket from the position of the hash. Unlike
/// the tables of the standard library, it can prefetch an entry.
#[derive(Default)]
pub(super) struct Table {
    /// A power of two of them, or none yet, of which a quarter is always free.
    buckets: Vec<Bucket>,
    count: usize,
}

#[derive(Clone, Copy, Default)]
struct Bucket {
    hash: u64,
    /// One more than the number; zero where the bucket is free.
    held: u64,
}

impl Bucket {
    fn number(self) -> Option<RunNumber> {
        self.held.checked_sub(1).map(RunNumber)
    }
}

impl Table {
    /// The position of a hash.
    fn at(&self, hash: u64) -> usize {
        hash as usize & self.buckets.len().wrapping_sub(1)
    }

    fn behind(&self, at: usize) -> usize {
        (at + 1) & (self.buckets.len() - 1)
    }

    /// Prefetches the position of a hash.
    pub(super) fn approach(&self, hash: u64) {
        if let Some(bucket) = self.buckets.get(self.at(hash)) {
            prefetch(bucket);
        }
    }

    /// The bucket of a hash, or the free one where it would go; `None` in a table without buckets.
    fn find(&self, hash: u64) -> Option<usize> {
        let mut at = self.at(hash);
        loop {
            let bucket = self.buckets.get(at)?;
            if bucket.held == 0 || bucket.hash == hash {
                return Some(at);
            }
            at = self.behind(at);
        }
    }

    pub(super) fn get(&self, hash: u64) -> Option<RunNumber> {
        self.buckets[self.find(hash)?].number()
    }

    /// Holds a number for a hash from now on, replacing any other.
    pub(super) fn set(&mut self, hash: u64, number: RunNumber) {
        if (self.count + 1) * 4 > self.buckets.len() * 3 {
            self.grow();
        }
        let Some(at) = self.find(hash) else { return };
        let bucket = &mut self.buckets[at];
        self.count += usize::from(bucket.held == 0);
        *bucket = Bucket { hash, held: number.0 + 1 };
    }

    fn grow(&mut self) {
        let buckets = vec![Bucket::default(); (self.buckets.len() * 2).max(BUCKETS_MIN)];
        for bucket in std::mem::replace(&mut self.buckets, buckets) {
            if bucket.held != 0
                && let Some(at) = self.find(bucket.hash)
            {
                self.buckets[at] = bucket;
            }
        }
    }

    /// Removes a hash.
    pub(super) fn remove(&mut self, hash: u64) {
        let Some(mut free) = self.find(hash) else { return };
        if self.buckets[free].held == 0 {
            return;
        }
        self.count -= 1;
        // Entries that probed past this position move up, or would not be found.
        let mut at = free;
        loop {
            self.buckets[free] = Bucket::default();
            loop {
                at = self.behind(at);
                let bucket = self.buckets[at];
                if bucket.held == 0 {
                    return;
                }
                // It may move unless it points to somewhere behind the free bucket.
                let mask = self.buckets.len() - 1;
                let went = at.wrapping_sub(self.at(bucket.hash)) & mask;
                let gap = at.wrapping_sub(free) & mask;
                if went >= gap {
                    self.buckets[free] = bucket;
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
            // Hashes that point to few buckets, to the last ones among them, and to all.
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
        assert!(table.buckets.len() <= 16_384);
    }
}
