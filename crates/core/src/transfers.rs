//! The memory of deposits and withdrawals by their references.

use crate::table::{Hasher, Table};
use rialto_model::Transfer;

/// A transfer that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) transfer: Transfer,
    pub(crate) incoming: bool,
}

/// The last so many transfers of all accounts, oldest first, in a ring.
pub(crate) struct Transfers {
    ring: Vec<Remembered>,
    /// Where the oldest stands once the ring is full.
    oldest: usize,
    max: usize,
    table: Table,
    hasher: Hasher,
}

impl Transfers {
    pub(crate) fn new(hasher: Hasher, max: u32) -> Transfers {
        let (ring, table) = (Vec::new(), Table::new());
        Transfers { ring, oldest: 0, max: max.max(1) as usize, table, hasher }
    }

    fn tag(&self, transfer: &Transfer) -> u32 {
        self.hasher.text(transfer.account, &transfer.reference)
    }

    /// The transfer that took effect under the account and reference of this one.
    pub(crate) fn find(&self, transfer: &Transfer) -> Option<&Remembered> {
        let at = self.table.find(self.tag(transfer), |at| {
            let known = &self.ring[at as usize].transfer;
            known.account == transfer.account && known.reference == transfer.reference
        })?;
        Some(&self.ring[at as usize])
    }

    /// Remembers a transfer, and forgets the oldest one if the memory is full.
    pub(crate) fn remember(&mut self, remembered: Remembered) {
        let tag = self.tag(&remembered.transfer);
        if self.ring.len() < self.max {
            self.table.insert(tag, self.ring.len() as u32);
            self.ring.push(remembered);
            return;
        }
        let at = self.oldest;
        let forgotten = self.tag(&self.ring[at].transfer);
        self.table.remove(forgotten, at as u32);
        self.table.insert(tag, at as u32);
        self.ring[at] = remembered;
        self.oldest = (at + 1) % self.max;
    }

    /// All that is remembered, oldest first.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Remembered> {
        let len = self.ring.len();
        (0..len).map(move |at| &self.ring[(self.oldest + at) % len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rialto_model::{AccountId, Amount, CurrencyId};

    fn transfer(number: u32) -> Remembered {
        let reference = format!("ref-{number}").parse().unwrap();
        let (account, currency) = (AccountId(1), CurrencyId(1));
        let transfer = Transfer { account, currency, amount: Amount(1), reference };
        Remembered { transfer, incoming: true }
    }

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut transfers = Transfers::new(Hasher::new(1), 3);
        (1..=5).for_each(|number| transfers.remember(transfer(number)));
        let known: Vec<_> = transfers.iter().copied().collect();
        assert_eq!(known, [transfer(3), transfer(4), transfer(5)]);
        assert!(transfers.find(&transfer(2).transfer).is_none());
        assert!(transfers.find(&transfer(3).transfer).is_some());
    }

    #[test]
    fn a_reference_is_known_per_account() {
        let mut transfers = Transfers::new(Hasher::new(1), 3);
        transfers.remember(transfer(1));
        let mut other = transfer(1).transfer;
        other.account = AccountId(2);
        assert!(transfers.find(&other).is_none());
    }
}
