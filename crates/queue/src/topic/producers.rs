//! What numbered producers have sent.

use std::collections::HashMap;

/// The producer that transactions count as. Ids of others are less.
pub(crate) const TRANSACTIONS: u64 = u64::MAX;

/// The most producers whose numbers a topic remembers.
pub const PRODUCERS_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug)]
struct Last {
    sequence: u64,
    /// When it was heard of, counted in messages of such producers.
    heard: u64,
}

/// The last number of each producer in each lane. Lanes are told apart because a loss of power may
/// take the tail of one and leave the other's. When there are too many, those that have not been heard
/// of for longest are forgotten.
#[derive(Debug, Default)]
pub(crate) struct Producers {
    last: HashMap<(u8, u64), Last>,
    heard: u64,
}

impl Producers {
    /// The last number that was accepted from a producer.
    pub(crate) fn last(&self, nth: u8, producer: u64) -> Option<u64> {
        self.last.get(&(nth, producer)).map(|last| last.sequence)
    }

    pub(crate) fn accept(&mut self, nth: u8, producer: u64, sequence: u64) {
        self.heard += 1;
        if self.last.len() >= PRODUCERS_MAX && !self.last.contains_key(&(nth, producer)) {
            self.forget_the_quietest();
        }
        let last = self.last.entry((nth, producer)).or_insert(Last { sequence, heard: 0 });
        last.sequence = last.sequence.max(sequence);
        last.heard = self.heard;
    }

    /// An eighth at once, so that it is paid for seldom.
    fn forget_the_quietest(&mut self) {
        let mut heard: Vec<_> = self.last.values().map(|last| last.heard).collect();
        let nth = heard.len() / 8;
        let (_, &mut limit, _) = heard.select_nth_unstable(nth);
        self.last.retain(|_, last| last.heard > limit);
    }

    /// Every lane and producer and its last number, those heard of last at the end.
    pub(crate) fn all(&self) -> Vec<(u8, u64, u64)> {
        let mut all: Vec<_> = self.last.iter().collect();
        all.sort_unstable_by_key(|(_, last)| last.heard);
        all.into_iter().map(|(&(nth, producer), last)| (nth, producer, last.sequence)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quietest_are_forgotten_when_there_are_too_many() {
        let mut producers = Producers::default();
        for producer in 1..=PRODUCERS_MAX as u64 {
            producers.accept(0, producer, 7);
        }
        producers.accept(0, 1, 8);
        producers.accept(0, u64::MAX, 1);
        assert_eq!(producers.last(0, 1), Some(8));
        assert_eq!(producers.last(0, 2), None);
        assert_eq!(producers.last(0, u64::MAX), Some(1));
        assert!(producers.all().len() <= PRODUCERS_MAX);
    }
}
