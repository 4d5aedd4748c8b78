//! Timetables from bytes.

use super::read::Result;
use super::reader::Reader;
use crate::Core;
use crate::limits::{CALENDARS_MAX, TRANSITIONS_MAX};
use crate::timetable::CalendarPlan;
use rialto_model::PlannedTransition;

pub(super) fn calendars(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    let count = from.u32()? as usize;
    from.refuse_unless(count <= CALENDARS_MAX, "there are too many calendars")?;
    for index in 0..count {
        let calendar = calendar(from)?;
        let is_new = core.calendars.iter().all(|other| other.name != calendar.name);
        let fine = is_new && !calendar.name.is_empty();
        from.refuse_unless(fine, "a calendar has no name, or the name of another one")?;
        core.calendars.push(calendar);
        core.replan(index);
    }
    for (at, market) in (0..).zip(&core.markets) {
        let Some(index) = market.calendar else { continue };
        let calendar = core.calendars.get_mut(usize::from(index));
        from.needs(calendar, "an instrument follows no calendar")?.instruments.push(at);
    }
    let goes_on = |calendar: &CalendarPlan| {
        calendar.pending.is_none_or(|at| (at as usize) < calendar.instruments.len())
    };
    let fine = core.calendars.iter().all(goes_on);
    from.refuse_unless(fine, "a transition goes on behind its last instrument")
}

fn calendar(from: &mut Reader<'_>) -> Result<CalendarPlan> {
    let mut calendar = CalendarPlan::new(from.text()?);
    (calendar.digest, calendar.seed) = (from.u64()?, from.u64()?);
    if from.bool()? {
        calendar.begun = Some(transition(from)?);
        if from.bool()? {
            calendar.pending = Some(from.u32()?);
        }
    }
    calendar.ahead = transitions(from)?.into();
    calendar.draft = transitions(from)?;
    calendar.settle_ends();
    from.refuse_unless(calendar.is_sound(), "the transitions of a calendar are not in order")?;
    Ok(calendar)
}

fn transitions(from: &mut Reader<'_>) -> Result<Vec<PlannedTransition>> {
    let count = from.u32()? as usize;
    from.refuse_unless(count <= TRANSITIONS_MAX, "a calendar has too many transitions")?;
    (0..count).map(|_| transition(from)).collect()
}

fn transition(from: &mut Reader<'_>) -> Result<PlannedTransition> {
    let transition = PlannedTransition {
        at: from.time()?,
        state: from.choice()?,
        earliest_end: from.time()?,
        random_end_ms: from.u32()?,
        next: from.choice()?,
        no_cancel_from: from.time()?,
        ends_session: from.bool()?,
        ends_day: from.bool()?,
    };
    from.refuse_unless(transition.check().is_ok(), "a transition is not consistent")?;
    Ok(transition)
}
