//! Deposits and withdrawals.

use super::{Alteration, Ended, KnownDeposit, Reference, RememberedTransfer};
use rialto_model::{
    AccountId, ClientOrderId, Deposit, Event, OrderId, Outcome, RejectReason, Timestamp, Transfer,
};

/// The most that the venue holds of one currency.
const HELD_MAX: i128 = 1 << 120;

impl Reference {
    pub(super) fn deposit(&mut self, deposit: &Deposit) -> Result<Outcome, RejectReason> {
        let transfer = &deposit.transfer;
        if let Some(repeated) = self.check_transfer(transfer, &[Ended::Deposited])? {
            return Ok(repeated);
        }
        let by_age = self.rules_version >= 2;
        let time = if deposit.time == Timestamp::ZERO { self.time } else { deposit.time };
        if by_age && self.is_too_old(time) && !self.gets_wrong(Alteration::OldDepositsAccepted) {
            return Err(RejectReason::ReferenceTooOld);
        }
        let held = -self.owned(AccountId::TRANSIT, transfer.currency);
        let fits = held.checked_add(transfer.amount.0).is_some_and(|held| held <= HELD_MAX);
        if !fits {
            return Err(RejectReason::AmountTooLarge);
        }
        if by_age {
            let live = self.deposits.iter().filter(|known| !self.is_too_old(known.time)).count();
            if live >= self.bounds.deposits_max as usize {
                return Err(RejectReason::VenueFull);
            }
            self.deposits.push(KnownDeposit { transfer: *transfer, time });
        } else {
            self.remember(Ended::Deposited, *transfer);
        }
        self.move_value(transfer, true);
        self.events.push(Event::Deposited {
            account: transfer.account,
            currency: transfer.currency,
            amount: transfer.amount,
            reference: transfer.reference,
        });
        Ok(Outcome::Done)
    }

    pub(super) fn withdraw(&mut self, transfer: &Transfer) -> Result<Outcome, RejectReason> {
        if let Some(repeated) = self.check_transfer(transfer, &[Ended::Withdrawn])? {
            return Ok(repeated);
        }
        if self.available(transfer.account, transfer.currency) < transfer.amount.0 {
            return Err(RejectReason::InsufficientBalance);
        }
        self.remember_withdrawal(Ended::Withdrawn, *transfer);
        self.move_value(transfer, false);
        self.events.push(Event::Withdrawn {
            account: transfer.account,
            currency: transfer.currency,
            amount: transfer.amount,
            reference: transfer.reference,
        });
        Ok(Outcome::Done)
    }

    /// The checks that all share; the answer if this transfer took effect before and ended in one
    /// of these ways. None of them is asked of a withdrawal that is to be held: that it has ended is
    /// then a refusal, which says how.
    pub(super) fn check_transfer(
        &mut self,
        transfer: &Transfer,
        ends: &[Ended],
    ) -> Result<Option<Outcome>, RejectReason> {
        self.account(transfer.account)?;
        self.currency(transfer.currency)?;
        if transfer.amount.0 <= 0 {
            return Err(RejectReason::AmountNotPositive);
        }
        if transfer.reference.is_empty() {
            return Err(RejectReason::ReferenceMissing);
        }
        let before = self.ended(transfer.account, transfer.reference);
        let holding = ends.is_empty();
        match before {
            Some(before)
                if !self.gets_wrong(Alteration::DepositRepeats)
                    && before.transfer == *transfer
                    && (holding || ends.contains(&before.ended)) =>
            {
                return match before.ended {
                    Ended::Settled if holding => Err(RejectReason::WithdrawalSettled),
                    Ended::Released if holding => Err(RejectReason::WithdrawalReleased),
                    _ if holding => Err(RejectReason::ReferenceConflict),
                    _ => Ok(Some(self.repeated(transfer.account, transfer.reference))),
                };
            }
            Some(_) if !self.gets_wrong(Alteration::DepositRepeats) => {
                return Err(RejectReason::ReferenceConflict);
            }
            _ => {}
        }
        match self.held_at(transfer.account, transfer.reference) {
            Some(at) if holding && self.held[at] == *transfer => {
                Ok(Some(self.repeated(transfer.account, transfer.reference)))
            }
            Some(_) => Err(RejectReason::ReferenceConflict),
            None => Ok(None),
        }
    }

    /// Says that this took effect before.
    pub(super) fn repeated(&mut self, account: AccountId, name: ClientOrderId) -> Outcome {
        self.events.push(Event::Repeated { account, name, order: OrderId(0), reject: None });
        Outcome::Repeated
    }

    /// Value comes in from outside or goes there.
    pub(super) fn move_value(&mut self, transfer: &Transfer, inward: bool) {
        let amount = if inward { transfer.amount.0 } else { -transfer.amount.0 };
        self.post(AccountId::TRANSIT, transfer.currency, -amount);
        self.post(transfer.account, transfer.currency, amount);
    }

    /// The transfer that ended under this reference, if it is remembered.
    pub(super) fn ended(
        &self,
        account: AccountId,
        reference: ClientOrderId,
    ) -> Option<RememberedTransfer> {
        let mut known = self.ended_transfers();
        known.find(|known| {
            known.transfer.account == account && known.transfer.reference == reference
        })
    }

    /// Remembers a withdrawal that has ended. Where there are too many of an account, it loses its
    /// oldest; where there are too many of all, the account that has most does.
    pub(super) fn remember_withdrawal(&mut self, ended: Ended, transfer: Transfer) {
        if self.rules_version < 2 {
            return self.remember(ended, transfer);
        }
        self.ended_withdrawals.push(RememberedTransfer { ended, transfer });
        if self.remembered_of(transfer.account) > self.bounds.account_transfers_max as usize {
            self.forget_withdrawal(transfer.account);
        }
        let shared = self.gets_wrong(Alteration::WithdrawalsShared);
        if self.ended_withdrawals.len() > self.bounds.transfers_max as usize {
            let fullest = self.accounts.iter().max_by_key(|(id, account)| {
                (self.remembered_of(**id), std::cmp::Reverse(account.opened))
            });
            let fullest = *fullest.expect("an account withdrew").0;
            let oldest = self.ended_withdrawals[0].transfer.account;
            self.forget_withdrawal(if shared { oldest } else { fullest });
        }
    }

    fn remembered_of(&self, account: AccountId) -> usize {
        let all = self.ended_withdrawals.iter();
        all.filter(|known| known.transfer.account == account).count()
    }

    fn forget_withdrawal(&mut self, account: AccountId) {
        let mut all = self.ended_withdrawals.iter();
        let oldest = all.position(|known| known.transfer.account == account);
        self.ended_withdrawals.remove(oldest.expect("it has the most"));
    }

    fn remember(&mut self, ended: Ended, transfer: Transfer) {
        self.transfers.push(RememberedTransfer { ended, transfer });
        if self.transfers.len() > self.bounds.transfers_max as usize {
            self.transfers.remove(0);
        }
    }
}
