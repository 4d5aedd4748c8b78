//! Many orders in one request, each on its own.

use super::orders::{amendment, placed, placed_before, placed_status};
use super::{Handled, respond};
use crate::ApiError;
use crate::call::Call;
use crate::dto::{
    AmendRequest, CancelRequest, OrderRequest, Placed, order_ref, write_order_answer,
};
use crate::gate::Gate;
use crate::json::{self, JsonOut, Str};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_desk::{Answer, Level, Scope, Submission, SubmitBatch};
use rialto_model::{AccountId, Command};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Body of `POST /v1/orders/batch`. Rows are kept as text, so that one that makes no sense does
/// not take the others with it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BatchRequest<'a> {
    account: Option<AccountId>,
    #[serde(borrow)]
    durability: Option<Str<'a>>,
    #[serde(borrow)]
    rows: Vec<&'a RawValue>,
}

/// A row: one of these, each read on its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowRequest<'a> {
    #[serde(borrow)]
    place: Option<&'a RawValue>,
    #[serde(borrow)]
    cancel: Option<&'a RawValue>,
    #[serde(borrow)]
    amend: Option<&'a RawValue>,
}

enum Row<'a> {
    Place(OrderRequest<'a>),
    Cancel(CancelRequest<'a>),
    Amend(AmendRequest<'a>),
}

impl<'a> Row<'a> {
    fn read(text: &'a str) -> Result<Row<'a>, ApiError> {
        match json::read(text.as_bytes())? {
            RowRequest { place: Some(row), cancel: None, amend: None } => {
                inner("place", row).map(Row::Place)
            }
            RowRequest { place: None, cancel: Some(row), amend: None } => {
                inner("cancel", row).map(Row::Cancel)
            }
            RowRequest { place: None, cancel: None, amend: Some(row) } => {
                inner("amend", row).map(Row::Amend)
            }
            _ => {
                let message = "A row is one of place, cancel and amend.";
                Err(ApiError::invalid("rows", message))
            }
        }
    }
}

/// Reads what stands under `key`; the field at fault is named with the key before it.
fn inner<'a, T: Deserialize<'a>>(key: &str, row: &'a RawValue) -> Result<T, ApiError> {
    json::read(row.get().as_bytes()).map_err(|mut error| {
        error.field = error.field.map(|field| format!("{key}.{field}").into());
        error
    })
}

/// A row that has become a command.
struct Prepared {
    command: Command,
    account: AccountId,
    /// What is known of the order already; of one that is cancelled, nothing is.
    placed: Option<Placed>,
}

/// `POST /v1/orders/batch`
pub(super) async fn submit(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    call.query()?.finish()?;
    let body: BatchRequest<'_> = call.json()?;
    let max = gate.config.batch_rows_max;
    if body.rows.is_empty() || body.rows.len() > max {
        let message = format!("A batch has 1 to {max} rows.");
        let error = ApiError::new(StatusCode::BAD_REQUEST, "batch_size", message);
        return Err(error.of("rows"));
    }
    call.caller.require(Scope::Trade)?;
    let level = call.level(gate, body.durability.as_deref())?;

    let mut prepared = Vec::with_capacity(body.rows.len());
    for row in &body.rows {
        let row = prepare(gate, &call, body.account, row.get()).await;
        prepared.push(row.and_then(|row| {
            gate.charge_journal(&call.caller, &row.command)?;
            Ok(row)
        }));
    }
    let results = send(gate, &call, &prepared, level).await?;

    let mut out = JsonOut::with_capacity(64 + 320 * results.len());
    out.open_object();
    out.key("results").open_array();
    for (row, result) in prepared.iter().zip(&results) {
        write_result(gate, &call, &mut out, row, result).await;
    }
    out.close_array();
    out.key("seq");
    match results.iter().flatten().map(|answer| answer.seq).max() {
        Some(seq) => out.quoted(seq.0),
        None => out.null(),
    }
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

async fn prepare(
    gate: &Gate,
    call: &Call,
    account: Option<AccountId>,
    row: &str,
) -> Result<Prepared, ApiError> {
    let caller = &call.caller;
    match Row::read(row)? {
        Row::Place(row) => {
            if row.durability.is_some() {
                let message = "The durability of a batch stands beside its rows.";
                return Err(ApiError::invalid("durability", message));
            }
            let account = caller.account(row.account.or(account), Scope::Trade)?;
            let listing = gate.listing(&call.cx(), &row.instrument).await?;
            let order = row.order(account, &listing)?;
            let placed = Some(placed(&order, listing));
            Ok(Prepared { command: Command::Place(order), account, placed })
        }
        Row::Cancel(row) => {
            let account = caller.account(row.account.or(account), Scope::Trade)?;
            let order = order_ref(&row.id)?;
            Ok(Prepared { command: Command::Cancel { account, order }, account, placed: None })
        }
        Row::Amend(row) => {
            if row.durability.is_some() {
                let message = "The durability of a batch stands beside its rows.";
                return Err(ApiError::invalid("durability", message));
            }
            let account = caller.account(row.account.or(account), Scope::Trade)?;
            let id = row.id.as_ref().ok_or_else(|| ApiError::missing("id"))?;
            let (amend, placed) =
                amendment(gate, &call.cx(), account, order_ref(id)?, &row).await?;
            Ok(Prepared { command: Command::Amend(amend), account, placed: Some(placed) })
        }
    }
}

/// Sends the rows that are commands, in their order, and puts the answers where the rows stand.
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
    // Of rows that all make no sense, nothing is left to send.
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

async fn write_result(
    gate: &Gate,
    call: &Call,
    out: &mut JsonOut,
    row: &Result<Prepared, ApiError>,
    result: &Result<Answer, ApiError>,
) {
    out.open_object();
    match (row, result) {
        (Ok(row), Ok(answer)) => {
            let status = match row.command {
                Command::Place(_) => placed_status(answer),
                _ => StatusCode::OK,
            };
            out.key("status").number(status.as_u16());
            let placed = match row.placed {
                Some(placed) => Some(placed),
                None => placed_before(gate, &call.cx(), row.account, answer).await,
            };
            out.key("order");
            write_order_answer(out, answer, placed.as_ref());
        }
        (_, Err(error)) => {
            out.key("status").number(error.status.as_u16());
            out.key("error");
            error.write(out);
        }
        (Err(_), Ok(_)) => unreachable!("what is no command has no answer"),
    }
    out.close_object();
}
