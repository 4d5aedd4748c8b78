//! Held withdrawals: neither settled nor released.

use crate::view::{Moment, WithdrawalView};
use crate::{Feed, FoldError};
use rialto_model::{AccountId, Amount, CurrencyId, Reference, Transfer};
use std::collections::BTreeMap;

pub(crate) type Withdrawals = BTreeMap<(AccountId, Reference), WithdrawalView>;

impl Feed {
    /// The account's held withdrawals, oldest first.
    #[must_use]
    pub fn withdrawals(&self, account: AccountId) -> Vec<WithdrawalView> {
        let of_account = (account, Reference::EMPTY)..;
        let held = self.withdrawals.range(of_account).take_while(|(key, _)| key.0 == account);
        let mut held: Vec<_> = held.map(|(_, withdrawal)| *withdrawal).collect();
        held.sort_unstable_by_key(|withdrawal| withdrawal.held.seq);
        held
    }

    /// All withdrawals that are held, by account and reference.
    pub fn held_withdrawals(&self) -> impl Iterator<Item = Transfer> + '_ {
        self.withdrawals.values().map(|held| {
            let WithdrawalView { account, currency, amount, reference, .. } = *held;
            Transfer { account, currency, amount, reference }
        })
    }

    /// The account's withdrawal that is held under this reference.
    #[must_use]
    pub fn withdrawal(&self, account: AccountId, reference: Reference) -> Option<WithdrawalView> {
        self.withdrawals.get(&(account, reference)).copied()
    }

    /// Enters a withdrawal whose amount is reserved already.
    pub(crate) fn enter_withdrawal(
        &mut self,
        held: Moment,
        transfer: &Transfer,
    ) -> Result<(), FoldError> {
        let Transfer { account, currency, amount, reference } = *transfer;
        let slot = self.account_slot(held, account)?;
        let view = WithdrawalView { account, currency, amount, reference, held };
        if self.withdrawals.insert((account, reference), view).is_some() {
            return Err(FoldError::WithdrawalTwice { seq: held.seq, account, reference });
        }
        self.accounts.bind(slot, currency, amount.0);
        Ok(())
    }

    /// Moves a withdrawal's amount from available to reserved.
    pub(crate) fn hold(&mut self, at: Moment, transfer: &Transfer) -> Result<(), FoldError> {
        self.listed(at, transfer.currency)?;
        let slot = self.account_slot(at, transfer.account)?;
        let amount = transfer.amount.0;
        self.accounts.post(slot, transfer.currency, -amount, amount, at.seq);
        self.enter_withdrawal(at, transfer)
    }

    /// Ends a withdrawal: its amount goes to the given slot, or back to available.
    pub(crate) fn end_withdrawal(
        &mut self,
        at: Moment,
        (account, currency, amount): (AccountId, CurrencyId, Amount),
        reference: Reference,
        to: Option<u32>,
    ) -> Result<(), FoldError> {
        let slot = self.account_slot(at, account)?;
        let held = self.withdrawals.remove(&(account, reference));
        if held.is_none_or(|held| (held.currency, held.amount) != (currency, amount)) {
            return Err(FoldError::UnknownWithdrawal { seq: at.seq, account, reference });
        }
        self.accounts.bind(slot, currency, -amount.0);
        self.accounts.post(slot, currency, 0, -amount.0, at.seq);
        self.accounts.post(to.unwrap_or(slot), currency, amount.0, 0, at.seq);
        Ok(())
    }
}
