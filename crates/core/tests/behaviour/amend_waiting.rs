//! Amendments of orders that wait and of orders of a pair, beside the examples of their pages: events, reserves,
//! the order in which they are entered, and limits.

use crate::venue::*;
use rialto_core::{Core, EVENTS_PER_COMMAND, LEVEL_QUANTITY_MAX};
use rialto_model::{
    AccountId, Amend, AmendTrigger, Command, Condition, ConditionalOrder, Event, InstrumentState,
    Leg, LinkKind, NewOrder, OrderId, OrderKind, OrderList, OrderRef, OrderStatus, Outcome, Price,
    Quantity, RejectReason, TimeInForce, Timestamp, TradingRules, Trigger, TriggerKind,
};

/// A trade of one unit at 100, between two others.
fn at_100() -> Venue {
    let mut venue = Venue::new();
    last(&mut venue, 100);
    venue
}

fn stop_at(price: i64) -> Trigger {
    Trigger { kind: TriggerKind::Stop, price: Price(price) }
}

fn wait(venue: &mut Venue, terms: NewOrder, price: i64) -> OrderId {
    let order = ConditionalOrder { terms, trigger: stop_at(price), immediate: false };
    match venue.apply(Command::PlaceConditional(order)) {
        Outcome::Order { order, status: OrderStatus::Waiting, .. } => order,
        other => panic!("{other:?}"),
    }
}

fn amend_trigger(venue: &mut Venue, account: AccountId, order: OrderId, price: i64) -> Outcome {
    let order = OrderRef::Id(order);
    let amend = Amend { account, order, price: None, quantity: None };
    venue.apply(Command::AmendTrigger(AmendTrigger { amend, trigger_price: Price(price) }))
}

/// The orders that the ticks enter, until nothing is left to do.
fn entered(venue: &mut Venue) -> Vec<OrderId> {
    let mut orders = Vec::new();
    while venue.core.has_background_work() || venue.core.next_due() <= Timestamp(venue.time) {
        venue.tick();
        assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
        orders.extend(venue.events.iter().filter_map(|event| match event {
            Event::Triggered(it) => Some(it.order),
            _ => None,
        }));
    }
    orders
}

#[test]
fn a_price_before_the_amendment_does_not_trigger_the_order() {
    let mut venue = at_100();
    let reached = wait(&mut venue, buy(ALICE, 50, 1), 104);
    let moved = wait(&mut venue, buy(ALICE, 50, 1), 110);
    last(&mut venue, 105);
    last(&mut venue, 98);
    // The call holds up the order that 105 has triggered, so that 105 is queued.
    venue.set_state(InstrumentState::Call);
    let amended = amend_trigger(&mut venue, ALICE, moved, 102);
    assert!(matches!(amended, Outcome::Order { status: OrderStatus::Waiting, .. }), "{amended:?}");
    let late = wait(&mut venue, buy(ALICE, 50, 1), 102);
    venue.set_state(InstrumentState::Open);
    assert_eq!(entered(&mut venue), [reached]);
    last(&mut venue, 103);
    assert_eq!(entered(&mut venue), [moved, late]);
}

#[test]
fn an_order_that_was_moved_often_is_triggered_once() {
    let mut venue = at_100();
    let first = wait(&mut venue, buy(ALICE, 50, 1), 120);
    let other = wait(&mut venue, buy(ALICE, 50, 1), 115);
    for price in [110, 130, 115, 112] {
        amend_trigger(&mut venue, ALICE, first, price);
    }
    last(&mut venue, 111);
    assert_eq!(entered(&mut venue), []);
    last(&mut venue, 116);
    assert_eq!(entered(&mut venue), [first, other]);
    last(&mut venue, 131);
    assert_eq!(entered(&mut venue), []);
}

#[test]
fn an_amendment_tells_what_changed_and_reserves_for_it() {
    let mut venue = at_100();
    let terms = NewOrder { kind: OrderKind::Market, ..buy(ALICE, 0, 10) };
    let order = wait(&mut venue, terms, 110);
    // The limit is 10 % from the trigger price; takers pay 1 %.
    let (_, before) = venue.balance(ALICE, QUOTE);
    assert_eq!(before, 1_210 + 12);
    amend_trigger(&mut venue, ALICE, order, 120);
    let [Event::Amended(amended), Event::TriggerSet(set)] = venue.events[..] else {
        panic!("{:?}", venue.events)
    };
    assert_eq!((amended.order, amended.old_price, amended.price), (order, Price(121), Price(132)));
    assert_eq!((amended.old_reserved.0, amended.reserved.0), (1_222, 1_333));
    assert_eq!((set.order, set.trigger), (order, stop_at(120)));
    assert_eq!(venue.balance(ALICE, QUOTE).1, 1_333);
    // Smaller: the reserve alone falls. The rates stay, though they have changed meanwhile.
    assert_eq!(venue.set_rules(TradingRules { taker_fee_ppm: 20_000, ..rules() }), Outcome::Done);
    assert!(!venue.amend(ALICE, order, None, Some(5)).is_rejected());
    assert_eq!(venue.balance(ALICE, QUOTE).1, 660 + 6);
    // A limit of its own stays when the trigger price moves. The rates are those of today.
    assert!(!venue.amend(ALICE, order, Some(140), None).is_rejected());
    assert_eq!(venue.balance(ALICE, QUOTE).1, 700 + 14);
    amend_trigger(&mut venue, ALICE, order, 125);
    let [Event::TriggerSet(_)] = venue.events[..] else { panic!("{:?}", venue.events) };
    assert_eq!(venue.core.order(order).unwrap().price, Price(140));
    let too_much = venue.amend(ALICE, order, Some(1_000), Some(1_000_000));
    assert_eq!(too_much, rejected(RejectReason::InsufficientBalance));
    assert_eq!(venue.balance(ALICE, QUOTE).1, 714, "a refusal changes nothing");
}

#[test]
fn prices_and_quantities_at_the_ends_of_their_range_are_refused() {
    let mut venue = at_100();
    let order = wait(&mut venue, sell(ALICE, 50, 10), 90);
    let market = NewOrder { kind: OrderKind::Market, ..buy(ALICE, 0, 10) };
    let market = wait(&mut venue, market, 110);
    for price in [i64::MIN, -1, 0] {
        let invalid = rejected(RejectReason::TriggerPriceInvalid);
        assert_eq!(amend_trigger(&mut venue, ALICE, order, price), invalid);
        assert_eq!(amend_trigger(&mut venue, ALICE, market, price), invalid);
        let not_positive = rejected(RejectReason::PriceNotPositive);
        assert_eq!(venue.amend(ALICE, order, Some(price), None), not_positive);
        let quantity = rejected(RejectReason::QuantityNotPositive);
        assert_eq!(venue.amend(ALICE, order, None, Some(price)), quantity);
    }
    let too_large = rejected(RejectReason::QuantityTooLarge);
    assert_eq!(venue.amend(ALICE, order, None, Some(i64::MAX)), too_large);
    let would_trigger = rejected(RejectReason::WouldTrigger);
    assert_eq!(amend_trigger(&mut venue, ALICE, order, i64::MAX), would_trigger);
    // Its limit would be beyond the largest price, and is that; nobody can pay it.
    let too_much = rejected(RejectReason::InsufficientBalance);
    assert_eq!(amend_trigger(&mut venue, ALICE, market, i64::MAX), too_much);
    assert!(!venue.amend(ALICE, order, Some(i64::MAX), None).is_rejected());
    let unknown = rejected(RejectReason::UnknownOrder);
    assert_eq!(amend_trigger(&mut venue, BOB, order, 80), unknown);
    assert_eq!(amend_trigger(&mut venue, ALICE, OrderId(7), 80), unknown);
}

#[test]
fn large_orders_move_to_where_there_is_room() {
    let mut venue =
        Venue::ruled(TradingRules { quantity_max: Quantity(i64::MAX), risk: false, ..rules() });
    last(&mut venue, 100);
    let large = LEVEL_QUANTITY_MAX - 1;
    let (full, small) = (sell(ALICE, 50, large), sell(BOB, 50, 1));
    wait(&mut venue, full, 90);
    let order = wait(&mut venue, small, 90);
    let amend = |venue: &mut Venue, price, quantity| {
        let (account, order) = (BOB, OrderRef::Id(order));
        let amend = Amend { account, order, price: None, quantity: Some(Quantity(quantity)) };
        venue.apply(Command::AmendTrigger(AmendTrigger { amend, trigger_price: Price(price) }))
    };
    // It becomes larger than would fit where it was, and smaller than it was where it goes.
    assert!(!amend(&mut venue, 91, large).is_rejected());
    let too_large = rejected(RejectReason::QuantityTooLarge);
    assert_eq!(amend(&mut venue, 90, large), too_large);
    assert!(!amend(&mut venue, 90, 1).is_rejected());
    assert_eq!(venue.amend(BOB, order, None, Some(large)), too_large);
    last(&mut venue, 90);
    assert_eq!(entered(&mut venue).len(), 2);
}

/// Buys ten units at 100, to be sold at 110 or by a stop at 90.
fn bracket(venue: &mut Venue) -> OrderId {
    let leg = |condition, price| Leg {
        condition,
        kind: OrderKind::Limit,
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    };
    let list = OrderList {
        terms: buy(ALICE, 100, 10),
        condition: None,
        kind: LinkKind::Oto,
        take_profit: Some(leg(None, 110)),
        stop_loss: Some(leg(Some(Condition::Trigger(stop_at(90))), 89)),
    };
    match venue.apply(Command::PlaceList(list)) {
        Outcome::Order { order, .. } => order,
        other => panic!("{other:?}"),
    }
}

#[test]
fn exits_that_are_entered_later_have_the_amended_prices() {
    let mut venue = at_100();
    let entry = bracket(&mut venue);
    venue.enter(sell(BOB, 100, 4));
    entered(&mut venue);
    let (profit, loss) = (OrderId(entry.0 + 2), OrderId(entry.0 + 3));
    assert!(!venue.amend(ALICE, profit, Some(112), None).is_rejected());
    amend_trigger(&mut venue, ALICE, loss, 95);
    let Some(Event::ExitsSet(set)) = venue.events.last() else { panic!("{:?}", venue.events) };
    let triggers = set.stop_loss.and_then(|leg| leg.condition);
    assert_eq!(triggers, Some(Condition::Trigger(stop_at(95))));
    assert_eq!(set.take_profit.map(|leg| leg.price), Some(Price(112)));
    let links = venue.core.order(entry).unwrap().links.unwrap();
    assert_eq!((links.take_profit, links.stop_loss), (set.take_profit, set.stop_loss));
    // The exits end before they are enlarged for what trades now.
    venue.enter(sell(BOB, 100, 3));
    venue.cancel(ALICE, profit);
    entered(&mut venue);
    let orders: Vec<_> = venue.core.orders_of(ALICE).collect();
    let shown: Vec<_> = orders
        .iter()
        .map(|order| (order.trigger.map_or(order.price, |it| it.price).0, order.remaining.0))
        .collect();
    assert_eq!(shown, [(112, 3), (95, 3)]);
}

#[test]
fn the_limit_of_a_market_exit_follows_its_trigger_price_unless_it_was_given() {
    for (given, expected) in [(0, 86), (81, 81)] {
        let mut venue = at_100();
        let leg = Leg {
            condition: Some(Condition::Trigger(stop_at(90))),
            kind: OrderKind::Market,
            time_in_force: TimeInForce::Gtc,
            // 81 is also what market protection gives for 90.
            price: Price(given),
            expire_at: Timestamp::ZERO,
        };
        let list = OrderList {
            terms: buy(ALICE, 100, 10),
            condition: None,
            kind: LinkKind::Oto,
            take_profit: None,
            stop_loss: Some(leg),
        };
        let Outcome::Order { order: entry, .. } = venue.apply(Command::PlaceList(list)) else {
            panic!("it is accepted")
        };
        venue.enter(sell(BOB, 100, 4));
        entered(&mut venue);
        let loss = OrderId(entry.0 + 2);
        assert_eq!(venue.core.order(loss).unwrap().price, Price(81));
        amend_trigger(&mut venue, ALICE, loss, 95);
        assert_eq!(venue.core.order(loss).unwrap().price, Price(expected), "{given}");
        let links = venue.core.order(entry).unwrap().links.unwrap();
        assert_eq!(links.stop_loss.unwrap().price, Price(given));
    }
}

#[test]
fn orders_of_a_pair_stay_in_order_and_trade_with_nobody() {
    let mut venue = at_100();
    let entry = bracket(&mut venue);
    venue.enter(sell(BOB, 100, 4));
    entered(&mut venue);
    venue.enter(buy(BOB, 98, 1));
    let (profit, loss) = (OrderId(entry.0 + 2), OrderId(entry.0 + 3));
    let invalid = rejected(RejectReason::ExitPriceInvalid);
    assert_eq!(venue.amend(ALICE, profit, Some(100), None), invalid, "the limit of the entry");
    assert_eq!(venue.amend(ALICE, profit, Some(85), None), invalid, "beyond the stop-loss");
    last(&mut venue, 105);
    assert_eq!(amend_trigger(&mut venue, ALICE, loss, 101), invalid, "the limit of the entry");
    let quantity = rejected(RejectReason::OrderLinked);
    assert_eq!(venue.amend(ALICE, profit, None, Some(3)), quantity);
    assert_eq!(venue.amend(ALICE, loss, None, Some(5)), quantity);
    assert!(!venue.amend(ALICE, loss, Some(80), Some(4)).is_rejected(), "the same quantity");
    venue.cancel(ALICE, entry);
    venue.enter(buy(BOB, 104, 1));
    let crosses = rejected(RejectReason::WouldCross);
    assert_eq!(venue.amend(ALICE, profit, Some(104), None), crosses);
    assert_eq!(venue.amend(ALICE, profit, Some(90), None), invalid, "at the stop-loss");
    venue.set_state(InstrumentState::Call);
    assert!(!venue.amend(ALICE, profit, Some(104), None).is_rejected(), "it trades in the auction");
}

#[test]
fn the_second_of_a_pair_reserves_what_the_first_does_not() {
    let mut venue = Venue::ruled(TradingRules { taker_fee_ppm: 0, maker_fee_ppm: 0, ..rules() });
    last(&mut venue, 100);
    let list = OrderList {
        terms: buy(ALICE, 90, 5),
        condition: None,
        kind: LinkKind::Oco,
        take_profit: None,
        stop_loss: Some(Leg {
            condition: Some(Condition::Trigger(stop_at(110))),
            kind: OrderKind::Limit,
            time_in_force: TimeInForce::Gtc,
            price: Price(112),
            expire_at: Timestamp::ZERO,
        }),
    };
    let Outcome::Order { order: first, .. } = venue.apply(Command::PlaceList(list)) else {
        panic!("it is accepted")
    };
    let second = OrderId(first.0 + 1);
    let held =
        |venue: &Venue| [first, second].map(|order| venue.core.order(order).unwrap().reserved.0);
    assert_eq!(held(&venue), [450, 110]);
    // All that is left is withdrawn: the pair can be amended as long as it needs no more.
    let (available, _) = venue.balance(ALICE, QUOTE);
    venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, available, "rest")));
    assert!(!venue.amend(ALICE, first, Some(99), None).is_rejected());
    assert_eq!(held(&venue), [495, 65]);
    let amended = |event: &Event| match event {
        Event::Amended(amended) => Some(amended.order),
        _ => None,
    };
    let order: Vec<_> = venue.events.iter().filter_map(amended).collect();
    assert_eq!(order, [second, first], "what is released first");
    assert!(!venue.amend(ALICE, first, Some(80), None).is_rejected());
    assert_eq!(held(&venue), [400, 160]);
    let order: Vec<_> = venue.events.iter().filter_map(amended).collect();
    assert_eq!(order, [first, second]);
    let too_much = venue.amend(ALICE, second, Some(113), None);
    assert_eq!(too_much, rejected(RejectReason::InsufficientBalance));
    assert!(!venue.amend(ALICE, second, Some(111), None).is_rejected());
    assert_eq!(held(&venue), [400, 155]);
}

#[test]
fn a_restart_in_the_middle_of_amendments_changes_nothing() {
    let mut venue = at_100();
    let orders: Vec<_> =
        (0..4).map(|number| wait(&mut venue, buy(ALICE, 50, 1), 104 + number)).collect();
    let entry = bracket(&mut venue);
    let amend = |venue: &mut Venue, order, price| {
        assert!(!amend_trigger(venue, ALICE, order, price).is_rejected());
    };
    let tick = |venue: &mut Venue| assert!(!venue.tick().is_empty());
    let script: [&dyn Fn(&mut Venue); 8] = [
        &|venue| amend(venue, orders[0], 107),
        &|venue| amend(venue, orders[2], 105),
        &|venue| assert!(venue.enter(sell(BOB, 100, 3)) > entry),
        &tick,
        &|venue| amend(venue, OrderId(entry.0 + 3), 97),
        &|venue| last(venue, 105),
        &tick,
        &|venue| last(venue, 108),
    ];
    for step in script {
        let bytes = venue.core.snapshot();
        let core = Core::restore(&bytes, 7).unwrap();
        let mut other = Venue { core, time: venue.time, events: Vec::new() };
        assert_eq!(other.core.snapshot(), bytes);
        step(&mut venue);
        step(&mut other);
        assert_eq!(venue.events, other.events);
        assert_eq!(venue.core.state_hash(), other.core.state_hash());
    }
    assert_eq!(entered(&mut venue), [orders[3], orders[0]]);
}

#[test]
fn a_hundred_thousand_stops_at_one_price_are_entered_in_bounded_commands() {
    let open_orders_max = 100_000;
    let mut venue = Venue::ruled(TradingRules { open_orders_max, ..rules() });
    last(&mut venue, 100);
    let mut expected = Vec::new();
    for _ in 0..100_000 {
        let order = ConditionalOrder {
            terms: NewOrder { time_in_force: TimeInForce::Ioc, ..sell(ALICE, 90, 1) },
            trigger: stop_at(95),
            immediate: false,
        };
        expected.push(venue.unchecked(Command::PlaceConditional(order)));
    }
    let refused = venue.apply(Command::PlaceConditional(ConditionalOrder {
        terms: sell(ALICE, 90, 1),
        trigger: stop_at(95),
        immediate: false,
    }));
    assert_eq!(refused, rejected(RejectReason::OpenOrdersLimit));
    last(&mut venue, 95);
    let mut orders = Vec::new();
    while venue.core.has_background_work() {
        venue.unchecked(Command::Tick);
        assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
        orders.extend(venue.events.iter().filter_map(|event| match event {
            Event::Triggered(it) => Some(it.order),
            _ => None,
        }));
    }
    assert_eq!(orders, expected);
    assert!(venue.core.check().is_ok());
    assert_eq!(venue.core.orders_of(ALICE).count(), 0);
}
