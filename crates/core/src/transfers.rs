//! Deposits and withdrawals at once, and the memory of transfers that all accounts share under
//! version 1 of the rules.

use crate::Core;
use crate::references::{KnownDeposit, is_too_old};
use crate::table::{Hasher, Table};
use rialto_model::{
    AccountId, Amount, CurrencyId, Deposit, Event, OrderId, Outcome, Reference, RejectReason,
    Timestamp, Transfer, enumeration,
};

enumeration! {
    /// The outcome of a transfer. The numbers are those of snapshots.
    #[derive(PartialOrd)]
    pub(crate) enum Ended {
        /// It was withdrawn at once.
        Withdrawn = 0, "withdrawn";
        /// It was deposited.
        Deposited = 1, "deposited";
        /// It was held and then paid out.
        Settled = 2, "settled";
        /// It was held and then released.
        Released = 3, "released";
    }
}

/// A transfer that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) transfer: Transfer,
    pub(crate) ended: Ended,
}

/// The last transfers of all accounts, oldest first, in a ring.
pub(crate) struct Transfers {
    ring: Vec<Remembered>,
    /// The index of the oldest entry once the ring is full.
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

    /// The transfer of this account that has ended under this reference.
    pub(crate) fn find(&self, account: AccountId, reference: &Reference) -> Option<&Remembered> {
        let at = self.table.find(self.hasher.text(account, reference), |at| {
            let known = &self.ring[at as usize].transfer;
            known.account == account && known.reference == *reference
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

impl Core {
    /// Makes a deposit.
    pub(crate) fn deposit(&mut self, deposit: &Deposit) -> Result<(Event, Outcome), RejectReason> {
        let Deposit { transfer, time } = *deposit;
        let slot = self.check_transfer(&transfer)?;
        let Transfer { account, currency, amount, reference } = transfer;
        if self.took_effect(&transfer, Ended::Deposited)? {
            return Ok(repeated(account, reference));
        }
        let time = if time == Timestamp::ZERO { self.time } else { time };
        let by_age = self.rules_since(2);
        if by_age && is_too_old(time, self.time) {
            return Err(RejectReason::ReferenceTooOld);
        }
        if !self.ledger.can_deposit(currency, amount) {
            return Err(RejectReason::AmountTooLarge);
        }
        if by_age {
            if !self.deposits.has_room(self.time) {
                return Err(RejectReason::VenueFull);
            }
            let seq = self.seq;
            self.deposits.remember(KnownDeposit { transfer, time, seq }, self.time);
        } else {
            self.transfers.remember(Remembered { transfer, ended: Ended::Deposited });
        }
        self.ledger.deposit(slot, currency, amount);
        Ok((Event::Deposited { account, currency, amount, reference }, Outcome::Done))
    }

    /// Makes a withdrawal at once.
    pub(crate) fn withdraw(
        &mut self,
        transfer: &Transfer,
    ) -> Result<(Event, Outcome), RejectReason> {
        let slot = self.check_transfer(transfer)?;
        let Transfer { account, currency, amount, reference } = *transfer;
        if self.took_effect(transfer, Ended::Withdrawn)? {
            return Ok(repeated(account, reference));
        }
        self.check_not_frozen(slot)?;
        if self.ledger.balance(slot, currency).available < amount {
            return Err(RejectReason::InsufficientBalance);
        }
        self.ledger.deposit(slot, currency, Amount(-amount.0));
        self.remember_withdrawal(slot, Remembered { transfer: *transfer, ended: Ended::Withdrawn });
        Ok((Event::Withdrawn { account, currency, amount, reference }, Outcome::Done))
    }

    /// Whether this transfer ended with this outcome earlier. Its reference must not be in use for
    /// another.
    fn took_effect(&self, transfer: &Transfer, ended: Ended) -> Result<bool, RejectReason> {
        let Transfer { account, reference, .. } = transfer;
        let held = self.withdrawals.find(*account, reference).is_some();
        match self.ended_transfer(*account, reference) {
            Some(known) if known == Remembered { transfer: *transfer, ended } => Ok(true),
            None if !held => Ok(false),
            _ => Err(RejectReason::ReferenceConflict),
        }
    }

    /// The transfer of this account that has ended under this reference and is remembered.
    pub(crate) fn ended_transfer(
        &self,
        account: AccountId,
        reference: &Reference,
    ) -> Option<Remembered> {
        let deposit = || {
            let transfer = *self.deposits.find(account, reference, self.time)?;
            Some(Remembered { transfer, ended: Ended::Deposited })
        };
        let withdrawal = || self.ended_withdrawals.find(account, reference).copied();
        // Transfers remembered under version 1 of the rules stay remembered under later ones.
        let before = self.transfers.find(account, reference).copied();
        before.or_else(withdrawal).or_else(deposit)
    }

    pub(crate) fn remember_withdrawal(&mut self, account: u32, ended: Remembered) {
        if self.rules_since(2) {
            self.ended_withdrawals.remember(account, self.seq, ended);
        } else {
            self.transfers.remember(ended);
        }
    }

    /// Checks the fields that every transfer must have; returns the account's slot.
    pub(crate) fn check_transfer(&self, transfer: &Transfer) -> Result<u32, RejectReason> {
        let slot = self.accounts.slot(transfer.account)?;
        if !self.is_listed(transfer.currency) {
            return Err(RejectReason::UnknownCurrency);
        }
        if transfer.amount.0 <= 0 {
            return Err(RejectReason::AmountNotPositive);
        }
        if transfer.reference.is_empty() {
            return Err(RejectReason::ReferenceMissing);
        }
        Ok(slot)
    }

    fn is_listed(&self, currency: CurrencyId) -> bool {
        usize::from(currency.0).wrapping_sub(1) < self.currencies.len()
    }
}

/// The answer to a transfer, or a step of a withdrawal, that took effect earlier.
pub(crate) fn repeated(account: AccountId, name: Reference) -> (Event, Outcome) {
    (Event::Repeated { account, name, order: OrderId(0), reject: None }, Outcome::Repeated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer(number: u32) -> Remembered {
        let reference = format!("ref-{number}").parse().unwrap();
        let (account, currency) = (AccountId(1), CurrencyId(1));
        let transfer = Transfer { account, currency, amount: Amount(1), reference };
        Remembered { transfer, ended: Ended::Deposited }
    }

    fn find<'a>(transfers: &'a Transfers, transfer: &Transfer) -> Option<&'a Remembered> {
        transfers.find(transfer.account, &transfer.reference)
    }

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut transfers = Transfers::new(Hasher::new(1), 3);
        (1..=5).for_each(|number| transfers.remember(transfer(number)));
        let known: Vec<_> = transfers.iter().copied().collect();
        assert_eq!(known, [transfer(3), transfer(4), transfer(5)]);
        assert!(find(&transfers, &transfer(2).transfer).is_none());
        assert!(find(&transfers, &transfer(3).transfer).is_some());
    }

    #[test]
    fn a_reference_is_known_per_account() {
        let mut transfers = Transfers::new(Hasher::new(1), 3);
        transfers.remember(transfer(1));
        let mut other = transfer(1).transfer;
        other.account = AccountId(2);
        assert!(find(&transfers, &other).is_none());
    }
}
