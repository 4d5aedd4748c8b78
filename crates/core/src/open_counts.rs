//! The number of open orders of each account in each instrument.

use crate::table::{Hasher, Table};

struct Count {
    account: u32,
    market: u16,
    /// Zero in an entry that is free.
    orders: u32,
}

/// Counts of open orders by account and instrument; a count exists while it is not zero, so that
/// there are never more counts than open orders.
pub(crate) struct OpenCounts {
    counts: Vec<Count>,
    free: Vec<u32>,
    table: Table,
    hasher: Hasher,
}

impl OpenCounts {
    pub(crate) fn new(hasher: Hasher) -> OpenCounts {
        OpenCounts { counts: Vec::new(), free: Vec::new(), table: Table::new(), hasher }
    }

    #[inline]
    fn find(&self, tag: u32, account: u32, market: u16) -> Option<u32> {
        self.table.find(tag, |at| {
            let count = &self.counts[at as usize];
            count.account == account && count.market == market
        })
    }

    /// How many orders the account has open in the instrument.
    #[inline]
    pub(crate) fn get(&self, account: u32, market: u16) -> u32 {
        let tag = self.hasher.pair(account, u32::from(market));
        self.find(tag, account, market).map_or(0, |at| self.counts[at as usize].orders)
    }

    #[inline]
    pub(crate) fn increase(&mut self, account: u32, market: u16) {
        let tag = self.hasher.pair(account, u32::from(market));
        match self.find(tag, account, market) {
            Some(at) => self.counts[at as usize].orders += 1,
            None => {
                let count = Count { account, market, orders: 1 };
                let at = match self.free.pop() {
                    Some(at) => {
                        self.counts[at as usize] = count;
                        at
                    }
                    None => {
                        self.counts.push(count);
                        // The free list never holds more than there are counts, so that making
                        // room for it here keeps freeing clear of the allocator.
                        self.free.reserve(self.counts.capacity() - self.free.len());
                        self.counts.len() as u32 - 1
                    }
                };
                self.table.insert(tag, at);
            }
        }
    }

    #[inline]
    pub(crate) fn decrease(&mut self, account: u32, market: u16) {
        let tag = self.hasher.pair(account, u32::from(market));
        let at = self.find(tag, account, market).expect("an open order is counted");
        let orders = &mut self.counts[at as usize].orders;
        *orders -= 1;
        if *orders == 0 {
            self.table.remove(tag, at);
            self.free.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_account_and_instrument() {
        let mut counts = OpenCounts::new(Hasher::new(0));
        counts.increase(1, 1);
        counts.increase(1, 2);
        counts.increase(1, 2);
        counts.decrease(1, 1);
        assert_eq!((counts.get(1, 1), counts.get(1, 2), counts.get(2, 2)), (0, 2, 0));
    }

    #[test]
    fn a_count_that_returned_to_nothing_is_used_again() {
        let mut counts = OpenCounts::new(Hasher::new(0));
        for account in 0..1_000 {
            counts.increase(account, 7);
            counts.decrease(account, 7);
        }
        assert_eq!(counts.counts.len(), 1);
    }
}
