//! The outcome of the last run that completed: where the next range begins, and which statements are
//! tried again.
//!
//! It is the output of that run, and a copy in the depot. The runs that are remembered are bounded, so
//! that many that fail displace it there.

use crate::error::StatementError;
use crate::flow::{StatementFlow, outcome_of};
use crate::outbox::{make, own_tenant};
use crate::run::RunOutcome;
use rialto_depot::{Depot, DepotError, Directory, FileName, Level, NewFile, joined};
use rialto_flow::Flow;
use rialto_flow::store::{Outcome, RunFilter, RunStanding, RunSummary, Store, StoreError};
use rialto_model::Seq;

/// The shelf and the name of the copy, in the tenant of the venue's own files.
const DIRECTORY: &str = "outcomes";
const NAME: &str = "last";
/// The first bytes of the copy: its format.
// format: docs/formats/statement.md
const MAGIC: &[u8; 8] = b"RSTRUN01";
/// The most bytes of the copy that are read; more than an outcome has.
const BYTES_MAX: u64 = 1 << 20;
/// The number of runs that are read at once.
const PAGE: usize = 1_000;

/// The outcome of the last run that completed.
///
/// # Errors
/// It cannot be read: without it the statements that are tried again would be forgotten, and the next
/// range would begin elsewhere.
pub(crate) fn find(
    store: &dyn Store,
    depot: &Depot,
    last: Seq,
) -> Result<Option<RunOutcome>, StatementError> {
    let unreadable = |why| StatementError::Unreadable { seq: last, why };
    match newest_completed(store).map_err(unreadable)? {
        Some(outcome) => Ok(Some(outcome)),
        None => load(depot, last),
    }
}

fn newest_completed(store: &dyn Store) -> Result<Option<RunOutcome>, String> {
    let of_store = |error: StoreError| error.to_string();
    let completed = RunFilter {
        flow: Some(StatementFlow::NAME.to_owned()),
        standing: Some(RunStanding::Ended(Outcome::Completed)),
    };
    let mut newest: Option<RunSummary> = None;
    loop {
        let page = store.list(&completed, newest.as_ref().map(|run| run.run), PAGE);
        let mut page = page.map_err(of_store)?;
        let is_last = page.len() < PAGE;
        newest = page.pop().or(newest);
        if is_last {
            break;
        }
    }
    let Some(newest) = newest else { return Ok(None) };
    match store.find(&newest.id).map_err(of_store)? {
        Some(stored) => outcome_of(&stored),
        None => Err(format!("the run {:?} is listed and cannot be found", newest.id)),
    }
}

fn directory() -> Directory {
    Directory::new(DIRECTORY).expect("it is a valid name")
}

fn name() -> FileName {
    FileName::new(NAME).expect("it is a valid name")
}

/// Stores the copy of the outcome of a run that is going to complete.
pub(crate) fn keep(depot: &Depot, outcome: &RunOutcome) -> Result<(), StatementError> {
    let tenant = own_tenant();
    make(depot, &tenant, &directory())?;
    let file = NewFile { level: Some(Level::Synced), ..NewFile::new(directory(), name()) };
    let bytes = postcard::to_extend(outcome, MAGIC.to_vec()).map_err(|error| {
        StatementError::Unreadable { seq: outcome.range.last, why: error.to_string() }
    })?;
    depot.put_bytes(&tenant, file, &bytes)?;
    Ok(())
}

fn load(depot: &Depot, last: Seq) -> Result<Option<RunOutcome>, StatementError> {
    let unreadable = |why: &str| StatementError::Unreadable {
        seq: last,
        why: format!("the outcome of the last run: {why}"),
    };
    let tenant = own_tenant();
    let info = match depot.file_at(&tenant, &joined(&directory(), &name())) {
        Ok(info) => info,
        Err(DepotError::UnknownFile { .. } | DepotError::UnknownTenant(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if info.record.bytes > BYTES_MAX {
        return Err(unreadable("it is too long"));
    }
    let bytes = depot.open_file(&tenant, info.record.id)?.read_all()?;
    let encoded = bytes.strip_prefix(MAGIC).ok_or_else(|| unreadable("its format is unknown"))?;
    postcard::from_bytes(encoded).map(Some).map_err(|error| unreadable(&error.to_string()))
}
