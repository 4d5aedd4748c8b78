//! Timetables as bytes.

use super::write::Writer;
use crate::halts::{Halting, TimedHalt};
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
    out.bool(calendar.breaker.is_some());
    if let Some(breaker) = &calendar.breaker {
        out.u16(breaker.market);
        out.u32(breaker.range_ppm);
        out.u32(breaker.halt_ms);
        out.bool(breaker.is_armed);
    }
}

pub(super) fn write_halting(halting: Option<&Halting>, out: &mut Writer) {
    out.bool(halting.is_some());
    if let Some(halting) = halting {
        out.u8(halting.calendar.map_or(0, |calendar| calendar + 1));
        out.u64(halting.since.0);
        write_halt(&halting.halt, out);
        out.u32(halting.position);
    }
}

pub(super) fn write_halt(halt: &TimedHalt, out: &mut Writer) {
    out.u64(halt.until.0);
    out.u8(halt.cause as u8);
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
