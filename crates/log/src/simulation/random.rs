//! The source of all decisions of a history.

use crate::KeyRing;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// The generator that proptest brings, so that the crate needs no other.
pub(super) struct Random(TestRng);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        use proptest::prelude::Rng;
        self.0.next_u64() % bound.max(1)
    }

    pub(super) fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// Two keys, of which one is written with.
pub(super) fn keys_with_current(current: u64) -> KeyRing {
    let key = |digit: &str| digit.repeat(64);
    let text = format!("1: {}\n2: {}\ncurrent: {current}\n", key("a"), key("b"));
    KeyRing::parse(&text, "the simulation").expect("the text is that of two keys")
}
