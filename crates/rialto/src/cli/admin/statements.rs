//! Statements of accounts.

use crate::Error;
use crate::cli::show::{self, Align, Column, or_dash};
use crate::inspect::utc;
use crate::remote::{NO_BODY, NO_QUERY, Remote};
use crate::terminal::say;
use clap::Subcommand;
use rialto_client::api::{
    Route, StatementRunAnswer, StatementRunInfo, StatementRunsAnswer, StatementRunsQuery,
};

#[derive(Debug, Subcommand)]
pub(super) enum StatementsAction {
    /// Make statements of everything since the last run, and put them into the members' outboxes.
    Run,
    /// List the last runs, newest first.
    Ls {
        /// The most runs to show.
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
}

impl StatementsAction {
    pub(super) fn run(&self, venue: &Remote) -> Result<(), Error> {
        match self {
            StatementsAction::Run => {
                let tell = |answer: &StatementRunAnswer| tell(&answer.run);
                venue.show(Route::AdminStatementsRun, &[], NO_QUERY, NO_BODY, tell)
            }
            StatementsAction::Ls { limit } => {
                let query = StatementRunsQuery { limit: Some(*limit) };
                venue.show(Route::AdminStatementRuns, &[], &query, NO_BODY, list)
            }
        }
    }
}

/// A run, with each statement that was refused.
fn tell(run: &StatementRunInfo) {
    let range = match (run.first_seq, run.last_seq) {
        (Some(first), Some(last)) => format!("commands {first} to {last}"),
        _ => "nothing new".to_owned(),
    };
    match (run.state.as_str(), &run.reason) {
        ("completed", _) => say(format_args!(
            "run {}: {range}, statements of {} members, {} refused",
            run.id,
            run.members,
            run.refused.len() as u64 + u64::from(run.refused_more),
        )),
        (state, Some(reason)) => say(format_args!("run {} {state}: {reason}", run.id)),
        (state, None) => say(format_args!(
            "run {} is {state}: `rialto admin statements ls` shows its end",
            run.id
        )),
    }
    if let Some(gap) = &run.gap {
        say(format_args!(
            "no statement covers commands {} to {}: their events are gone",
            gap.first_seq, gap.last_seq
        ));
    }
    for refused in &run.refused {
        let again = if refused.again { "; the next run tries again" } else { "" };
        say(format_args!(
            "refused: member {}, commands {} to {}: {}{again}",
            refused.member, refused.first_seq, refused.last_seq, refused.code
        ));
    }
}

fn list(answer: &StatementRunsAnswer) {
    let columns = [
        Column("RUN", Align::Left),
        Column("STATE", Align::Left),
        Column("BEGAN", Align::Left),
        Column("FIRST", Align::Right),
        Column("LAST", Align::Right),
        Column("MEMBERS", Align::Right),
        Column("REFUSED", Align::Right),
        Column("REASON", Align::Left),
    ];
    let rows = answer.runs.iter().map(|run| {
        [
            run.id.clone(),
            run.state.clone(),
            utc::show(run.started_at),
            or_dash(run.first_seq.as_ref()),
            or_dash(run.last_seq.as_ref()),
            run.members.to_string(),
            (run.refused.len() as u64 + u64::from(run.refused_more)).to_string(),
            or_dash(run.reason.as_ref()),
        ]
    });
    show::table(&columns, rows.collect(), "no runs");
}
