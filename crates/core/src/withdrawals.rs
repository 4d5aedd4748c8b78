//! Held withdrawals: reserved, but neither paid out nor released.

use crate::Core;
use crate::table::{Hasher, Table};
use crate::transfers::{Ended, Remembered, repeated};
use rialto_model::{AccountId, Event, Outcome, Reference, RejectReason, Seq, Timestamp, Transfer};

/// A withdrawal that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldWithdrawal {
    /// The account, currency, amount and reference.
    pub transfer: Transfer,
    /// The sequence of the command that held it.
    pub seq: Seq,
    /// The time of that command.
    pub held_at: Timestamp,
}

pub(crate) struct Withdrawals {
    held: Vec<HeldWithdrawal>,
    table: Table,
    hasher: Hasher,
    /// The number of held withdrawals of each account, by its slot.
    counts: Vec<u32>,
}

impl Withdrawals {
    pub(crate) fn new(hasher: Hasher) -> Withdrawals {
        Withdrawals { held: Vec::new(), table: Table::new(), hasher, counts: Vec::new() }
    }

    pub(crate) fn add_account(&mut self) {
        self.counts.push(0);
    }

    fn tag(&self, at: u32) -> u32 {
        let transfer = &self.held[at as usize].transfer;
        self.hasher.text(transfer.account, &transfer.reference)
    }

    fn position(&self, account: AccountId, reference: &Reference) -> Option<u32> {
        self.table.find(self.hasher.text(account, reference), |at| {
            let known = &self.held[at as usize].transfer;
            known.account == account && known.reference == *reference
        })
    }

    /// The withdrawal of this account that is held under this reference.
    pub(crate) fn find(&self, account: AccountId, reference: &Reference) -> Option<&Transfer> {
        self.position(account, reference).map(|at| &self.held[at as usize].transfer)
    }

    /// Adds one whose account and reference are not here.
    pub(crate) fn hold(&mut self, account: u32, withdrawal: HeldWithdrawal) {
        let at = self.held.len() as u32;
        self.held.push(withdrawal);
        self.table.insert(self.tag(at), at);
        self.counts[account as usize] += 1;
    }

    fn take(&mut self, account: u32, at: u32) -> Transfer {
        let last = self.held.len() as u32 - 1;
        self.table.remove(self.tag(at), at);
        if at != last {
            let moved = self.tag(last);
            self.table.remove(moved, last);
            self.table.insert(moved, at);
        }
        self.counts[account as usize] -= 1;
        self.held.swap_remove(at as usize).transfer
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &HeldWithdrawal> {
        self.held.iter()
    }
}

impl Core {
    /// All withdrawals that are held, in the order in which they were.
    #[must_use]
    pub fn withdrawals(&self) -> Vec<HeldWithdrawal> {
        let mut withdrawals: Vec<_> = self.withdrawals.iter().copied().collect();
        withdrawals.sort_unstable_by_key(|held| held.seq);
        withdrawals
    }

    pub(crate) fn hold_withdrawal(
        &mut self,
        transfer: &Transfer,
    ) -> Result<(Event, Outcome), RejectReason> {
        let slot = self.check_transfer(transfer)?;
        let Transfer { account, currency, amount, reference } = *transfer;
        if let Some(known) = self.ended_transfer(account, &reference) {
            return Err(match known.ended {
                Ended::Settled if known.transfer == *transfer => RejectReason::WithdrawalSettled,
                Ended::Released if known.transfer == *transfer => RejectReason::WithdrawalReleased,
                _ => RejectReason::ReferenceConflict,
            });
        }
        match self.withdrawals.find(account, &reference) {
            Some(held) if held == transfer => return Ok(repeated(account, reference)),
            Some(_) => return Err(RejectReason::ReferenceConflict),
            None => {}
        }
        self.check_not_frozen(slot)?;
        if self.withdrawals.counts[slot as usize] >= self.limits.account_withdrawals_max {
            return Err(RejectReason::WithdrawalsLimit);
        }
        if self.withdrawals.held.len() >= self.limits.withdrawals_max as usize {
            return Err(RejectReason::VenueFull);
        }
        if self.ledger.balance(slot, currency).available < amount {
            return Err(RejectReason::InsufficientBalance);
        }
        self.ledger.reserve(slot, currency, amount);
        let (transfer, seq, held_at) = (*transfer, self.seq, self.time);
        self.withdrawals.hold(slot, HeldWithdrawal { transfer, seq, held_at });
        Ok((Event::WithdrawalHeld { account, currency, amount, reference }, Outcome::Done))
    }

    /// Settles or releases a held withdrawal.
    pub(crate) fn end_withdrawal(
        &mut self,
        account: AccountId,
        reference: Reference,
        how: Ended,
    ) -> Result<(Event, Outcome), RejectReason> {
        let slot = self.accounts.slot(account)?;
        if reference.is_empty() {
            return Err(RejectReason::ReferenceMissing);
        }
        let Some(at) = self.withdrawals.position(account, &reference) else {
            return match self.ended_transfer(account, &reference).map(|known| known.ended) {
                Some(ended) if ended == how => Ok(repeated(account, reference)),
                Some(Ended::Settled) => Err(RejectReason::WithdrawalSettled),
                Some(Ended::Released) => Err(RejectReason::WithdrawalReleased),
                _ => Err(RejectReason::UnknownWithdrawal),
            };
        };
        let transfer = self.withdrawals.take(slot, at);
        let Transfer { currency, amount, .. } = transfer;
        let event = if how == Ended::Settled {
            self.ledger.pay_out(slot, currency, amount);
            Event::WithdrawalSettled { account, currency, amount, reference }
        } else {
            self.ledger.reserve(slot, currency, rialto_model::Amount(-amount.0));
            Event::WithdrawalReleased { account, currency, amount, reference }
        };
        self.remember_withdrawal(slot, Remembered { transfer, ended: how });
        Ok((event, Outcome::Done))
    }
}
