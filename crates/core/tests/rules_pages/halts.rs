//! Halts, circuit breakers and the limit state as the page says.

use crate::page::{examples, examples_of, orders, rows};
use crate::venue::{ALICE, BOB, SPOT, Venue, buy, rules, sell};
use rialto_model::{
    AuctionRules, CircuitBreakerRule, Command, Enumeration, Event, HaltScope, InstrumentState,
    Name, Outcome, PlannedTransition, Price, RejectReason, Timestamp, TradingRules,
};

const PAGE: &str = include_str!("../../../../docs/rules/halts.md");
const SECOND: u64 = Timestamp::SECOND;

fn calendar() -> Name {
    "page".parse().unwrap()
}

fn state(venue: &Venue) -> InstrumentState {
    venue.core.instrument(SPOT).unwrap().instrument.state
}

fn state_named(cell: &str) -> InstrumentState {
    InstrumentState::from_name(cell).unwrap_or_else(|| panic!("{cell} is no state"))
}

/// Does what is due until a time, and the background work.
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

fn venue(reference: i64) -> Venue {
    Venue::ruled(TradingRules { reference_price: Price(reference), ..rules() })
}

fn set_auction_rules(venue: &mut Venue, rules: AuctionRules) {
    let set = Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 };
    assert_eq!(venue.apply(set), Outcome::Done);
}

/// The instrument follows a timetable with one transition.
fn follow(venue: &mut Venue, transition: PlannedTransition) {
    let calendar = calendar();
    venue.apply(Command::PlanTransition { calendar, number: 0, transition });
    venue.apply(Command::AdoptPlan { calendar, count: 1, digest: 0, seed: 3, replace: true });
    let assigned = venue.apply(Command::AssignCalendar { instrument: SPOT, calendar });
    assert_eq!(assigned, Outcome::Done);
}

fn halt(venue: &mut Venue, seconds: u64) -> Outcome {
    let duration_ms = seconds as u32 * 1_000;
    venue.apply(Command::HaltTrading { scope: HaltScope::Instrument(SPOT), duration_ms })
}

/// Puts an instrument into a state, with crossing orders if it is to uncross.
fn bring_to(venue: &mut Venue, wanted: InstrumentState) {
    if wanted != InstrumentState::Uncrossing {
        assert!(!venue.set_state(wanted).is_rejected(), "{wanted:?}");
        return;
    }
    venue.set_state(InstrumentState::Call);
    for _ in 0..200 {
        venue.enter(buy(ALICE, 101, 1));
        venue.enter(sell(BOB, 99, 1));
    }
    venue.set_state(InstrumentState::Open);
    assert_eq!(state(venue), wanted);
}

#[test]
fn a_halt_leads_from_state_to_state_as_the_page_says() {
    let mut checked = 0;
    for cells in rows(PAGE).filter(|cells| cells.len() == 4) {
        let Some(before) = InstrumentState::from_name(&cells[0]) else { continue };
        checked += 1;
        let mut venue = venue(100);
        let rules = AuctionRules { call_ms: 60_000, ..AuctionRules::PLAIN };
        set_auction_rules(&mut venue, rules);
        bring_to(&mut venue, before);
        let halted = halt(&mut venue, 10);
        if let Outcome::Rejected { reason } = halted {
            assert_eq!((reason.code(), state(&venue)), (&*cells[1], before));
            continue;
        }
        assert_eq!((&*cells[1], state(&venue)), ("yes", InstrumentState::Halted));
        let begun = venue.time;
        pass_to(&mut venue, begun + 10 * SECOND - 1);
        assert_eq!(state(&venue), InstrumentState::Halted);
        assert_eq!(
            venue.place(buy(ALICE, 100, 1)),
            Outcome::Rejected { reason: RejectReason::InstrumentHalted }
        );
        pass_to(&mut venue, begun + 10 * SECOND);
        assert_eq!(state(&venue), state_named(&cells[2]), "{before:?}");
        pass_to(&mut venue, begun + 70 * SECOND);
        let last = InstrumentState::from_name(&cells[3]).unwrap_or(state_named(&cells[2]));
        assert_eq!(state(&venue), last, "{before:?}");
    }
    assert_eq!(checked, InstrumentState::ALL.len());
}

#[test]
fn transitions_change_a_halt_as_the_page_says() {
    let mut checked = 0;
    for cells in rows(PAGE).filter(|cells| cells.len() == 3) {
        let Some(to) = InstrumentState::from_name(&cells[0]) else { continue };
        let mut venue = venue(100);
        let rules = AuctionRules { call_ms: 60_000, ..AuctionRules::PLAIN };
        set_auction_rules(&mut venue, rules);
        let begun = venue.time;
        let at = Timestamp(begun + 5 * SECOND);
        follow(&mut venue, PlannedTransition::plain(at, to));
        assert_eq!(halt(&mut venue, 10), Outcome::Done);
        pass_to(&mut venue, begun + 5 * SECOND);
        assert_eq!(state(&venue), state_named(&cells[1]), "{to:?}");
        let follows: Vec<_> = match cells[2].split_once(", then ") {
            Some((call, last)) => vec![state_named(call), state_named(last)],
            None => vec![state(&venue), state(&venue)],
        };
        pass_to(&mut venue, begun + 10 * SECOND);
        assert_eq!(state(&venue), follows[0], "{to:?}");
        pass_to(&mut venue, begun + 70 * SECOND);
        assert_eq!(state(&venue), follows[1], "{to:?}");
        checked += 1;
    }
    assert_eq!(checked, 5);
}

/// The seconds of a cell such as `60 s`.
fn seconds(cell: &str) -> u64 {
    cell.strip_suffix(" s").unwrap().parse().unwrap()
}

#[test]
fn planned_calls_go_on_after_a_halt_as_the_page_says() {
    let planned = rows(PAGE).filter(|cells| cells.len() == 6 && cells[2].ends_with(" s"));
    let mut checked = 0;
    for cells in planned {
        let (phase, next) = (state_named(&cells[0]), state_named(&cells[1]));
        let mut venue = venue(100);
        let rules = AuctionRules { call_ms: 60_000, ..AuctionRules::PLAIN };
        set_auction_rules(&mut venue, rules);
        let begun = venue.time;
        let call = PlannedTransition {
            earliest_end: Timestamp(begun + seconds(&cells[2]) * SECOND),
            next,
            ..PlannedTransition::plain(Timestamp(begun + 1), phase)
        };
        follow(&mut venue, call);
        pass_to(&mut venue, begun + 1);
        assert_eq!(state(&venue), phase);
        let until = begun + seconds(&cells[3]) * SECOND;
        venue.apply(Command::HaltTrading {
            scope: HaltScope::Instrument(SPOT),
            duration_ms: ((until - venue.time) / Timestamp::MILLISECOND) as u32,
        });
        pass_to(&mut venue, until);
        assert_eq!(state(&venue), state_named(&cells[4]));
        let (last, at) = cells[5].split_once(" at ").unwrap();
        pass_to(&mut venue, begun + seconds(at) * SECOND - 2_000_000);
        assert_eq!(state(&venue), state_named(&cells[4]), "{phase:?}");
        pass_to(&mut venue, begun + seconds(at) * SECOND);
        assert_eq!(state(&venue), state_named(last), "{phase:?}");
        checked += 1;
    }
    assert_eq!(checked, 4);
}

#[test]
fn a_circuit_breaker_halts_as_the_examples_say() {
    let mut checked = 0;
    for cells in examples_of(PAGE, "H") {
        let mut venue = venue(cells[1].parse().unwrap());
        let never = Timestamp(venue.time + Timestamp::DAY);
        follow(&mut venue, PlannedTransition::plain(never, InstrumentState::Closed));
        let breaker = CircuitBreakerRule {
            calendar: calendar(),
            instrument: SPOT,
            range_ppm: cells[2].parse().unwrap(),
            halt_ms: 900_000,
        };
        assert_eq!(venue.apply(Command::SetCircuitBreaker(breaker)), Outcome::Done);
        for (quantity, price) in orders(&cells[3]) {
            venue.enter(sell(BOB, price, quantity));
        }
        let [(quantity, price)] = orders(&cells[4])[..] else { panic!("{cells:?}") };
        venue.enter(buy(ALICE, price, quantity));
        let traded: Vec<_> = orders(&cells[5]).into_iter().map(|(it, at)| (at, it)).collect();
        assert_eq!(venue.trades(), traded, "{cells:?}");
        let at = venue.events.iter().find_map(|event| match event {
            Event::Interrupted(it) => Some(it.price.0.to_string()),
            _ => None,
        });
        assert_eq!(at.clone().unwrap_or("–".to_owned()), cells[6]);
        let halted = state(&venue) == InstrumentState::Halted;
        assert_eq!(halted, at.is_some());
        checked += 1;
    }
    assert_eq!(checked, 2);
}

/// An instrument with the limits of the page.
fn limited() -> (Venue, Vec<String>) {
    let cells = examples(PAGE).find(|cells| cells[0] == "V2").unwrap();
    let tick = Price(cells[3].parse().unwrap());
    let reference_price = Price(cells[1].parse().unwrap());
    let mut venue = Venue::ruled(TradingRules { tick, reference_price, ..rules() });
    let rules = AuctionRules {
        limit_range_ppm: cells[2].parse().unwrap(),
        limit_state_ms: 15_000,
        halt_ms: 300_000,
        call_ms: 60_000,
        ..AuctionRules::PLAIN
    };
    set_auction_rules(&mut venue, rules);
    (venue, cells)
}

#[test]
fn the_limits_of_trading_are_those_of_the_page() {
    let (mut venue, cells) = limited();
    let prices = |cell: &str| -> Vec<i64> {
        cell.split_whitespace().map(|price| price.parse().unwrap()).collect()
    };
    let mut at_limits = Vec::new();
    for price in prices(&cells[4]) {
        for (side, account, order) in
            [("buy", ALICE, buy(ALICE, price, 1)), ("sell", BOB, sell(BOB, price, 1))]
        {
            let order = venue.enter(order);
            if venue.events.iter().any(|event| matches!(event, Event::LimitStateSet { .. })) {
                at_limits.push(format!("{side} {price}"));
            }
            venue.cancel(account, order);
        }
    }
    at_limits.sort();
    assert_eq!(at_limits.join(", "), cells[6]);
    for price in prices(&cells[5]) {
        let refused = Outcome::Rejected { reason: RejectReason::PriceOutsideLimits };
        assert_eq!(venue.place(buy(ALICE, price, 1)), refused, "{price}");
        assert_eq!(venue.place(sell(BOB, price, 1)), refused, "{price}");
    }
}

#[test]
fn a_price_that_stays_at_a_limit_halts_trading_as_the_page_says() {
    let (mut venue, _) = limited();
    let begun = venue.time;
    let mut checked = 0;
    for cells in rows(PAGE).filter(|cells| cells.len() == 3) {
        let Some(seconds) = cells[0].strip_suffix(" s") else { continue };
        let seconds: u64 = seconds.parse().unwrap();
        pass_to(&mut venue, begun + seconds * SECOND);
        if let [(quantity, price)] = orders(&cells[1])[..] {
            match cells[1].starts_with("buy") {
                true => drop(venue.enter(buy(ALICE, price, quantity))),
                false => drop(venue.enter(sell(BOB, price, quantity))),
            }
            let trades = cells[1].contains("trades");
            assert_eq!(venue.trades().len(), usize::from(trades), "{cells:?}");
        }
        assert_eq!(state(&venue), state_named(&cells[2]), "{cells:?}");
        checked += 1;
    }
    assert_eq!(checked, 8);
}
