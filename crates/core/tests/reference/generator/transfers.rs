//! Deposits and withdrawals.

use super::super::Ended;
use super::super::world::text;
use super::Chooser;
use rialto_model::{AccountId, Amount, Command, CurrencyId, Deposit, Text, Timestamp, Transfer};

impl Chooser<'_> {
    pub(super) fn transfer(&mut self) -> Transfer {
        let account = self.account();
        let ended = self.now.transfers.iter().chain(&self.now.ended_withdrawals);
        let before: Vec<Transfer> = ended
            .map(|before| before.transfer)
            .chain(self.now.deposits.iter().map(|before| before.transfer))
            .collect();
        if !before.is_empty() && self.dice.chance(20) {
            let mut again = self.dice.pick(&before);
            if self.dice.chance(20) {
                again.amount.0 += 1;
            }
            return again;
        }
        let currency = self.currency();
        let listed = self.now.currencies.iter().find(|listed| listed.id == currency);
        let unit = i128::from(listed.map_or(1, |listed| listed.scale.factor()));
        let amount = match self.dice.below(30) {
            0 => self.dice.pick(&[0, -1]),
            1 => self.dice.pick(&[1 << 120, i128::MAX]),
            _ if self.dice.chance(50) => i128::from(self.dice.between(1, 60_000)),
            _ => i128::from(self.dice.between(1, 5_000)) * unit,
        };
        let reference = match self.dice.below(20) {
            0 => Text::EMPTY,
            1..4 => text(&format!("r{}", self.dice.below(6))),
            _ => text(&format!("r{}", self.dice.below(100_000))),
        };
        Transfer { account, currency, amount: Amount(amount), reference }
    }

    pub(super) fn deposit(&mut self) -> Deposit {
        let transfer = self.transfer();
        let again = self.now.deposits.iter().find(|before| before.transfer == transfer);
        let time = match self.dice.below(10) {
            0..4 => Timestamp::ZERO,
            4..7 if again.is_some() => again.map_or(Timestamp::ZERO, |before| before.time),
            7 => self.time.saturating_add(self.dice.below(Timestamp::DAY)),
            8 => Timestamp(self.time.0 - 30 * Timestamp::DAY - self.dice.below(2)),
            _ => Timestamp(self.time.0 - self.dice.below(40 * Timestamp::DAY)),
        };
        Deposit { transfer, time }
    }

    /// A withdrawal that is held, or the end of one.
    pub(super) fn withdrawal(&mut self) -> Command {
        let at_once = |ended| matches!(ended, Ended::Deposited | Ended::Withdrawn);
        let ended = self.now.ended_transfers();
        let known: Vec<Transfer> = match self.dice.below(10) {
            0..5 => self.now.held.clone(),
            5 => ended.map(|before| before.transfer).collect(),
            _ => ended.filter(|known| !at_once(known.ended)).map(|known| known.transfer).collect(),
        };
        let fresh = known.is_empty() || self.dice.chance(5);
        let Transfer { account, reference, .. } =
            if fresh { self.transfer() } else { self.dice.pick(&known) };
        match self.dice.below(10) {
            0..5 => Command::HoldWithdrawal(self.transfer()),
            5..7 => Command::SettleWithdrawal { account, reference },
            7..9 => Command::ReleaseWithdrawal { account, reference },
            _ => {
                let mut again = if fresh { self.transfer() } else { self.dice.pick(&known) };
                if self.dice.chance(20) {
                    again.amount.0 = again.amount.0.saturating_add(1);
                }
                Command::HoldWithdrawal(again)
            }
        }
    }

    /// More withdrawals than are remembered; the account that has most of them is not the first.
    pub(super) fn many_withdrawals(&mut self) -> Vec<Command> {
        let accounts: Vec<AccountId> = self.now.accounts.keys().copied().collect();
        let first = self.dice.below(accounts.len() as u64) as usize;
        let one = |chooser: &mut Self, nth: usize| {
            let account = accounts[(first + nth) % accounts.len()];
            let reference = text(&format!("r{}", chooser.dice.below(100_000)));
            let (currency, amount) = (CurrencyId(1), Amount(1));
            let held = Transfer { account, currency, amount, reference };
            [Command::HoldWithdrawal(held), Command::SettleWithdrawal { account, reference }]
        };
        [0, 1, 1, 1, 2].into_iter().flat_map(|nth| one(self, nth)).collect()
    }
}
