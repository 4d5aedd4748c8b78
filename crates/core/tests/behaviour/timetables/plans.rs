//! Plans: adopted, appended, replaced, moved and refused; and the ends of orders.

use super::*;
use rialto_core::{CALENDARS_MAX, TRANSITIONS_MAX};
use rialto_model::{NewOrder, RejectReason, TimeInForce};

#[test]
fn a_plan_replaces_what_has_not_begun_or_follows_it() {
    let mut venue = following(&trading_day(MIDNIGHT));
    pass_to(&mut venue, MIDNIGHT + 8 * HOUR);
    let late = [at(MIDNIGHT + 20 * HOUR, InstrumentState::Open)];
    plan(&mut venue, &late);
    assert_eq!(adopt(&mut venue, 1, false), Outcome::Done);
    assert_eq!(venue.core.calendars().next().unwrap().ahead.len(), 4);
    plan(&mut venue, &late);
    assert_eq!(adopt(&mut venue, 1, false), rejected(RejectReason::TransitionInvalid));
    assert_eq!(adopt(&mut venue, 1, true), Outcome::Done);
    let view = venue.core.calendars().next().unwrap();
    assert!(view.ahead.iter().eq(&late));
    // What has begun is not made twice.
    plan(&mut venue, &trading_day(MIDNIGHT));
    assert_eq!(adopt(&mut venue, 5, true), rejected(RejectReason::TransitionInvalid));
}

#[test]
fn a_plan_of_the_past_is_made_at_once() {
    let mut venue = following_nothing();
    venue.time = MIDNIGHT + 12 * HOUR;
    let planned = trading_day(MIDNIGHT);
    plan(&mut venue, &planned);
    adopt(&mut venue, 5, true);
    let events = catch_up(&mut venue);
    assert_eq!(begun(&events).len(), 3);
    assert_eq!(state(&venue), InstrumentState::Open);
}

#[test]
fn a_moved_transition_takes_the_times_of_its_call_along() {
    let mut venue = following(&trading_day(MIDNIGHT));
    let moves = |at: u64, to: u64| Command::MoveTransition {
        calendar: day(),
        at: Timestamp(MIDNIGHT + at),
        to: Timestamp(MIDNIGHT + to),
    };
    assert_eq!(venue.apply(moves(8 * HOUR, 8 * HOUR + MINUTE)), Outcome::Done);
    let view = venue.core.calendars().next().unwrap();
    let expected = call(MIDNIGHT + 8 * HOUR + MINUTE, InstrumentState::Call, InstrumentState::Open);
    assert_eq!(view.ahead[1], expected);
    let invalid = rejected(RejectReason::TransitionInvalid);
    assert_eq!(venue.apply(moves(7 * HOUR, 9 * HOUR)), invalid, "not behind the next one");
    assert_eq!(venue.apply(moves(9 * HOUR, 7 * HOUR)), invalid, "not before the one before");
    pass_to(&mut venue, MIDNIGHT + HOUR);
    assert_eq!(venue.apply(moves(7 * HOUR, HOUR / 2)), invalid, "not into the past");
    let unknown = rejected(RejectReason::UnknownTransition);
    assert_eq!(venue.apply(moves(8 * HOUR, 8 * HOUR)), unknown);
    assert_eq!(venue.apply(moves(7 * HOUR, HOUR)), Outcome::Done);
    assert_eq!(catch_up(&mut venue).len(), 2, "it is due at once");
    assert_eq!(state(&venue), InstrumentState::PreOpen);
}

#[test]
fn plans_that_are_not_consistent_are_refused() {
    let mut venue = following_nothing();
    let mut planned = |calendar: &str, number, transition| {
        let calendar = calendar.parse().unwrap();
        venue.apply(Command::PlanTransition { calendar, number, transition })
    };
    let open = at(MIDNIGHT + 5, InstrumentState::Open);
    assert_eq!(planned("", 0, open), rejected(RejectReason::NameInvalid));
    assert_eq!(planned("new", 1, open), rejected(RejectReason::UnknownCalendar));
    let halt = at(MIDNIGHT + 5, InstrumentState::Halted);
    assert_eq!(planned("new", 0, halt), rejected(RejectReason::TransitionInvalid));
    assert_eq!(planned("day", 0, open), Outcome::Done);
    assert_eq!(planned("day", 1, open), rejected(RejectReason::TransitionInvalid));
    assert_eq!(planned("day", 2, open), rejected(RejectReason::PlanIncomplete));
    assert_eq!(adopt(&mut venue, 2, true), rejected(RejectReason::PlanIncomplete));
    assert_eq!(adopt(&mut venue, 1, true), Outcome::Done);
    let unknown = Command::AssignCalendar { instrument: SPOT, calendar: "no".parse().unwrap() };
    assert_eq!(venue.apply(unknown), rejected(RejectReason::UnknownCalendar));
}

#[test]
fn a_new_plan_forgets_an_unfinished_one() {
    let mut venue = following_nothing();
    plan(&mut venue, &trading_day(MIDNIGHT));
    plan(&mut venue, &trading_day(MIDNIGHT + Timestamp::DAY)[..2]);
    assert_eq!(adopt(&mut venue, 5, true), rejected(RejectReason::PlanIncomplete));
    assert_eq!(adopt(&mut venue, 2, true), Outcome::Done);
}

#[test]
fn calendars_and_their_transitions_are_bounded() {
    let mut venue = following_nothing();
    let known = venue.core.calendars().len();
    let name = |number: usize| -> Name { format!("calendar-{number}").parse().unwrap() };
    let transition = at(MIDNIGHT + 5, InstrumentState::Open);
    for number in known..CALENDARS_MAX {
        let calendar = name(number);
        let planned = Command::PlanTransition { calendar, number: 0, transition };
        assert_eq!(venue.apply(planned), Outcome::Done);
    }
    let another = Command::PlanTransition { calendar: name(99), number: 0, transition };
    assert_eq!(venue.apply(another), rejected(RejectReason::VenueFull));
    assert_eq!(venue.core.calendars().len(), CALENDARS_MAX);

    let many = |from: u64| -> Vec<PlannedTransition> {
        let times = from..from + TRANSITIONS_MAX as u64;
        times.map(|time| at(MIDNIGHT + HOUR + time, InstrumentState::Open)).collect()
    };
    let mut venue = following(&many(0));
    let more = many(TRANSITIONS_MAX as u64);
    plan(&mut venue, &more);
    let (calendar, number) = (day(), TRANSITIONS_MAX as u32);
    let transition = at(MIDNIGHT + Timestamp::DAY, InstrumentState::Open);
    let another = Command::PlanTransition { calendar, number, transition };
    assert_eq!(venue.apply(another), rejected(RejectReason::VenueFull));
    assert_eq!(adopt(&mut venue, TRANSITIONS_MAX, false), rejected(RejectReason::VenueFull));
    assert_eq!(adopt(&mut venue, TRANSITIONS_MAX, true), Outcome::Done);
    venue.time = MIDNIGHT + Timestamp::DAY;
    assert_eq!(begun(&catch_up(&mut venue)).len(), TRANSITIONS_MAX);
}

#[test]
fn an_instrument_leaves_its_calendar() {
    let mut venue = following(&[at(MIDNIGHT + 5, InstrumentState::Closed)]);
    assert_eq!(venue.core.instrument(SPOT).unwrap().calendar, day());
    let none = Command::AssignCalendar { instrument: SPOT, calendar: Name::EMPTY };
    assert_eq!(venue.apply(none), Outcome::Done);
    venue.time += 5;
    assert_eq!(venue.tick().len(), 1);
    assert_eq!(state(&venue), InstrumentState::Open);
}

#[test]
fn versions_before_4_know_no_timetables() {
    for version in 1..=3 {
        let mut venue = Venue::under(version, rules());
        let transition = at(MIDNIGHT, InstrumentState::Open);
        let calendar = day();
        let commands = [
            Command::PlanTransition { calendar, number: 0, transition },
            Command::AdoptPlan { calendar, count: 0, digest: 0, seed: 0, replace: true },
            Command::AssignCalendar { instrument: SPOT, calendar },
            Command::MoveTransition { calendar, at: Timestamp(1), to: Timestamp(2) },
        ];
        for command in commands {
            assert_eq!(venue.apply(command), rejected(RejectReason::CommandUnknown));
        }
        let order = NewOrder { time_in_force: TimeInForce::Gfs, ..buy(ALICE, 100, 1) };
        assert_eq!(venue.place(order), rejected(RejectReason::AttributeUnknown));
    }
}

#[test]
fn day_orders_and_session_orders_end_by_the_timetable() {
    let open = at(MIDNIGHT + 1, InstrumentState::Open);
    let pause = at(MIDNIGHT + 12 * HOUR, InstrumentState::Closed);
    let close = at(MIDNIGHT + 18 * HOUR, InstrumentState::Closed);
    let mut venue = following(&[
        open,
        PlannedTransition { ends_session: true, ..pause },
        PlannedTransition { ends_session: true, ends_day: true, ..close },
    ]);
    let expiry = |venue: &mut Venue, time_in_force| {
        let order = venue.enter(NewOrder { time_in_force, ..buy(ALICE, 100, 1) });
        venue.core.order(order).unwrap().expire_at
    };
    assert_eq!(expiry(&mut venue, TimeInForce::Day), close.at);
    assert_eq!(expiry(&mut venue, TimeInForce::Gfs), pause.at);
    // An order keeps the end that it was entered with.
    let order = venue.enter(NewOrder { time_in_force: TimeInForce::Gfs, ..buy(ALICE, 99, 1) });
    let to = Timestamp(pause.at.0 + 7);
    venue.apply(Command::MoveTransition { calendar: day(), at: pause.at, to });
    assert_eq!(venue.core.order(order).unwrap().expire_at, pause.at);
    assert_eq!(expiry(&mut venue, TimeInForce::Gfs), to);
}

#[test]
fn without_a_planned_end_day_orders_end_by_the_clock_and_there_are_no_session_orders() {
    let mut venue = following(&[at(MIDNIGHT + HOUR, InstrumentState::Open)]);
    let order = venue.enter(NewOrder { time_in_force: TimeInForce::Day, ..buy(ALICE, 100, 1) });
    let expiry = venue.core.order(order).unwrap().expire_at;
    assert_eq!(expiry, Timestamp(MIDNIGHT + Timestamp::DAY));
    let order = NewOrder { time_in_force: TimeInForce::Gfs, ..buy(ALICE, 100, 1) };
    assert_eq!(venue.place(order), rejected(RejectReason::ExpiryInvalid));
}
