//! Conversion of calendars.

use rialto_api::{BegunInfo, CalendarInfo, TransitionInfo};
use rialto_desk::CalendarPage;
use rialto_model::{PlannedTransition, Timestamp};

/// A calendar without its transitions.
pub(crate) fn calendar_info(calendar: &CalendarPage) -> CalendarInfo {
    CalendarInfo {
        name: calendar.name,
        begun: calendar.begun.map(|begun| BegunInfo { at: begun.at, state: begun.state }),
        next: calendar.next.as_ref().map(transition_info),
        planned_to: calendar.last.map(|last| last.at),
        transition_count: u32::try_from(calendar.planned).unwrap_or(u32::MAX),
        instrument_count: u32::try_from(calendar.instruments.len()).unwrap_or(u32::MAX),
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
