//! Hash tables from a key to a `u32`, for lookups only: nothing ever iterates over one.

use rialto_model::{AccountId, Text};

#[derive(Clone, Copy)]
struct Entry {
    tag: u32,
    /// The value plus one; zero is an empty entry.
    value: u32,
}

const EMPTY: Entry = Entry { tag: 0, value: 0 };

/// Open addressing with linear probing and backward-shift deletion. The keys lie with the caller,
/// who says by a closure whether a value belongs to the key that is looked for.
///
/// The hash only decides where an entry is, never what is found, so that the key of the hash (see
/// [`Hasher`]) has no influence on results.
pub(crate) struct Table {
    entries: Vec<Entry>,
    /// 32 less the bits of the table's size.
    shift: u32,
    len: usize,
}

impl Table {
    pub(crate) fn new() -> Table {
        Table { entries: vec![EMPTY; 64], shift: 32 - 6, len: 0 }
    }

    #[inline]
    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    #[inline]
    fn home(&self, tag: u32) -> usize {
        (tag >> self.shift) as usize
    }

    #[inline]
    pub(crate) fn find(&self, tag: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.mask();
        let mut at = self.home(tag);
        loop {
            let entry = self.entries[at & mask];
            if entry.value == 0 {
                return None;
            }
            if entry.tag == tag && is_it(entry.value - 1) {
                return Some(entry.value - 1);
            }
            at += 1;
        }
    }

    /// Adds a value whose key is not in the table.
    #[inline]
    pub(crate) fn insert(&mut self, tag: u32, value: u32) {
        if (self.len + 1) * 2 > self.entries.len() {
            self.grow();
        }
        self.put(tag, value + 1);
        self.len += 1;
    }

    #[inline]
    fn put(&mut self, tag: u32, value: u32) {
        let mask = self.mask();
        let mut at = self.home(tag) & mask;
        while self.entries[at].value != 0 {
            at = (at + 1) & mask;
        }
        self.entries[at] = Entry { tag, value };
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let size = self.entries.len() * 2;
        let old = std::mem::replace(&mut self.entries, vec![EMPTY; size]);
        self.shift = 32 - size.ilog2();
        for entry in old.into_iter().filter(|entry| entry.value != 0) {
            self.put(entry.tag, entry.value);
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, tag: u32, value: u32) {
        let mask = self.mask();
        let mut gap = self.home(tag) & mask;
        while self.entries[gap].value != value + 1 {
            assert!(self.entries[gap].value != 0, "what is removed from a table was put there");
            gap = (gap + 1) & mask;
        }
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let entry = self.entries[at];
            if entry.value == 0 {
                break;
            }
            // An entry may move back into the gap only if the gap is not before its home.
            let from_home = at.wrapping_sub(self.home(entry.tag)) & mask;
            if from_home >= (at.wrapping_sub(gap) & mask) {
                self.entries[gap] = entry;
                gap = at;
            }
        }
        self.entries[gap] = EMPTY;
        self.len -= 1;
    }
}

/// Hashes keys for a [`Table`]. It is keyed, so that a member cannot choose texts that collide.
#[derive(Clone, Copy)]
pub(crate) struct Hasher {
    key: u64,
}

impl Hasher {
    pub(crate) fn new(key: u64) -> Hasher {
        Hasher { key: fold(key ^ 0x9E37_79B9_7F4A_7C15, 0xD6E8_FEB8_6659_FD93) }
    }

    #[inline]
    pub(crate) fn pair(self, first: u32, second: u32) -> u32 {
        let word = u64::from(first) << 32 | u64::from(second);
        (fold(word ^ self.key, 0x9E37_79B9_7F4A_7C15) >> 32) as u32
    }

    #[inline]
    pub(crate) fn text<const N: usize>(self, account: AccountId, text: &Text<N>) -> u32 {
        let mut hash = fold(self.key ^ u64::from(account.0), 0xA076_1D64_78BD_642F);
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash = fold(hash ^ u64::from_le_bytes(word), self.key | 1);
        }
        (fold(hash, 0xE703_7ED1_A0B4_28DB) >> 32) as u32
    }
}

/// Both halves of the 128-bit product, combined by exclusive or.
#[inline]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn agrees_with_a_map_while_values_come_and_go() {
        let hasher = Hasher::new(5);
        let mut table = Table::new();
        let mut model = BTreeMap::new();
        let mut state = 3_u64;
        for step in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = (state >> 55) as u32;
            let tag = hasher.pair(key, 1);
            assert_eq!(table.find(tag, |v| v == key), model.get(&key).copied(), "step {step}");
            if model.remove(&key).is_some() {
                table.remove(tag, key);
            } else {
                table.insert(tag, key);
                model.insert(key, key);
            }
            assert_eq!(table.len, model.len());
        }
    }

    #[test]
    fn values_with_equal_tags_are_distinguished() {
        let mut table = Table::new();
        table.insert(9, 1);
        table.insert(9, 2);
        table.remove(9, 1);
        assert_eq!(table.find(9, |value| value == 1), None);
        assert_eq!(table.find(9, |value| value == 2), Some(2));
    }
}
