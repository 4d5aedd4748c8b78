//! Sampling of flows and requests.

use rialto_bus::behaviour::{Randomness, SplitMix};
use rialto_clock::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};

/// Which flows and requests are recorded. The children of a recorded one are recorded, and those of
/// one that is not are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// None.
    Nothing,
    /// All.
    #[default]
    All,
    /// This many of a million, by chance.
    Share {
        /// How many of a million.
        per_million: u32,
    },
    /// Those that fail. All are recorded while they are unfinished, and successful ones are then
    /// dropped.
    Failures,
    /// At most `per_second` in one second of the clock, at random: the share follows from the
    /// number in the second before, so that the chosen ones are spread over the second.
    Adaptive {
        /// How many in one second.
        per_second: u32,
    },
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Decides by a [`Sampling`].
#[derive(Debug)]
pub(crate) struct Sampler {
    sampling: Sampling,
    chance: SplitMix,
    /// For the adaptive sampling: the second in the upper half, how many were chosen in it in the
    /// lower, in one word so that the budget is never exceeded.
    chosen: AtomicU64,
    /// The number of candidates in this second. It may be off at the change of the second.
    asked: AtomicU64,
    /// Numbers up to this one are chosen.
    threshold: AtomicU64,
}

impl Sampler {
    pub(crate) fn new(sampling: Sampling, chance: SplitMix) -> Sampler {
        let threshold = match sampling {
            Sampling::Share { per_million } => threshold(u64::from(per_million), 1_000_000),
            _ => u64::MAX,
        };
        Sampler {
            sampling,
            chance,
            chosen: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            threshold: AtomicU64::new(threshold),
        }
    }

    /// Whether one that begins now is recorded.
    #[inline]
    pub(crate) fn chooses(&self, now: impl FnOnce() -> Timestamp) -> bool {
        match self.sampling {
            Sampling::Nothing => false,
            Sampling::All | Sampling::Failures => true,
            Sampling::Share { per_million } => per_million > 0 && self.is_lucky(),
            Sampling::Adaptive { per_second } => self.chooses_adaptively(now(), per_second),
        }
    }

    /// Whether one that has succeeded is kept.
    #[inline]
    pub(crate) fn keeps_successes(&self) -> bool {
        self.sampling != Sampling::Failures
    }

    fn is_lucky(&self) -> bool {
        self.chance.next() <= self.threshold.load(Ordering::Relaxed)
    }

    fn chooses_adaptively(&self, now: Timestamp, per_second: u32) -> bool {
        let second = (now.0 / NANOS_PER_SECOND) & u64::from(u32::MAX);
        let mut seen = self.chosen.load(Ordering::Relaxed);
        // A clock that is set back stays in the second that it had reached.
        while seen >> 32 < second {
            match self.turn(seen, second) {
                Ok(()) => {
                    let asked = self.asked.swap(0, Ordering::Relaxed);
                    // After a second without records there is no rate to go by.
                    let follows = seen >> 32 == second - 1;
                    let asked = if follows { asked.max(1) } else { 1 };
                    let next = threshold(u64::from(per_second), asked);
                    self.threshold.store(next, Ordering::Relaxed);
                    seen = second << 32;
                }
                Err(now_seen) => seen = now_seen,
            }
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.is_lucky() && self.spend(per_second)
    }

    fn turn(&self, seen: u64, second: u64) -> Result<(), u64> {
        let swap =
            self.chosen.compare_exchange(seen, second << 32, Ordering::Relaxed, Ordering::Relaxed);
        swap.map(|_| ())
    }

    fn spend(&self, per_second: u32) -> bool {
        let spend = |chosen: u64| (chosen as u32 != per_second).then(|| chosen + 1);
        self.chosen.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }
}

/// The largest of all 64-bit numbers that make up this part of them.
fn threshold(of: u64, all: u64) -> u64 {
    let part = u128::from(of) * u128::from(u64::MAX) / u128::from(all);
    u64::try_from(part).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: u64 = 7;

    fn chosen(sampler: &Sampler, second: u64, asked: u64) -> Vec<u64> {
        let at = |number: u64| second * NANOS_PER_SECOND + number * NANOS_PER_SECOND / asked;
        (0..asked).filter(|&number| sampler.chooses(|| Timestamp(at(number)))).collect()
    }

    #[test]
    fn a_share_is_about_that_share() {
        let share = Sampling::Share { per_million: 250_000 };
        let chosen = chosen(&Sampler::new(share, SplitMix::seeded(SEED)), 0, 10_000).len();
        assert!((2_300..2_700).contains(&chosen), "{chosen} of 10,000, seed {SEED}");
    }

    #[test]
    fn the_budget_is_kept_and_spread_over_the_second() {
        let adaptive = Sampling::Adaptive { per_second: 100 };
        let sampler = Sampler::new(adaptive, SplitMix::seeded(SEED));
        // The first second knows nothing of what comes and spends the budget at once.
        assert_eq!(chosen(&sampler, 5, 10_000), (0..100).collect::<Vec<_>>());
        let second = chosen(&sampler, 6, 10_000);
        assert!((60..=100).contains(&second.len()), "{}, seed {SEED}", second.len());
        let late = second.iter().filter(|&&number| number > 5_000).count();
        assert!((25..75).contains(&late), "{late} in the second half, seed {SEED}");
    }

    #[test]
    fn when_less_is_asked_all_are_chosen_again() {
        let adaptive = Sampling::Adaptive { per_second: 100 };
        let sampler = Sampler::new(adaptive, SplitMix::seeded(SEED));
        chosen(&sampler, 5, 10_000);
        chosen(&sampler, 6, 50);
        assert_eq!(chosen(&sampler, 7, 50).len(), 50);
    }

    #[test]
    fn a_clock_that_is_set_back_gives_no_second_budget() {
        let sampler = Sampler::new(Sampling::Adaptive { per_second: 10 }, SplitMix::seeded(SEED));
        assert_eq!(chosen(&sampler, 5, 20).len(), 10);
        assert_eq!(chosen(&sampler, 4, 20).len(), 0);
    }
}
