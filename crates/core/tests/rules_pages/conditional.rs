//! Conditional orders.

use crate::page::{examples, letters, orders};
use crate::venue::{ALICE, BOB, CAROL, SPOT, START, Venue, limit, rejected, rules};
use rialto_model::{
    Amend, AmendTrigger, Command, Condition, ConditionalOrder, Distance, DoneReason, Enumeration,
    Event, InstrumentState, MassCancel, NewOrder, OrderId, OrderKind, OrderRef, OrderStatus,
    Outcome, Price, RejectReason, Restrict, Restriction, RestrictionTarget, Side, TimeInForce,
    Timestamp, TradingRules, TrailTerms, TrailingOrder, Trigger, TriggerKind,
};

const PAGE: &str = include_str!("../../../../docs/rules/conditional-orders.md");

/// The examples whose ids have the letters of one of these words, and of as many cells.
fn of(words: &'static str, cells: usize) -> impl Iterator<Item = Vec<String>> {
    let is_one = move |row: &Vec<String>| words.split(' ').any(|word| word == letters(&row[0]));
    examples(PAGE).filter(move |row| row.len() == cells && is_one(row))
}

/// `stop 98`
fn trigger(text: &str) -> Trigger {
    let (kind, price) = text.split_once(' ').unwrap();
    let kind = TriggerKind::from_name(kind).unwrap();
    Trigger { kind, price: Price(price.parse().unwrap()) }
}

fn wait(venue: &mut Venue, terms: NewOrder, trigger: Trigger) -> OrderId {
    let order = ConditionalOrder { terms, trigger, immediate: false };
    match venue.apply(Command::PlaceConditional(order)) {
        Outcome::Order { order, status: OrderStatus::Waiting, .. } => order,
        other => panic!("{order:?} was answered {other:?}"),
    }
}

fn follow(venue: &mut Venue, terms: NewOrder, trail: TrailTerms) -> OrderId {
    match venue.apply(Command::PlaceTrailing(TrailingOrder { terms, trail })) {
        Outcome::Order { order, status: OrderStatus::Waiting, .. } => order,
        other => panic!("{terms:?} at {trail:?} was answered {other:?}"),
    }
}

/// Trades one unit at a price, with an order that stands in no other's way.
fn trade_at(venue: &mut Venue, price: i64) {
    venue.enter(limit(ALICE, Side::Sell, price, 1));
    venue.place(limit(CAROL, Side::Buy, price, 1));
    assert_eq!(venue.trades(), [(price, 1)]);
}

#[test]
fn orders_trade_and_rest_as_the_page_says() {
    let mut checked = 0;
    for cells in of("P C", 12) {
        let [id, order, given, waits, last, others, protection, tick, at, trades, left, _] =
            &cells[..]
        else {
            panic!("{cells:?}")
        };
        let mut venue = Venue::ruled(TradingRules {
            market_protection_ppm: protection.parse().unwrap(),
            tick: Price(tick.parse().unwrap()),
            ..rules()
        });
        let [side, quantity, time_in_force] = order.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{order}")
        };
        let side = Side::from_name(side).unwrap();
        let price = given.parse().unwrap_or(0);
        let order = NewOrder {
            kind: if price == 0 { OrderKind::Market } else { OrderKind::Limit },
            time_in_force: TimeInForce::from_name(time_in_force).unwrap(),
            ..limit(BOB, side, price, quantity.parse().unwrap())
        };
        let order = wait(&mut venue, order, trigger(waits));
        trade_at(&mut venue, last.parse().unwrap());
        for (quantity, price) in orders(others) {
            venue.enter(limit(ALICE, side.opposite(), price, quantity));
        }
        venue.tick();
        let made: Vec<_> = venue.trades().into_iter().map(|(price, size)| (size, price)).collect();
        assert_eq!(made, orders(trades), "{id}");
        let Some(Event::Triggered(triggered)) = venue.events.first() else {
            panic!("{id}: {:?}", venue.events)
        };
        assert_eq!((triggered.order, triggered.price.0), (order, at.parse().unwrap()), "{id}");
        let resting = venue.core.order(order).map(|order| (order.price.0, order.remaining.0));
        let ended = match (venue.done().first(), resting) {
            (Some((_, DoneReason::Remainder, left)), None) => format!("{left} cancelled"),
            (None, Some((price, left))) => {
                assert_eq!(price.to_string(), *at, "{id}");
                format!("{left} rest")
            }
            (None, None) => "0 filled".to_owned(),
            other => panic!("{id}: {other:?}"),
        };
        assert_eq!(&ended, left, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 5, "the rows of the page");
}

#[test]
fn triggered_orders_are_entered_in_the_order_of_the_page() {
    let mut checked = 0;
    for cells in of("S", 5) {
        let [id, waiting, prices, entered, _] = &cells[..] else { panic!("{cells:?}") };
        let mut venue = Venue::new();
        trade_at(&mut venue, 100);
        let mut names = Vec::new();
        for order in waiting.split(", ") {
            let [name, side, kind, price] = order.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{order}")
            };
            let side = Side::from_name(side).unwrap();
            // A limit that trades with nobody.
            let away = if side == Side::Buy { 1 } else { 900 };
            let waits = trigger(&format!("{kind} {price}"));
            names.push((wait(&mut venue, limit(BOB, side, away, 1), waits), name));
        }
        for price in prices.split(' ') {
            trade_at(&mut venue, price.parse().unwrap());
        }
        venue.tick();
        let order = venue.events.iter().filter_map(|event| match event {
            Event::Triggered(it) => names.iter().find(|(order, _)| *order == it.order),
            _ => None,
        });
        let order: Vec<_> = order.map(|(_, name)| *name).collect();
        assert_eq!(order.join(" "), *entered, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 3, "the rows of the page");
}

/// `50` or `10000 ppm`
fn distance(text: &str) -> Distance {
    match text.strip_suffix(" ppm") {
        Some(ppm) => Distance::Ppm(ppm.parse().unwrap()),
        None => Distance::Price(Price(text.parse().unwrap())),
    }
}

#[test]
fn trailing_stops_follow_the_price_as_the_page_says() {
    let mut checked = 0;
    for cells in of("T", 10) {
        let [id, side, away, activation, tick, prices, extreme, trigger, at, _] = &cells[..] else {
            panic!("{cells:?}")
        };
        let tick = Price(tick.parse().unwrap());
        let mut venue = Venue::ruled(TradingRules { tick, ..rules() });
        let side = Side::from_name(side).unwrap();
        let mut prices = prices.split(' ').map(|price| price.parse().unwrap());
        trade_at(&mut venue, prices.next().unwrap());
        // A limit that trades with nobody.
        let away_from_all = if side == Side::Buy { tick.0 } else { 90_000 };
        let trail = TrailTerms {
            distance: distance(away),
            activation_price: Price(activation.parse().unwrap_or(0)),
        };
        let order = follow(&mut venue, limit(BOB, side, away_from_all, 1), trail);
        let state = |venue: &Venue| venue.core.order(order).and_then(|order| order.trail);
        let (mut before, mut triggered_at) = (None, None);
        venue.tick();
        for price in prices {
            before = state(&venue).or(before);
            trade_at(&mut venue, price);
            venue.tick();
            if venue.events.iter().any(|event| matches!(event, Event::Triggered(_))) {
                triggered_at = Some(price.to_string());
                break;
            }
        }
        let before = before.unwrap();
        let shown =
            |price: Option<Price>| price.map_or("–".to_owned(), |price| price.to_string());
        assert_eq!(shown(before.extreme), *extreme, "{id}");
        assert_eq!(shown(before.trigger_price(side, tick)), *trigger, "{id}");
        assert_eq!(triggered_at.unwrap_or("–".to_owned()), *at, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 6, "the rows of the page");
}

#[test]
fn trails_without_a_trigger_price_are_refused() {
    let mut venue = Venue::new();
    let plain = limit(BOB, Side::Sell, 90, 5);
    let refused = |venue: &mut Venue, distance, activation| {
        let trail = TrailTerms { distance, activation_price: Price(activation) };
        match venue.apply(Command::PlaceTrailing(TrailingOrder { terms: plain, trail })) {
            Outcome::Rejected { reason } => Some(reason),
            _ => None,
        }
    };
    let five = Distance::Price(Price(5));
    assert_eq!(refused(&mut venue, five, 0), Some(RejectReason::TriggerPriceInvalid));
    trade_at(&mut venue, 100);
    for distance in [-1, 0, 100, i64::MAX] {
        let distance = Distance::Price(Price(distance));
        assert_eq!(refused(&mut venue, distance, 0), Some(RejectReason::TrailInvalid));
    }
    for ppm in [0, 999_999, 1_000_000, u32::MAX] {
        let reason = refused(&mut venue, Distance::Ppm(ppm), 0);
        assert_eq!(reason, Some(RejectReason::TrailInvalid), "{ppm}");
    }
    assert_eq!(refused(&mut venue, five, -1), Some(RejectReason::TriggerPriceInvalid));
    assert_eq!(refused(&mut venue, five, 0), None);
    assert_eq!(refused(&mut venue, Distance::Ppm(1), 0), None);
    let mut old = Venue::under(6, rules());
    assert_eq!(refused(&mut old, five, 100), Some(RejectReason::CommandUnknown));
}

fn amend_trigger(venue: &mut Venue, order: OrderId, price: i64) -> Outcome {
    let order = OrderRef::Id(order);
    let amend = Amend { account: BOB, order, price: None, quantity: None };
    venue.apply(Command::AmendTrigger(AmendTrigger { amend, trigger_price: Price(price) }))
}

/// A call of as many pairs of orders that cross, and what one command trades of its auction.
fn hold_auction(venue: &mut Venue, pairs: usize) {
    venue.set_state(InstrumentState::Call);
    for _ in 0..pairs {
        venue.enter(limit(ALICE, Side::Sell, 105, 1));
        venue.enter(limit(CAROL, Side::Buy, 105, 1));
    }
    venue.set_state(InstrumentState::Open);
    assert!(!venue.trades().is_empty());
    let state = venue.core.instrument(SPOT).unwrap().instrument.state;
    assert_eq!(state == InstrumentState::Uncrossing, pairs > 256);
}

/// Does what the page says comes between a trigger and the entry. Returns the reason of a refusal.
fn do_between(venue: &mut Venue, what: &str, order: OrderId) -> Option<RejectReason> {
    let mut refused = None;
    let restrict = Restrict {
        target: RestrictionTarget::Account(BOB),
        restriction: Restriction::CancelOnly,
        by_member: false,
        cancel: false,
    };
    let kill = Restrict { by_member: true, cancel: true, ..restrict };
    match what {
        "nothing" => {}
        "a trade at a price that does not reach the trigger" => trade_at(venue, 105),
        "cancel" => drop(venue.cancel(BOB, order)),
        "amendment of the trigger price" => match amend_trigger(venue, order, 99) {
            Outcome::Rejected { reason } => refused = Some(reason),
            other => panic!("{other:?}"),
        },
        "amendment of limit and quantity" => {
            let amended = venue.amend(BOB, order, Some(800), Some(2));
            assert!(!amended.is_rejected(), "{amended:?}");
        }
        "mass cancel" => {
            let which = MassCancel { account: BOB, instrument: None, side: None };
            venue.apply(Command::MassCancel(which));
        }
        "the order's expiry" => venue.time += 1_000,
        "cancel_only on the account" => drop(venue.apply(Command::Restrict(restrict))),
        "halt of the instrument" => drop(venue.set_state(InstrumentState::Halted)),
        "halt of the instrument, then open" => {
            venue.set_state(InstrumentState::Halted);
            venue.set_state(InstrumentState::Open);
        }
        "collar that excludes the limit" => {
            let narrow = TradingRules { collar_ppm: 10_000, ..rules() };
            venue.set_rules(narrow);
        }
        "withdrawal of the instrument" => drop(venue.set_state(InstrumentState::Withdrawn)),
        "the kill switch, with cancels" => drop(venue.apply(Command::Restrict(kill))),
        "call of the instrument" => drop(venue.set_state(InstrumentState::Call)),
        "call of the instrument, and cancel" => {
            venue.set_state(InstrumentState::Call);
            venue.cancel(BOB, order);
        }
        "call of the instrument, and its auction" => hold_auction(venue, 1),
        "cancel while an auction trades" => {
            hold_auction(venue, 300);
            match venue.cancel(BOB, order) {
                Outcome::Rejected { reason } => refused = Some(reason),
                other => panic!("{other:?}"),
            }
        }
        "the kill switch, with cancels, while an auction trades" => {
            hold_auction(venue, 300);
            venue.apply(Command::Restrict(kill));
        }
        other => panic!("{other}"),
    }
    refused
}

/// What became of an order of these terms and this trigger, with `what` between the price that triggers it and
/// its entry.
fn outcome_of(terms: NewOrder, condition: Condition, what: &str) -> String {
    let mut venue = Venue::new();
    trade_at(&mut venue, 105);
    let order = match condition {
        Condition::Trigger(trigger) => wait(&mut venue, terms, trigger),
        Condition::Trail(trail) => follow(&mut venue, terms, trail),
    };
    trade_at(&mut venue, 100);
    let refused = do_between(&mut venue, what, order);
    let mut events = venue.events.clone();
    loop {
        venue.tick();
        events.extend(venue.events.iter().copied());
        if !venue.core.has_background_work() {
            break;
        }
    }
    let happened = events.iter().find_map(|event| match event {
        Event::Triggered(it) if it.order == order => match (it.price.0, it.remaining.0) {
            (900, 1) => Some("entered"),
            (800, 2) => Some("entered with them"),
            other => panic!("{other:?}"),
        },
        Event::Done(it) if it.order == order => Some(it.reason.name()),
        _ => None,
    });
    let refused = refused.map(|reason| format!("{}, ", reason.code())).unwrap_or_default();
    format!("{refused}{}", happened.unwrap_or("waits"))
}

#[test]
fn what_comes_between_has_the_outcome_of_the_page() {
    let fixed = |kind| Condition::Trigger(Trigger { kind, price: Price(100) });
    // The trigger price is 100 at both distances from 105.
    let trails = ["5", "47619 ppm"].map(|text| {
        let activation_price = Price::ZERO;
        Condition::Trail(TrailTerms { distance: distance(text), activation_price })
    });
    let mut checked = 0;
    for cells in of("K", 4) {
        let [id, what, of_fixed, of_trailing] = &cells[..] else { panic!("{cells:?}") };
        for (side, condition, expected) in [
            (Side::Sell, fixed(TriggerKind::Stop), of_fixed),
            (Side::Buy, fixed(TriggerKind::TakeProfit), of_fixed),
            (Side::Sell, trails[0], of_trailing),
            (Side::Sell, trails[1], of_trailing),
        ] {
            let terms = NewOrder {
                time_in_force: TimeInForce::Gtd,
                expire_at: Timestamp(START + 500),
                ..limit(BOB, side, 900, 1)
            };
            assert_eq!(outcome_of(terms, condition, what), *expected, "{id}: {condition:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, 4 * 18, "the rows of the page");
}

/// `a buy stop 103`, `a sell stop 95 limit 94` or `a sell trail 5`: its name, and the order that waits.
fn waiting_order<'a>(venue: &mut Venue, text: &'a str) -> (&'a str, OrderId) {
    let words: Vec<_> = text.split(' ').collect();
    let side = Side::from_name(words[1]).unwrap();
    let given = words.get(5).map_or(0, |limit| limit.parse().unwrap());
    let kind = if given == 0 { OrderKind::Market } else { OrderKind::Limit };
    let time_in_force = TimeInForce::Ioc;
    let terms = NewOrder { kind, time_in_force, ..limit(BOB, side, given, 5) };
    if words[2] != "trail" {
        return (words[0], wait(venue, terms, trigger(&words[2..4].join(" "))));
    }
    let trail = TrailTerms { distance: distance(words[3]), activation_price: Price::ZERO };
    (words[0], follow(venue, terms, trail))
}

#[test]
fn waiting_orders_are_amended_as_the_page_says() {
    let mut checked = 0;
    for cells in of("CM", 6) {
        let [id, waiting, steps, answer, entered, _] = &cells[..] else { panic!("{cells:?}") };
        let protection = TradingRules { market_protection_ppm: 50_000, ..rules() };
        let mut venue = Venue::ruled(protection);
        trade_at(&mut venue, 100);
        let names: Vec<_> =
            waiting.split(", ").map(|text| waiting_order(&mut venue, text)).collect();
        let find = |name: &str| names.iter().find(|(known, _)| *known == name).unwrap().1;
        let (mut answered, mut done) = (None, Vec::new());
        for step in steps.split("; ") {
            match step.split(' ').collect::<Vec<_>>()[..] {
                ["amend", name, "stop", price] => {
                    let price = price.parse().unwrap();
                    answered = Some(amend_trigger(&mut venue, find(name), price));
                }
                ["amend", name, quantity] => {
                    let quantity = Some(quantity.parse().unwrap());
                    answered = Some(venue.amend(BOB, find(name), None, quantity));
                }
                [price] => {
                    trade_at(&mut venue, price.parse().unwrap());
                    venue.tick();
                    done.extend(venue.events.iter().filter_map(|event| match event {
                        Event::Triggered(it) => {
                            let (name, _) = names.iter().find(|(_, order)| *order == it.order)?;
                            Some(format!("{name} {}@{}", it.remaining, it.price))
                        }
                        _ => None,
                    }));
                }
                _ => panic!("{step}"),
            }
        }
        let answered = match answered.unwrap() {
            Outcome::Order { status: OrderStatus::Waiting, .. } => "waiting".to_owned(),
            Outcome::Rejected { reason } => reason.code().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(answered, *answer, "{id}");
        let done = if done.is_empty() { "–".to_owned() } else { done.join(" ") };
        assert_eq!(done, *entered, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 6, "the rows of the page");
}

#[test]
fn amendments_without_a_fixed_trigger_price_are_refused() {
    let mut venue = Venue::new();
    trade_at(&mut venue, 100);
    let plain = venue.enter(limit(BOB, Side::Sell, 150, 5));
    let (_, trails) = waiting_order(&mut venue, "a sell trail 5");
    let (_, stop) = waiting_order(&mut venue, "b sell stop 95");
    let invalid = rejected(RejectReason::InvalidCombination);
    assert_eq!(amend_trigger(&mut venue, plain, 90), invalid);
    assert_eq!(amend_trigger(&mut venue, trails, 90), invalid);
    assert_eq!(venue.amend(BOB, trails, Some(90), None), invalid);
    for price in [0, -1, i64::MIN] {
        let refused = amend_trigger(&mut venue, stop, price);
        assert_eq!(refused, rejected(RejectReason::TriggerPriceInvalid), "{price}");
    }
    let would_trigger = rejected(RejectReason::WouldTrigger);
    assert_eq!(amend_trigger(&mut venue, stop, 100), would_trigger);
    let mut old = Venue::under(9, rules());
    trade_at(&mut old, 100);
    let (_, stop) = waiting_order(&mut old, "a sell stop 95");
    assert_eq!(amend_trigger(&mut old, stop, 90), rejected(RejectReason::CommandUnknown));
    let waiting = rejected(RejectReason::OrderWaiting);
    assert_eq!(old.amend(BOB, stop, None, Some(1)), waiting);
}

#[test]
fn other_attributes_are_refused() {
    let mut venue = Venue::new();
    trade_at(&mut venue, 100);
    let plain = limit(BOB, Side::Sell, 90, 5);
    let stop = Trigger { kind: TriggerKind::Stop, price: Price(95) };
    let mut refused = |terms, trigger, immediate| match venue
        .apply(Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate }))
    {
        Outcome::Rejected { reason } => Some(reason),
        _ => None,
    };
    assert_eq!(SPOT, plain.instrument);
    for &time_in_force in TimeInForce::ALL {
        // A session needs a timetable, and the end of a date a date.
        if matches!(time_in_force, TimeInForce::Gfs | TimeInForce::Gtd) {
            continue;
        }
        let fits = matches!(time_in_force, TimeInForce::Gtc | TimeInForce::Day | TimeInForce::Ioc);
        let expected = (!fits).then_some(RejectReason::InvalidCombination);
        assert_eq!(refused(NewOrder { time_in_force, ..plain }, stop, false), expected);
    }
    for kind in [OrderKind::BestPrice, OrderKind::FiveLevels] {
        let reason = refused(NewOrder { kind, price: Price::ZERO, ..plain }, stop, false);
        assert_eq!(reason, Some(RejectReason::InvalidCombination));
    }
    let at = |price| Trigger { price: Price(price), ..stop };
    assert_eq!(refused(plain, at(0), false), Some(RejectReason::TriggerPriceInvalid));
    assert_eq!(refused(plain, at(100), false), Some(RejectReason::WouldTrigger));
    assert_eq!(refused(plain, at(100), true), None);
    let mut old = Venue::under(5, rules());
    let order = ConditionalOrder { terms: plain, trigger: stop, immediate: false };
    let outcome = old.apply(Command::PlaceConditional(order));
    assert_eq!(outcome, rejected(RejectReason::CommandUnknown));
}
