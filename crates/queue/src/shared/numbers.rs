//! The numbers that producers of transactions have committed.

use std::collections::{BTreeMap, HashMap};

/// The most producers of transactions whose numbers a queue remembers.
pub const TRANSACTION_PRODUCERS_MAX: usize = 16_384;

#[derive(Clone, Copy, Debug)]
struct Last {
    number: u64,
    /// The last number in the control log. Transactions of topics in memory only are lost with the
    /// process, and must not count as committed afterwards.
    kept: Option<u64>,
    /// When it was last used, counted in transactions.
    heard: u64,
}

/// The producers of one owner, by their whole names.
type Producers = HashMap<String, Last>;

/// The last number of each producer of transactions. When there are too many, the owner that has
/// the most loses some: first the ones that the control log does not have, then the least recently
/// used. An owner with at most an equal share loses none to others.
#[derive(Debug, Default)]
pub(crate) struct TransactionNumbers {
    owners: BTreeMap<String, Producers>,
    count: usize,
    heard: u64,
}

/// The owner of a producer: the part of its name before the first `/`.
fn owner_of(producer: &str) -> &str {
    producer.split_once('/').map_or("", |(owner, _)| owner)
}

impl TransactionNumbers {
    fn last_of(&self, producer: &str) -> Option<&Last> {
        self.owners.get(owner_of(producer))?.get(producer)
    }

    /// Whether a producer has committed a transaction with this number or a later one.
    pub(crate) fn knows(&self, producer: &str, number: u64) -> bool {
        self.last_of(producer).is_some_and(|last| number <= last.number)
    }

    /// Notes that a transaction was committed, and whether the control log holds it.
    pub(crate) fn remember(&mut self, producer: &str, number: u64, is_kept: bool) {
        self.heard += 1;
        let owner = owner_of(producer);
        if self.last_of(producer).is_none() {
            if self.count >= TRANSACTION_PRODUCERS_MAX {
                self.make_room(owner);
            }
            self.count += 1;
        }
        let new = Last { number, kept: None, heard: 0 };
        let producers = self.owners.entry(owner.to_owned()).or_default();
        let last = producers.entry(producer.to_owned()).or_insert(new);
        last.number = last.number.max(number);
        if is_kept {
            last.kept = Some(number.max(last.kept.unwrap_or_default()));
        }
        last.heard = self.heard;
    }

    /// Forgets some producers, so that there is room for another of this owner.
    fn make_room(&mut self, newcomer: &str) {
        let own = self.owners.get(newcomer).map_or(0, Producers::len);
        let owners = self.owners.len() + usize::from(own == 0);
        let share = TRANSACTION_PRODUCERS_MAX / owners;
        let most = self.owners.iter().max_by_key(|(_, producers)| producers.len());
        let Some((greatest, most)) = most.map(|(owner, producers)| (owner, producers.len())) else {
            return;
        };
        // Forgets an eighth at once, to amortise the cost, but of each owner only what exceeds its
        // share.
        let (owner, forgotten) = if own == most {
            (newcomer.to_owned(), most / 8)
        } else {
            (greatest.clone(), (most / 8).min(most - share))
        };
        self.forget(&owner, forgotten.max(1));
    }

    fn forget(&mut self, owner: &str, count: usize) {
        let Some(producers) = self.owners.get_mut(owner) else { return };
        let rank = |last: &Last| (last.kept.is_some(), last.heard);
        let mut ranks: Vec<_> = producers.values().map(rank).collect();
        if count < ranks.len() {
            // Times of last use are distinct, so that no two have the same rank.
            let (_, &mut first_left, _) = ranks.select_nth_unstable(count);
            producers.retain(|_, last| rank(last) >= first_left);
            self.count -= count;
        } else {
            self.count -= ranks.len();
            self.owners.remove(owner);
        }
    }

    /// The numbers for the control log, the most recently used last.
    pub(crate) fn image(&self) -> Vec<(String, u64)> {
        let all = self.owners.values().flatten();
        let kept = all.filter_map(|(producer, last)| Some((last.heard, producer, last.kept?)));
        let mut kept: Vec<_> = kept.collect();
        kept.sort_unstable_by_key(|(heard, ..)| *heard);
        kept.into_iter().map(|(_, producer, number)| (producer.clone(), number)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(numbers: &TransactionNumbers, owner: &str, count: usize) -> usize {
        (0..count).filter(|nth| numbers.knows(&format!("{owner}/{nth}"), 1)).count()
    }

    fn remember(numbers: &mut TransactionNumbers, owner: &str, count: usize, is_kept: bool) {
        for nth in 0..count {
            numbers.remember(&format!("{owner}/{nth}"), 1, is_kept);
        }
    }

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
        assert_eq!(numbers.image().len(), TRANSACTION_PRODUCERS_MAX * 7 / 8 + 1);
    }

    #[test]
    fn a_client_with_many_producers_displaces_none_within_another_clients_share() {
        const SHARE: usize = TRANSACTION_PRODUCERS_MAX / 2;
        let mut numbers = TransactionNumbers::default();
        remember(&mut numbers, "quiet", 10, true);
        remember(&mut numbers, "loud", TRANSACTION_PRODUCERS_MAX * 2, false);
        assert_eq!(known(&numbers, "quiet", 10), 10);
        // Who comes late gets as much as the other has, and then displaces only its own.
        remember(&mut numbers, "late", TRANSACTION_PRODUCERS_MAX, true);
        let (quiet, loud) =
            (known(&numbers, "quiet", 10), known(&numbers, "loud", TRANSACTION_PRODUCERS_MAX * 2));
        assert_eq!(quiet, 10);
        assert!(loud >= TRANSACTION_PRODUCERS_MAX / 3, "{loud}");
        let late = known(&numbers, "late", TRANSACTION_PRODUCERS_MAX);
        assert!((SHARE * 3 / 4..=SHARE * 5 / 4).contains(&late), "{late}");
        assert_eq!(numbers.count, quiet + loud + late);
        assert!(numbers.count <= TRANSACTION_PRODUCERS_MAX);
    }

    #[test]
    fn producers_of_memory_topics_are_forgotten_first() {
        let mut numbers = TransactionNumbers::default();
        remember(&mut numbers, "key", 10, true);
        for nth in 0..TRANSACTION_PRODUCERS_MAX * 2 {
            numbers.remember(&format!("key/fleeting-{nth}"), 1, false);
        }
        assert_eq!(known(&numbers, "key", 10), 10);
    }

    #[test]
    fn each_of_many_owners_has_room_for_one() {
        let mut numbers = TransactionNumbers::default();
        for nth in 0..TRANSACTION_PRODUCERS_MAX {
            numbers.remember(&format!("{nth}/only"), 1, true);
        }
        numbers.remember("0/second", 1, true);
        assert!(numbers.knows("0/second", 1) && !numbers.knows("0/only", 1));
        assert!(numbers.knows("1/only", 1));
        numbers.remember("new/only", 1, true);
        assert!(numbers.knows("new/only", 1));
        assert_eq!(numbers.image().len(), TRANSACTION_PRODUCERS_MAX);
    }

    #[test]
    fn numbers_of_topics_in_memory_are_not_recorded() {
        let mut numbers = TransactionNumbers::default();
        numbers.remember("a", 1, true);
        numbers.remember("a", 2, false);
        numbers.remember("b", 1, false);
        assert!(numbers.knows("a", 2) && numbers.knows("b", 1));
        assert_eq!(numbers.image(), [("a".to_owned(), 1)]);
    }
}
