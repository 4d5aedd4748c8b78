//! The kill switch of a member.

use super::connection::Member;
use super::show::or_dash;
use crate::Error;
use crate::remote::{NO_BODY, NO_QUERY};
use crate::terminal::say;
use rialto_client::api::{AccountQuery, KillAnswer, KillRequest, KillStateAnswer, Route};

/// Cancels all orders of accounts, and refuses new ones.
#[derive(Debug, clap::Args)]
pub(super) struct Kill {
    /// Kill all accounts of the key, also if the key file names one. Without a named account all are
    /// meant anyway.
    #[arg(long, conflicts_with_all = ["account", "status"])]
    all: bool,
    /// Lift what an earlier kill has set. What an operator has set stays.
    #[arg(long, conflicts_with = "status")]
    lift: bool,
    /// Show the restriction of the account, and change nothing.
    #[arg(long)]
    status: bool,
    #[command(flatten)]
    member: Member,
}

impl Kill {
    pub(super) fn run(&self) -> Result<(), Error> {
        let (venue, account) = self.member.connect()?;
        if self.status {
            let query = AccountQuery { account, min_seq: None };
            return venue.show(Route::KillState, &[], &query, NO_BODY, tell_state);
        }
        let request = KillRequest { account: account.filter(|_| !self.all) };
        if self.lift {
            return venue.show(Route::KillLift, &[], &request, NO_BODY, |answer: &KillAnswer| {
                tell(answer, "the member's restriction is lifted");
            });
        }
        venue.show(Route::Kill, &[], NO_QUERY, Some(&request), |answer: &KillAnswer| {
            tell(answer, "killed");
        })
    }
}

fn tell_state(answer: &KillStateAnswer) {
    let own = if answer.killed { ", killed by the member" } else { "" };
    let restriction = answer.restriction.name();
    say(format_args!("account {}: restriction {restriction}{own}", answer.account));
}

fn tell(answer: &KillAnswer, done: &str) {
    for result in &answer.results {
        let account = result.account;
        if let Some(error) = &result.error {
            say(format_args!("account {account}: {} ({})", error.message, error.code));
            continue;
        }
        let cancelled = result.cancelled.map(|count| format!(", cancelled {count} orders"));
        let more = if result.pending == Some(true) { "; more are being cancelled" } else { "" };
        let (cancelled, seq) = (cancelled.unwrap_or_default(), or_dash(result.seq));
        say(format_args!("account {account}: {done}{cancelled}{more}; seq {seq}"));
    }
}
