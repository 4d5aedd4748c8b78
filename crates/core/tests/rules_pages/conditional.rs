//! Conditional orders.

use crate::page::{examples, orders};
use crate::venue::{ALICE, BOB, CAROL, SPOT, START, Venue, limit, rejected, rules};
use rialto_model::{
    Command, ConditionalOrder, Distance, DoneReason, Enumeration, Event, InstrumentState,
    MassCancel, NewOrder, OrderId, OrderKind, OrderStatus, Outcome, Price, RejectReason, Restrict,
    Restriction, RestrictionTarget, Side, TimeInForce, Timestamp, TradingRules, TrailTerms,
    TrailingOrder, Trigger, TriggerKind,
};

const PAGE: &str = include_str!("../../../../docs/rules/conditional-orders.md");

/// The examples with an id of this letter, and of as many cells.
fn of(letters: &str, cells: usize) -> impl Iterator<Item = Vec<String>> {
    examples(PAGE).filter(move |row| row.len() == cells && letters.contains(&row[0][..1]))
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

/// Trades one unit at a price, with an order that stands in no other's way.
fn trade_at(venue: &mut Venue, price: i64) {
    venue.enter(limit(ALICE, Side::Sell, price, 1));
    venue.place(limit(CAROL, Side::Buy, price, 1));
    assert_eq!(venue.trades(), [(price, 1)]);
}

#[test]
fn orders_trade_and_rest_as_the_page_says() {
    let mut checked = 0;
    for cells in of("PC", 12) {
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
        let terms = limit(BOB, side, away_from_all, 1);
        let order = venue.apply(Command::PlaceTrailing(TrailingOrder { terms, trail }));
        let Outcome::Order { order, status: OrderStatus::Waiting, .. } = order else {
            panic!("{id}: {order:?}")
        };
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

/// Does what the page says comes between a trigger and the entry.
fn do_between(venue: &mut Venue, what: &str, order: OrderId) {
    let restrict = Restrict {
        target: RestrictionTarget::Account(BOB),
        restriction: Restriction::CancelOnly,
        by_member: false,
        cancel: false,
    };
    match what {
        "nothing" => {}
        "a trade at a price that does not reach the trigger" => trade_at(venue, 105),
        "cancel" => drop(venue.cancel(BOB, order)),
        "amendment" => {
            let refused = venue.amend(BOB, order, None, Some(2));
            assert_eq!(refused, rejected(RejectReason::OrderWaiting));
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
        other => panic!("{other}"),
    }
}

#[test]
fn what_comes_between_has_the_outcome_of_the_page() {
    let mut checked = 0;
    for cells in of("K", 3) {
        let [id, what, outcome] = &cells[..] else { panic!("{cells:?}") };
        let mut venue = Venue::new();
        trade_at(&mut venue, 105);
        let terms = NewOrder {
            time_in_force: TimeInForce::Gtd,
            expire_at: Timestamp(START + 500),
            ..limit(BOB, Side::Sell, 900, 1)
        };
        let stop = Trigger { kind: TriggerKind::Stop, price: Price(100) };
        let order = wait(&mut venue, terms, stop);
        trade_at(&mut venue, 100);
        do_between(&mut venue, what, order);
        let mut events = venue.events.clone();
        venue.tick();
        events.extend(venue.events.iter().copied());
        let happened = events.iter().find_map(|event| match event {
            Event::Triggered(it) if it.order == order => Some("entered"),
            Event::Done(it) if it.order == order => Some(it.reason.name()),
            _ => None,
        });
        assert_eq!(happened.unwrap_or("waits"), outcome, "{id}");
        checked += 1;
    }
    assert_eq!(checked, 11, "the rows of the page");
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
