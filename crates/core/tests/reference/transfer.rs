//! Deposits and withdrawals.

use super::entry::{Check, demand};
use super::{Alteration, Ended, KnownDeposit, Reference, RememberedTransfer};
use rialto_model::{
    AccountId, Amount, ClientOrderId, Deposit, Event, OrderId, Outcome, RejectReason, Timestamp,
    Transfer,
};

/// The most that the venue holds of one currency.
const HELD_MAX: i128 = 1 << 120;

/// The checks of every transfer, up to the one of its reference.
const OF_TRANSFERS: [Check<Transfer>; 4] = [
    ("account", |venue, transfer| venue.account(transfer.account).map(drop)),
    ("currency", |venue, transfer| venue.currency(transfer.currency).map(drop)),
    ("amount", |_, transfer| {
        demand(transfer.amount > Amount::ZERO, RejectReason::AmountNotPositive)
    }),
    ("reference given", |_, transfer| {
        demand(!transfer.reference.is_empty(), RejectReason::ReferenceMissing)
    }),
];
const REFERENCE: &str = "repeat or conflict";

const OF_DEPOSITS: [Check<Deposit>; 3] = [
    ("age", |venue, deposit| {
        let is_any = venue.rules_version < 2 || venue.gets_wrong(Alteration::OldDepositsAccepted);
        let is_young = is_any || !venue.is_too_old(venue.time_of(deposit));
        demand(is_young, RejectReason::ReferenceTooOld)
    }),
    ("what may be held", |venue, deposit| {
        let Transfer { currency, amount, .. } = deposit.transfer;
        let held = venue.owned(AccountId::TRANSIT, currency).checked_neg();
        let held = held.and_then(|held| held.checked_add(amount.0));
        demand(held.is_some_and(|held| held <= HELD_MAX), RejectReason::AmountTooLarge)
    }),
    ("room for the reference", |venue, _| {
        let known = venue.deposits.iter().filter(|known| !venue.is_too_old(known.time)).count();
        let has_room = venue.rules_version < 2 || known < venue.bounds.deposits_max as usize;
        demand(has_room, RejectReason::VenueFull)
    }),
];

const BALANCE: Check<Transfer> = ("balance", |venue, transfer| {
    let available = venue.available(transfer.account, transfer.currency);
    demand(transfer.amount.0 <= available, RejectReason::InsufficientBalance)
});

const FREEZE: Check<Transfer> =
    ("whether the account is frozen", |venue, transfer| venue.account_withdraws(transfer.account));

const OF_WITHDRAWALS: [Check<Transfer>; 2] = [FREEZE, BALANCE];

pub(super) const OF_HELD_WITHDRAWALS: [Check<Transfer>; 4] = [
    FREEZE,
    ("withdrawals of the account", |venue, transfer| {
        let own = venue.held.iter().filter(|held| held.account == transfer.account).count();
        let most = venue.bounds.account_withdrawals_max as usize;
        demand(own < most, RejectReason::WithdrawalsLimit)
    }),
    ("room in the venue", |venue, _| {
        let most = venue.bounds.withdrawals_max as usize;
        demand(venue.held.len() < most, RejectReason::VenueFull)
    }),
    BALANCE,
];

fn names<T>(rest: &[Check<T>]) -> Vec<&'static str> {
    let shared = OF_TRANSFERS.iter().map(|(name, _)| *name).chain([REFERENCE]);
    shared.chain(rest.iter().map(|(name, _)| *name)).collect()
}

/// The names of the checks of a deposit, in their order.
pub fn deposit_checks() -> Vec<&'static str> {
    names(&OF_DEPOSITS)
}

/// The names of the checks of a withdrawal, in their order.
pub fn withdraw_checks() -> Vec<&'static str> {
    names(&OF_WITHDRAWALS)
}

/// The names of the checks that only a held withdrawal has; they follow the shared ones.
pub fn hold_checks() -> Vec<&'static str> {
    OF_HELD_WITHDRAWALS.iter().map(|(name, _)| *name).collect()
}

/// What a transfer wants to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Deposited,
    Withdrawn,
    Held,
}

impl Reference {
    pub(super) fn deposit(&mut self, deposit: &Deposit) -> Result<Outcome, RejectReason> {
        let transfer = deposit.transfer;
        if let Some(repeated) = self.check_transfer(&transfer, Wanted::Deposited)? {
            return Ok(repeated);
        }
        OF_DEPOSITS.iter().try_for_each(|(_, check)| check(self, deposit))?;
        if self.rules_version < 2 {
            self.remember(Ended::Deposited, transfer);
        } else {
            let time = self.time_of(deposit);
            self.deposits.push(KnownDeposit { transfer, time });
        }
        self.move_value(&transfer, true);
        let Transfer { account, currency, amount, reference } = transfer;
        self.events.push(Event::Deposited { account, currency, amount, reference });
        Ok(Outcome::Done)
    }

    /// A deposit that names no time is of now.
    fn time_of(&self, deposit: &Deposit) -> Timestamp {
        if deposit.time == Timestamp::ZERO { self.time } else { deposit.time }
    }

    pub(super) fn withdraw(&mut self, transfer: &Transfer) -> Result<Outcome, RejectReason> {
        if let Some(repeated) = self.check_transfer(transfer, Wanted::Withdrawn)? {
            return Ok(repeated);
        }
        OF_WITHDRAWALS.iter().try_for_each(|(_, check)| check(self, transfer))?;
        self.remember_withdrawal(Ended::Withdrawn, *transfer);
        self.move_value(transfer, false);
        let Transfer { account, currency, amount, reference } = *transfer;
        self.events.push(Event::Withdrawn { account, currency, amount, reference });
        Ok(Outcome::Done)
    }

    /// The checks that all share; the answer if this transfer took effect before.
    pub(super) fn check_transfer(
        &mut self,
        transfer: &Transfer,
        wanted: Wanted,
    ) -> Result<Option<Outcome>, RejectReason> {
        OF_TRANSFERS.iter().try_for_each(|(_, check)| check(self, transfer))?;
        let (account, reference) = (transfer.account, transfer.reference);
        let ended = self.ended(account, reference);
        let ended = ended.filter(|_| !self.gets_wrong(Alteration::DepositRepeats));
        let held = self.held_at(account, reference).map(|at| self.held[at]);
        let is_same = ended.map(|ended| ended.transfer).or(held) == Some(*transfer);
        let repeats = match (wanted, ended.map(|ended| ended.ended)) {
            (_, None) if held.is_none() => return Ok(None),
            (Wanted::Deposited, Some(Ended::Deposited))
            | (Wanted::Withdrawn, Some(Ended::Withdrawn))
            | (Wanted::Held, None) => is_same,
            // No event says that something is held that is not.
            (Wanted::Held, Some(Ended::Settled)) if is_same => {
                return Err(RejectReason::WithdrawalSettled);
            }
            (Wanted::Held, Some(Ended::Released)) if is_same => {
                return Err(RejectReason::WithdrawalReleased);
            }
            _ => false,
        };
        demand(repeats, RejectReason::ReferenceConflict)?;
        Ok(Some(self.repeated(account, reference)))
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
