//! What operators do: members, accounts, currencies, instruments, deposits.

use super::{Handled, close_with_seq, respond};
use crate::call::Call;
use crate::dto::{
    AccountRequest, CurrencyRequest, InstrumentRequest, MemberRequest, RulesRequest, StateRequest,
    TransferRequest,
};
use crate::gate::Gate;
use crate::json::JsonOut;
use crate::{ApiError, decimal, now_us};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rialto_bus::{Command, Serves};
use rialto_desk::{
    Answer, CreateAccount, CreateCurrency, CreateInstrument, CreateMember, Deposit, DeskBus, Fresh,
    GetInstrument, Level, PayOut, Scope, SetInstrumentState, SetRules,
};
use rialto_model::{InstrumentState, Outcome, Timestamp, Transfer};

/// Reads a request that only operators may make.
pub(super) async fn operator(gate: &Gate, request: Request) -> Result<Call, ApiError> {
    let call = Call::read(gate, request).await?;
    call.query()?.finish()?;
    call.caller.require(Scope::Admin)?;
    Ok(call)
}

/// The answer to a command that gave something a number.
fn created(key: &'static str, answer: &Answer) -> Response {
    let mut out = JsonOut::with_capacity(96);
    out.open_object();
    if let Outcome::Created { number } = answer.outcome {
        out.key(key).number(number);
    }
    respond(StatusCode::CREATED, close_with_seq(out, answer))
}

/// `POST /v1/admin/members`
pub(super) async fn member(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: MemberRequest<'_> = call.json()?;
    let name = decimal::short("name", &body.name)?;
    let level = call.level(gate, None)?;
    let request = CreateMember { member: body.member, name, level };
    let answer = gate.send(&call.cx(), request).await?;
    Ok(created("member", &answer))
}

/// `POST /v1/admin/accounts`
pub(super) async fn account(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: AccountRequest<'_> = call.json()?;
    let name = decimal::short("name", &body.name)?;
    let level = call.level(gate, None)?;
    let AccountRequest { account, member, .. } = body;
    let request = CreateAccount { account, member, name, level };
    let answer = gate.send(&call.cx(), request).await?;
    Ok(created("account", &answer))
}

/// `POST /v1/admin/currencies`
pub(super) async fn currency(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: CurrencyRequest<'_> = call.json()?;
    let code = decimal::short("code", &body.code)?;
    let level = call.level(gate, None)?;
    let request = CreateCurrency { code, scale: body.scale, level };
    Ok(created("currency", &gate.send(&call.cx(), request).await?))
}

/// `POST /v1/admin/instruments`
pub(super) async fn instrument(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: InstrumentRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let base = gate.currency(&call.cx(), &body.base, "base").await?;
    let quote = gate.currency(&call.cx(), &body.quote, "quote").await?;
    let spec = body.spec(base, quote)?;
    let request = CreateInstrument { spec, level };
    Ok(created("instrument", &gate.send(&call.cx(), request).await?))
}

/// `PATCH /v1/admin/instruments/{symbol}`
pub(super) async fn rules(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: RulesRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let on = gate.listing(&call.cx(), &call.name_after("/v1/admin/instruments/")?).await?;
    // The engine takes all rules at once; what is left out stays as it was released last.
    let question = GetInstrument { instrument: on.id };
    let before = gate.ask(&call.cx(), question, Fresh::Released).await?.answer;
    let rules = body.over(before.spec.rules, &on)?;
    let request = SetRules { instrument: on.id, rules, level };
    let answer = gate.send(&call.cx(), request).await?;
    let mut out = JsonOut::with_capacity(96);
    out.open_object();
    out.key("instrument").text(on.symbol.as_str());
    Ok(respond(StatusCode::OK, close_with_seq(out, &answer)))
}

/// `POST /v1/admin/halt`
pub(super) async fn halt(gate: &Gate, request: Request) -> Handled {
    set_state(gate, request, InstrumentState::Halted).await
}

/// `POST /v1/admin/resume`
pub(super) async fn resume(gate: &Gate, request: Request) -> Handled {
    set_state(gate, request, InstrumentState::Open).await
}

/// `POST /v1/admin/close`
pub(super) async fn close(gate: &Gate, request: Request) -> Handled {
    set_state(gate, request, InstrumentState::Closed).await
}

async fn set_state(gate: &Gate, request: Request, state: InstrumentState) -> Handled {
    let call = operator(gate, request).await?;
    let body: StateRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let on = gate.listing(&call.cx(), &body.instrument).await?;
    let request = SetInstrumentState { instrument: on.id, state, level };
    let answer = gate.send(&call.cx(), request).await?;
    let mut out = JsonOut::with_capacity(128);
    out.open_object();
    out.key("instrument").text(on.symbol.as_str());
    out.key("state").text(match state {
        InstrumentState::Open => "open",
        InstrumentState::Halted => "halted",
        InstrumentState::Closed => "closed",
    });
    if let Outcome::Cancelling { cancelled, pending } = answer.outcome {
        out.key("cancelled").number(cancelled);
        out.key("pending").flag(pending);
    }
    Ok(respond(StatusCode::OK, close_with_seq(out, &answer)))
}

/// Refuses the time of a deposit that nobody can mean. Zero stands for none, and the reference of a
/// deposit from the future would be remembered for longer than any other.
fn deposited_at(time: Timestamp) -> Result<Timestamp, ApiError> {
    let latest = Timestamp(now_us().saturating_mul(1_000).saturating_add(Timestamp::DAY));
    if time != Timestamp::ZERO && time <= latest {
        return Ok(time);
    }
    let message =
        "The time of a deposit is in nanoseconds since 1970, not 0, and at most a day ahead.";
    Err(ApiError::invalid("time", message))
}

/// `POST /v1/admin/deposits`
pub(super) async fn deposit(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: TransferRequest<'_> = call.json()?;
    let time = match &body.time {
        Some(text) => deposited_at(Timestamp(decimal::whole("time", text)?))?,
        None => Timestamp::ZERO,
    };
    let command = |transfer, level| {
        let deposit = rialto_model::Deposit { transfer, time };
        Deposit { deposit, level }
    };
    transfer(gate, &call, &body, command).await
}

/// `POST /v1/admin/withdrawals`
pub(super) async fn withdrawal(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: TransferRequest<'_> = call.json()?;
    if body.time.is_some() {
        let message = "Only a deposit has a time.";
        return Err(ApiError::new(StatusCode::BAD_REQUEST, "unknown_field", message).of("time"));
    }
    transfer(gate, &call, &body, |transfer, level| PayOut { transfer, level }).await
}

async fn transfer<R>(
    gate: &Gate,
    call: &Call,
    body: &TransferRequest<'_>,
    command: impl FnOnce(Transfer, Option<Level>) -> R,
) -> Handled
where
    R: Command<Response = Answer>,
    DeskBus: Serves<R>,
{
    let account = body.account.ok_or_else(|| ApiError::missing("account"))?;
    super::own::transfer(gate, call, body, account, command).await
}
