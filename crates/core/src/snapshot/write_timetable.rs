//! Timetables as bytes.

use super::write::Writer;
use crate::timetable::CalendarPlan;
use rialto_model::PlannedTransition;

/// The instruments of the calendar are not written: each instrument names its calendar.
pub(super) fn write_calendar(calendar: &CalendarPlan, out: &mut Writer) {
    out.text(&calendar.name);
    out.u64(calendar.digest);
    out.u64(calendar.seed);
    out.bool(calendar.begun.is_some());
    if let Some(begun) = &calendar.begun {
        write_transition(begun, out);
        out.bool(calendar.pending.is_some());
        if let Some(position) = calendar.pending {
            out.u32(position);
        }
    }
    out.count(calendar.ahead.len());
    calendar.ahead.iter().for_each(|transition| write_transition(transition, out));
    out.count(calendar.draft.len());
    calendar.draft.iter().for_each(|transition| write_transition(transition, out));
}

fn write_transition(transition: &PlannedTransition, out: &mut Writer) {
    out.u64(transition.at.0);
    out.u8(transition.state as u8);
    out.u64(transition.earliest_end.0);
    out.u32(transition.random_end_ms);
    out.u8(transition.next as u8);
    out.u64(transition.no_cancel_from.0);
    out.bool(transition.ends_session);
    out.bool(transition.ends_day);
}
