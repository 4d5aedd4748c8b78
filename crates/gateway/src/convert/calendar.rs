//! Conversion of calendars.

use rialto_api::{BegunInfo, CalendarInfo, CircuitBreakerInfo, TransitionInfo};
use rialto_desk::{CalendarPage, NameTable};
use rialto_feed::BreakerView;
use rialto_model::{PlannedTransition, Timestamp};

/// The circuit breaker of a calendar.
pub(crate) fn breaker_info(breaker: &BreakerView, names: &NameTable) -> Option<CircuitBreakerInfo> {
    let BreakerView { rule, is_armed } = breaker;
    Some(CircuitBreakerInfo {
        instrument: names.instrument(rule.instrument)?.symbol,
        range_ppm: rule.range_ppm,
        halt_ms: rule.halt_ms,
        armed: *is_armed,
    })
}

/// A calendar without its transitions.
pub(crate) fn calendar_info(calendar: &CalendarPage, names: &NameTable) -> CalendarInfo {
    CalendarInfo {
        name: calendar.name,
        begun: calendar.begun.map(|begun| BegunInfo { at: begun.at, state: begun.state }),
        next: calendar.next.as_ref().map(transition_info),
        planned_to: calendar.last.map(|last| last.at),
        transition_count: u32::try_from(calendar.planned).unwrap_or(u32::MAX),
        instrument_count: u32::try_from(calendar.instruments.len()).unwrap_or(u32::MAX),
        circuit_breaker: calendar.breaker.and_then(|breaker| breaker_info(&breaker, names)),
    }
}

pub(crate) fn transition_info(transition: &PlannedTransition) -> TransitionInfo {
    let ends = transition.ends_by_itself();
    TransitionInfo {
        at: transition.at,
        state: transition.state,
        earliest_end: ends.then_some(transition.earliest_end),
        latest_end: ends.then(|| transition.latest_end()),
        next: ends.then_some(transition.next),
        no_cancel_from: Some(transition.no_cancel_from).filter(|it| *it != Timestamp::ZERO),
        ends_session: transition.ends_session,
        ends_day: transition.ends_day,
    }
}
