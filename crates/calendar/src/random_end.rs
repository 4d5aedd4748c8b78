//! The random end of a call.

use crate::Transition;
use rialto_clock::Timestamp;

/// Separates these draws from any other use of a seed. Another text means other ends.
const CONTEXT: &str = "rialto-calendar 2026-11 random end of a call";

impl Transition {
    /// When this call ends: drawn from `seed`, each nanosecond from the earliest to the latest end
    /// being equally likely. `None` if the phase is not a call.
    ///
    /// The same seed and transition give the same end, in every process. Ends say nothing about
    /// each other or the seed to those without it (BLAKE3). Two markets with one seed and one
    /// calendar end together: give each its own seed.
    #[must_use]
    pub fn call_end(&self, seed: u64) -> Option<Timestamp> {
        let call = self.call?;
        let choices = u128::from(call.latest_end.0.checked_sub(call.earliest_end.0)?) + 1;
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        for number in [seed, self.at.0, call.earliest_end.0, call.latest_end.0] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(self.phase.name().as_bytes());
        let mut drawn = [0; 16];
        hasher.finalize_xof().fill(&mut drawn);
        // Of 2^128 numbers; the excess of the first ends is below 2^-64.
        let after = (u128::from_le_bytes(drawn) % choices) as u64;
        Some(Timestamp(call.earliest_end.0 + after))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::{CallTimes, Phase};

    fn call(at: u64, earliest: u64, latest: u64) -> Transition {
        let (earliest_end, latest_end) = (Timestamp(earliest), Timestamp(latest));
        let call = Some(CallTimes { no_cancel_from: None, earliest_end, latest_end });
        let day = jiff::civil::date(2026, 1, 5);
        Transition { at: Timestamp(at), phase: Phase::OpeningCall, day, call }
    }

    #[test]
    fn an_end_is_the_same_in_every_process() {
        let call = call(1_000, 2_000_000_000, 32_000_000_000);
        assert_eq!(call.call_end(7), Some(Timestamp(FIXED)));
        assert_eq!(call.call_end(7), call.call_end(7));
    }

    /// What the seed 7 has always drawn.
    const FIXED: u64 = 8_713_003_138;

    #[test]
    fn ends_are_spread_evenly_between_their_bounds() {
        let call = call(0, 100, 109);
        let mut counts = [0_u32; 10];
        for seed in 0..10_000 {
            let end = call.call_end(seed).unwrap().0;
            counts[usize::try_from(end - 100).unwrap()] += 1;
        }
        // Five standard deviations of a fair draw.
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
    }

    #[test]
    fn seed_time_and_phase_each_change_the_end() {
        let first = call(1, 1_000, 1_000_000_000_000);
        let end = first.call_end(1);
        assert_ne!(first.call_end(2), end);
        assert_ne!(Transition { at: Timestamp(2), ..first }.call_end(1), end);
        assert_ne!(Transition { phase: Phase::ClosingCall, ..first }.call_end(1), end);
    }

    #[test]
    fn a_call_without_a_random_end_ends_when_it_says() {
        assert_eq!(call(1, 500, 500).call_end(9), Some(Timestamp(500)));
        assert_eq!(call(1, 0, u64::MAX).call_end(9).map(|_| ()), Some(()));
        assert_eq!(Transition { call: None, ..call(1, 2, 3) }.call_end(9), None);
    }
}
