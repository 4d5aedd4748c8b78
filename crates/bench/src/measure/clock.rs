//! The clock of all measurements.

use std::time::Instant;

/// The number of pairs of readings that give the cost of a reading.
const COST_PAIRS: usize = 10_001;

/// A monotonic clock that counts nanoseconds from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that stands at zero now.
    pub(crate) fn start() -> Clock {
        Clock { origin: Instant::now() }
    }

    /// Nanoseconds since the start, for at most 584 years.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// Median time between two readings that follow each other at once: what a measurement of
    /// nothing shows, and so what is contained in every single latency.
    pub(crate) fn cost_ns(&self) -> u64 {
        let mut pairs: Vec<u64> = (0..COST_PAIRS)
            .map(|_| {
                let before = self.now_ns();
                self.now_ns() - before
            })
            .collect();
        let (_, median, _) = pairs.select_nth_unstable(COST_PAIRS / 2);
        *median
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_runs_backwards_and_does_not_stand_still() {
        let clock = Clock::start();
        let first = clock.now_ns();
        let mut last = first;
        while last == first {
            let now = clock.now_ns();
            assert!(now >= last);
            last = now;
        }
    }

    #[test]
    fn a_reading_costs_less_than_ten_microseconds() {
        assert!(Clock::start().cost_ns() < 10_000);
    }
}
