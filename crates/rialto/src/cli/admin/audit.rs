//! The audit trail.

use crate::Error;
use crate::cli::show::{self, Align, Column, or_dash};
use crate::inspect::utc;
use crate::remote::Remote;
use rialto_client::api::{AuditAnswer, AuditInfo, AuditOutcome, AuditQuery};
use rialto_model::Seq;

/// The most rows of one request.
const PAGE: usize = 500;

#[derive(Debug, clap::Args)]
pub(super) struct Audit {
    /// The first sequence; by default the first of the event log.
    #[arg(long, value_name = "SEQ")]
    from_seq: Option<u64>,
    /// The most entries to show.
    #[arg(long, default_value_t = 1_000)]
    limit: usize,
}

impl Audit {
    pub(super) fn run(&self, venue: &Remote) -> Result<(), Error> {
        let mut read = self.page(venue, self.from_seq.map(Seq), self.limit)?;
        while read.more && read.entries.len() < self.limit {
            let left = self.limit - read.entries.len();
            let page = self.page(venue, Some(read.next_seq), left)?;
            read.entries.extend(page.entries);
            (read.next_seq, read.more) = (page.next_seq, page.more);
        }
        venue.print_value(&read, list);
        Ok(())
    }

    fn page(
        &self,
        venue: &Remote,
        from_seq: Option<Seq>,
        limit: usize,
    ) -> Result<AuditAnswer, Error> {
        let query = AuditQuery { from_seq, limit: Some(limit.min(PAGE)) };
        venue.wait(venue.client.audit(&query))
    }
}

fn list(answer: &AuditAnswer) {
    let columns = [
        Column("SEQ", Align::Right),
        Column("TIME", Align::Left),
        Column("BY", Align::Left),
        Column("COMMAND", Align::Left),
        Column("OUTCOME", Align::Left),
        Column("ABOUT", Align::Left),
        Column("REASON", Align::Left),
    ];
    let rows = answer.entries.iter().map(|entry| {
        let outcome = match (entry.outcome, &entry.code) {
            (AuditOutcome::Done, _) => "done".to_owned(),
            (AuditOutcome::Repeated, _) => "repeated".to_owned(),
            (AuditOutcome::Refused, code) => code.as_deref().unwrap_or("refused").to_owned(),
        };
        [
            entry.seq.to_string(),
            utc::show(entry.time),
            entry.by.clone(),
            entry.command.name().to_owned(),
            outcome,
            about(entry),
            or_dash(entry.reason.as_ref()),
        ]
    });
    show::table(&columns, rows.collect(), "no commands of operators");
    if answer.more {
        crate::terminal::say(format_args!("more: --from-seq {}", answer.next_seq));
    }
}

/// A restriction, and what was open.
fn restricted(entry: &AuditInfo) -> Option<String> {
    let restriction = entry.restriction?.name();
    let of = [entry.member.is_some(), entry.account.is_some(), entry.instrument.is_some()];
    let venue = if of.contains(&true) { "" } else { "venue " };
    let cancel = if entry.cancel == Some(true) { ", open orders cancelled" } else { "" };
    Some(format!("{venue}{restriction}{cancel}"))
}

/// What a command is about, in one cell.
fn about(entry: &AuditInfo) -> String {
    let amount = match (entry.amount, entry.currency) {
        (Some(amount), Some(currency)) => Some(format!("{amount} {currency}")),
        (None, Some(currency)) => Some(currency.to_string()),
        _ => None,
    };
    let parts = [
        entry.instrument.map(|symbol| symbol.to_string()),
        entry.state.map(|state| state.name().to_owned()),
        entry.member.map(|member| format!("member {member}")),
        entry.account.map(|account| format!("account {account}")),
        entry.name.clone(),
        restricted(entry),
        entry.planned.map(|at| format!("from {}", utc::show(at))),
        entry.moved_to.map(|to| format!("to {}", utc::show(to))),
        entry.until.map(|until| format!("until {}", utc::show(until))),
        amount,
        entry.reference.map(|reference| reference.to_string()),
        entry.version.map(|version| format!("rules version {version}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    or_dash((!parts.is_empty()).then(|| parts.join(" ")))
}
