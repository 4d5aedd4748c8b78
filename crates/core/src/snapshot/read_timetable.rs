//! Timetables from bytes.

use super::read::Result;
use super::reader::Reader;
use crate::Core;
use crate::halts::{Breaker, Halting, TimedHalt};
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
    from.refuse_unless(fine, "a transition goes on behind its last instrument")?;
    for index in 0..core.calendars.len() {
        let Some(breaker) = core.calendars[index].breaker else { continue };
        let own = core.calendars[index].instruments.contains(&breaker.market);
        let fine = own && breaker.is_sound();
        from.refuse_unless(fine, "a circuit breaker is not consistent")?;
        if breaker.is_armed {
            core.markets[usize::from(breaker.market)].breaker_ppm = breaker.range_ppm;
        }
    }
    halting(core, from)
}

/// A halt that has not been made for all its instruments.
fn halting(core: &mut Core, from: &mut Reader<'_>) -> Result<()> {
    if !from.bool()? {
        return Ok(());
    }
    let calendar = from.u8()?.checked_sub(1);
    let halting =
        Halting { calendar, since: from.time()?, halt: halt(from)?, position: from.u32()? };
    let instruments = match calendar {
        None => Some(core.markets.len()),
        Some(at) => core.calendars.get(usize::from(at)).map(|found| found.instruments.len()),
    };
    let goes_on = instruments.is_some_and(|count| (halting.position as usize) < count);
    let fine = goes_on && halting.since <= core.time;
    from.refuse_unless(fine, "a halt goes on behind its last instrument")?;
    core.set_halting(Some(halting));
    Ok(())
}

pub(super) fn halt(from: &mut Reader<'_>) -> Result<TimedHalt> {
    Ok(TimedHalt { until: from.time()?, cause: from.choice()? })
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
    if from.bool()? {
        calendar.breaker = Some(Breaker {
            market: from.u16()?,
            range_ppm: from.u32()?,
            halt_ms: from.u32()?,
            is_armed: from.bool()?,
        });
    }
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
