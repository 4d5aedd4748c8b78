//! Restrictions, as an operator sets and lists them.

use crate::Error;
use crate::cli::connection::named;
use crate::cli::show::{self, Align, Column};
use crate::remote::{NO_BODY, Remote};
use crate::terminal::say;
use rialto_client::api::{
    RestrictedBy, RestrictionInfo, RestrictionRequest, RestrictionsAnswer, RestrictionsQuery,
    Route, Str,
};
use rialto_model::{AccountId, MemberId, Restriction};

#[derive(Debug, clap::Args)]
pub(super) struct Restrict {
    /// What is refused: `none` lifts the restriction, `cancel_only` refuses new orders, `frozen`
    /// withdrawals too.
    #[arg(value_parser = named::<Restriction>())]
    restriction: Restriction,
    #[command(flatten)]
    target: Target,
    /// Cancel the open orders of the target.
    #[arg(long)]
    cancel: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Target {
    /// All accounts of the venue.
    #[arg(long)]
    venue: bool,
    /// All accounts of this member.
    #[arg(long, value_name = "NUMBER")]
    member: Option<u32>,
    /// This account.
    #[arg(long, value_name = "NUMBER")]
    account: Option<u32>,
    /// This instrument, for all accounts.
    #[arg(long, value_name = "SYMBOL")]
    instrument: Option<String>,
}

impl Restrict {
    pub(super) fn request(&self) -> RestrictionRequest<'_> {
        let Target { venue, member, account, instrument } = &self.target;
        RestrictionRequest {
            venue: *venue,
            member: member.map(MemberId),
            account: account.map(AccountId),
            instrument: instrument.as_deref().map(Str::from),
            restriction: self.restriction,
            cancel: self.cancel,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct Restrictions {
    /// The most entries to show.
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// The position that the page before ended with.
    #[arg(long, value_name = "POSITION")]
    after: Option<String>,
}

impl Restrictions {
    pub(super) fn run(&self, venue: &Remote) -> Result<(), Error> {
        let query = RestrictionsQuery {
            after: self.after.as_deref().map(Str::from),
            limit: Some(self.limit),
            min_seq: None,
        };
        let tell = |answer: &RestrictionsAnswer| {
            let columns = [
                Column("ON", Align::Left),
                Column("RESTRICTION", Align::Left),
                Column("BY", Align::Left),
            ];
            let rows = answer.restrictions.iter().map(|info| {
                let by = match info.by {
                    RestrictedBy::Operator => "operator",
                    RestrictedBy::Member => "member",
                };
                [target_of(info), info.restriction.name().to_owned(), by.to_owned()]
            });
            show::table(&columns, rows.collect(), "no restrictions");
            if let Some(next) = &answer.next {
                say(format_args!("more: --after {next}"));
            }
        };
        venue.show(Route::AdminRestrictions, &[], &query, NO_BODY, tell)
    }
}

fn target_of(info: &RestrictionInfo) -> String {
    match (info.member, info.account, info.instrument) {
        (Some(member), _, _) => format!("member {member}"),
        (_, Some(account), _) => format!("account {account}"),
        (_, _, Some(symbol)) => format!("instrument {symbol}"),
        _ => "venue".to_owned(),
    }
}
