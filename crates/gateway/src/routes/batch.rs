//! Batches of orders. Each row is independent.

use super::orders::{about_order, amendment, placed_status};
use super::{Handled, respond};
use crate::ApiError;
use crate::call::Call;
use crate::convert::{Amendment, Placed, entering, order_ref};
use crate::gate::Gate;
use crate::json;
use crate::refusal::{asked_of, of_amendment, with_limits};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{
    AmendRequest, BatchAnswer, BatchRequest, BatchResult, BatchRow, Nothing, OrderRequest, Raw,
    RawRow,
};
use rialto_desk::{Answer, Level, Scope, Submission, SubmitBatch};
use rialto_model::{AccountId, Command, NewOrder};
use schemars::JsonSchema;
use serde::Deserialize;

/// Reads a row; an invalid field is named with the key before it.
fn read_row(text: &str) -> Result<BatchRow<'_>, ApiError> {
    let row: RawRow<'_> = json::read(text.as_bytes())?;
    fn inner<'a, T: Deserialize<'a> + JsonSchema>(key: &str, row: Raw<'a>) -> Result<T, ApiError> {
        json::read(row.0.get().as_bytes()).map_err(|error| error.within(key))
    }
    match (row.place, row.cancel, row.amend) {
        (Some(row), None, None) => inner("place", row).map(Box::new).map(BatchRow::Place),
        (None, Some(row), None) => inner("cancel", row).map(BatchRow::Cancel),
        (None, None, Some(row)) => inner("amend", row).map(BatchRow::Amend),
        _ => Err(ApiError::invalid("body", "A row is one of place, cancel and amend.")),
    }
}

/// A row with its command.
struct Prepared {
    command: Command,
    account: AccountId,
    /// The order, as far as it is known; `None` for a cancel.
    placed: Option<Placed>,
    amendment: Option<Box<Amendment>>,
}

/// `POST /v1/orders/batch`
pub(super) async fn submit(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let body: BatchRequest<'_> = call.json()?;
    let max = gate.config.batch_rows_max;
    if body.rows.is_empty() || body.rows.len() > max {
        let count = body.rows.len();
        let message = format!("The batch has {count} rows; it may have 1 to {max}.");
        let error = ApiError::new(StatusCode::BAD_REQUEST, "batch_size", message);
        return Err(error.of("rows"));
    }
    call.caller.require(Scope::Trade)?;
    let level = call.level(gate, body.durability.as_deref())?;

    let mut prepared = Vec::with_capacity(body.rows.len());
    for row in &body.rows {
        let row = prepare(gate, &call, body.account, row.0.get()).await;
        prepared.push(row.and_then(|row| {
            gate.charge(&call.caller, &row.command)?;
            Ok(row)
        }));
    }
    let results = send(gate, &call, &prepared, level).await;
    // An error of the batch is the answer to each of its rows.
    for (nth, row) in prepared.iter().enumerate() {
        if let Ok(row) = row {
            let answer = results.as_ref().map(|results| &results[nth]);
            let error = match answer {
                Ok(Ok(_)) => None,
                Ok(Err(error)) | Err(error) => Some(error),
            };
            gate.journal.settle(call.caller.id(), &row.command, error);
        }
    }
    let results = results?;

    let mut response = Vec::with_capacity(results.len());
    for (nth, (row, result)) in prepared.iter().zip(&results).enumerate() {
        response.push(batch_result(gate, &call, nth, row, result).await);
    }
    let seq = results.iter().flatten().map(|answer| answer.seq).max();
    let capacity = 64 + 512 * response.len();
    Ok(respond(StatusCode::OK, &BatchAnswer { results: response, seq }, capacity))
}

async fn prepare(
    gate: &Gate,
    call: &Call,
    account: Option<AccountId>,
    row: &str,
) -> Result<Prepared, ApiError> {
    match read_row(row)? {
        BatchRow::Place(row) => {
            place(gate, call, account, &row).await.map_err(|error| at(error, "place"))
        }
        BatchRow::Cancel(row) => {
            let cancel = || {
                let account = call.caller.account(row.account.or(account), Scope::Trade)?;
                Ok((account, order_ref(&row.id)?))
            };
            let (account, order) = cancel().map_err(|error| at(error, "cancel"))?;
            let command = Command::Cancel { account, order };
            Ok(Prepared { command, account, placed: None, amendment: None })
        }
        BatchRow::Amend(row) => {
            amend(gate, call, account, &row).await.map_err(|error| at(error, "amend"))
        }
    }
}

/// The same error with its field in this object.
fn at(error: ApiError, object: &str) -> ApiError {
    if error.field.is_some() { error.within(object) } else { error }
}

async fn place(
    gate: &Gate,
    call: &Call,
    account: Option<AccountId>,
    row: &OrderRequest<'_>,
) -> Result<Prepared, ApiError> {
    check_durability(row.durability.is_some())?;
    let account = call.caller.account(row.account.or(account), Scope::Trade)?;
    let listing = gate.listing(&call.cx(), &row.instrument).await?;
    let command = entering(row, account, &listing)?;
    let placed = terms_of(&command).map(|terms| Placed { terms, listing, is_new: true });
    Ok(Prepared { command, account, placed, amendment: None })
}

async fn amend(
    gate: &Gate,
    call: &Call,
    account: Option<AccountId>,
    row: &AmendRequest<'_>,
) -> Result<Prepared, ApiError> {
    check_durability(row.durability.is_some())?;
    let account = call.caller.account(row.account.or(account), Scope::Trade)?;
    let id = row.id.as_ref().ok_or_else(|| ApiError::missing("id"))?;
    let amendment = amendment(gate, &call.cx(), account, order_ref(id)?, row).await?;
    let (command, placed) = (amendment.command(), Some(amendment.placed()));
    Ok(Prepared { command, account, placed, amendment: Some(Box::new(amendment)) })
}

fn check_durability(is_given: bool) -> Result<(), ApiError> {
    let message = "The durability of a batch is a field of the batch, not of a row.";
    if is_given { Err(ApiError::invalid("durability", message)) } else { Ok(()) }
}

/// Submits the rows with commands in order, and puts the answers in the positions of the rows.
async fn send(
    gate: &Gate,
    call: &Call,
    rows: &[Result<Prepared, ApiError>],
    level: Option<Level>,
) -> Result<Vec<Result<Answer, ApiError>>, ApiError> {
    let submissions: Vec<_> = rows
        .iter()
        .flatten()
        .map(|row| Submission { token: 0, command: row.command, level })
        .collect();
    // If no row is valid, there is nothing to submit.
    let answers = match submissions.is_empty() {
        true => Vec::new(),
        false => gate.send(&call.cx(), SubmitBatch { submissions }).await?,
    };
    let mut answers = answers.into_iter();
    Ok(rows
        .iter()
        .map(|row| match row {
            Ok(_) => {
                let answer = answers.next().expect("there is an answer to each submission");
                answer.map_err(ApiError::from)
            }
            Err(error) => Err(error.clone()),
        })
        .collect())
}

async fn batch_result(
    gate: &Gate,
    call: &Call,
    nth: usize,
    row: &Result<Prepared, ApiError>,
    result: &Result<Answer, ApiError>,
) -> BatchResult {
    match (row, result) {
        (Ok(row), Ok(answer)) => {
            let status = match row.command {
                Command::Place(_)
                | Command::PlaceConditional(_)
                | Command::PlaceTrailing(_)
                | Command::PlaceIceberg(_)
                | Command::PlaceList(_) => placed_status(answer),
                _ => StatusCode::OK,
            };
            let order = about_order(gate, &call.cx(), row.account, row.placed, answer).await;
            BatchResult { status: status.as_u16(), order: Some(order), error: None }
        }
        (row, Err(error)) => {
            let error = match row {
                Ok(row) => {
                    let error = explained(gate, call, row, error.clone()).await;
                    at(error, kind_of(&row.command))
                }
                Err(_) => error.clone(),
            };
            let error = at(error, &format!("rows[{nth}]"));
            BatchResult { status: error.status.as_u16(), order: None, error: Some(error.detail()) }
        }
        (Err(_), Ok(_)) => unreachable!("what is no command has no answer"),
    }
}

/// The same error with the values that explain it.
async fn explained(gate: &Gate, call: &Call, row: &Prepared, error: ApiError) -> ApiError {
    let Prepared { command, placed, amendment, .. } = row;
    if let Some(amendment) = amendment {
        return of_amendment(gate, &call.cx(), amendment, error).await;
    }
    match (terms_of(command), placed) {
        (Some(terms), Some(placed)) => {
            let asked = asked_of(&terms).with_extension(command);
            with_limits(gate, &call.cx(), &asked, &placed.listing, error).await
        }
        _ => error,
    }
}

/// The order that a command enters, at once or when it is triggered.
fn terms_of(command: &Command) -> Option<NewOrder> {
    match command {
        Command::Place(order) => Some(*order),
        Command::PlaceConditional(order) => Some(order.terms),
        Command::PlaceTrailing(order) => Some(order.terms),
        Command::PlaceIceberg(order) => Some(order.terms),
        Command::PlaceList(list) => Some(list.terms),
        _ => None,
    }
}

/// The field of a row that holds this command.
fn kind_of(command: &Command) -> &'static str {
    match command {
        Command::Cancel { .. } => "cancel",
        Command::Amend(_) | Command::AmendTrigger(_) => "amend",
        _ => "place",
    }
}
