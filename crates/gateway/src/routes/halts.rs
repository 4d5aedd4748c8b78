//! Halts: of an instrument, of the instruments of a calendar, or of the venue.

use super::calendars::named;
use super::venue::operator;
use super::{Handled, respond};
use crate::ApiError;
use crate::call::Call;
use crate::gate::Gate;
use axum::extract::Request;
use axum::http::StatusCode;
use rialto_api::{HaltAnswer, HaltRequest};
use rialto_desk::{HaltTrading, SetInstrumentState};
use rialto_model::{HaltScope, InstrumentState, RejectReason, Symbol, Timestamp};

/// `POST /v1/admin/halt`
pub(super) async fn halt(gate: &Gate, request: Request) -> Handled {
    let call = operator(gate, request).await?;
    let body: HaltRequest<'_> = call.json()?;
    let level = call.level(gate, None)?;
    let (scope, symbol) = scope(gate, &call, &body).await?;
    let state = InstrumentState::Halted;
    let sent = match (body.duration_ms, scope) {
        (Some(duration_ms), scope) => {
            gate.send(&call.cx(), HaltTrading { scope, duration_ms, level }).await
        }
        (None, HaltScope::Instrument(instrument)) => {
            gate.send(&call.cx(), SetInstrumentState { instrument, state, level }).await
        }
        (None, _) => {
            let message = "A halt of a calendar or of the venue needs duration_ms.";
            let error = ApiError::new(StatusCode::BAD_REQUEST, "missing_field", message);
            return Err(error.of("duration_ms"));
        }
    };
    let answer =
        sent.map_err(|error| match error.code == RejectReason::StateChangeInvalid.code() {
            true => {
                let message = "An instrument in this state cannot be halted.";
                ApiError { message: message.into(), ..error.of("instrument") }
            }
            false => error,
        })?;
    let until =
        |duration_ms| answer.time.saturating_add(u64::from(duration_ms) * Timestamp::MILLISECOND);
    let response = HaltAnswer {
        instrument: symbol,
        calendar: match scope {
            HaltScope::Calendar(name) => Some(name),
            HaltScope::Venue | HaltScope::Instrument(_) => None,
        },
        venue: scope == HaltScope::Venue,
        state,
        until: body.duration_ms.map(until),
        seq: answer.seq,
        time: answer.time,
    };
    Ok(respond(StatusCode::OK, &response, 160))
}

/// What the request names, and its symbol if it is an instrument.
async fn scope(
    gate: &Gate,
    call: &Call,
    body: &HaltRequest<'_>,
) -> Result<(HaltScope, Option<Symbol>), ApiError> {
    match (body.venue, &body.calendar, &body.instrument) {
        (true, None, None) => Ok((HaltScope::Venue, None)),
        (false, Some(name), None) => Ok((HaltScope::Calendar(named(name)?), None)),
        (false, None, Some(symbol)) => {
            let on = gate.listing(&call.cx(), symbol).await?;
            Ok((HaltScope::Instrument(on.id), Some(on.symbol)))
        }
        (false, None, None) => {
            let message = "What is halted is missing: name an instrument, a calendar or the venue.";
            let error = ApiError::new(StatusCode::BAD_REQUEST, "missing_field", message);
            Err(error.of("instrument"))
        }
        (_, calendar, instrument) => {
            let message = "Name only one of instrument, calendar and venue.";
            let second =
                if calendar.is_some() && instrument.is_none() { "calendar" } else { "instrument" };
            Err(ApiError::invalid(second, message))
        }
    }
}
