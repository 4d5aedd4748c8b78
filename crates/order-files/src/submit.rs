//! Sends the rows of a file in batches, each row once.

use crate::answer::RowAnswer;
use crate::content::ContentKey;
use crate::counts::add;
use crate::error::WorkError;
use crate::exchange::Shared;
use crate::history::Intention;
use crate::lookup::AnswerLookup;
use crate::options::FileStep;
use crate::order_file::OrderFile;
use crate::row::OrderRow;
use rialto_bus::{Context, Dispatch, Error};
use rialto_desk::{Grant, Level, Refused, Scope, Scopes, Submission, SubmitBatch};
use rialto_model::{AccountId, MemberId, Seq};
use std::time::Duration;

/// The pauses before rows that were not taken are sent again.
const BACK_OFF_MIN: Duration = Duration::from_millis(10);
const BACK_OFF_MAX: Duration = Duration::from_secs(1);

/// The rows that follow `first`, as an intention, if there are any.
pub(crate) fn next_intention(shared: &Shared, first: usize, rows: usize) -> Option<Intention> {
    let count = rows.checked_sub(first).filter(|left| *left > 0)?.min(shared.batch_rows);
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    // Below this mark nothing is lost with the power, so that all commands from now on have greater
    // sequences, in this process and the next.
    let after = shared.engine.marks().synced.0;
    Some(Intention { first: number(first), rows: number(count), after })
}

/// Sends the intended rows that have no answer in the event log, and returns the answers to all of
/// them, as the event log has them.
///
/// A batch of this process and one in doubt of an earlier process take the same path: first the
/// events behind the recorded sequence are read, then the missing rows are sent.
pub(crate) fn submit(
    shared: &Shared,
    member: MemberId,
    file: &OrderFile,
    intended: Intention,
) -> Result<Vec<RowAnswer>, WorkError> {
    let first = intended.first as usize;
    let rows = file.rows.get(first..first + intended.rows as usize).unwrap_or_default();
    let reader = shared.engine.events(Seq(intended.after).next());
    let mut lookup = AnswerLookup::of_orders(reader, rows.iter().map(|row| &row.order));
    if lookup.is_cut_off() {
        // Whether they were entered cannot be found out, and none may be entered twice.
        tell_cut_off(member, rows.len());
        return Ok(vec![RowAnswer::UNKNOWN; rows.len()]);
    }
    let grant = grant_of(shared, member);
    let mut back_off = BACK_OFF_MIN;
    loop {
        lookup.read_through(shared.engine.released())?;
        let missing = lookup.missing();
        if missing.is_empty() {
            shared.step(FileStep::Sent);
            // None is missing.
            return Ok(lookup.into_answers().into_iter().flatten().collect());
        }
        shared.check_running()?;
        shared.pace.wait(missing.len(), &shared.stop)?;
        let rows = missing.iter().filter_map(|nth| rows.get(*nth));
        if send(shared, &grant, rows)? > 0 {
            add(&shared.counts.batches_retried, 1);
            shared.stop.sleep(back_off)?;
            back_off = (2 * back_off).min(BACK_OFF_MAX);
        }
    }
}

/// Looks up the intended rows of a content that cannot be read as orders any more, and sends none. A
/// row without an answer was not entered.
///
/// An earlier process sent them, or a worker that waited for all answers before it ended.
pub(crate) fn look_up(
    shared: &Shared,
    key: ContentKey,
    only_account: Option<AccountId>,
    intended: Intention,
) -> Result<Vec<Option<RowAnswer>>, WorkError> {
    let ContentKey { member, digest } = key;
    let accounts = only_account.map_or_else(|| accounts_of(shared, member), |it| vec![it]);
    let reader = shared.engine.events(Seq(intended.after).next());
    let (first, count) = (intended.first, intended.rows as usize);
    let names = (0..count).map(|nth| digest.client_order_id(first + nth as u32 + 1));
    let mut lookup = AnswerLookup::of_names(reader, names, &accounts);
    if lookup.is_cut_off() {
        tell_cut_off(member, count);
        return Ok(vec![Some(RowAnswer::UNKNOWN); count]);
    }
    lookup.read_through(shared.engine.released())?;
    Ok(lookup.into_answers())
}

fn tell_cut_off(member: MemberId, rows: usize) {
    tracing::error!(
        member = member.0,
        rows,
        "rows in doubt are not in the event log any more; they are not sent again"
    );
}

/// Sends rows, and waits until each row that was taken is answered. Returns how many rows
/// were not taken.
fn send<'a>(
    shared: &Shared,
    grant: &Grant,
    rows: impl Iterator<Item = &'a OrderRow>,
) -> Result<usize, WorkError> {
    let submissions = rows.map(|row| Submission {
        token: 0,
        command: row.command(),
        // What is recorded and answered about an order must not outlive the order.
        level: Some(Level::Synced),
    });
    let batch = SubmitBatch { submissions: submissions.collect() };
    let cx = Context::new().with_principal(grant);
    let answers = shared.runtime.block_on(shared.desk.send(batch, &cx)).map_err(refused)?;
    let mut not_taken = 0;
    for answer in answers {
        match answer {
            Ok(_) => {}
            Err(error) if error.source_as::<Refused>().is_some() => {}
            Err(error) if matches!(error.code(), "busy" | "order_rate" | "storage_low") => {
                not_taken += 1
            }
            // The engine has ended: the next process finds out what became of them.
            Err(error) if matches!(error.code(), "stopped" | "outcome_unknown") => {
                return Err(WorkError::Stopping);
            }
            Err(error) => return Err(refused(error)),
        }
    }
    Ok(not_taken)
}

fn refused(error: Error) -> WorkError {
    match error.code() {
        "stopped" => WorkError::Stopping,
        _ => WorkError::Refused(error.message().to_owned()),
    }
}

/// The accounts of a member.
pub(crate) fn accounts_of(shared: &Shared, member: MemberId) -> Vec<AccountId> {
    shared.live.read().accounts_of(member).map(|view| view.account).collect()
}

/// The rights of a member's file: to trade for the accounts of the member.
fn grant_of(shared: &Shared, member: MemberId) -> Grant {
    Grant::new(Scopes::NONE.with(Scope::Trade), accounts_of(shared, member)).of_member(member)
}
