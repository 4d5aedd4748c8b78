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
use rialto_desk::{
    Answer, AsOf, DeskBus, FillCursor, FindOrder, GetBalances, Level, ListFills, ListOrders, Scope,
};
use rialto_feed::Role;
use rialto_model::{AccountId, OrderId, Outcome, RejectReason, Transfer};

/// `GET /v1/orders/{id}`
pub(super) async fn order(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let order = order_ref(&call.name_after("/v1/orders/")?)?;
    let mut query = call.query()?;
    let (account, min_seq) = (query.account()?, query.min_seq()?);
    query.finish()?;
    let account = call.caller.account(account, Scope::Read)?;
    let AsOf { at, names, answer } =
        gate.ask(&call.cx(), FindOrder { account, order }, min_seq).await?;
    let on = names.instrument(answer.terms.instrument);
    let on = on.ok_or_else(|| ApiError::unknown(RejectReason::UnknownOrder))?;
    let mut out = open_with_seq(at, 768);
    out.key("order");
    write_order_view(&mut out, &answer, on);
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
        Some(symbol) => Some(gate.listing(&call.cx(), &symbol).await?.id),
        None => None,
    };
    let question = ListOrders { account, instrument, ended, after, limit };
    let AsOf { at, names, answer: page } = gate.ask(&call.cx(), question, min_seq).await?;
    let mut out = open_with_seq(at, 128 + 600 * page.rows.len());
    out.key("orders").open_array();
    for order in &page.rows {
        if let Some(on) = names.instrument(order.terms.instrument) {
            write_order_view(&mut out, order, on);
        }
    }
    out.close_array();
    out.key("next");
    match page.next_after() {
        Some(last) => out.quoted(last.order.0),
        None => out.null(),
    }
    out.close_object();
    Ok(respond(StatusCode::OK, out))
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Maker => "maker",
        Role::Taker => "taker",
    }
}

/// Reads what a page of fills named as its last.
fn read_cursor(text: &str) -> Option<FillCursor> {
    let (trade, role) = text.split_once(':')?;
    let role = [Role::Maker, Role::Taker].into_iter().find(|known| role_name(*known) == role)?;
    Some(FillCursor { trade: trade.parse().ok()?, role })
}

/// `GET /v1/fills`
pub(super) async fn fills(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let mut query = call.query()?;
    let (account, min_seq) = (query.account()?, query.min_seq()?);
    let limit = query.count("limit", 100, gate.config.page_max)?;
    let before = match query.text("before") {
        None => None,
        Some(text) => Some(read_cursor(&text).ok_or_else(|| {
            ApiError::invalid("before", "The parameter before is what the last page gave as next.")
        })?),
    };
    let symbol = query.text("instrument");
    query.finish()?;
    let account = call.caller.account(account, Scope::Read)?;
    let instrument = match symbol {
        Some(symbol) => Some(gate.listing(&call.cx(), &symbol).await?.id),
        None => None,
    };
    let question = ListFills { account, instrument, before, limit };
    let AsOf { at, names, answer: page } = gate.ask(&call.cx(), question, min_seq).await?;
    let mut out = open_with_seq(at, 128 + 320 * page.rows.len());
    out.key("fills").open_array();
    for fill in &page.rows {
        if let Some(on) = names.instrument(fill.instrument) {
            write_fill(&mut out, fill, on);
        }
    }
    out.close_array();
    out.key("next");
    match page.next_after() {
        Some(last) => out.text(&format!("{}:{}", last.trade, role_name(last.role))),
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
    let question = GetBalances { account };
    let AsOf { at, names, answer } = gate.ask(&call.cx(), question, min_seq).await?;
    let mut out = open_with_seq(at, 512);
    out.key("account").number(account.0);
    out.key("balances").open_array();
    for balance in &answer {
        if let Some(currency) = names.currency(balance.currency) {
            write_balance(&mut out, balance, currency);
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
    let transfer = Transfer { account, currency: currency.id, amount, reference };
    let answer = gate.send(&call.cx(), command(transfer, level)).await?;
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
