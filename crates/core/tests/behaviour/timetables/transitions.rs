//! What transitions do, and when.

use super::*;
use rialto_core::Core;
use rialto_model::{AuctionRules, HaltScope, NewOrder, Seq, Side, TimeInForce};

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
fn a_timer_comes_before_a_transition_of_the_same_time() {
    let mut venue = following(&[at(MIDNIGHT + 5, InstrumentState::Closed)]);
    venue.apply(Command::SetDeadMan { account: ALICE, timeout_ns: 5 });
    venue.time += 5;
    let kinds: Vec<&str> = venue.tick().iter().map(|event| event.kind().name()).collect();
    assert_eq!(kinds, ["cancel_progress", "transition_begun", "instrument_state_set"]);
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
fn a_halt_keeps_a_call_that_waits_for_a_command() {
    let one = HaltScope::Instrument(SPOT);
    let mut venue = following(&[at(MIDNIGHT + 5 * HOUR, InstrumentState::Closed)]);
    wait_for_a_command(&mut venue);
    let halt = |venue: &mut Venue, hours: u32| {
        let duration_ms = hours * 3_600_000;
        venue.apply(Command::HaltTrading { scope: one, duration_ms })
    };
    assert_eq!(halt(&mut venue, 1), Outcome::Done);
    assert_eq!(halt(&mut venue, 6), Outcome::Done);
    venue.core = Core::restore(&venue.core.snapshot(), 1).unwrap();
    pass_to(&mut venue, MIDNIGHT + 5 * HOUR);
    assert_eq!(state(&venue), InstrumentState::Halted, "nor does the timetable end it");
    pass_to(&mut venue, MIDNIGHT + 6 * HOUR);
    assert_eq!((state(&venue), venue.core.next_due()), (InstrumentState::Call, Timestamp::MAX));
    // Whether it opens from the call or from the halt, the price is not compared any more.
    halt(&mut venue, 1);
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.trades(), [(200, 1)]);
    assert_eq!(state(&venue), InstrumentState::Open);
}

#[test]
fn a_pre_open_whose_auction_was_out_of_range_reopens_after_a_halt() {
    let mut venue = following_nothing();
    venue.enter(buy(ALICE, 100, 1));
    venue.enter(sell(BOB, 100, 1));
    let rules = AuctionRules { auction_range_ppm: 10_000, call_ms: 1_000, ..AuctionRules::PLAIN };
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
    venue.set_state(InstrumentState::PreOpen);
    venue.enter(buy(ALICE, 200, 1));
    venue.enter(sell(BOB, 200, 1));
    venue.set_state(InstrumentState::Open);
    assert_eq!(state(&venue), InstrumentState::PreOpen, "extended");
    let scope = HaltScope::Instrument(SPOT);
    venue.apply(Command::HaltTrading { scope, duration_ms: 1_000 });
    // The call after the halt lasts a second, is extended by another one, and opens in the end.
    let time = venue.time + 10 * Timestamp::SECOND;
    pass_to(&mut venue, time);
    let rules = AuctionRules { call_ms: 1_000, ..AuctionRules::PLAIN };
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
    catch_up(&mut venue);
    assert_eq!(state(&venue), InstrumentState::Open);
}

/// What traded in auctions.
fn auctioned(events: &[Event]) -> Vec<(i64, i64)> {
    let trades = events.iter().filter_map(|event| match event {
        Event::Trade(trade) if trade.auction => Some((trade.price.0, trade.quantity.0)),
        _ => None,
    });
    trades.collect()
}

#[test]
fn orders_that_are_valid_until_the_end_of_a_call_take_part_in_its_auction() {
    let close = Timestamp(MIDNIGHT + 18 * HOUR);
    let planned_close = PlannedTransition {
        ends_session: true,
        ends_day: true,
        ..at(close.0, InstrumentState::Closed)
    };
    for (late, ends_by_itself) in [(0, true), (0, false), (HOUR, true), (HOUR, false)] {
        let mut closing = at(MIDNIGHT + 17 * HOUR, InstrumentState::ClosingCall);
        if ends_by_itself {
            (closing.earliest_end, closing.next) = (close, InstrumentState::Closed);
        }
        let mut venue = following(&[closing, planned_close]);
        pass_to(&mut venue, MIDNIGHT + 17 * HOUR);
        let until = |time_in_force, expire_at, order: NewOrder| NewOrder {
            time_in_force,
            expire_at,
            ..order
        };
        let none = Timestamp::ZERO;
        venue.enter(until(TimeInForce::Day, none, buy(ALICE, 100, 1)));
        venue.enter(until(TimeInForce::Gtd, close, buy(ALICE, 100, 2)));
        let early = Timestamp(close.0 - 1);
        venue.enter(until(TimeInForce::Gtd, early, buy(ALICE, 100, 4)));
        venue.enter(until(TimeInForce::Gfs, none, sell(BOB, 100, 8)));
        venue.time = close.0 + late;
        let events = catch_up(&mut venue);
        assert_eq!(auctioned(&events), [(100, 1), (100, 2)], "{late} {ends_by_itself}");
        assert_eq!(state(&venue), InstrumentState::Closed);
        assert_eq!(venue.core.instrument(SPOT).unwrap().open_orders, 0, "the others have expired");
    }
}

#[test]
fn a_suspended_order_does_not_keep_the_orders_of_the_day_from_their_auction() {
    let close = MIDNIGHT + 18 * HOUR;
    let planned_close = PlannedTransition { ends_day: true, ..at(close, InstrumentState::Closed) };
    let mut venue =
        following(&[at(MIDNIGHT + 17 * HOUR, InstrumentState::ClosingCall), planned_close]);
    venue.apply(Command::CreateInstrument(spec("S2", rules())));
    pass_to(&mut venue, MIDNIGHT + 17 * HOUR);
    for order in [buy(ALICE, 100, 1), sell(BOB, 100, 1)] {
        venue.enter(NewOrder { time_in_force: TimeInForce::Day, ..order });
    }
    let other = |order: NewOrder| NewOrder { instrument: InstrumentId(2), ..order };
    for _ in 0..300 {
        venue.enter(other(sell(BOB, 100, 1)));
    }
    venue.time = close - 1;
    venue.enter(other(buy(ALICE, 100, 300)));
    venue.time = close;
    assert_eq!(auctioned(&catch_up(&mut venue)), [(100, 1)]);
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
