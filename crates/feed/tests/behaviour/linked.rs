//! Linked orders: what their owners see of the links, and that the public sees nothing.

use crate::stage::*;
use rialto_feed::LinksView;
use rialto_model::*;

const NONE: OrderId = OrderId(0);

/// A limit order at a price, or a market order that waits for it.
fn leg(price: i64, waits: bool) -> Leg {
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(price) };
    Leg {
        condition: waits.then_some(Condition::Trigger(trigger)),
        kind: if waits { OrderKind::Market } else { OrderKind::Limit },
        time_in_force: if waits { TimeInForce::Ioc } else { TimeInForce::Gtc },
        price: Price(if waits { 0 } else { price }),
        expire_at: Timestamp::ZERO,
    }
}

fn exits_set(number: u64) -> Event {
    Event::ExitsSet(ExitsSet {
        order: order_id(number),
        account: ALICE,
        instrument: MARKET,
        side: Side::Buy,
        take_profit: Some(leg(110, false)),
        stop_loss: Some(leg(90, true)),
    })
}

fn linked(list: u64, [take_profit, stop_loss]: [OrderId; 2]) -> Event {
    let (list, side) = (order_id(list), Side::Sell);
    let (account, instrument) = (ALICE, MARKET);
    Event::OrdersLinked(OrdersLinked { list, account, instrument, side, take_profit, stop_loss })
}

/// Alice sells at 110, and a stop at 90 that reserves nothing beside it.
fn exits(first: u64, second: u64, quantity: i64) -> Vec<Event> {
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(90) };
    let waits = TriggerSet {
        order: order_id(second),
        account: ALICE,
        instrument: MARKET,
        side: Side::Sell,
        trigger,
    };
    let mut stop = accepted(second, ALICE, Side::Sell, 89, quantity, false);
    if let Event::Accepted(stop) = &mut stop {
        stop.reserved = Amount::ZERO;
    }
    vec![accepted(first, ALICE, Side::Sell, 110, quantity, true), stop, Event::TriggerSet(waits)]
}

fn pair(stage: &mut Stage) {
    let mut events = exits(50, 51, 10);
    events.push(linked(50, [order_id(50), order_id(51)]));
    stage.step(&events);
}

fn done(number: u64, reason: DoneReason, remaining: i64, released: Amount) -> Event {
    Event::Done(Done {
        order: order_id(number),
        account: ALICE,
        instrument: MARKET,
        side: Side::Sell,
        reason,
        price: Price(if number == 51 { 89 } else { 110 }),
        remaining: Quantity(remaining),
        released,
    })
}

fn links(stage: &Stage, number: u64) -> Option<LinksView> {
    stage.feed.order(order_id(number)).unwrap().links
}

fn linked_to(stage: &Stage, number: u64) -> Option<(OrderId, Option<OrderId>)> {
    links(stage, number).map(|links| (links.list, links.other))
}

#[test]
fn an_entry_has_its_exits_until_it_ends() {
    let mut stage = Stage::new();
    stage.step(&[accepted(40, ALICE, Side::Buy, 100, 10, true), exits_set(40)]);
    let (take_profit, stop_loss) = (Some(leg(110, false)), Some(leg(90, true)));
    let expected = LinksView { list: order_id(40), other: None, take_profit, stop_loss };
    assert_eq!(links(&stage, 40), Some(expected));
    let [all, rest] = [10, 6].map(|quantity| reserve(Side::Buy, 100, quantity));
    let part = Amount(all.0 - rest.0);
    let deal = trade((40, ALICE), (60, BOB), Side::Sell, (100, 4), (6, 0), part);
    stage.step(&[accepted(60, BOB, Side::Sell, 100, 4, false), Event::Trade(deal)]);
    assert_eq!(links(&stage, 40), Some(expected), "it has traded a part");
    let deal = trade((40, ALICE), (61, BOB), Side::Sell, (100, 6), (0, 0), rest);
    stage.step(&[accepted(61, BOB, Side::Sell, 100, 6, false), Event::Trade(deal)]);
    let ended = LinksView { take_profit: None, stop_loss: None, ..expected };
    assert_eq!(links(&stage, 40), Some(ended));
}

#[test]
fn orders_are_linked_until_one_of_them_ends() {
    let mut stage = Stage::new();
    pair(&mut stage);
    let [first, second] = [50, 51].map(order_id);
    assert_eq!(linked_to(&stage, 50), Some((first, Some(second))));
    assert_eq!(linked_to(&stage, 51), Some((first, Some(first))));
    stage.step(&[done(51, DoneReason::Linked, 10, Amount::ZERO)]);
    assert_eq!((linked_to(&stage, 50), linked_to(&stage, 51)), (None, Some((first, None))));
    assert_eq!(stage.depth()[1], [(110, 10, 1)]);
}

#[test]
fn an_order_that_is_triggered_reserves_what_it_needs() {
    let mut stage = Stage::new();
    pair(&mut stage);
    let all = reserve(Side::Sell, 110, 10);
    let triggered = Triggered {
        order: order_id(51),
        account: ALICE,
        instrument: MARKET,
        side: Side::Sell,
        price: Price(89),
        remaining: Quantity(10),
        released: Amount(-all.0),
    };
    stage.step(&[done(50, DoneReason::Linked, 10, all), Event::Triggered(triggered)]);
    let view = stage.feed.order(order_id(51)).unwrap();
    assert_eq!((view.reserved, view.links), (all, None));
}

#[test]
fn exits_grow_in_their_places_and_the_public_sees_only_the_book() {
    let mut stage = Stage::new();
    pair(&mut stage);
    let larger = |number: u64, price: i64, reserved: [i64; 2]| {
        let [old_reserved, reserved] =
            reserved.map(|quantity| reserve(Side::Sell, price, quantity));
        Event::Amended(Amended {
            order: order_id(number),
            account: ALICE,
            instrument: MARKET,
            side: Side::Sell,
            old_price: Price(price),
            old_remaining: Quantity(10),
            price: Price(price),
            quantity: Quantity(25),
            remaining: Quantity(25),
            old_reserved,
            reserved,
        })
    };
    let told = stage.step(&[larger(51, 89, [0, 0])]);
    assert!(told.books.is_empty() && told.bests.is_empty(), "{told:?}");
    let view = stage.feed.order(order_id(51)).unwrap();
    assert_eq!((view.remaining, view.quantity), (Quantity(25), Quantity(25)));
    assert_eq!((view.status, view.filled), (OrderStatus::Waiting, Quantity::ZERO));
    let told = stage.step(&[larger(50, 110, [10, 25]), rested(50, 110, 25)]);
    assert_eq!(told.books[0].asks[0].quantity, Quantity(25));
    assert_eq!(linked_to(&stage, 50), Some((order_id(50), Some(order_id(51)))));
}

#[test]
fn an_exit_that_is_entered_alone_is_linked_unless_its_list_is_over() {
    let mut stage = Stage::new();
    let [alone, at_once] = [70, 71].map(order_id);
    stage.step(&[accepted(70, ALICE, Side::Sell, 110, 10, true), linked(40, [alone, NONE])]);
    assert_eq!(linked_to(&stage, 70), Some((order_id(40), None)));
    stage.take(70, 80, 110, 4, 6);
    assert_eq!(links(&stage, 70), None, "it has traded");

    let mut events = exits(72, 71, 10);
    events[0] = linked(41, [NONE, at_once]);
    stage.step(&events);
    assert_eq!(links(&stage, 71), None, "it was told before it was accepted");
}
