//! Entering, changing and cancelling orders.

use super::{Handled, close_with_seq, respond};
use crate::call::Call;
use crate::dto::{AmendRequest, OrderRequest, Placed, order_of, order_ref, write_order_answer};
use crate::gate::Gate;
use crate::json::JsonOut;
use crate::{ApiError, decimal};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_bus::Context;
use rialto_desk::{
    AmendOrder, Answer, AsOf, CancelOrder, CancelOrders, IdentifyOrder, Listing, PlaceOrder, Scope,
    SetDeadMan,
};
use rialto_model::{AccountId, Amend, MassCancel, NewOrder, OrderRef, Outcome, RejectReason, Seq};
use serde::Deserialize;

/// Room for an answer about one order.
const ANSWER_BYTES: usize = 384;

/// `POST /v1/orders`
pub(super) async fn place(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    call.query()?.finish()?;
    let body: OrderRequest<'_> = call.json()?;
    let account = call.caller.account(body.account, Scope::Trade)?;
    let level = call.level(gate, body.durability.as_deref())?;
    let cx = call.cx();
    let listing = gate.listing(&cx, &body.instrument).await?;
    let order = body.order(account, &listing)?;
    let answer = gate.send_order(&call, PlaceOrder { order, level }).await?;
    let mut out = JsonOut::with_capacity(ANSWER_BYTES);
    write_order_answer(&mut out, &answer, Some(&placed(&order, listing)));
    Ok(respond(placed_status(&answer), out))
}

/// What an answer says about an order that was entered just now.
pub(super) fn placed(order: &NewOrder, listing: Listing) -> Placed {
    let NewOrder { account, side, client_order_id, .. } = *order;
    Placed { account, side, client_order_id, listing }
}

/// 201 for an order that was entered, 200 for one that had been entered before.
pub(super) fn placed_status(answer: &Answer) -> StatusCode {
    match answer.outcome {
        Outcome::Order { repeated: true, .. } => StatusCode::OK,
        _ => StatusCode::CREATED,
    }
}

/// `DELETE /v1/orders/{id}`
pub(super) async fn cancel(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let order = order_ref(&call.name_after("/v1/orders/")?)?;
    let mut query = call.query()?;
    let account = query.account()?;
    query.finish()?;
    let account = call.caller.account(account, Scope::Trade)?;
    let level = call.level(gate, None)?;
    let answer = gate.send_order(&call, CancelOrder { account, order, level }).await?;
    Ok(respond(StatusCode::OK, about_order(gate, &call.cx(), account, &answer).await))
}

/// The answer to a cancel. What the engine does not say of the order, the read models do.
async fn about_order(
    gate: &Gate,
    cx: &Context<'_>,
    account: AccountId,
    answer: &Answer,
) -> JsonOut {
    let mut out = JsonOut::with_capacity(ANSWER_BYTES);
    let placed = placed_before(gate, cx, account, answer).await;
    write_order_answer(&mut out, answer, placed.as_ref());
    out
}

pub(super) async fn placed_before(
    gate: &Gate,
    cx: &Context<'_>,
    account: AccountId,
    answer: &Answer,
) -> Option<Placed> {
    let id = OrderRef::Id(order_of(answer)?);
    identify(gate, cx, account, id, Some(answer.seq)).await.ok()
}

/// An order of an account as the read models know it when they know of `after`, or of all that has
/// been released by now.
async fn identify(
    gate: &Gate,
    cx: &Context<'_>,
    account: AccountId,
    order: OrderRef,
    after: Option<Seq>,
) -> Result<Placed, ApiError> {
    let found = gate.query(cx, IdentifyOrder { account, order, after }).await?;
    let AsOf { names, answer: terms, .. } = found;
    let listing = names.instrument(terms.instrument).copied();
    let listing = listing.ok_or_else(|| ApiError::unknown(RejectReason::UnknownOrder))?;
    Ok(placed(&terms, listing))
}

/// `DELETE /v1/orders`
pub(super) async fn mass_cancel(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let mut query = call.query()?;
    let (account, symbol, side) = (query.account()?, query.text("instrument"), query.side()?);
    query.finish()?;
    let account = call.caller.account(account, Scope::Trade)?;
    let instrument = match symbol {
        Some(symbol) => Some(gate.listing(&call.cx(), &symbol).await?.id),
        None => None,
    };
    let level = call.level(gate, None)?;
    let which = MassCancel { account, instrument, side };
    let answer = gate.send_order(&call, CancelOrders { which, level }).await?;
    let mut out = JsonOut::with_capacity(128);
    out.open_object();
    if let Outcome::Cancelling { cancelled, pending } = answer.outcome {
        out.key("cancelled").number(cancelled);
        out.key("pending").flag(pending);
    }
    Ok(respond(StatusCode::OK, close_with_seq(out, &answer)))
}

/// `PATCH /v1/orders/{id}`
pub(super) async fn amend(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    call.query()?.finish()?;
    let order = order_ref(&call.name_after("/v1/orders/")?)?;
    let body: AmendRequest<'_> = call.json()?;
    if body.id.is_some() {
        return Err(ApiError::invalid("id", "The order is named in the path already."));
    }
    let account = call.caller.account(body.account, Scope::Trade)?;
    let level = call.level(gate, body.durability.as_deref())?;
    let (amend, placed) = amendment(gate, &call.cx(), account, order, &body).await?;
    let answer = gate.send_order(&call, AmendOrder { amend, level }).await?;
    let mut out = JsonOut::with_capacity(ANSWER_BYTES);
    write_order_answer(&mut out, &answer, Some(&placed));
    Ok(respond(StatusCode::OK, out))
}

/// The amendment at the scales of the order's instrument, which the read models know.
pub(super) async fn amendment(
    gate: &Gate,
    cx: &Context<'_>,
    account: AccountId,
    order: OrderRef,
    body: &AmendRequest<'_>,
) -> Result<(Amend, Placed), ApiError> {
    let placed = identify(gate, cx, account, order, None).await?;
    let on = &placed.listing;
    let price = body.price.as_ref().map(|text| decimal::price("price", text, on));
    let quantity = body.quantity.as_ref().map(|text| decimal::quantity("quantity", text, on));
    let (price, quantity) = (price.transpose()?, quantity.transpose()?);
    Ok((Amend { account, order, price, quantity }, placed))
}

/// Body of `PUT /v1/dead-man`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeadManRequest {
    account: Option<AccountId>,
    timeout_ms: u32,
}

/// `PUT /v1/dead-man`
pub(super) async fn dead_man(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    call.query()?.finish()?;
    let body: DeadManRequest = call.json()?;
    let account = call.caller.account(body.account, Scope::Trade)?;
    let level = call.level(gate, None)?;
    let timeout_ns = u64::from(body.timeout_ms) * 1_000_000;
    let request = SetDeadMan { account, timeout_ns, level };
    let answer = gate.send_order(&call, request).await?;
    let mut out = JsonOut::with_capacity(128);
    out.open_object();
    out.key("account").number(account.0);
    out.key("due");
    match timeout_ns {
        0 => out.null(),
        _ => out.quoted(answer.time.saturating_add(timeout_ns).0),
    }
    Ok(respond(StatusCode::OK, close_with_seq(out, &answer)))
}
