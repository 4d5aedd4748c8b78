//! Timetables: transitions that are made when they are due, and what they mean for orders.

use crate::venue::*;
use rialto_core::{CALENDARS_MAX, Core, CoreConfig, TRANSITIONS_MAX};
use rialto_model::{
    AuctionRules, Command, DoneReason, Event, Handling, InstrumentId, InstrumentState, MassCancel,
    Name, NewOrder, OrderRef, Outcome, PlannedTransition, Price, Quantity, RejectReason, Seq, Side,
    TimeInForce, Timestamp,
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

#[test]
fn an_instrument_follows_its_timetable_through_a_day() {
    use InstrumentState as S;
    let mut venue = following(&trading_day(MIDNIGHT));
    pass_to(&mut venue, MIDNIGHT + 7 * HOUR);
    assert_eq!(state(&venue), S::PreOpen);
    venue.enter(buy(ALICE, 105, 10));
    venue.enter(sell(BOB, 98, 4));
    let events = pass_to(&mut venue, MIDNIGHT + 8 * HOUR + 2 * MINUTE);
    assert_eq!(states(&events), [S::Call, S::Uncrossing, S::Open]);
    assert_eq!(venue.queue(Side::Buy), [(105, 6)]);
    let events = pass_to(&mut venue, MIDNIGHT + 17 * HOUR);
    // It traded already when the transition to trading was due.
    assert_eq!(states(&events), [S::ClosingCall]);
    assert_eq!(begun(&events).len(), 2);
    pass_to(&mut venue, MIDNIGHT + 18 * HOUR);
    assert_eq!(state(&venue), S::Closed);
    assert_eq!(venue.core.next_due(), Timestamp::MAX);
}

#[test]
fn a_transition_is_announced_and_then_made() {
    let state = InstrumentState::Closed;
    let mut venue = following(&[at(MIDNIGHT + 5, state)]);
    assert_eq!(venue.core.next_due(), Timestamp(MIDNIGHT + 5));
    venue.time += 5;
    let at = Timestamp(MIDNIGHT + 5);
    let expected = [
        Event::TransitionBegun { calendar: day(), at, state },
        Event::InstrumentStateSet { instrument: SPOT, state },
    ];
    assert_eq!(venue.tick(), expected);
}

#[test]
fn a_call_ends_at_a_time_that_its_seed_draws_for_each_instrument() {
    let mut venue = Venue::new();
    venue.time = MIDNIGHT;
    let planned = [call(MIDNIGHT + 1, InstrumentState::Call, InstrumentState::Open)];
    plan(&mut venue, &planned);
    adopt(&mut venue, 1, true);
    let others: Vec<InstrumentId> = (2..=20).map(InstrumentId).collect();
    for id in &others {
        let symbol = format!("S{id}");
        venue.apply(Command::CreateInstrument(spec(&symbol, rules())));
        assign(&mut venue, *id);
    }
    pass_to(&mut venue, MIDNIGHT + 1);
    let mut ends = Vec::new();
    while venue.core.next_due() < Timestamp::MAX {
        venue.time = venue.core.next_due().0;
        ends.push(venue.time - (MIDNIGHT + 1));
        venue.tick();
    }
    assert_eq!(ends.len(), others.len(), "each at a time of its own");
    assert!(ends.iter().all(|end| (MINUTE..=MINUTE + MINUTE / 2).contains(end)), "{ends:?}");
    assert!(others.iter().all(|id| state_of(&venue, *id) == InstrumentState::Open));
}

#[test]
fn a_venue_that_was_down_for_two_weeks_makes_every_transition_once_and_in_order() {
    let days: Vec<PlannedTransition> =
        (0..14).flat_map(|number| trading_day(MIDNIGHT + number * Timestamp::DAY)).collect();
    let mut venue = following(&days);
    venue.enter(buy(ALICE, 90, 10));
    venue.time = MIDNIGHT + 15 * Timestamp::DAY;
    let events = catch_up(&mut venue);
    let expected: Vec<Timestamp> = days.iter().map(|transition| transition.at).collect();
    assert_eq!(begun(&events), expected);
    assert_eq!(state(&venue), InstrumentState::Closed);
    let view = venue.core.calendars().next().unwrap();
    assert_eq!((view.ahead.len(), view.begun), (0, days.last().copied()));
}

#[test]
fn calls_that_were_missed_end_between_the_transitions() {
    let mut venue = following(&trading_day(MIDNIGHT));
    venue.time = MIDNIGHT + 17 * HOUR + 1;
    let events = catch_up(&mut venue);
    use InstrumentState as S;
    // The uncrossing that ends the call is not over when the next transition is due, and becomes the
    // way to its phase.
    assert_eq!(states(&events), [S::PreOpen, S::Call, S::Uncrossing, S::ClosingCall]);
    let ends = venue.core.next_due().0;
    assert!((MIDNIGHT + 17 * HOUR + MINUTE..=MIDNIGHT + 18 * HOUR).contains(&ends));
}

/// More instruments than a command has transitions for.
const MANY: u32 = 300;

fn many_following() -> Venue {
    let mut venue = following(&[at(MIDNIGHT + 5, InstrumentState::Closed)]);
    for number in 2..=MANY {
        venue.apply(Command::CreateInstrument(spec(&format!("S{number}"), rules())));
        assign(&mut venue, InstrumentId(number));
    }
    venue.time += 5;
    venue
}

#[test]
fn no_command_sees_half_of_a_transition() {
    let mut venue = many_following();
    // One of the 256 is the transition itself.
    assert_eq!(venue.tick().len(), 256);
    assert_eq!(state_of(&venue, InstrumentId(255)), InstrumentState::Closed);
    assert_eq!(state_of(&venue, InstrumentId(256)), InstrumentState::Open);
    assert!(venue.core.next_due().0 <= venue.time, "the next command must be a tick");
    assert_eq!(venue.tick().len(), MANY as usize - 255);
    assert_eq!(state_of(&venue, InstrumentId(MANY)), InstrumentState::Closed);
    assert_eq!(venue.core.next_due(), Timestamp::MAX);
}

#[test]
fn a_transition_goes_on_after_a_restart() {
    let mut venue = many_following();
    venue.tick();
    let mut restored = Core::restore(&venue.core.snapshot(), 5).unwrap();
    restored.check().unwrap();
    let (seq, time) = (Seq(venue.core.seq().0 + 1), venue.core.time());
    let mut events = Vec::new();
    restored.apply(seq, time, &Command::Tick, &mut events);
    assert_eq!(venue.tick(), events);
    assert_eq!(restored.state_hash(), venue.core.state_hash());
}

#[test]
fn calendars_take_turns_by_time_and_then_in_the_order_in_which_they_became_known() {
    let mut venue = following(&[at(MIDNIGHT + 5, InstrumentState::Closed)]);
    for (name, time) in [("later", 6), ("same", 5)] {
        let calendar: Name = name.parse().unwrap();
        let transition = at(MIDNIGHT + time, InstrumentState::Open);
        venue.apply(Command::PlanTransition { calendar, number: 0, transition });
        let (count, replace) = (1, false);
        venue.apply(Command::AdoptPlan { calendar, count, digest: 1, seed: 2, replace });
    }
    venue.time += 10;
    let names = venue.tick().iter().filter_map(|event| match event {
        Event::TransitionBegun { calendar, .. } => Some(calendar.to_string()),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), ["day", "same", "later"]);
}

#[test]
fn timers_and_transitions_are_done_by_time() {
    let mut venue = following(&[at(MIDNIGHT + 5, InstrumentState::Closed)]);
    venue.apply(Command::SetDeadMan { account: ALICE, timeout_ns: 4 });
    venue.apply(Command::SetDeadMan { account: BOB, timeout_ns: 6 });
    venue.time += 10;
    let kinds: Vec<&str> = venue.tick().iter().map(|event| event.kind().name()).collect();
    let expected =
        ["cancel_progress", "transition_begun", "instrument_state_set", "cancel_progress"];
    assert_eq!(kinds, expected);
}

#[test]
fn a_halt_holds_and_so_does_a_call_that_waits_for_a_command() {
    for stays in [InstrumentState::Halted, InstrumentState::Listed, InstrumentState::Withdrawn] {
        let mut venue = following(&[at(MIDNIGHT + 5, InstrumentState::Closed)]);
        venue.set_state(stays);
        venue.time += 5;
        assert_eq!(venue.tick().len(), 1);
        assert_eq!(state(&venue), stays);
    }
    let mut venue = following(&[at(MIDNIGHT + 5, InstrumentState::Closed)]);
    wait_for_a_command(&mut venue);
    venue.time += 5;
    assert_eq!(venue.tick().len(), 1);
    assert_eq!(state(&venue), InstrumentState::Call);
}

/// Puts the instrument into a call that only a command ends.
fn wait_for_a_command(venue: &mut Venue) {
    venue.enter(buy(ALICE, 100, 1));
    venue.enter(sell(BOB, 100, 1));
    let ranges = AuctionRules {
        auction_range_ppm: 10_000,
        extended_range_ppm: 10_000,
        call_ms: 1_000,
        ..AuctionRules::PLAIN
    };
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules: ranges, seed: 1 });
    venue.set_state(InstrumentState::Call);
    venue.enter(buy(ALICE, 200, 1));
    venue.enter(sell(BOB, 200, 1));
    venue.set_state(InstrumentState::Open);
    let waits = |event: &Event| matches!(event, Event::Interrupted(it) if it.until_command);
    assert!(venue.events.iter().any(waits));
}

#[test]
fn a_transition_during_an_uncrossing_becomes_what_follows_it() {
    let planned = [call(MIDNIGHT + 5, InstrumentState::Call, InstrumentState::Open)];
    let mut venue = following(&planned);
    venue.set_state(InstrumentState::PreOpen);
    for _ in 0..300 {
        venue.enter(buy(ALICE, 101, 1));
        venue.enter(sell(BOB, 99, 1));
    }
    venue.set_state(InstrumentState::Open);
    assert_eq!(state(&venue), InstrumentState::Uncrossing);
    venue.time += 5;
    let events = catch_up(&mut venue);
    assert_eq!(states(&events), [InstrumentState::Call]);
    let ends = venue.core.next_due().0;
    assert!((MIDNIGHT + 5 + MINUTE..MIDNIGHT + 5 + 2 * MINUTE).contains(&ends), "as planned");
}

#[test]
fn a_transition_to_the_present_phase_takes_over_the_end_of_its_call() {
    let planned = [call(MIDNIGHT + 5, InstrumentState::Call, InstrumentState::Open)];
    let mut venue = following(&planned);
    interrupt(&mut venue);
    let ends = venue.core.next_due();
    assert_eq!(ends, Timestamp(MIDNIGHT + 5));
    venue.time += 5;
    let at = Timestamp(MIDNIGHT + 5);
    let state = InstrumentState::Call;
    assert_eq!(venue.tick(), [Event::TransitionBegun { calendar: day(), at, state }]);
    let ends = venue.core.next_due().0;
    assert!((MIDNIGHT + 5 + MINUTE..MIDNIGHT + 5 + 2 * MINUTE).contains(&ends), "not an hour");
}

/// Interrupts trading by a call of an hour.
fn interrupt(venue: &mut Venue) {
    let ranges =
        AuctionRules { dynamic_range_ppm: 10_000, call_ms: 3_600_000, ..AuctionRules::PLAIN };
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules: ranges, seed: 1 });
    venue.enter(sell(BOB, 100, 1));
    venue.enter(buy(ALICE, 100, 1));
    venue.enter(sell(BOB, 150, 1));
    venue.enter(buy(ALICE, 150, 1));
    assert_eq!(state(venue), InstrumentState::Call);
}

#[test]
fn an_interruption_ends_when_a_transition_comes() {
    let mut venue = following(&[at(MIDNIGHT + 5, InstrumentState::Open)]);
    interrupt(&mut venue);
    venue.time += 5;
    let events = catch_up(&mut venue);
    assert_eq!(states(&events), [InstrumentState::Uncrossing, InstrumentState::Open]);
}

/// In the last half minute of a call, with an order of Alice.
fn in_no_cancel_period() -> (Venue, rialto_model::OrderId) {
    let planned = [call(MIDNIGHT + 5, InstrumentState::Call, InstrumentState::Open)];
    let mut venue = following(&planned);
    let handling = Handling::NONE.with_cancel_on_disconnect(true);
    pass_to(&mut venue, MIDNIGHT + 5);
    let order = venue.enter(NewOrder { handling, ..buy(ALICE, 100, 5) });
    venue.time = MIDNIGHT + 5 + MINUTE / 2 - 1;
    assert!(!venue.amend(ALICE, order, None, Some(4)).is_rejected());
    venue.time += 1;
    (venue, order)
}

#[test]
fn members_cannot_cancel_or_amend_in_the_no_cancel_period() {
    let (mut venue, order) = in_no_cancel_period();
    let refused = rejected(RejectReason::NoCancelPeriod);
    assert_eq!(venue.cancel(ALICE, order), refused);
    assert_eq!(venue.amend(ALICE, order, Some(101), None), refused);
    assert_eq!(venue.amend(ALICE, order, None, Some(3)), refused);
    assert!(!venue.place(buy(ALICE, 100, 1)).is_rejected(), "orders are accepted");
    let time = venue.time + MINUTE;
    pass_to(&mut venue, time);
    catch_up(&mut venue);
    assert_eq!(state(&venue), InstrumentState::Open);
    assert!(!venue.cancel(ALICE, order).is_rejected());
}

#[test]
fn a_mass_cancel_leaves_the_orders_of_a_no_cancel_period_and_does_not_come_back() {
    let (mut venue, order) = in_no_cancel_period();
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    let other = venue.enter(NewOrder { instrument: InstrumentId(2), ..buy(ALICE, 100, 1) });
    let everything = MassCancel { account: ALICE, instrument: None, side: None };
    let outcome = venue.apply(Command::MassCancel(everything));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 1, pending: false });
    assert!(venue.core.order(other).is_none());
    let time = venue.time + MINUTE;
    pass_to(&mut venue, time);
    catch_up(&mut venue);
    assert!(venue.core.order(order).is_some(), "it is not cancelled later");
}

#[test]
fn the_no_cancel_period_binds_neither_timers_nor_operators_nor_lost_connections() {
    let (mut venue, order) = in_no_cancel_period();
    venue.apply(Command::SetDeadMan { account: ALICE, timeout_ns: 1 });
    venue.time += 1;
    catch_up(&mut venue);
    assert!(venue.core.order(order).is_none());

    let (mut venue, order) = in_no_cancel_period();
    venue.apply(Command::Disconnect { account: ALICE });
    assert_eq!(venue.done(), [(order, DoneReason::Disconnected, 4)]);

    let (mut venue, order) = in_no_cancel_period();
    venue.set_state(InstrumentState::Withdrawn);
    assert_eq!(venue.done(), [(order, DoneReason::InstrumentClosed, 4)]);
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
fn orders_of_a_no_cancel_period_are_named_by_client_order_id_too() {
    let (mut venue, _) = in_no_cancel_period();
    let client_order_id = "mine".parse().unwrap();
    venue.enter(NewOrder { client_order_id, ..buy(ALICE, 100, 1) });
    let cancel = Command::Cancel { account: ALICE, order: OrderRef::Client(client_order_id) };
    assert_eq!(venue.apply(cancel), rejected(RejectReason::NoCancelPeriod));
}

#[test]
fn market_state_survives_a_snapshot_in_a_planned_call() {
    let (venue, order) = in_no_cancel_period();
    let config = CoreConfig::new(ENGINE);
    let mut restored = Core::restore(&venue.core.snapshot(), config.hash_key).unwrap();
    let cancel = Command::Cancel { account: ALICE, order: OrderRef::Id(order) };
    let (seq, time) = (Seq(restored.seq().0 + 1), Timestamp(venue.time));
    let outcome = restored.apply(seq, time, &cancel, &mut Vec::new());
    assert_eq!(outcome, rejected(RejectReason::NoCancelPeriod));
    assert_eq!(restored.next_due(), venue.core.next_due());
    let view = restored.order(order).unwrap();
    assert_eq!((view.price, view.remaining), (Price(100), Quantity(4)));
}
