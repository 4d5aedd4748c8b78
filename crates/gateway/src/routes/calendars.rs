//! Trading calendars: their timetables, the assignment of instruments, and circuit breakers.

use super::venue::operator;
use super::{Handled, count, respond};
use crate::call::{Call, Visit};
use crate::convert::{calendar_info, transition_info};
use crate::gate::Gate;
use crate::{ApiError, decimal};
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{
    CalendarAnswer, CalendarAssignRequest, CalendarAssignedAnswer, CalendarQuery, CalendarsAnswer,
    CircuitBreakerAnswer, CircuitBreakerInfo, CircuitBreakerRequest, FreshQuery,
    TransitionMoveRequest, TransitionMovedAnswer,
};
use rialto_desk::{
    AsOf, AssignCalendar, Freshness, GetCalendar, ListCalendars, MoveTransition, SetCircuitBreaker,
};
use rialto_model::{AuctionRules, CircuitBreakerRule, InstrumentId, Name, RejectReason, Timestamp};

const INSTRUMENTS: &str = "/v1/admin/instruments/";
const CALENDARS: &str = "/v1/admin/calendars/";
const BREAKER: &str = "/circuit-breaker";

/// `GET /v1/calendars`
pub(super) async fn list(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let query: FreshQuery = visit.query()?;
    let AsOf { at, names, answer } = gate.read(&visit.cx(), ListCalendars, query.min_seq).await?;
    let calendars = answer.iter().map(|calendar| calendar_info(calendar, &names)).collect();
    let response = CalendarsAnswer { seq: at.seq, time: at.time, calendars };
    Ok(respond(StatusCode::OK, &response, 64 + 384 * answer.len()))
}

/// `GET /v1/calendars/{name}`
pub(super) async fn show(gate: &Gate, request: Request) -> Handled {
    let visit = Visit::admit(gate, request)?;
    let query: CalendarQuery = visit.query()?;
    let limit = count("limit", query.limit, 100, gate.config.page_max)?;
    let name = named(&visit.name_after("/v1/calendars/")?)?;
    let question = GetCalendar { name, after: query.after.unwrap_or_default(), limit };
    let AsOf { at, names, answer } = gate.read(&visit.cx(), question, query.min_seq).await?;
    let instruments = answer.instruments.iter().filter_map(|it| names.instrument(*it));
    let response = CalendarAnswer {
        seq: at.seq,
        time: at.time,
        calendar: calendar_info(&answer, &names),
        instruments: instruments.map(|on| on.symbol).collect(),
        transitions: answer.transitions.iter().map(transition_info).collect(),
    };
    Ok(respond(StatusCode::OK, &response, 512 + 192 * answer.transitions.len()))
}

/// `PUT /v1/admin/instruments/{symbol}/calendar`
pub(super) async fn assign(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: CalendarAssignRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let on = gate.listing(&call.cx(), &between(&call, INSTRUMENTS, "/calendar")?).await?;
    let calendar = match &body.calendar {
        None => None,
        Some(name) if name.is_empty() => {
            let message = "The name of a calendar is not empty; null is none.";
            return Err(ApiError::invalid("calendar", message));
        }
        Some(name) => Some(decimal::short("calendar", name)?),
    };
    let request =
        AssignCalendar { instrument: on.id, calendar: calendar.unwrap_or_default(), level };
    let answer = match gate.send(&call.cx(), request).await {
        Err(error) if error.code == RejectReason::CircuitBreakerInvalid.code() => {
            return Err(error.of("calendar"));
        }
        answer => answer?,
    };
    let response = CalendarAssignedAnswer {
        instrument: on.symbol,
        calendar,
        seq: answer.seq,
        time: answer.time,
    };
    Ok(respond(StatusCode::OK, &response, 128))
}

/// `POST /v1/admin/calendars/{name}/move`
pub(super) async fn move_transition(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let TransitionMoveRequest { at, to } = call.json()?;
    let level = call.level(gate, None)?;
    let calendar = named(&between(&call, CALENDARS, "/move")?)?;
    if is_last(gate, &call, calendar, at).await? {
        let message = "It is the last planned transition: what follows it is planned from its time. It can \
                       move when later ones are planned.";
        let refused = ApiError::unknown(RejectReason::TransitionInvalid);
        return Err(ApiError { message: message.into(), ..refused }.of("at"));
    }
    let request = MoveTransition { calendar, at, to, level };
    let answer = match gate.send(&call.cx(), request).await {
        Ok(answer) => answer,
        Err(error) if error.code == RejectReason::TransitionInvalid.code() => {
            return Err(with_neighbours(gate, &call, calendar, at, error).await);
        }
        Err(error) => return Err(error),
    };
    let response = TransitionMovedAnswer { calendar, at, to, seq: answer.seq, time: answer.time };
    Ok(respond(StatusCode::OK, &response, 160))
}

/// Whether no transition of a calendar is planned after this one.
async fn is_last(gate: &Gate, call: &Call, name: Name, at: Timestamp) -> Result<bool, ApiError> {
    let question = GetCalendar { name, after: Timestamp::ZERO, limit: usize::MAX };
    let planned = gate.read(&call.cx(), question, Freshness::Now).await?.answer.transitions;
    Ok(planned.last().is_some_and(|last| last.at == at))
}

/// The same error with the times between which a transition can move.
async fn with_neighbours(
    gate: &Gate,
    call: &Call,
    name: Name,
    at: Timestamp,
    error: ApiError,
) -> ApiError {
    let question = GetCalendar { name, after: Timestamp::ZERO, limit: usize::MAX };
    let Ok(AsOf { answer, .. }) = gate.read(&call.cx(), question, Freshness::Now).await else {
        return error;
    };
    let planned = &answer.transitions;
    let Some(found) = planned.iter().position(|it| it.at == at) else { return error };
    let before = match found.checked_sub(1) {
        Some(before) => Some(planned[before].at),
        None => answer.begun.map(|begun| begun.at),
    };
    let bounds = [
        before.map(|time| format!("after {time}")),
        planned.get(found + 1).map(|next| format!("before {}", next.at)),
        Some("not in the past".to_owned()),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    let message = format!("The new time must be {}.", bounds.join(" and "));
    ApiError { message: message.into(), ..error }
}

/// `PUT /v1/admin/calendars/{name}/circuit-breaker`
pub(super) async fn set_breaker(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: CircuitBreakerRequest<'_> = call.json()?;
    let CircuitBreakerRequest { range_ppm, halt_ms, .. } = body;
    let bounds =
        [("range_ppm", range_ppm, 999_999), ("halt_ms", halt_ms, AuctionRules::CALL_MS_MAX)];
    for (field, value, most) in bounds {
        if !(1..=most).contains(&value) {
            let message = format!("The field {field} is {value}; it must be 1 to {most}.");
            return Err(ApiError::invalid(field, message));
        }
    }
    let on = gate.listing(&call.cx(), &body.instrument).await?;
    let (instrument, armed) = (on.symbol, true);
    let info = CircuitBreakerInfo { instrument, range_ppm, halt_ms, armed };
    change_breaker(gate, &call, on.id, Some(info)).await
}

/// `DELETE /v1/admin/calendars/{name}/circuit-breaker`
pub(super) async fn remove_breaker(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let name = named(&between(&call, CALENDARS, BREAKER)?)?;
    let question = GetCalendar { name, after: Timestamp::ZERO, limit: 0 };
    let known = gate.read(&call.cx(), question, Freshness::Released).await?.answer.breaker;
    let Some(known) = known else {
        let message = "The calendar has no circuit breaker.";
        return Err(ApiError::new(StatusCode::NOT_FOUND, "no_circuit_breaker", message));
    };
    change_breaker(gate, &call, known.rule.instrument, None).await
}

async fn change_breaker(
    gate: &Gate,
    call: &Call,
    instrument: InstrumentId,
    info: Option<CircuitBreakerInfo>,
) -> Handled {
    let level = call.level(gate, None)?;
    let calendar = named(&between(call, CALENDARS, BREAKER)?)?;
    let (range_ppm, halt_ms) = info.map_or((0, 0), |info| (info.range_ppm, info.halt_ms));
    let rule = CircuitBreakerRule { calendar, instrument, range_ppm, halt_ms };
    let answer = gate.send(&call.cx(), SetCircuitBreaker { rule, level }).await?;
    let response = CircuitBreakerAnswer {
        calendar,
        circuit_breaker: info,
        seq: answer.seq,
        time: answer.time,
    };
    Ok(respond(StatusCode::OK, &response, 192))
}

/// The part of the path between two others.
fn between(call: &Call, before: &str, behind: &str) -> Result<String, ApiError> {
    let name = call.name_after(before)?;
    Ok(name.strip_suffix(behind).unwrap_or(&name).to_owned())
}

pub(super) fn named(text: &str) -> Result<Name, ApiError> {
    text.parse().map_err(|_| ApiError::unknown(RejectReason::UnknownCalendar))
}
