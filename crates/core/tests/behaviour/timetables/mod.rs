//! Timetables: plans, transitions that are made when they are due, and what they mean for orders.

mod no_cancel;
mod plans;
mod transitions;

use crate::venue::*;
use rialto_model::{
    Command, Event, InstrumentId, InstrumentState, Name, Outcome, PlannedTransition, Timestamp,
};

const HOUR: u64 = 3_600 * Timestamp::SECOND;
const MINUTE: u64 = 60 * Timestamp::SECOND;
/// The first instant of a day.
const MIDNIGHT: u64 = 20 * Timestamp::DAY;

fn day() -> Name {
    "day".parse().unwrap()
}

fn at(nanoseconds: u64, state: InstrumentState) -> PlannedTransition {
    PlannedTransition::plain(Timestamp(nanoseconds), state)
}

/// A call of a minute, with up to half a minute more, in which members cannot cancel at the end.
fn call(begins: u64, state: InstrumentState, next: InstrumentState) -> PlannedTransition {
    PlannedTransition {
        earliest_end: Timestamp(begins + MINUTE),
        random_end_ms: 30_000,
        next,
        no_cancel_from: Timestamp(begins + MINUTE / 2),
        ..at(begins, state)
    }
}

/// Pre-open, opening call, trading, closing call and close of a day.
fn trading_day(midnight: u64) -> Vec<PlannedTransition> {
    let close = at(midnight + 18 * HOUR, InstrumentState::Closed);
    vec![
        at(midnight + 7 * HOUR, InstrumentState::PreOpen),
        call(midnight + 8 * HOUR, InstrumentState::Call, InstrumentState::Open),
        at(midnight + 9 * HOUR, InstrumentState::Open),
        call(midnight + 17 * HOUR, InstrumentState::ClosingCall, InstrumentState::Closed),
        PlannedTransition { ends_session: true, ends_day: true, ..close },
    ]
}

fn plan(venue: &mut Venue, transitions: &[PlannedTransition]) {
    for (number, transition) in (0..).zip(transitions) {
        let transition = *transition;
        let planned = Command::PlanTransition { calendar: day(), number, transition };
        assert_eq!(venue.apply(planned), Outcome::Done, "{transition:?}");
    }
}

fn adopt(venue: &mut Venue, count: usize, replace: bool) -> Outcome {
    let count = count as u32;
    venue.apply(Command::AdoptPlan { calendar: day(), count, digest: 7, seed: 9, replace })
}

fn assign(venue: &mut Venue, instrument: InstrumentId) -> Outcome {
    venue.apply(Command::AssignCalendar { instrument, calendar: day() })
}

/// A venue at midnight whose instrument follows a timetable.
fn following(transitions: &[PlannedTransition]) -> Venue {
    let mut venue = following_nothing();
    plan(&mut venue, transitions);
    assert_eq!(adopt(&mut venue, transitions.len(), true), Outcome::Done);
    venue
}

/// The same with a timetable whose transitions have all been taken back.
fn following_nothing() -> Venue {
    let mut venue = Venue::new();
    venue.time = MIDNIGHT;
    plan(&mut venue, &[at(MIDNIGHT + HOUR, InstrumentState::Closed)]);
    assert_eq!(adopt(&mut venue, 1, true), Outcome::Done);
    assert_eq!(adopt(&mut venue, 0, true), Outcome::Done);
    assert_eq!(venue.core.next_due(), Timestamp::MAX);
    assert_eq!(assign(&mut venue, SPOT), Outcome::Done);
    venue
}

fn state(venue: &Venue) -> InstrumentState {
    state_of(venue, SPOT)
}

fn state_of(venue: &Venue, instrument: InstrumentId) -> InstrumentState {
    venue.core.instrument(instrument).unwrap().instrument.state
}

/// Lets time pass; what is due is done at its own time. Returns all events.
fn pass_to(venue: &mut Venue, time: u64) -> Vec<Event> {
    let mut events = Vec::new();
    while venue.core.next_due().0 <= time {
        venue.time = venue.time.max(venue.core.next_due().0);
        events.extend_from_slice(venue.tick());
    }
    venue.time = time;
    events
}

/// Does what is due, and the background work, without letting time pass.
fn catch_up(venue: &mut Venue) -> Vec<Event> {
    let mut events = Vec::new();
    while venue.core.next_due().0 <= venue.time || venue.core.has_background_work() {
        events.extend_from_slice(venue.tick());
    }
    events
}

fn begun(events: &[Event]) -> Vec<Timestamp> {
    let times = events.iter().filter_map(|event| match event {
        Event::TransitionBegun { at, .. } => Some(*at),
        _ => None,
    });
    times.collect()
}

fn states(events: &[Event]) -> Vec<InstrumentState> {
    let states = events.iter().filter_map(|event| match event {
        Event::InstrumentStateSet { instrument: SPOT, state } => Some(*state),
        _ => None,
    });
    states.collect()
}
