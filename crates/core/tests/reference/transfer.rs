//! Deposits and withdrawals.

use super::{Alteration, Ended, Reference, RememberedTransfer};
use rialto_model::{AccountId, ClientOrderId, Event, OrderId, Outcome, RejectReason, Transfer};

/// The most that the venue holds of one currency.
const HELD_MAX: i128 = 1 << 120;

impl Reference {
    pub(super) fn deposit(&mut self, transfer: &Transfer) -> Result<Outcome, RejectReason> {
        if let Some(repeated) = self.check_transfer(transfer, &[Ended::Deposited])? {
            return Ok(repeated);
        }
        let held = -self.balance(AccountId::TRANSIT, transfer.currency).available;
        let fits = held.checked_add(transfer.amount.0).is_some_and(|held| held <= HELD_MAX);
        if !fits {
            return Err(RejectReason::AmountTooLarge);
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
        if self.balance(transfer.account, transfer.currency).available < transfer.amount.0 {
            return Err(RejectReason::InsufficientBalance);
        }
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
        let before = self.transfers.iter().find(|before| {
            before.transfer.account == transfer.account
                && before.transfer.reference == transfer.reference
        });
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

    fn move_value(&mut self, transfer: &Transfer, inward: bool) {
        let amount = if inward { transfer.amount.0 } else { -transfer.amount.0 };
        self.balance_mut(AccountId::TRANSIT, transfer.currency).available -= amount;
        self.balance_mut(transfer.account, transfer.currency).available += amount;
        self.remember(if inward { Ended::Deposited } else { Ended::Withdrawn }, *transfer);
    }

    pub(super) fn remember(&mut self, ended: Ended, transfer: Transfer) {
        self.transfers.push(RememberedTransfer { ended, transfer });
        if self.transfers.len() > self.bounds.transfers_max as usize {
            self.transfers.remove(0);
        }
    }
}
