//! An account's own orders, fills, balances and withdrawals.

use super::{Handled, close_with_seq, open_with_seq, respond};
use crate::call::Call;
use crate::dto::{TransferRequest, order_ref, write_balance, write_fill, write_order_view};
use crate::gate::Gate;
use crate::json::JsonOut;
use crate::{ApiError, decimal};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rialto_bus::{Command, Serves};
use rialto_desk::Listing;
use rialto_desk::{Answer, DeskBus, Scope};
use rialto_engine::Level;
use rialto_feed::{Fill, OrderView, Role};
use rialto_model::{AccountId, OrderId, OrderRef, Outcome, RejectReason, Transfer};

/// `GET /v1/orders/{id}`
pub(super) async fn order(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let order = order_ref(&call.name_after("/v1/orders/")?)?;
    let mut query = call.query()?;
    let (account, min_seq) = (query.account()?, query.min_seq()?);
    query.finish()?;
    let account = call.caller.account(account, Scope::Read)?;
    let feed = gate.feed(min_seq).await?;
    let view = match order {
        OrderRef::Id(id) => feed.order(id),
        OrderRef::Client(name) => feed.order_by_client_id(account, name),
    };
    let unknown = || ApiError::unknown(RejectReason::UnknownOrder);
    let view = view.filter(|view| view.terms.account == account).ok_or_else(unknown)?;
    let instrument = feed.instrument(view.terms.instrument).ok_or_else(unknown)?;
    let on = Listing::of(&feed, instrument).ok_or_else(unknown)?;
    let mut out = open_with_seq(&feed, 768);
    out.key("order");
    write_order_view(&mut out, &view, &on);
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/orders`
pub(super) async fn orders(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let mut query = call.query()?;
    let (account, min_seq) = (query.account()?, query.min_seq()?);
    let limit = query.count("limit", 100, gate.config.page_max)?;
    let after: Option<OrderId> = query.parse("after", "the id of an order")?;
    let ended = match query.text("status").as_deref() {
        None | Some("open") => false,
        Some("ended") => true,
        Some(_) => {
            let message = "The parameter status is open or ended.";
            return Err(ApiError::invalid("status", message));
        }
    };
    let symbol = query.text("instrument");
    query.finish()?;
    let account = call.caller.account(account, Scope::Read)?;
    let instrument = match symbol {
        Some(symbol) => Some(gate.listing(&symbol).await?.id),
        None => None,
    };
    let feed = gate.feed(min_seq).await?;
    let wanted = |order: &OrderView| instrument.is_none_or(|id| order.terms.instrument == id);
    // One more than a page tells whether another follows.
    let mut page: Vec<OrderView> = if ended {
        let mut orders = feed.ended_orders(account);
        if let Some(after) = after {
            orders.by_ref().find(|order| order.order == after);
        }
        orders.filter(wanted).take(limit + 1).collect()
    } else {
        let orders = feed.open_orders(account);
        let orders = orders.filter(|order| after.is_none_or(|after| order.order > after));
        orders.filter(wanted).take(limit + 1).collect()
    };
    let more = page.len() > limit;
    page.truncate(limit);
    let mut out = open_with_seq(&feed, 128 + 600 * page.len());
    out.key("orders").open_array();
    for order in &page {
        let listing = feed.instrument(order.terms.instrument);
        if let Some(on) = listing.and_then(|instrument| Listing::of(&feed, instrument)) {
            write_order_view(&mut out, order, &on);
        }
    }
    out.close_array();
    out.key("next");
    match page.last().filter(|_| more) {
        Some(last) => out.quoted(last.order.0),
        None => out.null(),
    }
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// Names a fill in a cursor. A trade of an account with itself makes two fills.
fn cursor(fill: &Fill) -> String {
    let role = match fill.role {
        Role::Maker => "maker",
        Role::Taker => "taker",
    };
    format!("{}:{role}", fill.trade)
}

/// `GET /v1/fills`
pub(super) async fn fills(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let mut query = call.query()?;
    let (account, min_seq) = (query.account()?, query.min_seq()?);
    let limit = query.count("limit", 100, gate.config.page_max)?;
    let before = query.text("before");
    let symbol = query.text("instrument");
    query.finish()?;
    let account = call.caller.account(account, Scope::Read)?;
    let instrument = match symbol {
        Some(symbol) => Some(gate.listing(&symbol).await?.id),
        None => None,
    };
    let feed = gate.feed(min_seq).await?;
    let mut fills = feed.fills(account);
    if let Some(before) = before
        && !fills.by_ref().any(|fill| cursor(fill) == before)
    {
        let message = "That fill is not remembered any more, or never was.";
        return Err(ApiError::invalid("before", message));
    }
    let wanted = |fill: &&Fill| instrument.is_none_or(|id| fill.instrument == id);
    let mut page: Vec<Fill> = fills.filter(wanted).take(limit + 1).copied().collect();
    let more = page.len() > limit;
    page.truncate(limit);
    let mut out = open_with_seq(&feed, 128 + 320 * page.len());
    out.key("fills").open_array();
    for fill in &page {
        let listing = feed.instrument(fill.instrument);
        if let Some(on) = listing.and_then(|instrument| Listing::of(&feed, instrument)) {
            write_fill(&mut out, fill, &on);
        }
    }
    out.close_array();
    out.key("next");
    match page.last().filter(|_| more) {
        Some(last) => out.text(&cursor(last)),
        None => out.null(),
    }
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// `GET /v1/balances`
pub(super) async fn balances(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let mut query = call.query()?;
    let (account, min_seq) = (query.account()?, query.min_seq()?);
    query.finish()?;
    let account = call.caller.account(account, Scope::Read)?;
    let feed = gate.feed(min_seq).await?;
    let mut out = open_with_seq(&feed, 512);
    out.key("account").number(account.0);
    out.key("balances").open_array();
    for balance in feed.balances(account) {
        if let Some(currency) = feed.currency(balance.currency) {
            write_balance(&mut out, &balance, &currency);
        }
    }
    out.close_array();
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

/// Moves value and says whether that had been done before.
pub(super) async fn transfer<R>(
    gate: &Gate,
    call: &Call,
    body: &TransferRequest<'_>,
    account: AccountId,
    command: fn(Transfer, Option<Level>) -> R,
) -> Result<Response, ApiError>
where
    R: Command<Response = Answer>,
    DeskBus: Serves<R>,
{
    let level = call.level(gate, body.durability.as_deref())?;
    let currency = gate.currency(&body.currency, "currency").await?;
    let amount = decimal::amount("amount", &body.amount, &currency)?;
    let reference = decimal::short("reference", &body.reference)?;
    let transfer = Transfer { account, currency: currency.id, amount, reference };
    let answer = gate.send(call, command(transfer, level)).await?;
    let repeated = answer.outcome == Outcome::Repeated;
    let mut out = JsonOut::with_capacity(256);
    out.open_object();
    out.key("account").number(account.0);
    out.key("currency").text(currency.code.as_str());
    out.key("amount").decimal(amount.0, currency.scale);
    out.key("reference").text(reference.as_str());
    out.key("repeated").flag(repeated);
    let status = if repeated { StatusCode::OK } else { StatusCode::CREATED };
    Ok(respond(status, close_with_seq(out, &answer)))
}
