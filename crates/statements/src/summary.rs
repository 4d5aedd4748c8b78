//! What a statement says about each account and currency: opening, movements, closing.

use crate::line::{LineDetail, StatementLine};
use crate::positions::{PositionBalance, Positions};
use rialto_feed::Moment;
use rialto_model::{AccountId, CurrencyId, MemberId, Name, Side};
use std::collections::BTreeMap;

/// The movements of a balance in a range, in smallest units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BalanceMovements {
    /// Credited.
    pub(crate) deposits: i128,
    /// Paid out: at once, or when a withdrawal was settled.
    pub(crate) withdrawals: i128,
    /// Received in trades.
    pub(crate) received: i128,
    /// Given in trades.
    pub(crate) given: i128,
    /// Fees; below zero if rebates were larger.
    pub(crate) fees: i128,
    /// What the available amount changed by, over all lines.
    pub(crate) available: i128,
    /// What the held amount changed by, over all lines.
    pub(crate) held: i128,
    /// The part of both that orders held and gave back without trading: positive is held.
    pub(crate) reserve: i128,
}

impl BalanceMovements {
    /// Adds a line.
    pub(crate) fn add(&mut self, line: &StatementLine) {
        self.available += line.available;
        self.held += line.held;
        let change = line.available + line.held;
        match line.detail {
            LineDetail::Deposit(_) => self.deposits += change,
            LineDetail::Withdrawal(_) | LineDetail::WithdrawalSettled(_) => {
                self.withdrawals -= change
            }
            LineDetail::WithdrawalHeld(_) | LineDetail::WithdrawalReleased(_) => {}
            // What moves nothing, because nothing is kept for the instrument, is no movement.
            LineDetail::Fill(_) | LineDetail::Payment(_)
                if line.available == 0 && line.held == 0 => {}
            LineDetail::Fill(fill) => match fill.side {
                Side::Buy => self.received += change,
                Side::Sell => self.given -= change,
            },
            LineDetail::Payment(fill) => {
                self.fees += fill.fee.0;
                match fill.side {
                    Side::Buy => self.given += fill.notional.0,
                    Side::Sell => self.received += fill.notional.0,
                }
            }
            LineDetail::OrderEnded(_) => {}
            LineDetail::Reserve => self.reserve += line.held,
        }
    }

    /// Whether a balance that began as `opening` and moved like this ends as `closing`: available
    /// and held by the lines, and the total by the sums that people read.
    #[must_use]
    pub(crate) fn lead_from(&self, opening: PositionBalance, closing: PositionBalance) -> bool {
        let by_sums = self.deposits - self.withdrawals + self.received - self.given - self.fees;
        opening.available.0 + self.available == closing.available.0
            && opening.held.0 + self.held == closing.held.0
            && opening.total() + by_sums == closing.total()
    }
}

/// The movements of all balances of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatementSummary {
    /// By account and currency.
    pub(crate) movements: BTreeMap<(AccountId, CurrencyId), BalanceMovements>,
    /// The lines without those of reserves, which are added up.
    pub(crate) lines: u64,
}

impl StatementSummary {
    /// Adds a line.
    pub(crate) fn add(&mut self, line: &StatementLine) {
        if line.detail != LineDetail::Reserve {
            self.lines += 1;
        }
        self.movements.entry((line.account, line.currency)).or_default().add(line);
    }

    /// The first balance of a member that does not add up between two positions.
    #[must_use]
    pub(crate) fn contradiction(
        &self,
        member: MemberId,
        opening: &Positions,
        closing: &Positions,
    ) -> Option<(AccountId, CurrencyId)> {
        let accounts = closing.accounts_of(member).map(|(account, _)| account);
        let balances = accounts.flat_map(|account| {
            closing
                .of_account(account)
                .map(move |(currency, standing)| (account, currency, standing))
        });
        let mut kept = 0;
        for (account, currency, standing) in balances {
            let movements = self.movements.get(&(account, currency));
            kept += usize::from(movements.is_some());
            let movements = movements.copied().unwrap_or_default();
            if !movements.lead_from(opening.balance(account, currency), standing) {
                return Some((account, currency));
            }
        }
        // A line about a balance that is not there must have changed nothing.
        let astray = self.movements.iter().find(|((account, currency), movements)| {
            !closing.balances.contains_key(&(*account, *currency))
                && !movements.lead_from(PositionBalance::default(), PositionBalance::default())
        });
        debug_assert!(kept <= self.movements.len());
        astray.map(|(key, _)| *key)
    }
}

/// What a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StatementHeading {
    /// The member.
    pub(crate) member: MemberId,
    /// Its name.
    pub(crate) name: Name,
    /// The first command of the range.
    pub(crate) first: Moment,
    /// The last command of the range.
    pub(crate) last: Moment,
}
