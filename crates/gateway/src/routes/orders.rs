//! Entering, amending and cancelling orders.

use super::{Handled, respond, respond_in};
use crate::ApiError;
use crate::call::Call;
use crate::convert::{
    Amendment, Placed, entered_result, entering, order_answer, order_info, order_ref, order_result,
};
use crate::gate::Gate;
use crate::refusal::{asked_of, of_amendment, with_limits};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{
    AmendRequest, CancelQuery, DeadManAnswer, DeadManRequest, MassCancelAnswer, MassCancelQuery,
    Nothing, OrderAnswer, OrderRequest,
};
use rialto_bus::Context;
use rialto_desk::{
    AmendOrder, AmendTriggerPrice, Answer, AsOf, CancelOrder, CancelOrders, IdentifyOrder, Listing,
    PlaceConditionalOrder, PlaceIcebergOrder, PlaceLinkedOrders, PlaceOrder, PlaceTrailingOrder,
    RequiredState, Scope, SetDeadMan,
};
use rialto_feed::OrderView;
use rialto_model::{AccountId, Command, MassCancel, OrderRef, Outcome, RejectReason};

/// The capacity of an answer about one order.
const ANSWER_BYTES: usize = 640;
/// The longest dead-man timer.
const TIMER_MS_MAX: u64 = 86_400_000;

/// `POST /v1/orders`
pub(super) async fn place(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let body: OrderRequest<'_> = call.json()?;
    let account = call.caller.account(body.account, Scope::Trade)?;
    let level = call.level(gate, body.durability.as_deref())?;
    let cx = call.cx();
    let listing = gate.listing(&cx, &body.instrument).await?;
    let command = entering(&body, account, &listing)?;
    let (sent, order) = match command {
        Command::PlaceConditional(order) => {
            let request = PlaceConditionalOrder { order, level };
            (gate.send_order(&call, request).await, order.terms)
        }
        Command::PlaceTrailing(order) => {
            let request = PlaceTrailingOrder { order, level };
            (gate.send_order(&call, request).await, order.terms)
        }
        Command::PlaceIceberg(order) => {
            let request = PlaceIcebergOrder { order, level };
            (gate.send_order(&call, request).await, order.terms)
        }
        Command::PlaceList(list) => {
            let request = PlaceLinkedOrders { list, level };
            (gate.send_order(&call, request).await, list.terms)
        }
        Command::Place(order) => (gate.send_order(&call, PlaceOrder { order, level }).await, order),
        _ => unreachable!("an order is entered by one of these"),
    };
    let answer = match sent {
        Ok(answer) => answer,
        Err(error) => {
            let asked = asked_of(&order).with_extension(&command);
            return Err(with_limits(gate, &cx, &asked, &listing, error).await);
        }
    };
    let placed = Some(Placed { terms: order, listing, is_new: true });
    let response = about_order(gate, &cx, account, placed, &answer).await;
    Ok(respond_in(call.into_empty_headers(), placed_status(&answer), &response, ANSWER_BYTES))
}

/// 201 for a new order, 200 for a repeated one.
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
    let query: CancelQuery = call.query()?;
    let account = call.caller.account(query.account, Scope::Trade)?;
    let level = call.level(gate, None)?;
    let answer = gate.send_order(&call, CancelOrder { account, order, level }).await?;
    let response = about_order(gate, &call.cx(), account, None, &answer).await;
    Ok(respond_in(call.into_empty_headers(), StatusCode::OK, &response, ANSWER_BYTES))
}

/// The answer about an order. The engine's answer is complete for a new order; earlier fills of an
/// older order are read from the feed.
pub(super) async fn about_order(
    gate: &Gate,
    cx: &Context<'_>,
    account: AccountId,
    placed: Option<Placed>,
    answer: &Answer,
) -> OrderAnswer {
    let Outcome::Order { order, filled, repeated, .. } = answer.outcome else {
        return order_answer(answer, None);
    };
    if let Some(placed) = &placed
        && placed.is_new
        && !repeated
    {
        let result = entered_result(filled, &answer.execution, &placed.listing);
        return OrderAnswer { result, ..order_answer(answer, Some(placed)) };
    }
    let required = RequiredState::Through(answer.seq);
    let Ok((view, listing)) = identify(gate, cx, account, OrderRef::Id(order), required).await
    else {
        return order_answer(answer, placed.as_ref());
    };
    let placed = placed.unwrap_or(Placed { terms: view.terms, listing, is_new: false });
    let mut response = order_answer(answer, Some(&placed));
    match repeated {
        // The result at the first answer is not kept.
        true => response.now = Some(order_info(&view, &listing)),
        false => response.result = order_result(&view, &listing),
    }
    response
}

/// An order of an account in the feed.
async fn identify(
    gate: &Gate,
    cx: &Context<'_>,
    account: AccountId,
    order: OrderRef,
    required: RequiredState,
) -> Result<(OrderView, Listing), ApiError> {
    let found = gate.query(cx, IdentifyOrder { account, order, required }).await?;
    let AsOf { names, answer: view, .. } = found;
    let listing = names.instrument(view.terms.instrument).copied();
    let listing = listing.ok_or_else(|| ApiError::unknown(RejectReason::UnknownOrder))?;
    Ok((view, listing))
}

/// `DELETE /v1/orders`
pub(super) async fn mass_cancel(gate: &Gate, request: Request) -> Handled {
    let call = Call::read_bare(gate, request).await?;
    let query: MassCancelQuery<'_> = call.query()?;
    let account = call.caller.account(query.account, Scope::Trade)?;
    let instrument = match &query.instrument {
        Some(symbol) => Some(gate.listing(&call.cx(), symbol).await?.id),
        None => None,
    };
    let level = call.level(gate, None)?;
    let which = MassCancel { account, instrument, side: query.side };
    let answer = gate.send_order(&call, CancelOrders { which, level }).await?;
    let (cancelled, pending) = cancelling(&answer);
    let response = MassCancelAnswer { cancelled, pending, seq: answer.seq, time: answer.time };
    Ok(respond(StatusCode::OK, &response, 128))
}

/// The number of cancelled orders, and whether the cancel continues.
pub(super) fn cancelling(answer: &Answer) -> (Option<u32>, Option<bool>) {
    match answer.outcome {
        Outcome::Cancelling { cancelled, pending } => (Some(cancelled), Some(pending)),
        _ => (None, None),
    }
}

/// `PATCH /v1/orders/{id}`
pub(super) async fn amend(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let order = order_ref(&call.name_after("/v1/orders/")?)?;
    let body: AmendRequest<'_> = call.json()?;
    if body.id.is_some() {
        return Err(ApiError::invalid("id", "The order's id is in the path already."));
    }
    let account = call.caller.account(body.account, Scope::Trade)?;
    let level = call.level(gate, body.durability.as_deref())?;
    let amendment = amendment(gate, &call.cx(), account, order, &body).await?;
    let sent = match amendment.command() {
        Command::AmendTrigger(change) => {
            gate.send_order(&call, AmendTriggerPrice { change, level }).await
        }
        _ => gate.send_order(&call, AmendOrder { amend: amendment.amend, level }).await,
    };
    let answer = match sent {
        Ok(answer) => answer,
        Err(error) => return Err(of_amendment(gate, &call.cx(), &amendment, error).await),
    };
    let placed = Some(amendment.placed());
    let response = about_order(gate, &call.cx(), account, placed, &answer).await;
    Ok(respond_in(call.into_empty_headers(), StatusCode::OK, &response, ANSWER_BYTES))
}

/// The amendment, and the order before it.
pub(super) async fn amendment(
    gate: &Gate,
    cx: &Context<'_>,
    account: AccountId,
    order: OrderRef,
    body: &AmendRequest<'_>,
) -> Result<Amendment, ApiError> {
    let (before, listing) = identify(gate, cx, account, order, RequiredState::Order).await?;
    Amendment::of(body, order, before, listing)
}

/// `PUT /v1/dead-man`
pub(super) async fn dead_man(gate: &Gate, request: Request) -> Handled {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    let body: DeadManRequest = call.json()?;
    let account = call.caller.account(body.account, Scope::Trade)?;
    let level = call.level(gate, None)?;
    let timeout_ns = u64::from(body.timeout_ms) * 1_000_000;
    let request = SetDeadMan { account, timeout_ns, level };
    let answer = gate.send_order(&call, request).await;
    let answer = answer.map_err(|error| timer_error(error, body.timeout_ms))?;
    let due = (timeout_ns != 0).then(|| answer.time.saturating_add(timeout_ns));
    let response = DeadManAnswer { account, due, seq: answer.seq, time: answer.time };
    Ok(respond(StatusCode::OK, &response, 128))
}

/// The same error, with the value and the limit of a timer that is too long.
fn timer_error(error: ApiError, timeout_ms: u32) -> ApiError {
    if error.code != RejectReason::TimerInvalid.code() {
        return error;
    }
    let message =
        format!("The field timeout_ms is {timeout_ms}; it is at most one day, {TIMER_MS_MAX}.");
    ApiError { message: message.into(), ..error }
}
