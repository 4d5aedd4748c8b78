//! A day by a timetable, and what transitions do.

use crate::page::rows;
use crate::venue::{ALICE, BOB, SPOT, Venue, buy, rules, sell};
use rialto_model::{
    Command, Enumeration, InstrumentState, Name, NewOrder, Outcome, PlannedTransition, Price,
    TimeInForce, Timestamp, TradingRules,
};

const PAGE: &str = include_str!("../../../../docs/rules/timetable.md");
const MIDNIGHT: u64 = 20 * Timestamp::DAY;

fn calendar() -> Name {
    "page".parse().unwrap()
}

/// A time of day such as 07:00:00.
fn time_of(cell: &str) -> Option<Timestamp> {
    let parts: Option<Vec<u64>> = cell.split(':').map(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = parts?[..] else { return None };
    let seconds = (hours * 60 + minutes) * 60 + seconds;
    Some(Timestamp(MIDNIGHT + seconds * Timestamp::SECOND))
}

fn state_named(cell: &str) -> InstrumentState {
    InstrumentState::from_name(cell).unwrap_or_else(|| panic!("{cell} is no state"))
}

/// The transitions of the day.
fn day() -> Vec<PlannedTransition> {
    let rows = rows(PAGE).filter(|cells| cells.len() == 7);
    let transitions = rows.filter_map(|cells| {
        let plain = PlannedTransition::plain(time_of(&cells[0])?, state_named(&cells[1]));
        let Some(earliest_end) = time_of(&cells[2]) else {
            let ends = |what| cells[6].contains(what);
            return Some(PlannedTransition {
                ends_session: ends("session"),
                ends_day: ends("day"),
                ..plain
            });
        };
        let seconds: u32 = cells[3].trim_end_matches(" s").parse().unwrap();
        Some(PlannedTransition {
            earliest_end,
            random_end_ms: seconds * 1_000,
            no_cancel_from: time_of(&cells[4]).unwrap(),
            next: state_named(&cells[5]),
            ..plain
        })
    });
    transitions.collect()
}

/// A venue at midnight whose instrument follows these transitions.
fn following(transitions: &[PlannedTransition]) -> Venue {
    let rules = TradingRules { reference_price: Price(100), ..rules() };
    let mut venue = Venue::ruled(rules);
    venue.time = MIDNIGHT;
    let calendar = calendar();
    for (number, transition) in (0..).zip(transitions) {
        let transition = *transition;
        venue.apply(Command::PlanTransition { calendar, number, transition });
    }
    let count = transitions.len() as u32;
    venue.apply(Command::AdoptPlan { calendar, count, digest: 0, seed: 3, replace: true });
    let assigned = venue.apply(Command::AssignCalendar { instrument: SPOT, calendar });
    assert_eq!(assigned, Outcome::Done);
    venue
}

fn is_answer(cell: &str) -> bool {
    ["yes", "no"].contains(&cell)
}

fn state(venue: &Venue) -> InstrumentState {
    venue.core.instrument(SPOT).unwrap().instrument.state
}

fn pass_to(venue: &mut Venue, time: Timestamp) {
    while venue.core.next_due() <= time {
        venue.time = venue.time.max(venue.core.next_due().0);
        venue.tick();
    }
    venue.time = time.0;
}

#[test]
fn the_day_goes_as_the_page_says() {
    let planned = day();
    assert_eq!(planned.len(), 7);
    let mut venue = following(&planned);
    let mut checked = 0;
    for cells in rows(PAGE).filter(|cells| cells.len() == 2) {
        let Some(time) = time_of(&cells[0]).filter(|_| !is_answer(&cells[1])) else { continue };
        pass_to(&mut venue, time);
        assert_eq!(state(&venue), state_named(&cells[1]), "at {}", cells[0]);
        checked += 1;
    }
    assert_eq!(checked, 10);
}

#[test]
fn a_transition_leads_from_state_to_state_as_the_page_says() {
    let mut checked = 0;
    for cells in rows(PAGE).filter(|cells| cells.len() == 4) {
        let Some(before) = InstrumentState::from_name(&cells[0]) else { continue };
        let (to, after) = (state_named(&cells[1]), state_named(&cells[3]));
        let at = Timestamp(MIDNIGHT + 5);
        let mut venue = following(&[PlannedTransition::plain(at, to)]);
        if cells[2] == "cross" {
            venue.set_state(InstrumentState::Call);
            // More than one command may trade.
            for _ in 0..200 {
                venue.enter(buy(ALICE, 101, 1));
                venue.enter(sell(BOB, 99, 1));
            }
        }
        assert!(!venue.set_state(before).is_rejected(), "{cells:?}");
        venue.time += 5;
        venue.tick();
        assert_eq!(state(&venue), after, "{cells:?}");
        checked += 1;
    }
    assert_eq!(checked, 12);
}

#[test]
fn the_no_cancel_period_refuses_what_the_page_says() {
    let planned = day();
    let call = planned.iter().find(|planned| planned.no_cancel_from > Timestamp::ZERO).unwrap();
    let mut venue = following(&planned);
    pass_to(&mut venue, call.at);
    let order = venue.enter(buy(ALICE, 50, 2));
    venue.time = call.no_cancel_from.0;
    let mut checked = 0;
    for cells in rows(PAGE).filter(|cells| cells.len() == 2) {
        let outcome = match &*cells[0] {
            "cancel" => venue.cancel(ALICE, order),
            "amend" => venue.amend(ALICE, order, None, Some(1)),
            "new order" => venue.place(buy(ALICE, 50, 1)),
            _ => continue,
        };
        let said = match outcome {
            Outcome::Rejected { reason } => reason.code(),
            _ => "yes",
        };
        assert_eq!(said, cells[1], "{}", cells[0]);
        checked += 1;
    }
    assert_eq!(checked, 3);
}

#[test]
fn orders_take_part_in_the_auction_of_the_page() {
    let end = time_of("17:00:00").unwrap();
    let begin = Timestamp(end.0 - 60 * Timestamp::SECOND);
    let next = InstrumentState::Closed;
    let closing_call = PlannedTransition {
        earliest_end: end,
        next,
        ..PlannedTransition::plain(begin, InstrumentState::ClosingCall)
    };
    let close = PlannedTransition { ends_day: true, ..PlannedTransition::plain(end, next) };
    let mut checked = 0;
    for cells in rows(PAGE).filter(|cells| cells.len() == 2) {
        let (time_in_force, expire_at) = match time_of(&cells[0]) {
            _ if !is_answer(&cells[1]) || cells[0] == "new order" => continue,
            Some(time) => (TimeInForce::Gtd, time),
            None => (TimeInForce::Day, Timestamp::ZERO),
        };
        let mut venue = following(&[closing_call, close]);
        pass_to(&mut venue, begin);
        venue.enter(NewOrder { time_in_force, expire_at, ..buy(ALICE, 100, 1) });
        venue.enter(sell(BOB, 100, 1));
        // The venue comes to it late.
        venue.time = end.0 + Timestamp::SECOND;
        let mut trades = 0;
        while venue.core.next_due().0 <= venue.time || venue.core.has_background_work() {
            venue.tick();
            trades += venue.trades().len();
        }
        assert_eq!((trades == 1, state(&venue)), (cells[1] == "yes", next), "{}", cells[0]);
        checked += 1;
    }
    assert_eq!(checked, 4);
}

#[test]
fn orders_end_with_sessions_and_days() {
    let planned = day();
    let mut venue = following(&planned);
    pass_to(&mut venue, time_of("09:00:00").unwrap());
    let mut end = |time_in_force| {
        let order = venue.enter(NewOrder { time_in_force, ..buy(ALICE, 50, 1) });
        venue.core.order(order).unwrap().expire_at
    };
    let first = |ends: fn(&PlannedTransition) -> bool| {
        planned.iter().find(|planned| ends(planned)).unwrap().at
    };
    assert_eq!(end(TimeInForce::Gfs), first(|planned| planned.ends_session));
    assert_eq!(end(TimeInForce::Day), first(|planned| planned.ends_day));
}
