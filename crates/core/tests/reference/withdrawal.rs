//! Withdrawals that are held.

use super::transfer::{OF_HELD_WITHDRAWALS, Wanted};
use super::{Alteration, Ended, Reference};
use rialto_model::{AccountId, Event, Outcome, RejectReason, Transfer};

impl Reference {
    pub(super) fn hold_withdrawal(&mut self, transfer: &Transfer) -> Result<Outcome, RejectReason> {
        if let Some(repeated) = self.check_transfer(transfer, Wanted::Held)? {
            return Ok(repeated);
        }
        OF_HELD_WITHDRAWALS.iter().try_for_each(|(_, check)| check(self, transfer))?;
        self.held.push(*transfer);
        self.events.push(Event::WithdrawalHeld {
            account: transfer.account,
            currency: transfer.currency,
            amount: transfer.amount,
            reference: transfer.reference,
        });
        Ok(Outcome::Done)
    }

    pub(super) fn settle_withdrawal(
        &mut self,
        account: AccountId,
        reference: rialto_model::Reference,
    ) -> Result<Outcome, RejectReason> {
        let Some(transfer) = self.take_held(account, reference)? else {
            return match self.ended(account, reference).map(|known| known.ended) {
                Some(Ended::Settled) => Ok(self.repeated(account, reference)),
                Some(Ended::Released) => Err(RejectReason::WithdrawalReleased),
                _ => Err(RejectReason::UnknownWithdrawal),
            };
        };
        self.move_value(&transfer, false);
        self.remember_withdrawal(Ended::Settled, transfer);
        let Transfer { currency, amount, .. } = transfer;
        self.events.push(Event::WithdrawalSettled { account, currency, amount, reference });
        Ok(Outcome::Done)
    }

    pub(super) fn release_withdrawal(
        &mut self,
        account: AccountId,
        reference: rialto_model::Reference,
    ) -> Result<Outcome, RejectReason> {
        let Some(transfer) = self.take_held(account, reference)? else {
            return match self.ended(account, reference).map(|known| known.ended) {
                Some(Ended::Released) => Ok(self.repeated(account, reference)),
                Some(Ended::Settled) if self.gets_wrong(Alteration::SettledIsReleased) => {
                    Ok(self.repeated(account, reference))
                }
                Some(Ended::Settled) => Err(RejectReason::WithdrawalSettled),
                _ => Err(RejectReason::UnknownWithdrawal),
            };
        };
        self.remember_withdrawal(Ended::Released, transfer);
        let Transfer { currency, amount, .. } = transfer;
        self.events.push(Event::WithdrawalReleased { account, currency, amount, reference });
        Ok(Outcome::Done)
    }

    /// The position of a withdrawal among the held ones.
    pub(super) fn held_at(
        &self,
        account: AccountId,
        reference: rialto_model::Reference,
    ) -> Option<usize> {
        self.held.iter().position(|held| held.account == account && held.reference == reference)
    }

    fn take_held(
        &mut self,
        account: AccountId,
        reference: rialto_model::Reference,
    ) -> Result<Option<Transfer>, RejectReason> {
        self.account(account)?;
        if reference.is_empty() {
            return Err(RejectReason::ReferenceMissing);
        }
        Ok(self.held_at(account, reference).map(|at| self.held.remove(at)))
    }
}
