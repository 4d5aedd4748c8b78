//! Amendments of orders that are not on the book: ones that wait, linked ones, and an incoming order whose rest
//! moves to the last price that it traded at.

use crate::stage::*;
use rialto_feed::{FoldError, OrderView};
use rialto_model::*;

/// The terms of an order: its limit, its quantity and what it reserves.
type Terms = (i64, i64, Amount);

fn amended(number: u64, account: AccountId, side: Side, from: Terms, to: Terms) -> Event {
    let (old_price, old_remaining, old_reserved) = from;
    let (price, quantity, reserved) = to;
    Event::Amended(Amended {
        order: order_id(number),
        account,
        instrument: MARKET,
        side,
        old_price: Price(old_price),
        old_remaining: Quantity(old_remaining),
        price: Price(price),
        quantity: Quantity(quantity),
        remaining: Quantity(quantity),
        old_reserved,
        reserved,
    })
}

fn trigger_set(number: u64, side: Side, price: i64) -> Event {
    let (account, instrument) = (ALICE, MARKET);
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(price) };
    Event::TriggerSet(TriggerSet { order: order_id(number), account, instrument, side, trigger })
}

/// Alice's market order buys 10 at 115 at most once the last price reaches 110.
fn stop(stage: &mut Stage, time_in_force: TimeInForce) -> u64 {
    let Event::Accepted(mut stop) = accepted(50, ALICE, Side::Buy, 115, 10, false) else {
        unreachable!("it is accepted");
    };
    (stop.terms.kind, stop.terms.time_in_force) = (OrderKind::Market, time_in_force);
    stage.step(&[Event::Accepted(stop), trigger_set(50, Side::Buy, 110)]);
    50
}

fn view(stage: &Stage, number: u64) -> OrderView {
    stage.feed.order(order_id(number)).unwrap()
}

fn buys(price: i64, quantity: i64) -> Terms {
    (price, quantity, reserve(Side::Buy, price, quantity))
}

#[test]
fn a_market_order_that_waits_stays_one() {
    let mut stage = Stage::new();
    let stop = stop(&mut stage, TimeInForce::Ioc);
    let told = stage.step(&[
        amended(stop, ALICE, Side::Buy, buys(115, 10), buys(125, 12)),
        trigger_set(stop, Side::Buy, 120),
    ]);
    assert!(told.books.is_empty() && told.bests.is_empty(), "{told:?}");
    let now = view(&stage, stop);
    assert_eq!((now.status, now.terms.kind), (OrderStatus::Waiting, OrderKind::Market));
    assert_eq!((now.terms.price, now.quantity), (Price(125), Quantity(12)));
    assert_eq!(now.trigger.unwrap().price, Price(120));
    assert_eq!(stage.reserved(ALICE, USD), reserve(Side::Buy, 125, 12).0);
    assert_eq!(told.orders.len(), 1, "it is published once");
}

#[test]
fn an_order_that_waits_becomes_smaller_and_has_the_rest_back() {
    let mut stage = Stage::new();
    let stop = stop(&mut stage, TimeInForce::Gtc);
    stage.step(&[amended(stop, ALICE, Side::Buy, buys(115, 10), buys(115, 4))]);
    let now = view(&stage, stop);
    assert_eq!((now.remaining, now.terms.size), (Quantity(4), OrderSize::Base(Quantity(4))));
    assert_eq!((now.status, now.resting), (OrderStatus::Waiting, false));
    assert_eq!(stage.reserved(ALICE, USD), reserve(Side::Buy, 115, 4).0);
}

#[test]
fn an_order_that_has_ended_shows_what_it_waited_for_last() {
    let mut stage = Stage::new();
    let stop = stop(&mut stage, TimeInForce::Gtc);
    stage.step(&[trigger_set(stop, Side::Buy, 112)]);
    let (order, account, instrument) = (order_id(stop), ALICE, MARKET);
    let (side, price, remaining) = (Side::Buy, Price(115), Quantity(10));
    let released = Amount::ZERO;
    let triggered = Triggered { order, account, instrument, side, price, remaining, released };
    stage.step(&[Event::Triggered(triggered)]);
    assert_eq!(view(&stage, stop).trigger, None, "it waits no more");
    stage.step(&[cancelled(stop, ALICE, Side::Buy, 115, 10)]);
    let now = view(&stage, stop);
    let waited = Trigger { kind: TriggerKind::Stop, price: Price(112) };
    assert_eq!((now.status, now.trigger), (OrderStatus::Cancelled, Some(waited)));
    assert_eq!((now.trail, now.iceberg, now.links), (None, None, None));
}

#[test]
fn a_trailing_stop_that_has_ended_shows_its_distance_and_no_price() {
    let mut stage = Stage::new();
    let trail = TrailTerms { distance: Distance::Price(Price(5)), activation_price: Price(120) };
    let (order, account, instrument, side) = (order_id(50), ALICE, MARKET, Side::Sell);
    stage.step(&[
        accepted(50, ALICE, Side::Sell, 90, 10, false),
        Event::TrailSet(TrailSet { order, account, instrument, side, trail }),
    ]);
    stage.step(&[cancelled(50, ALICE, Side::Sell, 90, 10)]);
    let now = view(&stage, 50);
    assert_eq!((now.trail, now.trigger), (Some(TrailState { trail, extreme: None }), None));
}

#[test]
fn another_trigger_price_alone_moves_no_money() {
    let mut stage = Stage::new();
    let stop = stop(&mut stage, TimeInForce::Gtc);
    let told = stage.step(&[trigger_set(stop, Side::Buy, 112)]);
    assert_eq!(told.balances, []);
    assert_eq!(view(&stage, stop).trigger.unwrap().price, Price(112));
}

#[test]
fn the_reserve_of_a_pair_moves_between_its_orders() {
    let mut stage = Stage::new();
    // The first needs 1,002, the second 110 more.
    let [first, more] = [(100, 10), (111, 10)].map(|(price, quantity)| buys(price, quantity));
    let rest = Amount(more.2.0 - first.2.0);
    let Event::Accepted(mut second) = accepted(61, ALICE, Side::Buy, 111, 10, false) else {
        unreachable!("it is accepted");
    };
    second.reserved = rest;
    let [list, other] = [60, 61].map(order_id);
    stage.step(&[
        accepted(60, ALICE, Side::Buy, 100, 10, true),
        Event::Accepted(second),
        trigger_set(61, Side::Buy, 110),
        Event::OrdersLinked(OrdersLinked {
            list,
            account: ALICE,
            instrument: MARKET,
            side: Side::Buy,
            take_profit: list,
            stop_loss: other,
        }),
    ]);
    let now = buys(105, 10);
    let less = Amount(more.2.0 - now.2.0);
    let price = Price(105);
    let back = Rested {
        order: list,
        account: ALICE,
        instrument: MARKET,
        side: Side::Buy,
        price,
        remaining: Quantity(10),
    };
    stage.step(&[
        amended(61, ALICE, Side::Buy, (111, 10, rest), (111, 10, less)),
        amended(60, ALICE, Side::Buy, first, now),
        Event::Rested(back),
    ]);
    assert_eq!(stage.depth()[0], [(105, 10, 1)]);
    assert_eq!((view(&stage, 60).reserved, view(&stage, 61).reserved), (now.2, less));
    assert_eq!(stage.reserved(ALICE, USD), more.2.0);
    assert_eq!(view(&stage, 61).status, OrderStatus::Waiting);
    assert_eq!(view(&stage, 60).links.unwrap().other, Some(other), "they are linked as before");
}

#[test]
fn an_entry_shows_the_exits_that_were_amended() {
    let mut stage = Stage::new();
    let leg = |price| Leg {
        condition: None,
        kind: OrderKind::Limit,
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    };
    let exits_set = |price| {
        Event::ExitsSet(ExitsSet {
            order: order_id(40),
            account: ALICE,
            instrument: MARKET,
            side: Side::Buy,
            take_profit: Some(leg(price)),
            stop_loss: None,
        })
    };
    stage.step(&[accepted(40, ALICE, Side::Buy, 100, 10, true), exits_set(110)]);
    stage.step(&[exits_set(120)]);
    let links = view(&stage, 40).links.unwrap();
    assert_eq!((links.list, links.take_profit), (order_id(40), Some(leg(120))));
    assert_eq!(stage.depth()[0], [(100, 10, 1)]);
}

/// Bob's order for 50 trades 30 at 100 with a limit of 104.
fn five_levels(stage: &mut Stage) -> Vec<Event> {
    let ask = stage.rest(ALICE, Side::Sell, 100, 30);
    let Event::Accepted(mut taker) = accepted(90, BOB, Side::Buy, 104, 50, false) else {
        unreachable!("it is accepted");
    };
    taker.terms.kind = OrderKind::FiveLevels;
    let unreserved = Amount(buys(104, 50).2.0 - buys(104, 20).2.0);
    let deal = trade((ask, ALICE), (90, BOB), Side::Buy, (100, 30), (0, 20), unreserved);
    vec![Event::Accepted(taker), Event::Trade(deal)]
}

fn moves(price: i64, quantity: i64) -> Event {
    let Event::Amended(mut moves) =
        amended(90, BOB, Side::Buy, buys(104, 20), buys(price, quantity - 30))
    else {
        unreachable!("it is amended");
    };
    moves.quantity = Quantity(quantity);
    Event::Amended(moves)
}

#[test]
fn the_rest_of_an_incoming_order_moves_to_the_price_of_its_last_trade() {
    let mut stage = Stage::new();
    let mut events = five_levels(&mut stage);
    let (price, remaining) = (Price(100), Quantity(20));
    let (order, account, instrument, side) = (order_id(90), BOB, MARKET, Side::Buy);
    let rest = Rested { order, account, instrument, side, price, remaining };
    events.extend([moves(100, 50), Event::Rested(rest)]);
    stage.step(&events);
    assert_eq!(stage.depth(), [vec![(100, 20, 1)], vec![]]);
    let now = view(&stage, 90);
    assert_eq!((now.terms.kind, now.terms.price), (OrderKind::Limit, Price(100)));
    assert_eq!((now.quantity, now.filled), (Quantity(50), Quantity(30)));
    assert_eq!(stage.reserved(BOB, USD), buys(100, 20).2.0);
}

#[test]
fn an_incoming_order_gets_no_other_terms() {
    let mut stage = Stage::new();
    let mut events = five_levels(&mut stage);
    events.push(moves(100, 51));
    let error = stage.try_step(&events).unwrap_err();
    assert!(matches!(error, FoldError::Mismatch { what: "the quantity", .. }), "{error}");

    let mut stage = Stage::new();
    let entered = accepted(90, BOB, Side::Buy, 104, 20, false);
    let moved = amended(90, BOB, Side::Buy, buys(104, 20), buys(100, 20));
    let error = stage.try_step(&[entered, moved]).unwrap_err();
    let what = "its stay on the book";
    assert!(matches!(error, FoldError::Mismatch { what: it, .. } if it == what), "{error}");
}
