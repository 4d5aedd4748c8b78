//! What numbered producers of transactions have committed.

use std::collections::HashMap;

/// The most producers of transactions whose numbers a queue remembers.
pub const TRANSACTION_PRODUCERS_MAX: usize = 16_384;

#[derive(Clone, Copy, Debug)]
struct Last {
    number: u64,
    /// The last one that the control log has: what was only about topics in memory is gone with the
    /// process, and must not pass for done afterwards.
    kept: Option<u64>,
    /// When it was heard of, counted in transactions.
    heard: u64,
}

/// The last number of each producer of transactions. When there are too many, those that have not been
/// heard of for longest are forgotten.
#[derive(Debug, Default)]
pub(crate) struct TransactionNumbers {
    last: HashMap<String, Last>,
    heard: u64,
}

impl TransactionNumbers {
    /// Whether a producer has committed a transaction with this number or a later one.
    pub(crate) fn knows(&self, producer: &str, number: u64) -> bool {
        self.last.get(producer).is_some_and(|last| number <= last.number)
    }

    /// Notes that a transaction was committed, and whether the control log says so.
    pub(crate) fn remember(&mut self, producer: &str, number: u64, is_kept: bool) {
        self.heard += 1;
        if self.last.len() >= TRANSACTION_PRODUCERS_MAX && !self.last.contains_key(producer) {
            self.forget_the_quietest();
        }
        let new = Last { number, kept: None, heard: 0 };
        let last = self.last.entry(producer.to_owned()).or_insert(new);
        last.number = last.number.max(number);
        if is_kept {
            last.kept = Some(number.max(last.kept.unwrap_or_default()));
        }
        last.heard = self.heard;
    }

    /// An eighth at once, so that it is paid for seldom.
    fn forget_the_quietest(&mut self) {
        let mut heard: Vec<_> = self.last.values().map(|last| last.heard).collect();
        let nth = heard.len() / 8;
        let (_, &mut limit, _) = heard.select_nth_unstable(nth);
        self.last.retain(|_, last| last.heard > limit);
    }

    /// What the control log must know, those heard of last at the end.
    pub(crate) fn image(&self) -> Vec<(String, u64)> {
        let mut all: Vec<_> = self.last.iter().filter(|(_, last)| last.kept.is_some()).collect();
        all.sort_unstable_by_key(|(_, last)| last.heard);
        let told =
            |(producer, last): (&String, &Last)| (producer.clone(), last.kept.unwrap_or_default());
        all.into_iter().map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quietest_are_forgotten_when_there_are_too_many() {
        let mut numbers = TransactionNumbers::default();
        for nth in 0..TRANSACTION_PRODUCERS_MAX {
            numbers.remember(&nth.to_string(), 7, true);
        }
        numbers.remember("0", 8, true);
        numbers.remember("new", 1, true);
        assert!(numbers.knows("0", 8) && !numbers.knows("0", 9));
        assert!(numbers.knows("new", 1));
        assert!(!numbers.knows("1", 1));
        assert!(numbers.image().len() < TRANSACTION_PRODUCERS_MAX);
    }

    #[test]
    fn what_was_only_in_memory_is_not_told() {
        let mut numbers = TransactionNumbers::default();
        numbers.remember("a", 1, true);
        numbers.remember("a", 2, false);
        numbers.remember("b", 1, false);
        assert!(numbers.knows("a", 2) && numbers.knows("b", 1));
        assert_eq!(numbers.image(), [("a".to_owned(), 1)]);
    }
}
