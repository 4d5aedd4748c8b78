//! Requests of operators: members, accounts, currencies, instruments, deposits.

use super::orders::cancelling;
use super::{Handled, respond};
use crate::call::Call;
use crate::convert::{auction_rules_over, contract_terms_over, instrument_spec, rules_over};
use crate::gate::Gate;
use crate::{ApiError, decimal, now_us};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use rialto_api::{
    AccountRequest, AuctionRulesRequest, ContractTermsRequest, CreatedAnswer, CurrencyRequest,
    InstrumentChangedAnswer, InstrumentRequest, MemberRequest, Nothing, OperatorQuery,
    PhaseRequest, RulesRequest, StateRequest, TransferRequest,
};
use rialto_desk::{
    Answer, CreateAccount, CreateCurrency, CreateInstrument, CreateMember, Deposit, Freshness,
    GetAuction, GetInstrument, Listing, PayOut, Scope, SetAuctionRules, SetContractTerms,
    SetInstrumentState, SetRules,
};
use rialto_model::{
    Instrument, InstrumentError, InstrumentId, InstrumentState, Outcome, RejectReason, Timestamp,
    TradingRules,
};

/// Reads an operator's command, with the reason for the audit trail.
pub(super) async fn operator(gate: &Gate, request: Request) -> Result<Call, ApiError> {
    let call = Call::read(gate, request).await?;
    let OperatorQuery { reason } = call.query()?;
    let reason = reason.map(|reason| reason.into_owned());
    call.caller.require(Scope::Admin)?;
    Ok(call.because(reason))
}

/// Reads an operator's request that is no command of the venue, and is not in the audit trail.
pub(super) async fn administrator(gate: &Gate, request: Request) -> Result<Call, ApiError> {
    let call = Call::read(gate, request).await?;
    let Nothing {} = call.query()?;
    call.caller.require(Scope::Admin)?;
    Ok(call)
}

/// The answer to a command that created an object; `name` returns the field of its number.
fn created(answer: &Answer, name: impl Fn(&mut CreatedAnswer) -> &mut Option<u32>) -> Response {
    let mut response = CreatedAnswer { seq: answer.seq, time: answer.time, ..Default::default() };
    if let Outcome::Created { number } = answer.outcome {
        *name(&mut response) = Some(number);
    }
    respond(StatusCode::CREATED, &response, 96)
}

/// `POST /v1/admin/members`
pub(super) async fn member(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: MemberRequest<'_> = call.json()?;
    let name = decimal::short("name", &body.name)?;
    let level = call.level(gate, None)?;
    let request = CreateMember { member: body.member, name, level };
    let answer = gate.send(&call.cx(), request).await;
    let answer = answer.map_err(|error| error.names(RejectReason::AlreadyExists, "member"))?;
    Ok(created(&answer, |answer| &mut answer.member))
}

/// `POST /v1/admin/accounts`
pub(super) async fn account(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: AccountRequest<'_> = call.json()?;
    let name = decimal::short("name", &body.name)?;
    let level = call.level(gate, None)?;
    let AccountRequest { account, member, .. } = body;
    let request = CreateAccount { account, member, name, level };
    let answer = gate.send(&call.cx(), request).await;
    let answer = answer.map_err(|error| error.names(RejectReason::AlreadyExists, "account"))?;
    Ok(created(&answer, |answer| &mut answer.account))
}

/// `POST /v1/admin/currencies`
pub(super) async fn currency(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: CurrencyRequest<'_> = call.json()?;
    let code = decimal::short("code", &body.code)?;
    let level = call.level(gate, None)?;
    let request = CreateCurrency { code, scale: body.scale, level };
    let answer = gate.send(&call.cx(), request).await;
    let answer = answer.map_err(|error| {
        error.names(RejectReason::AlreadyExists, "code").names(RejectReason::NameInvalid, "code")
    })?;
    Ok(created(&answer, |answer| &mut answer.currency))
}

/// The same error, with the rule that an instrument breaks.
fn invalid_rules(error: ApiError, found: impl FnOnce() -> Option<InstrumentError>) -> ApiError {
    if error.code != RejectReason::InvalidRules.code() {
        return error;
    }
    let Some(broken) = found() else { return error };
    let field = match broken {
        InstrumentError::NoSymbol => "symbol",
        InstrumentError::SameCurrency => "quote",
        InstrumentError::BaseScale => "quantity_scale",
        InstrumentError::QuoteScale => "price_scale",
        InstrumentError::NotPositive { field }
        | InstrumentError::Negative { field }
        | InstrumentError::Range { field } => field,
        InstrumentError::QuantityMax => "quantity_max",
        InstrumentError::TakerFee => "taker_fee_ppm",
        InstrumentError::MakerFee => "maker_fee_ppm",
        InstrumentError::DayEnd => "day_end_s",
        InstrumentError::AuctionFee => "fee_ppm",
        InstrumentError::ExtendedRange => "extended_range_ppm",
        InstrumentError::CallLength => "call_ms",
        InstrumentError::RandomEnd => "random_end_ms",
        InstrumentError::LimitState => "limit_state_ms",
        InstrumentError::HaltLength => "halt_ms",
        InstrumentError::NotionalMax => "notional_max",
        InstrumentError::LotFees => "lot_fees",
    };
    let message = format!("The rules are not possible: {broken}.");
    ApiError { message: message.into(), ..error.of(field) }
}

/// `POST /v1/admin/instruments`
pub(super) async fn instrument(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: InstrumentRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let base = gate.currency(&call.cx(), &body.base, "base").await?;
    let quote = gate.currency(&call.cx(), &body.quote, "quote").await?;
    let spec = instrument_spec(&body, base, quote)?;
    let request = CreateInstrument { spec, level };
    let answer = gate.send(&call.cx(), request).await;
    let found = || Instrument::new(InstrumentId::default(), spec, &base, &quote).err();
    let answer = answer.map_err(|error| {
        let error = error.names(RejectReason::AlreadyExists, "symbol");
        invalid_rules(error.names(RejectReason::NameInvalid, "symbol"), found)
    })?;
    Ok(created(&answer, |answer| &mut answer.instrument))
}

/// `PATCH /v1/admin/instruments/{symbol}`
pub(super) async fn rules(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: RulesRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let on = gate.listing(&call.cx(), &call.name_after("/v1/admin/instruments/")?).await?;
    // The engine needs all rules at once; omitted ones keep their last released value.
    let question = GetInstrument { instrument: on.id };
    let before = gate.read(&call.cx(), question, Freshness::Released).await?.answer;
    let rules = rules_over(&body, before.instrument.spec.rules, &on)?;
    let request = SetRules { instrument: on.id, rules, level };
    let answer = gate.send(&call.cx(), request).await;
    let broken = || rules.check().err().or_else(|| before.terms.check(&rules).err());
    let answer = answer.map_err(|error| {
        let field = fixed_field(&before.instrument.spec.rules, &rules);
        let error = invalid_rules(error.names(RejectReason::HasOpenOrders, field), broken);
        // A rule that stays as it was is broken by the one that it is compared with.
        match error.field.as_deref() {
            Some("maker_fee_ppm") if body.maker_fee_ppm.is_none() => error.of("taker_fee_ppm"),
            Some("quantity_max") if body.quantity_max.is_none() => error.of("lot"),
            _ => error,
        }
    })?;
    Ok(rules_changed(&on, &answer))
}

/// The rule that cannot change while orders are open.
fn fixed_field(old: &TradingRules, new: &TradingRules) -> &'static str {
    let keeps = |old: i64, new: i64| old % new.max(1) == 0;
    if !keeps(old.tick.0, new.tick.0) {
        "tick"
    } else if keeps(old.lot.0, new.lot.0) && old.risk != new.risk {
        "risk"
    } else if keeps(old.lot.0, new.lot.0) && old.tick != new.tick {
        // Trailing stops wait.
        "tick"
    } else {
        "lot"
    }
}

fn rules_changed(on: &Listing, answer: &Answer) -> Response {
    let response = InstrumentChangedAnswer {
        instrument: on.symbol,
        state: None,
        cancelled: None,
        pending: None,
        seq: answer.seq,
        time: answer.time,
    };
    respond(StatusCode::OK, &response, 96)
}

/// `POST /v1/admin/resume`
pub(super) async fn resume(gate: &Gate, request: Request) -> Handled {
    set_state(gate, request, InstrumentState::Open).await
}

/// `POST /v1/admin/close`
pub(super) async fn close(gate: &Gate, request: Request) -> Handled {
    set_state(gate, request, InstrumentState::Withdrawn).await
}

async fn set_state(gate: &Gate, request: Request, state: InstrumentState) -> Handled {
    let call = operator(gate, request).await?;
    let body: StateRequest<'_> = call.json()?;
    enter_phase(gate, &call, &body.instrument, state).await
}

/// `POST /v1/admin/state`
pub(super) async fn state(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: PhaseRequest<'_> = call.json()?;
    enter_phase(gate, &call, &body.instrument, body.state).await
}

/// `POST /v1/admin/auction-rules`
pub(super) async fn auction_rules(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: AuctionRulesRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let on = gate.listing(&call.cx(), &body.instrument).await?;
    // The engine needs all rules at once; omitted ones keep their last released value.
    let question = GetAuction { instrument: on.id };
    let before = gate.read(&call.cx(), question, Freshness::Released).await?.answer.rules;
    let rules = auction_rules_over(&body, before);
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).expect("a system without random numbers cannot keep secrets");
    let seed = u64::from_le_bytes(seed);
    let request = SetAuctionRules { instrument: on.id, rules, seed, level };
    let answer = gate.send(&call.cx(), request).await;
    let answer = answer.map_err(|error| invalid_rules(error, || rules.check().err()))?;
    Ok(rules_changed(&on, &answer))
}

/// `POST /v1/admin/contract-terms`
pub(super) async fn contract_terms(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: ContractTermsRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let on = gate.listing(&call.cx(), &body.instrument).await?;
    // The engine needs all terms at once; omitted ones keep their last released value.
    let question = GetInstrument { instrument: on.id };
    let before = gate.read(&call.cx(), question, Freshness::Released).await?.answer;
    let terms = contract_terms_over(&body, before.terms, &on)?;
    let request = SetContractTerms { instrument: on.id, terms, level };
    let answer = gate.send(&call.cx(), request).await;
    let rules = &before.instrument.spec.rules;
    let answer = answer.map_err(|error| {
        let error = error.names(RejectReason::HasOpenOrders, "lot_fees");
        invalid_rules(error, || terms.check(rules).err())
    })?;
    Ok(rules_changed(&on, &answer))
}

async fn enter_phase(gate: &Gate, call: &Call, symbol: &str, state: InstrumentState) -> Handled {
    let level = call.level(gate, None)?;
    let on = gate.listing(&call.cx(), symbol).await?;
    let request = SetInstrumentState { instrument: on.id, state, level };
    let answer = gate.send(&call.cx(), request).await;
    let answer = answer.map_err(|error| error.names(RejectReason::HasOpenOrders, "state"))?;
    let (cancelled, pending) = cancelling(&answer);
    let response = InstrumentChangedAnswer {
        instrument: on.symbol,
        state: Some(state),
        cancelled,
        pending,
        seq: answer.seq,
        time: answer.time,
    };
    Ok(respond(StatusCode::OK, &response, 128))
}

/// Refuses times of a deposit that are certainly wrong. Zero means none, and the reference of a
/// deposit in the future would be kept for too long.
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
        Some(time) => deposited_at(*time)?,
        None => Timestamp::ZERO,
    };
    let command = |transfer, level| {
        let deposit = rialto_model::Deposit { transfer, time };
        Deposit { deposit, level }
    };
    super::own::transfer(gate, &call, &body, command).await
}

/// `POST /v1/admin/withdrawals`
pub(super) async fn withdrawal(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: TransferRequest<'_> = call.json()?;
    if body.time.is_some() {
        let message = "Only a deposit has a time.";
        return Err(ApiError::new(StatusCode::BAD_REQUEST, "unknown_field", message).of("time"));
    }
    super::own::transfer(gate, &call, &body, |transfer, level| PayOut { transfer, level }).await
}
