//! Halts that end by themselves, circuit breakers, and the limit state.

use crate::venue::*;
use rialto_core::{Core, EVENTS_PER_COMMAND};
use rialto_model::{
    AuctionRules, CircuitBreakerRule, Command, DoneReason, Event, HaltCause, HaltScope,
    InstrumentId, InstrumentState, Name, NewOrder, OrderSize, Outcome, PlannedTransition, Price,
    Quantity, RejectReason, Side, TimeInForce, Timestamp, TradingHalted, TradingRules,
};

const SECOND: u64 = Timestamp::SECOND;

fn day() -> Name {
    "day".parse().unwrap()
}

/// An instrument with a reference price, whose calls last a second.
fn venue() -> Venue {
    let mut venue = Venue::ruled(TradingRules { reference_price: Price(100), ..rules() });
    set_auction_rules(&mut venue, AuctionRules::PLAIN);
    venue
}

fn set_auction_rules(venue: &mut Venue, rules: AuctionRules) {
    let rules = AuctionRules { call_ms: 1_000, ..rules };
    let set = Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 };
    assert_eq!(venue.apply(set), Outcome::Done);
}

fn state_of(venue: &Venue, instrument: InstrumentId) -> InstrumentState {
    venue.core.instrument(instrument).unwrap().instrument.state
}

fn state(venue: &Venue) -> InstrumentState {
    state_of(venue, SPOT)
}

fn halt(venue: &mut Venue, scope: HaltScope, seconds: u32) -> Outcome {
    venue.apply(Command::HaltTrading { scope, duration_ms: seconds * 1_000 })
}

fn halts(venue: &Venue) -> Vec<TradingHalted> {
    let halted = venue.events.iter().filter_map(|event| match event {
        Event::TradingHalted(halted) => Some(*halted),
        _ => None,
    });
    halted.collect()
}

fn pass_to(venue: &mut Venue, time: u64) {
    while venue.core.next_due().0 <= time {
        venue.time = venue.time.max(venue.core.next_due().0);
        venue.tick();
    }
    venue.time = time;
    while venue.core.has_background_work() {
        venue.tick();
    }
}

/// Lists instruments until there are so many, all of which follow a calendar.
fn calendar_of(venue: &mut Venue, instruments: u32) {
    let calendar = day();
    let never = Timestamp(venue.time + 100 * Timestamp::DAY);
    let transition = PlannedTransition::plain(never, InstrumentState::Closed);
    venue.apply(Command::PlanTransition { calendar, number: 0, transition });
    venue.apply(Command::AdoptPlan { calendar, count: 1, digest: 0, seed: 3, replace: true });
    for number in 1..=instruments {
        if number > 1 {
            let spec = spec(&format!("S{number}"), rules());
            assert!(!venue.apply(Command::CreateInstrument(spec)).is_rejected());
        }
        let instrument = InstrumentId(number);
        let assigned = venue.apply(Command::AssignCalendar { instrument, calendar });
        assert_eq!(assigned, Outcome::Done);
    }
}

fn breaker() -> CircuitBreakerRule {
    CircuitBreakerRule { calendar: day(), instrument: SPOT, range_ppm: 50_000, halt_ms: 10_000 }
}

fn set_breaker(venue: &mut Venue, breaker: CircuitBreakerRule) -> Outcome {
    venue.apply(Command::SetCircuitBreaker(breaker))
}

#[test]
fn the_venue_is_halted_before_any_other_command() {
    let mut venue = venue();
    for number in 2..=600 {
        venue.apply(Command::CreateInstrument(spec(&format!("S{number}"), rules())));
    }
    assert_eq!(halt(&mut venue, HaltScope::Venue, 10), Outcome::Done);
    let mut commands = 1;
    while venue.core.next_due().0 <= venue.time {
        assert!(venue.events.len() <= EVENTS_PER_COMMAND);
        assert_eq!(state_of(&venue, InstrumentId(600)), InstrumentState::Open);
        venue.tick();
        commands += 1;
    }
    assert_eq!(commands, 3);
    let all = (1..=600).map(InstrumentId);
    assert!(all.clone().all(|id| state_of(&venue, id) == InstrumentState::Halted));
    let until = venue.time + 10 * SECOND;
    assert_eq!(venue.core.next_due(), Timestamp(until));
    pass_to(&mut venue, until + SECOND);
    assert!(all.clone().all(|id| state_of(&venue, id) == InstrumentState::Open));
}

#[test]
fn a_halt_goes_on_after_a_restart_in_the_middle_of_it() {
    let mut venue = venue();
    for number in 2..=300 {
        venue.apply(Command::CreateInstrument(spec(&format!("S{number}"), rules())));
    }
    halt(&mut venue, HaltScope::Venue, 10);
    assert_eq!(state_of(&venue, InstrumentId(300)), InstrumentState::Open);
    venue.core = Core::restore(&venue.core.snapshot(), 1).unwrap();
    venue.tick();
    assert_eq!(state_of(&venue, InstrumentId(300)), InstrumentState::Halted);
}

#[test]
fn an_instrument_that_uncrosses_is_halted_when_its_auction_has_ended() {
    for (seconds, expected) in [(10, InstrumentState::Halted), (1, InstrumentState::Open)] {
        let mut venue = venue();
        venue.set_state(InstrumentState::Call);
        for _ in 0..300 {
            venue.enter(buy(ALICE, 101, 1));
            venue.enter(sell(BOB, 99, 1));
        }
        venue.set_state(InstrumentState::Open);
        assert_eq!(state(&venue), InstrumentState::Uncrossing);
        let one = HaltScope::Instrument(SPOT);
        assert_eq!(halt(&mut venue, one, seconds), rejected(RejectReason::InstrumentUncrossing));
        assert_eq!(halt(&mut venue, HaltScope::Venue, seconds), Outcome::Done);
        assert_eq!(state(&venue), InstrumentState::Uncrossing);
        venue.time += SECOND;
        while venue.core.has_background_work() {
            venue.tick();
        }
        assert_eq!(state(&venue), expected, "{seconds}");
    }
}

#[test]
fn the_later_end_of_two_halts_counts() {
    let mut venue = venue();
    let one = HaltScope::Instrument(SPOT);
    halt(&mut venue, one, 10);
    let until = Timestamp(venue.time + 10 * SECOND);
    halt(&mut venue, one, 5);
    assert_eq!((halts(&venue)[0].until, venue.core.next_due()), (until, until));
    halt(&mut venue, HaltScope::Venue, 5);
    assert_eq!(halts(&venue).len(), 1, "only the venue is told of");
    assert_eq!(venue.core.next_due(), until);
    halt(&mut venue, one, 20);
    assert_eq!(venue.core.next_due(), Timestamp(venue.time + 20 * SECOND));
}

#[test]
fn a_state_that_an_operator_sets_ends_a_halt() {
    for state_set in [InstrumentState::Open, InstrumentState::Halted] {
        let mut venue = venue();
        halt(&mut venue, HaltScope::Instrument(SPOT), 10);
        assert_eq!(venue.set_state(state_set), Outcome::Done);
        assert_eq!(venue.core.next_due(), Timestamp::MAX);
        assert_eq!(state(&venue), state_set);
    }
}

#[test]
fn a_halt_of_a_call_trades_nothing_before_the_next_call_has_ended() {
    let mut venue = venue();
    venue.set_state(InstrumentState::Call);
    venue.enter(buy(ALICE, 101, 5));
    venue.enter(sell(BOB, 99, 5));
    halt(&mut venue, HaltScope::Instrument(SPOT), 10);
    let begun = venue.time;
    pass_to(&mut venue, begun + 3_600 * SECOND);
    assert_eq!((state(&venue), venue.queue(Side::Buy).len()), (InstrumentState::Call, 1));
    venue.set_state(InstrumentState::Open);
    assert_eq!((state(&venue), venue.queue(Side::Buy).len()), (InstrumentState::Open, 0));
}

/// A planned call of a phase that leads to another one, with a no-cancel period in its last ten seconds.
/// It is halted in its second second for ten.
fn halted_call(rules_version: u32, state: InstrumentState, next: InstrumentState) -> (Venue, u64) {
    let mut venue = Venue::under(rules_version, rules());
    set_auction_rules(&mut venue, AuctionRules { call_ms: 1_000, ..AuctionRules::PLAIN });
    let begun = venue.time;
    let call = PlannedTransition {
        earliest_end: Timestamp(begun + 60 * SECOND),
        next,
        no_cancel_from: Timestamp(begun + 50 * SECOND),
        ..PlannedTransition::plain(Timestamp(begun + SECOND), state)
    };
    let calendar = day();
    venue.apply(Command::PlanTransition { calendar, number: 0, transition: call });
    venue.apply(Command::AdoptPlan { calendar, count: 1, digest: 0, seed: 3, replace: true });
    venue.apply(Command::AssignCalendar { instrument: SPOT, calendar });
    pass_to(&mut venue, begun + SECOND);
    halt(&mut venue, HaltScope::Instrument(SPOT), 10);
    (venue, begun)
}

#[test]
fn a_planned_call_goes_on_after_a_halt_and_leads_where_it_was_to_lead() {
    use InstrumentState::{Call, Closed, ClosingCall, Open};
    for (phase, next) in [(Call, Open), (Call, Closed), (ClosingCall, Open), (ClosingCall, Closed)]
    {
        let (mut venue, begun) = halted_call(6, phase, next);
        pass_to(&mut venue, begun + 12 * SECOND);
        assert_eq!(state(&venue), phase);
        let order = venue.enter(buy(ALICE, 100, 5));
        pass_to(&mut venue, begun + 50 * SECOND);
        assert_eq!(venue.cancel(ALICE, order), rejected(RejectReason::NoCancelPeriod));
        pass_to(&mut venue, begun + 60 * SECOND);
        assert_eq!(state(&venue), next, "{phase:?}");
    }
    // As versions before 6 decided: the halt forgot which call it was.
    let (mut venue, begun) = halted_call(5, Call, Closed);
    pass_to(&mut venue, begun + 11 * SECOND);
    assert_eq!(state(&venue), ClosingCall);
}

#[test]
fn a_halt_that_began_under_the_rules_before_goes_on_as_it_began() {
    let (mut venue, begun) = halted_call(5, InstrumentState::Call, InstrumentState::Closed);
    assert_eq!(venue.apply(Command::SetRulesVersion { version: 6 }), Outcome::Done);
    venue.core = Core::restore(&venue.core.snapshot(), 0).unwrap();
    pass_to(&mut venue, begun + 11 * SECOND);
    assert_eq!(state(&venue), InstrumentState::ClosingCall);
}

#[test]
fn a_circuit_breaker_needs_a_reference_price_and_leaves_its_calendar_as_it_is() {
    let mut venue = venue();
    calendar_of(&mut venue, 1);
    assert_eq!(set_breaker(&mut venue, breaker()), Outcome::Done);
    let same = Command::AssignCalendar { instrument: SPOT, calendar: day() };
    assert_eq!(venue.apply(same), Outcome::Done);
    venue.set_rules(rules());
    assert_eq!(set_breaker(&mut venue, breaker()), rejected(RejectReason::CircuitBreakerInvalid));
}

#[test]
fn the_call_after_a_halt_lasts_as_long_as_the_planned_one() {
    let mut venue = venue();
    let begun = venue.time;
    let call = PlannedTransition {
        earliest_end: Timestamp(begun + 60 * SECOND),
        next: InstrumentState::Open,
        ..PlannedTransition::plain(Timestamp(begun + SECOND), InstrumentState::Call)
    };
    let calendar = day();
    venue.apply(Command::PlanTransition { calendar, number: 0, transition: call });
    venue.apply(Command::AdoptPlan { calendar, count: 1, digest: 0, seed: 3, replace: true });
    venue.apply(Command::AssignCalendar { instrument: SPOT, calendar });
    halt(&mut venue, HaltScope::Instrument(SPOT), 10);
    pass_to(&mut venue, begun + 59 * SECOND);
    assert_eq!(state(&venue), InstrumentState::Call);
    pass_to(&mut venue, begun + 60 * SECOND);
    assert_eq!(state(&venue), InstrumentState::Open);
}

#[test]
fn halts_and_circuit_breakers_that_cannot_be_are_refused() {
    let mut venue = venue();
    let one = HaltScope::Instrument(SPOT);
    for duration_ms in [0, 86_400_001] {
        let halted = venue.apply(Command::HaltTrading { scope: one, duration_ms });
        assert_eq!(halted, rejected(RejectReason::HaltInvalid));
    }
    let unknown = [
        (HaltScope::Instrument(InstrumentId(9)), RejectReason::UnknownInstrument),
        (HaltScope::Calendar(day()), RejectReason::UnknownCalendar),
    ];
    for (scope, reason) in unknown {
        assert_eq!(halt(&mut venue, scope, 1), rejected(reason));
    }
    assert_eq!(set_breaker(&mut venue, breaker()), rejected(RejectReason::UnknownCalendar));
    calendar_of(&mut venue, 1);
    venue.apply(Command::CreateInstrument(spec("FREE", rules())));
    let wrong = [
        CircuitBreakerRule { instrument: InstrumentId(2), ..breaker() },
        CircuitBreakerRule { range_ppm: 1_000_000, ..breaker() },
        CircuitBreakerRule { halt_ms: 0, ..breaker() },
        CircuitBreakerRule { halt_ms: 86_400_001, ..breaker() },
    ];
    for wrong in wrong {
        let refused = set_breaker(&mut venue, wrong);
        assert_eq!(refused, rejected(RejectReason::CircuitBreakerInvalid), "{wrong:?}");
    }
    let unlisted = CircuitBreakerRule { instrument: InstrumentId(9), ..breaker() };
    assert_eq!(set_breaker(&mut venue, unlisted), rejected(RejectReason::UnknownInstrument));
}

#[test]
fn versions_before_4_know_neither_halts_nor_circuit_breakers() {
    let mut venue = Venue::under(3, rules());
    let unknown = rejected(RejectReason::CommandUnknown);
    assert_eq!(halt(&mut venue, HaltScope::Venue, 1), unknown);
    assert_eq!(set_breaker(&mut venue, breaker()), unknown);
}

#[test]
fn a_circuit_breaker_halts_its_whole_calendar_once() {
    let mut venue = venue();
    calendar_of(&mut venue, 300);
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    assert_eq!(set_breaker(&mut venue, breaker()), Outcome::Done);
    venue.enter(sell(BOB, 106, 5));
    venue.enter(buy(ALICE, 106, 5));
    let until = Timestamp(venue.time + 10 * SECOND);
    let cause = HaltCause::CircuitBreaker;
    let halted = |scope| TradingHalted { scope, until, cause };
    let scopes = [HaltScope::Calendar(day()), HaltScope::Instrument(SPOT)];
    assert_eq!(halts(&venue), scopes.map(halted));
    assert_eq!(venue.queue(Side::Buy), [(106, 5)]);
    // An order in another instrument finds it halted.
    let elsewhere = NewOrder { instrument: InstrumentId(300), ..buy(ALICE, 100, 1) };
    assert_eq!(venue.place(elsewhere), rejected(RejectReason::InstrumentHalted));
    assert_eq!(state_of(&venue, InstrumentId(301)), InstrumentState::Open);

    let begun = venue.time;
    pass_to(&mut venue, begun + 11 * SECOND);
    assert_eq!((state(&venue), venue.queue(Side::Buy)), (InstrumentState::Open, vec![]));
    venue.enter(sell(BOB, 107, 5));
    venue.enter(buy(ALICE, 107, 5));
    assert_eq!(venue.trades(), [(107, 5)], "it is off");
    // The rules of the next day arm it.
    venue.set_rules(TradingRules { reference_price: Price(100), ..rules() });
    venue.enter(sell(BOB, 107, 5));
    let ioc = NewOrder { time_in_force: TimeInForce::Ioc, ..buy(ALICE, 107, 5) };
    venue.enter(ioc);
    assert_eq!(state(&venue), InstrumentState::Halted);
    assert_eq!(venue.done()[0].1, DoneReason::Remainder);
}

#[test]
fn a_fill_or_kill_order_does_not_trip_a_circuit_breaker() {
    let mut venue = venue();
    calendar_of(&mut venue, 1);
    set_breaker(&mut venue, breaker());
    venue.enter(sell(BOB, 106, 5));
    let fok = NewOrder { time_in_force: TimeInForce::Fok, ..buy(ALICE, 106, 5) };
    assert_eq!(venue.place(fok), rejected(RejectReason::Unfillable));
    assert_eq!(state(&venue), InstrumentState::Open);
}

#[test]
fn a_circuit_breaker_can_be_removed_and_keeps_its_instrument_until_then() {
    let mut venue = venue();
    calendar_of(&mut venue, 1);
    set_breaker(&mut venue, breaker());
    let leave = Command::AssignCalendar { instrument: SPOT, calendar: Name::EMPTY };
    assert_eq!(venue.apply(leave), rejected(RejectReason::CircuitBreakerInvalid));
    let removed = CircuitBreakerRule { range_ppm: 0, halt_ms: 0, ..breaker() };
    assert_eq!(set_breaker(&mut venue, removed), Outcome::Done);
    venue.enter(sell(BOB, 106, 5));
    venue.enter(buy(ALICE, 106, 5));
    assert_eq!(venue.trades(), [(106, 5)]);
    assert_eq!(venue.apply(leave), Outcome::Done);
}

/// Limits of 95 and 105, and a limit state of ten seconds.
fn limits() -> AuctionRules {
    AuctionRules {
        limit_range_ppm: 50_000,
        limit_state_ms: 10_000,
        halt_ms: 20_000,
        ..AuctionRules::PLAIN
    }
}

fn limited() -> Venue {
    let mut venue = venue();
    set_auction_rules(&mut venue, limits());
    venue
}

fn limit_states(venue: &Venue) -> Vec<(Side, i64, u64)> {
    let states = venue.events.iter().filter_map(|event| match event {
        Event::LimitStateSet { side, price, until, .. } => Some((*side, price.0, until.0)),
        _ => None,
    });
    states.collect()
}

#[test]
fn a_limit_state_that_is_left_ends_without_a_halt() {
    let mut venue = limited();
    let order = venue.enter(buy(ALICE, 105, 5));
    let until = venue.time + 10 * SECOND;
    assert_eq!(limit_states(&venue), [(Side::Buy, 105, until)]);
    venue.enter(buy(ALICE, 105, 5));
    assert_eq!(limit_states(&venue), [], "it has begun");
    venue.amend(ALICE, order, Some(104), None);
    venue.enter(sell(BOB, 105, 5));
    venue.time = until;
    venue.tick();
    assert_eq!(limit_states(&venue), [(Side::Buy, 0, 0)]);
    assert_eq!((state(&venue), venue.core.next_due()), (InstrumentState::Open, Timestamp::MAX));
}

#[test]
fn a_price_that_comes_back_to_the_limit_has_its_whole_time_again() {
    let mut venue = limited();
    let order = venue.enter(sell(BOB, 95, 5));
    let begun = venue.time;
    venue.time += 6 * SECOND;
    venue.cancel(BOB, order);
    venue.enter(sell(BOB, 95, 5));
    pass_to(&mut venue, begun + 16 * SECOND - 1);
    assert_eq!(state(&venue), InstrumentState::Open);
    pass_to(&mut venue, begun + 16 * SECOND);
    assert_eq!(state(&venue), InstrumentState::Halted);
    let cause = HaltCause::LimitState;
    let until = Timestamp(begun + 36 * SECOND);
    assert_eq!(halts(&venue), [TradingHalted { scope: HaltScope::Instrument(SPOT), until, cause }]);
}

#[test]
fn an_order_behind_the_best_does_not_begin_the_time_at_the_limit_anew() {
    let mut venue = venue();
    venue.enter(buy(ALICE, 107, 5));
    set_auction_rules(&mut venue, limits());
    // Outside the new limits nobody can enter, but what rests there is the best.
    let begun = venue.time;
    let behind = venue.enter(buy(ALICE, 105, 5));
    assert_eq!(limit_states(&venue), [(Side::Buy, 105, begun + 10 * SECOND)]);
    venue.cancel(ALICE, behind);
    venue.time += 6 * SECOND;
    venue.enter(buy(ALICE, 105, 5));
    assert_eq!(limit_states(&venue), []);
    pass_to(&mut venue, begun + 10 * SECOND);
    assert_eq!(state(&venue), InstrumentState::Halted);
}

#[test]
fn market_orders_trade_no_further_than_the_limits() {
    let mut venue = limited();
    venue.enter(sell(BOB, 104, 1));
    set_auction_rules(&mut venue, AuctionRules::PLAIN);
    venue.enter(sell(BOB, 107, 5));
    let rules = AuctionRules { limit_range_ppm: 50_000, ..AuctionRules::PLAIN };
    set_auction_rules(&mut venue, rules);
    venue.enter(market(ALICE, Side::Buy, OrderSize::Base(Quantity(3))));
    assert_eq!(venue.trades(), [(104, 1)]);
    assert_eq!(state(&venue), InstrumentState::Open);
}

#[test]
fn an_auction_may_be_outside_the_limits_and_moves_them() {
    let mut venue = limited();
    venue.set_state(InstrumentState::Call);
    venue.enter(buy(ALICE, 120, 5));
    venue.enter(sell(BOB, 120, 5));
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.trades(), [(120, 5)]);
    let outside = rejected(RejectReason::PriceOutsideLimits);
    assert_eq!(venue.place(buy(ALICE, 113, 1)), outside);
    assert_eq!(venue.place(buy(ALICE, 127, 1)), outside);
    venue.enter(buy(ALICE, 114, 1));
}

#[test]
fn an_instrument_that_opens_at_a_limit_is_in_a_limit_state() {
    let mut venue = limited();
    venue.set_state(InstrumentState::Call);
    venue.enter(buy(ALICE, 105, 5));
    venue.set_state(InstrumentState::Open);
    let until = venue.time + 10 * SECOND;
    assert_eq!(limit_states(&venue), [(Side::Buy, 105, until)]);
    venue.set_state(InstrumentState::Call);
    assert_eq!(venue.core.next_due(), Timestamp::MAX, "another phase ends it");
}

#[test]
fn an_order_that_slides_stays_inside_the_limits() {
    let mut venue = venue();
    venue.enter(sell(BOB, 95, 5));
    set_auction_rules(&mut venue, AuctionRules { limit_range_ppm: 50_000, ..AuctionRules::PLAIN });
    let post_only = rialto_model::PostOnly::Slide;
    let slides = NewOrder { post_only, ..buy(ALICE, 100, 1) };
    assert_eq!(venue.place(slides), rejected(RejectReason::PriceOutsideLimits));
}
