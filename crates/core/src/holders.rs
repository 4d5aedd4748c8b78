//! The account that holds most of a resource that is bounded over all accounts.

/// How much each account holds, by its slot, and a binary heap of the accounts by that. Among
/// accounts that hold the same, the one opened first stands before the others, so that the order
/// follows from the counts alone.
pub(crate) struct Holders {
    counts: Vec<u32>,
    heap: Vec<u32>,
    /// The position of each account in the heap.
    positions: Vec<u32>,
    total: u64,
}

impl Holders {
    pub(crate) fn new() -> Holders {
        Holders { counts: Vec::new(), heap: Vec::new(), positions: Vec::new(), total: 0 }
    }

    /// Adds the next account, which holds nothing, behind all others.
    pub(crate) fn add_account(&mut self) {
        let slot = self.counts.len() as u32;
        self.counts.push(0);
        self.heap.push(slot);
        self.positions.push(slot);
    }

    pub(crate) fn count(&self, account: u32) -> u32 {
        self.counts[account as usize]
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The account that holds most.
    pub(crate) fn most(&self) -> Option<u32> {
        self.heap.first().copied().filter(|&account| self.count(account) > 0)
    }

    /// Counts one more for the account.
    pub(crate) fn add(&mut self, account: u32) {
        self.counts[account as usize] += 1;
        self.total += 1;
        let mut at = self.positions[account as usize] as usize;
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.stands_before(self.heap[parent], account) {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, account);
    }

    /// Counts one less for the account.
    pub(crate) fn take(&mut self, account: u32) {
        self.counts[account as usize] -= 1;
        self.total -= 1;
        let mut at = self.positions[account as usize] as usize;
        loop {
            let (left, right) = (at * 2 + 1, at * 2 + 2);
            let Some(&first) = self.heap.get(left) else { break };
            let (below, child) = match self.heap.get(right) {
                Some(&second) if self.stands_before(second, first) => (right, second),
                _ => (left, first),
            };
            if self.stands_before(account, child) {
                break;
            }
            self.put(at, child);
            at = below;
        }
        self.put(at, account);
    }

    fn put(&mut self, at: usize, account: u32) {
        self.heap[at] = account;
        self.positions[account as usize] = at as u32;
    }

    fn stands_before(&self, one: u32, other: u32) -> bool {
        let rank = |account: u32| (self.count(account), std::cmp::Reverse(account));
        rank(one) > rank(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_those_that_hold_most_is_found() {
        let mut holders = Holders::new();
        (0..40).for_each(|_| holders.add_account());
        let mut counts = [0_u32; 40];
        let mut state = 5_u64;
        for step in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let account = (state >> 33) as u32 % 40;
            if state >> 63 == 0 && counts[account as usize] > 0 {
                holders.take(account);
                counts[account as usize] -= 1;
            } else {
                holders.add(account);
                counts[account as usize] += 1;
            }
            let most = *counts.iter().max().unwrap();
            let first = counts.iter().position(|count| *count == most).unwrap() as u32;
            assert_eq!(holders.most(), (most > 0).then_some(first), "step {step}");
            assert_eq!(holders.total(), counts.iter().map(|count| u64::from(*count)).sum::<u64>());
        }
    }

    #[test]
    fn an_empty_table_has_no_largest_holder() {
        let mut holders = Holders::new();
        assert_eq!(holders.most(), None);
        holders.add_account();
        assert_eq!(holders.most(), None);
    }
}
