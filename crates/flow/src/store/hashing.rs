//! How ids are hashed.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Keys the hash of ids randomly, so that ids cannot be chosen to collide.
///
/// Ids are short, and looking them up is a good part of beginning a run: a few multiplications take a
/// small part of what the standard library's hasher takes.
#[derive(Clone, Debug)]
pub(super) struct IdHashing {
    keys: [u64; 2],
}

impl Default for IdHashing {
    fn default() -> Self {
        let random = RandomState::new();
        // An even key would lose the highest bit.
        Self { keys: [random.hash_one(1), random.hash_one(2) | 1] }
    }
}

impl BuildHasher for IdHashing {
    type Hasher = IdHasher;

    fn build_hasher(&self) -> IdHasher {
        let [state, key] = self.keys;
        IdHasher { state, key }
    }
}

/// Multiplies eight bytes at a time, mixed with what came before, by a key, and folds the product.
pub(super) struct IdHasher {
    state: u64,
    key: u64,
}

fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Up to eight bytes, as a number.
fn number(bytes: &[u8]) -> u64 {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(eight)
}

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.chunks(8).for_each(|eight| self.write_u64(number(eight)));
    }

    /// Ids are hashed as integers.
    #[inline]
    fn write_u64(&mut self, eight: u64) {
        self.state = folded(eight ^ self.state, self.key);
    }

    fn finish(&self) -> u64 {
        folded(self.state ^ self.key, 0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FlowId;
    use std::collections::HashSet;

    #[test]
    fn ids_that_are_alike_are_spread_over_every_part_of_the_hash() {
        const IDS: u64 = 1 << 14;
        let hashing = IdHashing::default();
        let ids = (0..IDS).flat_map(|number| {
            let text = format!("withdrawal-of-the-member-{number}");
            [FlowId::from(number), FlowId::new(&text).unwrap()]
        });
        let hashes: Vec<u64> = ids.map(|id| hashing.hash_one(id)).collect();
        let distinct: HashSet<_> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len());
        // A table takes its place from the low bits and its tag from the high ones.
        for shift in [0, 50] {
            let mut filled = vec![0_u32; 1 << 14];
            hashes.iter().for_each(|hash| filled[(hash >> shift) as usize & 0x3fff] += 1);
            // Two a place on average; by chance about one place in a hundred thousand has twelve.
            let most = filled.iter().max().unwrap();
            assert!(*most < 16, "{most} in one place, with keys {:x?}", hashing.keys);
        }
    }

    #[test]
    fn tables_have_keys_of_their_own() {
        let id = FlowId::from(7);
        assert_ne!(IdHashing::default().hash_one(id), IdHashing::default().hash_one(id));
    }
}
