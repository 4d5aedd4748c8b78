//! Calendars: what is planned, moved and begun, folded from events and from a baseline.

use crate::stage::{MARKET, Stage};
use rialto_feed::{BegunTransition, FoldError, TimetableView};
use rialto_model::{Event, InstrumentId, InstrumentState, Name, PlannedTransition, Timestamp};

fn name() -> Name {
    "equities".parse().unwrap()
}

fn transition(at: u64) -> PlannedTransition {
    PlannedTransition::plain(Timestamp(at), InstrumentState::Open)
}

fn planned(number: u32, at: u64) -> Event {
    Event::TransitionPlanned { calendar: name(), number, transition: transition(at) }
}

fn adopted(count: u32, replace: bool) -> Event {
    Event::PlanAdopted { calendar: name(), count, digest: 7, replace }
}

fn moved(at: u64, to: u64) -> Event {
    Event::TransitionMoved { calendar: name(), at: Timestamp(at), to: Timestamp(to) }
}

fn begun(at: u64) -> Event {
    let state = InstrumentState::Open;
    Event::TransitionBegun { calendar: name(), at: Timestamp(at), state }
}

fn steps(stage: &mut Stage, events: &[Event]) {
    for event in events {
        stage.step(std::slice::from_ref(event));
    }
}

fn calendar(stage: &Stage) -> &TimetableView {
    stage.feed.calendar(name()).unwrap()
}

fn times(stage: &Stage) -> Vec<u64> {
    calendar(stage).planned.iter().map(|it| it.at.0).collect()
}

#[test]
fn a_plan_counts_when_it_is_adopted() {
    let mut stage = Stage::new();
    steps(&mut stage, &[planned(0, 10), planned(1, 20)]);
    assert_eq!((calendar(&stage).digest, times(&stage)), (0, vec![]));
    // Begun again.
    steps(&mut stage, &[planned(0, 11), planned(1, 21), planned(2, 31), adopted(3, true)]);
    assert_eq!((calendar(&stage).digest, times(&stage)), (7, vec![11, 21, 31]));
    steps(&mut stage, &[planned(0, 41), adopted(1, false)]);
    assert_eq!(times(&stage), [11, 21, 31, 41]);
    steps(&mut stage, &[begun(11), moved(21, 25)]);
    let first = BegunTransition { at: Timestamp(11), state: InstrumentState::Open };
    assert_eq!((calendar(&stage).begun, times(&stage)), (Some(first), vec![25, 31, 41]));
    steps(&mut stage, &[planned(0, 50), adopted(1, true)]);
    assert_eq!((calendar(&stage).begun, times(&stage)), (Some(first), vec![50]));
}

#[test]
fn an_instrument_follows_one_calendar_or_none() {
    let mut stage = Stage::new();
    steps(&mut stage, &[planned(0, 10), adopted(1, true)]);
    let assigned = |calendar| Event::CalendarAssigned { instrument: MARKET, calendar };
    let told = stage.step(&[assigned(name())]);
    assert_eq!(told.instruments.len(), 1);
    assert_eq!(stage.feed.calendar_of(MARKET), Some(name()));
    assert_eq!(stage.feed.instruments_of(name()).collect::<Vec<_>>(), [MARKET]);
    stage.step(&[assigned(Name::EMPTY)]);
    assert_eq!(stage.feed.calendar_of(MARKET), None);
    assert_eq!(stage.feed.instruments_of(name()).count(), 0);
}

#[test]
fn events_that_contradict_what_is_planned_are_refused() {
    let other: Name = "bonds".parse().unwrap();
    let unknown = Event::CalendarAssigned { instrument: MARKET, calendar: other };
    let nowhere = Event::CalendarAssigned { instrument: InstrumentId(9), calendar: name() };
    let elsewhere = Event::PlanAdopted { calendar: other, count: 0, digest: 1, replace: true };
    for (event, is_expected) in [
        (begun(20), (|it| matches!(it, FoldError::UnknownTransition { .. })) as fn(&_) -> bool),
        (moved(15, 16), |it| matches!(it, FoldError::UnknownTransition { .. })),
        (planned(1, 30), |it| matches!(it, FoldError::PlanIncomplete { .. })),
        (adopted(1, true), |it| matches!(it, FoldError::PlanIncomplete { .. })),
        (unknown, |it| matches!(it, FoldError::UnknownCalendar { .. })),
        (elsewhere, |it| matches!(it, FoldError::UnknownCalendar { .. })),
        (nowhere, |it| matches!(it, FoldError::UnknownInstrument { .. })),
    ] {
        let mut stage = Stage::new();
        steps(&mut stage, &[planned(0, 10), planned(1, 20), adopted(2, true)]);
        let error = stage.try_step(&[event]).unwrap_err();
        assert!(is_expected(&error), "{event:?}: {error}");
    }
}
