//! Orders that have ended and are remembered: of each account in order, and which account has most.

use rialto_model::{OrderId, Seq};
use std::collections::VecDeque;

/// The data needed to forget an ended order, so that the order itself, which is likely in no cache,
/// need not be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) slot: u32,
    pub(crate) order: OrderId,
    pub(crate) seq: Seq,
    /// The number of orders that ended before it, over all accounts.
    pub(crate) number: u64,
}

/// The ended orders of one account: those with a client order id and the others, oldest end first.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndedOrders {
    named: VecDeque<Ended>,
    unnamed: VecDeque<Ended>,
}

impl EndedOrders {
    pub(crate) fn push(&mut self, ended: Ended, named: bool) {
        if named { self.named.push_back(ended) } else { self.unnamed.push_back(ended) }
    }

    /// Takes out one to be forgotten and says whether it has a client order id: the oldest, but
    /// none of the last `names_kept` with a client order id as long as there is another.
    pub(crate) fn forget(&mut self, names_kept: usize) -> Option<(Ended, bool)> {
        let named = match (self.named.front(), self.unnamed.front()) {
            (Some(named), Some(unnamed)) => {
                self.named.len() > names_kept && named.number < unnamed.number
            }
            (named, _) => named.is_some(),
        };
        let from = if named { &mut self.named } else { &mut self.unnamed };
        from.pop_front().map(|ended| (ended, named))
    }

    /// All, the last to end first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = &Ended> {
        let (mut named, mut unnamed) =
            (self.named.iter().rev().peekable(), self.unnamed.iter().rev().peekable());
        std::iter::from_fn(move || match (named.peek(), unnamed.peek()) {
            (Some(one), Some(other)) if one.number < other.number => unnamed.next(),
            (Some(_), _) => named.next(),
            (None, _) => unnamed.next(),
        })
    }
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Rank {
    count: u32,
    prev: u32,
    next: u32,
}

/// Accounts by how many ended orders of theirs are remembered. Among accounts with the same number
/// the one that has had it for longest comes first.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// By the account's slot.
    ranks: Vec<Rank>,
    /// First and last account of each number.
    lists: Vec<(u32, u32)>,
    total: usize,
}

impl Ranks {
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// The account with most, if any has one.
    pub(crate) fn most(&self) -> Option<u32> {
        self.lists.last().map(|list| list.0)
    }

    pub(crate) fn add(&mut self, account: u32) {
        let at = account as usize;
        if self.ranks.len() <= at {
            self.ranks.resize(at + 1, Rank { count: 0, prev: NONE, next: NONE });
        }
        self.total += 1;
        self.move_to(account, self.ranks[at].count + 1);
    }

    pub(crate) fn take(&mut self, account: u32) {
        self.total -= 1;
        self.move_to(account, self.ranks[account as usize].count - 1);
    }

    fn move_to(&mut self, account: u32, count: u32) {
        let Rank { count: before, prev, next } = self.ranks[account as usize];
        if before > 0 {
            let list = &mut self.lists[before as usize - 1];
            match prev {
                NONE => list.0 = next,
                prev => self.ranks[prev as usize].next = next,
            }
            match next {
                NONE => list.1 = prev,
                next => self.ranks[next as usize].prev = prev,
            }
        }
        let mut rank = Rank { count, prev: NONE, next: NONE };
        if count > 0 {
            if self.lists.len() < count as usize {
                self.lists.push((NONE, NONE));
            }
            let list = &mut self.lists[count as usize - 1];
            rank.prev = std::mem::replace(&mut list.1, account);
            match rank.prev {
                NONE => list.0 = account,
                prev => self.ranks[prev as usize].next = account,
            }
        }
        self.ranks[account as usize] = rank;
        while self.lists.last().is_some_and(|list| list.0 == NONE) {
            self.lists.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(number: u64) -> Ended {
        Ended { slot: 0, order: OrderId(number), seq: Seq(number / 2), number }
    }

    #[test]
    fn ended_orders_are_listed_by_their_ends_whether_they_have_names_or_not() {
        let mut orders = EndedOrders::default();
        (1..=6).for_each(|number| orders.push(ended(number), number % 3 == 0));
        let listed: Vec<u64> = orders.newest_first().map(|ended| ended.number).collect();
        assert_eq!(listed, [6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn the_last_orders_with_names_are_forgotten_after_all_others() {
        let mut orders = EndedOrders::default();
        (1..=6).for_each(|number| orders.push(ended(number), number < 4));
        let mut forget = || orders.forget(2).map(|(ended, named)| (ended.number, named));
        assert_eq!(forget(), Some((1, true)), "there are more than two");
        assert_eq!([forget(), forget(), forget()], [4, 5, 6].map(|number| Some((number, false))));
        assert_eq!([forget(), forget(), forget()], [Some((2, true)), Some((3, true)), None]);
    }

    #[test]
    fn the_account_with_the_most_entries_is_found_after_all_changes() {
        let mut ranks = Ranks::default();
        let mut counts = [0_usize; 20];
        let mut state = 5_u64;
        for step in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let account = (state >> 33) as usize % 20;
            if state >> 63 == 0 && counts[account] > 0 {
                ranks.take(account as u32);
                counts[account] -= 1;
            } else {
                ranks.add(account as u32);
                counts[account] += 1;
            }
            let most = ranks.most().map_or(0, |account| counts[account as usize]);
            assert_eq!(most, *counts.iter().max().unwrap(), "step {step}");
            assert_eq!(ranks.total(), counts.iter().sum::<usize>());
        }
    }

    #[test]
    fn among_equals_the_longest_waiting_one_is_first() {
        let mut ranks = Ranks::default();
        [3, 1, 2].into_iter().for_each(|account| ranks.add(account));
        assert_eq!(ranks.most(), Some(3));
        ranks.take(3);
        assert_eq!(ranks.most(), Some(1));
    }
}
