//! Sources of random numbers, given so that tests are repeatable.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives unpredictable numbers. A function is one too.
pub trait Randomness: Send + Sync {
    /// The next number, any of all 64-bit numbers.
    fn next(&self) -> u64;
}

impl<F: Fn() -> u64 + Send + Sync> Randomness for F {
    fn next(&self) -> u64 {
        self()
    }
}

/// A fast generator without a lock. Not for secrets: one number reveals the next.
///
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
#[derive(Debug)]
pub struct SplitMix(AtomicU64);

impl SplitMix {
    /// The same numbers for the same seed.
    #[must_use]
    pub fn seeded(seed: u64) -> SplitMix {
        SplitMix(AtomicU64::new(seed))
    }

    /// Other numbers each time, seeded as the standard library's hash maps are.
    #[must_use]
    pub fn from_entropy() -> SplitMix {
        SplitMix::seeded(RandomState::new().hash_one(0))
    }
}

impl Default for SplitMix {
    fn default() -> SplitMix {
        SplitMix::from_entropy()
    }
}

impl Randomness for SplitMix {
    #[inline]
    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_paper() {
        let numbers = SplitMix::seeded(1_234_567);
        assert_eq!(numbers.next(), 6_457_827_717_110_365_317);
        assert_eq!(numbers.next(), 3_203_168_211_198_807_973);
    }
}
