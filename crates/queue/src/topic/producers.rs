//! The numbers of numbered producers.

use std::collections::{HashMap, VecDeque};

/// The producer id of transactions. Ids of others are smaller.
pub(crate) const TRANSACTIONS: u64 = u64::MAX;

/// The most producers whose numbers a topic remembers.
pub const PRODUCERS_MAX: usize = 65_536;

#[derive(Clone, Copy, Debug)]
struct Last {
    sequence: u64,
    /// When it was last used, counted in messages of numbered producers.
    heard: u64,
}

/// The last number of each producer in each lane. Lanes are kept apart because a loss of power may
/// take the tail of one and leave the other's. When there are too many, the least recently used are
/// forgotten.
#[derive(Debug, Default)]
pub(crate) struct Producers {
    last: HashMap<(u8, u64), Last>,
    heard: u64,
    /// The same for durable messages: only these may be recorded in the control log. Otherwise a
    /// lost message would be refused as a duplicate when it is sent again.
    safe: HashMap<(u8, u64), u64>,
    /// Messages that are not known to be durable, in the order in which they were accepted.
    unsafe_yet: VecDeque<Accepted>,
}

#[derive(Clone, Copy, Debug)]
struct Accepted {
    nth: u8,
    seq: u64,
    producer: u64,
    number: u64,
}

/// The number of such messages at which their durability is checked.
const UNSAFE_MAX: usize = 4096;

impl Producers {
    pub(crate) fn last(&self, nth: u8, producer: u64) -> Option<u64> {
        self.last.get(&(nth, producer)).map(|last| last.sequence)
    }

    /// Whether no message with a number is remembered.
    pub(crate) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Notes a message that was accepted as `seq` of a lane. `safe` returns the last durable
    /// message of a lane.
    pub(crate) fn accept(
        &mut self,
        nth: u8,
        seq: u64,
        (producer, number): (u64, u64),
        safe: impl Fn(u8) -> u64,
    ) {
        self.remember(nth, producer, number);
        self.unsafe_yet.push_back(Accepted { nth, seq, producer, number });
        if self.unsafe_yet.len() > UNSAFE_MAX {
            self.settle(safe);
        }
    }

    /// Notes a message that was found on the disk.
    pub(crate) fn restore(&mut self, nth: u8, producer: u64, number: u64) {
        self.remember(nth, producer, number);
        self.note_safe(Accepted { nth, seq: 0, producer, number });
    }

    fn note_safe(&mut self, accepted: Accepted) {
        let Accepted { nth, producer, number, .. } = accepted;
        let last = self.safe.entry((nth, producer)).or_insert(number);
        *last = number.max(*last);
    }

    fn settle(&mut self, safe: impl Fn(u8) -> u64) {
        let waiting = std::mem::take(&mut self.unsafe_yet);
        for accepted in waiting {
            if accepted.seq <= safe(accepted.nth) {
                self.note_safe(accepted);
            } else {
                self.unsafe_yet.push_back(accepted);
            }
        }
        self.safe.retain(|place, _| self.last.contains_key(place));
    }

    fn remember(&mut self, nth: u8, producer: u64, sequence: u64) {
        self.heard += 1;
        if self.last.len() >= PRODUCERS_MAX && !self.last.contains_key(&(nth, producer)) {
            self.forget_the_quietest();
        }
        let last = self.last.entry((nth, producer)).or_insert(Last { sequence, heard: 0 });
        last.sequence = last.sequence.max(sequence);
        last.heard = self.heard;
    }

    /// Forgets an eighth at once, to amortise the cost.
    fn forget_the_quietest(&mut self) {
        let mut heard: Vec<_> = self.last.values().map(|last| last.heard).collect();
        let nth = heard.len() / 8;
        let (_, &mut limit, _) = heard.select_nth_unstable(nth);
        // Numbers of transactions are never forgotten: their messages would be delivered twice.
        self.last.retain(|(_, producer), last| last.heard > limit || *producer == TRANSACTIONS);
    }

    /// Every lane and producer with the last durable number, where `safe` returns the last durable
    /// message of a lane; the most recently used last.
    pub(crate) fn all_safe(&mut self, safe: impl Fn(u8) -> u64) -> Vec<(u8, u64, u64)> {
        self.settle(safe);
        let heard = |place| self.last.get(place).map_or(0, |last| last.heard);
        let mut all: Vec<_> = self.safe.iter().collect();
        all.sort_unstable_by_key(|(place, _)| heard(place));
        all.into_iter().map(|(&(nth, producer), &number)| (nth, producer, number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quietest_are_forgotten_when_there_are_too_many() {
        let mut producers = Producers::default();
        for producer in 1..=PRODUCERS_MAX as u64 {
            producers.restore(0, producer, 7);
        }
        producers.restore(0, 1, 8);
        producers.restore(0, u64::MAX, 1);
        assert_eq!(producers.last(0, 1), Some(8));
        assert_eq!(producers.last(0, 2), None);
        assert_eq!(producers.last(0, u64::MAX), Some(1));
        assert!(producers.all_safe(|_| 0).len() <= PRODUCERS_MAX);
    }

    #[test]
    fn only_durable_numbers_are_reported() {
        let mut producers = Producers::default();
        for number in 1..=3 {
            producers.accept(0, number, (7, number), |_| 0);
        }
        assert_eq!(producers.last(0, 7), Some(3));
        assert_eq!(producers.all_safe(|_| 2), [(0, 7, 2)]);
        assert_eq!(producers.all_safe(|_| 3), [(0, 7, 3)]);
    }
}
