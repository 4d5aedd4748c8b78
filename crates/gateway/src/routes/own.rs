//! Orders, fills and balances of an account.

use super::{Handled, count, respond};
use crate::call::Call;
use crate::convert::{balance_info, fill_info, order_info, order_ref};
use crate::gate::Gate;
use crate::{ApiError, decimal};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rialto_api::{
    AccountQuery, BalancesAnswer, FillsAnswer, FillsQuery, ListedOrders, OrderInfoAnswer,
    OrdersAnswer, OrdersQuery, TransferAnswer, TransferRequest,
};
use rialto_bus::{Command, Serves};
use rialto_desk::{
    Answer, AsOf, DeskBus, FillCursor, FindOrder, GetBalances, Level, ListFills, ListOrders,
    OrderSelection, Scope,
};
use rialto_model::{InstrumentId, Outcome, RejectReason, Transfer};

/// The instrument of a list, if it is limited to one.
async fn narrowed(
    gate: &Gate,
    call: &Call,
    symbol: Option<&str>,
) -> Result<Option<InstrumentId>, ApiError> {
    match symbol {
        Some(symbol) => Ok(Some(gate.listing(&call.cx(), symbol).await?.id)),
        None => Ok(None),
    }
}

/// The same error for a lookup that also finds ended orders.
fn no_order(error: ApiError) -> ApiError {
    if error.code != RejectReason::UnknownOrder.code() {
        return error;
    }
    let message = "The account has no such order, neither open nor among the ended orders that the \
                   venue keeps.";
    ApiError { message: message.into(), ..error }
}

/// `GET /v1/orders/{id}`
pub(super) async fn order(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let order = order_ref(&call.name_after("/v1/orders/")?)?;
    let query: AccountQuery = call.query()?;
    let account = call.caller.account(query.account, Scope::Read)?;
    let AsOf { at, names, answer } = gate
        .read(&call.cx(), FindOrder { account, order }, query.min_seq)
        .await
        .map_err(no_order)?;
    let on = names.instrument(answer.terms.instrument);
    let on = on.ok_or_else(|| ApiError::unknown(RejectReason::UnknownOrder))?;
    let order = order_info(&answer, on);
    Ok(respond(StatusCode::OK, &OrderInfoAnswer { seq: at.seq, time: at.time, order }, 768))
}

/// `GET /v1/orders`
pub(super) async fn orders(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: OrdersQuery<'_> = call.query()?;
    let limit = count("limit", query.limit, 100, gate.config.page_max)?;
    let account = call.caller.account(query.account, Scope::Read)?;
    let instrument = narrowed(gate, &call, query.instrument.as_deref()).await?;
    let which = match query.status {
        ListedOrders::Open => OrderSelection::Open,
        ListedOrders::Waiting => OrderSelection::Waiting,
        ListedOrders::Ended => OrderSelection::Ended,
    };
    let question = ListOrders { account, instrument, which, after: query.after, limit };
    let AsOf { at, names, answer: page } = gate.read(&call.cx(), question, query.min_seq).await?;
    let orders = page.rows.iter().filter_map(|order| {
        names.instrument(order.terms.instrument).map(|on| order_info(order, on))
    });
    let response = OrdersAnswer {
        seq: at.seq,
        time: at.time,
        orders: orders.collect(),
        next: page.next_after().map(|last| last.order),
    };
    Ok(respond(StatusCode::OK, &response, 128 + 700 * page.rows.len()))
}

/// Parses the position of a page of fills.
fn read_cursor(text: &str) -> Option<FillCursor> {
    let (trade, order) = text.split_once(':')?;
    Some(FillCursor { trade: trade.parse().ok()?, order: order.parse().ok()? })
}

/// `GET /v1/fills`
pub(super) async fn fills(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: FillsQuery<'_> = call.query()?;
    let limit = count("limit", query.limit, 100, gate.config.page_max)?;
    let before = match &query.after {
        None => None,
        Some(text) => Some(read_cursor(text).ok_or_else(|| {
            ApiError::invalid(
                "after",
                "The parameter after is the value of next in the page before.",
            )
        })?),
    };
    let account = call.caller.account(query.account, Scope::Read)?;
    let instrument = narrowed(gate, &call, query.instrument.as_deref()).await?;
    let question = ListFills { account, instrument, before, limit };
    let AsOf { at, names, answer: page } = gate.read(&call.cx(), question, query.min_seq).await?;
    let fills = page
        .rows
        .iter()
        .filter_map(|fill| names.instrument(fill.instrument).map(|on| fill_info(fill, on)));
    let response = FillsAnswer {
        seq: at.seq,
        time: at.time,
        fills: fills.collect(),
        next: page.next_after().map(|last| format!("{}:{}", last.trade, last.order)),
    };
    Ok(respond(StatusCode::OK, &response, 128 + 360 * page.rows.len()))
}

/// `GET /v1/balances`
pub(super) async fn balances(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: AccountQuery = call.query()?;
    let account = call.caller.account(query.account, Scope::Read)?;
    let question = GetBalances { account };
    let AsOf { at, names, answer } = gate.read(&call.cx(), question, query.min_seq).await?;
    let balances = answer.iter().filter_map(|balance| {
        names.currency(balance.currency).map(|currency| balance_info(balance, currency))
    });
    let (seq, time, balances) = (at.seq, at.time, balances.collect());
    Ok(respond(StatusCode::OK, &BalancesAnswer { seq, time, account, balances }, 512))
}

/// Moves an amount; the answer says whether it was a repetition.
pub(super) async fn transfer<R>(
    gate: &Gate,
    call: &Call,
    body: &TransferRequest<'_>,
    command: impl FnOnce(Transfer, Option<Level>) -> R,
) -> Result<Response, ApiError>
where
    R: Command<Response = Answer>,
    DeskBus: Serves<R>,
{
    let level = call.level(gate, body.durability.as_deref())?;
    let currency = gate.currency(&call.cx(), &body.currency, "currency").await?;
    let amount = decimal::amount("amount", &body.amount, &currency)?;
    let reference = decimal::short("reference", &body.reference)?;
    let transfer = Transfer { account: body.account, currency: currency.id, amount, reference };
    let answer = gate.send(&call.cx(), command(transfer, level)).await?;
    let repeated = answer.outcome == Outcome::Repeated;
    let response = TransferAnswer {
        account: body.account,
        currency: currency.code,
        amount: amount.decimal(currency.scale),
        reference,
        repeated,
        seq: answer.seq,
        time: answer.time,
    };
    let status = if repeated { StatusCode::OK } else { StatusCode::CREATED };
    Ok(respond(status, &response, 256))
}
