//! Recently accepted signatures, so that none is accepted twice.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, PoisonError};

const SHARDS: usize = 16;

/// The reason why a signature is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotFresh {
    /// It was accepted before.
    Replayed,
    /// The set is full.
    Full,
    /// Its key has no allowance left. The signature may be used again.
    RateLimited,
}

/// A set in two generations. A generation lasts as long as a timestamp can be valid, so that
/// signatures dropped with the older one are refused for their timestamps.
///
/// It keeps 128 of a signature's 256 bits. They are the output of a keyed hash of a verified
/// request: a collision cannot be constructed without the secret.
pub(super) struct SeenSignatures {
    shards: [Mutex<Shard>; SHARDS],
    generation_us: u64,
    shard_max: usize,
}

#[derive(Default)]
struct Shard {
    began_us: u64,
    newer: Set,
    older: Set,
}

type Set = HashSet<u128, BuildHasherDefault<Taken>>;

/// Signatures are uniformly distributed, so that 64 of their bits serve as the hash.
#[derive(Default)]
struct Taken(u64);

impl Hasher for Taken {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only signatures are hashed here");
    }

    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl SeenSignatures {
    /// `generation_us` is how long a timestamp is valid after its first possible use; `max` is the
    /// most signatures to keep.
    pub(super) fn new(generation_us: u64, max: usize) -> SeenSignatures {
        let shards = std::array::from_fn(|_| Mutex::default());
        SeenSignatures { shards, generation_us, shard_max: (max / SHARDS).max(1) }
    }

    /// Adds a verified signature at time `now_us`, if `take` takes an allowance for it; returns
    /// what `take` did. One lock covers both: a repeated signature takes no allowance, and one
    /// without an allowance is not added.
    pub(super) fn admit<T>(
        &self,
        signature: &[u8; 32],
        now_us: u64,
        take: impl FnOnce() -> Option<T>,
    ) -> Result<T, NotFresh> {
        let (low, high) = signature.split_at(16);
        let number = u128::from_le_bytes(low.try_into().expect("half of 32 bytes are 16"));
        let shard = usize::from(high[0]) % SHARDS;
        let mut shard = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
        let age = now_us.saturating_sub(shard.began_us);
        if age >= self.generation_us {
            let shard = &mut *shard;
            std::mem::swap(&mut shard.older, &mut shard.newer);
            shard.newer.clear();
            if age >= 2 * self.generation_us {
                shard.older.clear();
            }
            shard.began_us = now_us;
        }
        if shard.newer.contains(&number) || shard.older.contains(&number) {
            return Err(NotFresh::Replayed);
        }
        if shard.newer.len() + shard.older.len() >= self.shard_max {
            return Err(NotFresh::Full);
        }
        let taken = take().ok_or(NotFresh::RateLimited)?;
        shard.newer.insert(number);
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(number: u8) -> [u8; 32] {
        let mut signature = [0; 32];
        signature[0] = number;
        signature
    }

    fn admit(seen: &SeenSignatures, number: u8, now_us: u64) -> Result<(), NotFresh> {
        seen.admit(&signature(number), now_us, || Some(()))
    }

    #[test]
    fn a_signature_is_refused_for_at_least_a_generation_after_its_use() {
        for offset in 0..10 {
            let seen = SeenSignatures::new(10, 1_000);
            let start = 1_000 + offset;
            admit(&seen, 1, 1_000).unwrap();
            admit(&seen, 2, start).unwrap();
            for now in start..=start + 10 {
                assert_eq!(admit(&seen, 2, now), Err(NotFresh::Replayed), "{now}");
            }
        }
    }

    #[test]
    fn the_set_is_bounded_and_frees_room() {
        let seen = SeenSignatures::new(10, 2 * SHARDS);
        admit(&seen, 1, 100).unwrap();
        admit(&seen, 2, 100).unwrap();
        assert_eq!(admit(&seen, 3, 105), Err(NotFresh::Full));
        assert_eq!(admit(&seen, 3, 111), Err(NotFresh::Full), "still the older");
        assert_eq!(admit(&seen, 3, 122), Ok(()));
    }

    #[test]
    fn a_signature_without_an_allowance_is_not_remembered_and_a_repeated_one_takes_none() {
        let seen = SeenSignatures::new(10, 1_000);
        let refused = seen.admit(&signature(1), 100, || None::<()>);
        assert_eq!(refused, Err(NotFresh::RateLimited));
        assert_eq!(admit(&seen, 1, 101), Ok(()));
        let repeated =
            seen.admit(&signature(1), 102, || -> Option<()> { unreachable!("it has been seen") });
        assert_eq!(repeated, Err(NotFresh::Replayed));
    }
}
