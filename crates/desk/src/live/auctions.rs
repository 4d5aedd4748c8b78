//! When the indicative prices of calls are computed.

use rialto_model::InstrumentId;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The shortest time from the beginning of one pass to that of the next.
const PERIOD: Duration = Duration::from_millis(250);

/// Passes over the instruments in a call whose books have changed.
///
/// A pass computes one indicative price after the other, and is interleaved with folding. Between
/// two passes, folding has at least as much time as the first of them took.
pub(super) struct AuctionPasses {
    /// The instruments that are left of the pass under way.
    left: VecDeque<InstrumentId>,
    /// When the last pass began.
    began: Instant,
    /// How long its computations took.
    took: Duration,
    /// When the next pass may begin.
    due: Instant,
}

impl AuctionPasses {
    pub(super) fn new(now: Instant) -> AuctionPasses {
        let left = VecDeque::new();
        AuctionPasses { left, began: now, took: Duration::ZERO, due: now + PERIOD }
    }

    /// Whether instruments are left of a pass.
    pub(super) fn is_under_way(&self) -> bool {
        !self.left.is_empty()
    }

    /// Begins a pass over the changed instruments, unless one is under way or it is too early.
    pub(super) fn begin(&mut self, now: Instant, changed: impl FnOnce() -> VecDeque<InstrumentId>) {
        if self.is_under_way() || now < self.due {
            return;
        }
        (self.left, self.began, self.took) = (changed(), now, Duration::ZERO);
        self.due = now + PERIOD;
    }

    /// The next instrument of the pass.
    pub(super) fn take_next(&mut self) -> Option<InstrumentId> {
        self.left.pop_front()
    }

    /// An indicative price was computed and published between these times.
    pub(super) fn computed(&mut self, from: Instant, now: Instant) {
        self.took += now.saturating_duration_since(from);
        self.due = (self.began + PERIOD).max(now + self.took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// The instruments of a pass that begins now; none if none begins.
    fn begun(passes: &mut AuctionPasses, now: Instant) -> usize {
        passes.begin(now, || (1..=3).map(InstrumentId).collect());
        passes.left.len()
    }

    #[test]
    fn a_pass_visits_each_instrument_once_and_the_next_begins_after_the_period() {
        let start = Instant::now();
        let mut passes = AuctionPasses::new(start);
        assert_eq!(begun(&mut passes, start + PERIOD - MS), 0);
        assert_eq!(begun(&mut passes, start + PERIOD), 3);
        for instrument in 1..=3 {
            assert!(passes.is_under_way());
            assert_eq!(passes.take_next(), Some(InstrumentId(instrument)));
            passes.computed(start + PERIOD, start + PERIOD + MS);
            let left = passes.left.len();
            assert_eq!(begun(&mut passes, start + PERIOD + MS), left, "no pass begins meanwhile");
        }
        assert_eq!(passes.take_next(), None);
        assert_eq!(begun(&mut passes, start + 2 * PERIOD - MS), 0);
        assert_eq!(begun(&mut passes, start + 2 * PERIOD), 3);
    }

    #[test]
    fn a_long_pass_leaves_as_much_time_as_it_took() {
        let start = Instant::now();
        let mut passes = AuctionPasses::new(start);
        let mut now = start + PERIOD;
        assert_eq!(begun(&mut passes, now), 3);
        while passes.take_next().is_some() {
            passes.computed(now, now + 200 * MS);
            // Folding goes on in between, which is no part of what the pass took.
            now += 300 * MS;
        }
        let ended = now - 100 * MS;
        assert_eq!(begun(&mut passes, ended + 600 * MS - MS), 0);
        assert_eq!(begun(&mut passes, ended + 600 * MS), 3);
    }
}
