//! The commands of members and operators about withdrawals.

use super::connection::Member;
use super::show::{self, Align, Column, or_dash};
use crate::Error;
use crate::remote::{NO_BODY, NO_QUERY, Remote};
use crate::terminal::say;
use clap::Subcommand;
use rialto_client::api::{
    ApproveRequest, Listed, RejectRequest, Route, Str, WithdrawalAnswer, WithdrawalRequest,
    WithdrawalsAnswer, WithdrawalsQuery,
};
use rialto_model::AccountId;

/// Requests a withdrawal.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    rialto withdraw 250 USD --reference rent-2026-11 --key-file key.toml")]
pub(super) struct Withdraw {
    /// The amount.
    amount: String,
    /// The currency.
    currency: String,
    /// Your reference: two requests with the same reference are one withdrawal.
    #[arg(long)]
    reference: String,
    #[command(flatten)]
    member: Member,
}

impl Withdraw {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (venue, account) = self.member.connect()?;
        let request = WithdrawalRequest {
            account,
            currency: self.currency.as_str().into(),
            amount: self.amount.as_str().into(),
            reference: self.reference.as_str().into(),
        };
        venue.show(Route::Withdraw, &[], NO_QUERY, Some(&request), tell)
    }
}

/// Withdrawals of an account.
#[derive(Debug, clap::Args)]
pub(super) struct Withdrawals {
    #[command(subcommand)]
    action: OwnAction,
}

#[derive(Debug, Subcommand)]
enum OwnAction {
    /// List open withdrawals, oldest first.
    Ls {
        #[command(flatten)]
        page: Page,
        #[command(flatten)]
        member: Member,
    },
    /// Show the state of a withdrawal.
    Show {
        /// The withdrawal: the account, a dash and your reference, as in 7-rent-2026-11.
        id: String,
        #[command(flatten)]
        member: Member,
    },
    /// Cancel a withdrawal that has not been decided; the held amount is released.
    Cancel {
        /// The withdrawal: the account, a dash and your reference, as in 7-rent-2026-11.
        id: String,
        #[command(flatten)]
        member: Member,
    },
}

impl Withdrawals {
    pub(super) fn run(&self) -> Result<(), Error> {
        match &self.action {
            OwnAction::Ls { page, member } => {
                let (venue, account) = member.connect()?;
                page.show(&venue, Route::Withdrawals, account)
            }
            OwnAction::Show { id, member } => {
                let (venue, _) = member.connect()?;
                venue.show(Route::Withdrawal, &[id], NO_QUERY, NO_BODY, tell)
            }
            OwnAction::Cancel { id, member } => {
                let (venue, _) = member.connect()?;
                venue.show(Route::WithdrawalCancel, &[id], NO_QUERY, NO_BODY, tell)
            }
        }
    }
}

/// The operator's commands about withdrawals.
#[derive(Debug, Subcommand)]
pub(super) enum OperatorAction {
    /// List open withdrawals of all accounts, oldest first.
    Ls {
        #[command(flatten)]
        page: Page,
        /// Only withdrawals of this account.
        #[arg(long, value_name = "NUMBER")]
        account: Option<u32>,
    },
    /// Approve a withdrawal, which is then paid out.
    Approve {
        /// The withdrawal, such as 7-rent-2026-11.
        id: String,
        /// The bank's or the chain's reference of the payment.
        #[arg(long)]
        receipt: String,
    },
    /// Refuse a withdrawal; the held amount is released.
    Reject {
        /// The withdrawal, such as 7-rent-2026-11.
        id: String,
        /// The reason, shown to the member.
        #[arg(long, default_value = "")]
        reason: String,
    },
}

impl OperatorAction {
    pub(super) fn run(&self, venue: &Remote) -> Result<(), Error> {
        match self {
            OperatorAction::Ls { page, account } => {
                page.show(venue, Route::AdminWithdrawals, account.map(AccountId))
            }
            OperatorAction::Approve { id, receipt } => {
                let request = ApproveRequest { receipt: receipt.as_str().into() };
                venue.show(Route::AdminWithdrawalApprove, &[id], NO_QUERY, Some(&request), tell)
            }
            OperatorAction::Reject { id, reason } => {
                let request = RejectRequest { reason: Some(reason.as_str().into()) };
                venue.show(Route::AdminWithdrawalReject, &[id], NO_QUERY, Some(&request), tell)
            }
        }
    }
}

/// A page of a list.
#[derive(Debug, clap::Args)]
pub(super) struct Page {
    /// Show ended withdrawals, newest first, instead of open ones.
    #[arg(long)]
    ended: bool,
    /// Continue after this withdrawal, the last of the previous page.
    #[arg(long, value_name = "ID")]
    after: Option<String>,
    /// The most entries to show.
    #[arg(long, default_value_t = 100)]
    limit: usize,
}

impl Page {
    fn show(&self, venue: &Remote, route: Route, account: Option<AccountId>) -> Result<(), Error> {
        let (status, none) = match self.ended {
            true => (Listed::Ended, "no ended withdrawals"),
            false => (Listed::Open, "no open withdrawals"),
        };
        let after = self.after.as_deref().map(Str::from);
        let query = WithdrawalsQuery { account, status, after, limit: Some(self.limit) };
        venue.show(route, &[], &query, NO_BODY, |answer: &WithdrawalsAnswer| {
            let columns = [
                Column("WITHDRAWAL", Align::Left),
                Column("AMOUNT", Align::Right),
                Column("CURRENCY", Align::Left),
                Column("STATE", Align::Left),
                Column("RECEIPT", Align::Left),
                Column("REASON", Align::Left),
            ];
            let rows = answer.withdrawals.iter().map(|withdrawal| {
                [
                    withdrawal.id.clone(),
                    withdrawal.amount.to_string(),
                    withdrawal.currency.to_string(),
                    withdrawal.state.to_string(),
                    or_dash(withdrawal.receipt.as_ref()),
                    or_dash(withdrawal.reason.as_ref()),
                ]
            });
            show::table(&columns, rows.collect(), none);
            if let Some(next) = &answer.next {
                say(format_args!("more: --after {next}"));
            }
        })
    }
}

/// A withdrawal in one line.
fn tell(answer: &WithdrawalAnswer) {
    let withdrawal = &answer.withdrawal;
    let mut line = format!(
        "withdrawal {} {}: {} {}",
        withdrawal.id, withdrawal.state, withdrawal.amount, withdrawal.currency,
    );
    for (name, value) in [("receipt", &withdrawal.receipt), ("reason", &withdrawal.reason)] {
        if let Some(value) = value {
            line.push_str(&format!(", {name} {value}"));
        }
    }
    if answer.repeated == Some(true) {
        line.push_str(" (requested before)");
    }
    say(format_args!("{line}"));
}
