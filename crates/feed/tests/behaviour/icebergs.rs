//! Icebergs: what the public sees of them, and what their owners see.

use crate::stage::*;
use rialto_model::*;

/// The sell orders that the public sees, first to trade first, and what they display.
fn queue(stage: &Stage) -> Vec<(OrderId, i64)> {
    let book = stage.feed.order_book(MARKET, 10).unwrap();
    book.asks.iter().map(|order| (order.order, order.displayed.0)).collect()
}

/// What an iceberg displays at most and now.
fn displays(stage: &Stage, order: u64) -> (i64, i64) {
    let iceberg = stage.feed.order(order_id(order)).unwrap().iceberg.unwrap();
    (iceberg.display_quantity.0, iceberg.displayed.0)
}

/// Alice's sell order of this remaining quantity is changed to another price and total quantity.
fn amended(number: u64, (old_price, remaining): (i64, i64), price: i64, quantity: i64) -> Event {
    Event::Amended(Amended {
        order: order_id(number),
        account: ALICE,
        instrument: MARKET,
        side: Side::Sell,
        old_price: Price(old_price),
        old_remaining: Quantity(remaining),
        price: Price(price),
        quantity: Quantity(quantity),
        remaining: Quantity(quantity),
        old_reserved: reserve(Side::Sell, old_price, remaining),
        reserved: reserve(Side::Sell, price, quantity),
    })
}

fn reduced(number: u64, price: i64, by: i64, remaining: i64) -> Event {
    Event::Reduced(Reduced {
        order: order_id(number),
        account: ALICE,
        instrument: MARKET,
        side: Side::Sell,
        reason: ReduceReason::Amended,
        price: Price(price),
        by: Quantity(by),
        remaining: Quantity(remaining),
        released: reserve(Side::Sell, price, by),
    })
}

/// An iceberg of 1,000 that displays 100, and behind it a plain order of 30, both at 105.
fn iceberg_and_plain() -> (Stage, u64, u64) {
    let mut stage = Stage::new();
    let iceberg = stage.iceberg(105, 1_000, 100);
    let plain = stage.rest(ALICE, Side::Sell, 105, 30);
    (stage, iceberg, plain)
}

#[test]
fn the_public_sees_what_is_displayed_and_the_owner_all() {
    let (stage, iceberg, plain) = iceberg_and_plain();
    assert_eq!(stage.depth(), [vec![], vec![(105, 130, 2)]]);
    assert_eq!(queue(&stage), [(order_id(iceberg), 100), (order_id(plain), 30)]);
    let ask = stage.feed.best_prices(MARKET).unwrap().ask.unwrap();
    assert_eq!((ask.quantity, ask.orders), (Quantity(130), 2));
    assert_eq!(displays(&stage, iceberg), (100, 100));
    let view = stage.feed.order(order_id(iceberg)).unwrap();
    assert_eq!((view.remaining, view.quantity), (Quantity(1_000), Quantity(1_000)));
    assert_eq!(view.reserved, reserve(Side::Sell, 105, 1_000));
    assert_eq!(stage.feed.order(order_id(plain)).unwrap().iceberg, None);
}

#[test]
fn deltas_have_what_is_displayed() {
    let mut stage = Stage::new();
    let told = stage.step(&[
        accepted(90, ALICE, Side::Sell, 105, 1_000, false),
        iceberg_set(90, 100),
        rested(90, 105, 1_000),
    ]);
    let quantities: Vec<_> = told.books[0].asks.iter().map(|level| level.quantity.0).collect();
    assert_eq!(quantities, [100]);
    assert_eq!(told.bests[0].ask.unwrap().quantity, Quantity(100));
    let told = stage.take(90, 91, 105, 30, 970);
    assert_eq!(told.books[0].asks[0].quantity, Quantity(70));
}

#[test]
fn a_new_part_is_displayed_at_the_end_of_the_queue() {
    let (mut stage, iceberg, plain) = iceberg_and_plain();
    stage.take(iceberg, 91, 105, 40, 960);
    assert_eq!(queue(&stage), [(order_id(iceberg), 60), (order_id(plain), 30)]);
    let mut events = stage.taking(iceberg, 92, 105, 60, 900);
    events.push(refreshed(iceberg, 105, 100));
    let told = stage.step(&events);
    assert_eq!(queue(&stage), [(order_id(plain), 30), (order_id(iceberg), 100)]);
    assert_eq!(told.books[0].asks[0].quantity, Quantity(130));
    assert_eq!(displays(&stage, iceberg), (100, 100));
    let view = told.orders.iter().find(|order| order.order == order_id(iceberg)).unwrap();
    assert_eq!((view.remaining, view.filled), (Quantity(900), Quantity(100)));
}

#[test]
fn one_trade_may_go_through_several_parts() {
    let mut stage = Stage::new();
    let iceberg = stage.iceberg(105, 1_000, 100);
    let mut events = stage.taking(iceberg, 91, 105, 250, 750);
    events.push(refreshed(iceberg, 105, 50));
    stage.step(&events);
    assert_eq!(stage.depth()[1], [(105, 50, 1)]);
    // The last part is smaller.
    let mut events = stage.taking(iceberg, 92, 105, 730, 20);
    events.push(refreshed(iceberg, 105, 20));
    stage.step(&events);
    assert_eq!(stage.depth()[1], [(105, 20, 1)]);
    stage.take(iceberg, 93, 105, 20, 0);
    assert_eq!(stage.depth()[1], []);
    let view = stage.feed.order(order_id(iceberg)).unwrap();
    assert_eq!((view.status, displays(&stage, iceberg)), (OrderStatus::Filled, (100, 0)));
}

#[test]
fn after_a_trade_of_an_auction_it_displays_as_much_as_it_may_in_its_place() {
    let (mut stage, iceberg, plain) = iceberg_and_plain();
    stage.step(&[Event::InstrumentStateSet { instrument: MARKET, state: InstrumentState::Call }]);
    stage.step(&[accepted(91, BOB, Side::Buy, 105, 40, true)]);
    let all = reserve(Side::Buy, 105, 40);
    let mut deal = trade((iceberg, ALICE), (91, BOB), Side::Buy, (105, 40), (960, 0), all);
    deal.auction = true;
    stage.step(&[Event::Trade(deal)]);
    assert_eq!(queue(&stage), [(order_id(iceberg), 100), (order_id(plain), 30)]);
    assert_eq!(displays(&stage, iceberg), (100, 100));
}

#[test]
fn both_sides_of_a_trade_of_an_auction_may_be_icebergs() {
    let mut stage = Stage::new();
    let sell = stage.iceberg(105, 1_000, 100);
    stage.step(&[Event::InstrumentStateSet { instrument: MARKET, state: InstrumentState::Call }]);
    let (order, account, side) = (order_id(91), BOB, Side::Buy);
    let (instrument, display_quantity, price) = (MARKET, Quantity(50), Price(105));
    let set = IcebergSet { order, account, instrument, side, display_quantity };
    let remaining = Quantity(400);
    stage.step(&[
        accepted(91, BOB, side, 105, 400, false),
        Event::IcebergSet(set),
        Event::Rested(Rested { order, account, instrument, side, price, remaining }),
    ]);
    let unreserved = Amount(reserve(side, 105, 400).0 - reserve(side, 105, 20).0);
    let mut deal = trade((sell, ALICE), (91, BOB), side, (105, 380), (620, 20), unreserved);
    deal.auction = true;
    stage.step(&[Event::Trade(deal)]);
    assert_eq!(stage.depth(), [vec![(105, 20, 1)], vec![(105, 100, 1)]]);
    assert_eq!((displays(&stage, sell), displays(&stage, 91)), ((100, 100), (50, 20)));
}

#[test]
fn what_is_hidden_is_reduced_first_and_the_public_learns_nothing() {
    let (mut stage, iceberg, plain) = iceberg_and_plain();
    let told = stage.step(&[reduced(iceberg, 105, 850, 150)]);
    assert!(told.books.is_empty() && told.bests.is_empty(), "{told:?}");
    assert_eq!(told.orders.len(), 1);
    assert_eq!(stage.depth()[1], [(105, 130, 2)]);
    let told = stage.step(&[reduced(iceberg, 105, 90, 60)]);
    assert_eq!(told.books[0].asks[0].quantity, Quantity(90));
    assert_eq!(queue(&stage), [(order_id(iceberg), 60), (order_id(plain), 30)]);
    assert_eq!(displays(&stage, iceberg), (100, 60));
}

#[test]
fn a_larger_quantity_at_the_same_price_is_hidden_and_keeps_the_place() {
    let (mut stage, iceberg, plain) = iceberg_and_plain();
    let told = stage.step(&[amended(iceberg, (105, 1_000), 105, 1_500)]);
    assert!(told.books.is_empty() && told.bests.is_empty(), "{told:?}");
    assert_eq!(told.orders[0].remaining, Quantity(1_500));
    assert_eq!(queue(&stage), [(order_id(iceberg), 100), (order_id(plain), 30)]);
    assert_eq!(stage.reserved(ALICE, BTC), reserve(Side::Sell, 105, 1_530).0);
}

#[test]
fn at_another_price_it_displays_as_much_as_it_may() {
    let (mut stage, iceberg, plain) = iceberg_and_plain();
    stage.take(iceberg, 91, 105, 40, 960);
    let amended = Event::Amended(Amended {
        old_remaining: Quantity(960),
        quantity: Quantity(1_000),
        remaining: Quantity(960),
        old_reserved: reserve(Side::Sell, 105, 960),
        reserved: reserve(Side::Sell, 106, 960),
        ..match amended(iceberg, (105, 960), 106, 1_000) {
            Event::Amended(amended) => amended,
            _ => unreachable!(),
        }
    });
    stage.step(&[amended, rested(iceberg, 106, 960)]);
    assert_eq!(stage.depth()[1], [(105, 30, 1), (106, 100, 1)]);
    assert_eq!(queue(&stage), [(order_id(plain), 30), (order_id(iceberg), 100)]);
    assert_eq!(displays(&stage, iceberg), (100, 100));
}

#[test]
fn an_amended_price_that_slides_back_loses_the_place() {
    for quantity in [900, 1_000] {
        let (mut stage, iceberg, plain) = iceberg_and_plain();
        let events =
            [amended(iceberg, (105, 1_000), 105, quantity), rested(iceberg, 105, quantity)];
        stage.step(&events);
        assert_eq!(queue(&stage), [(order_id(plain), 30), (order_id(iceberg), 100)]);
    }
}

#[test]
fn it_displays_nothing_before_it_is_on_the_book() {
    let mut stage = Stage::new();
    stage.step(&[accepted(90, ALICE, Side::Sell, 105, 1_000, false), iceberg_set(90, 100)]);
    assert_eq!(displays(&stage, 90), (100, 0));
    stage.step(&[cancelled(90, ALICE, Side::Sell, 105, 1_000)]);
    let view = stage.feed.order(order_id(90)).unwrap();
    assert_eq!((view.status, displays(&stage, 90)), (OrderStatus::Cancelled, (100, 0)));
}

#[test]
fn the_indicative_price_counts_what_is_hidden() {
    let mut stage = Stage::new();
    let iceberg = stage.iceberg(105, 1_000, 100);
    stage.step(&[Event::InstrumentStateSet { instrument: MARKET, state: InstrumentState::Call }]);
    stage.step(&[accepted(91, BOB, Side::Buy, 105, 400, true)]);
    let indicative = |stage: &mut Stage| {
        stage.feed.refresh_auction(MARKET, &mut |_| {});
        let found = stage.feed.auction(MARKET).unwrap().indicative.unwrap();
        (found.price.0, found.volume.0, found.surplus.0)
    };
    assert_eq!(indicative(&mut stage), (105, 400, -600));
    let told = stage.step(&[amended(iceberg, (105, 1_000), 105, 1_500)]);
    assert!(told.books.is_empty(), "{told:?}");
    assert_eq!(stage.feed.auctions_to_refresh().count(), 1);
    assert_eq!(indicative(&mut stage), (105, 400, -1_100));
    stage.step(&[reduced(iceberg, 105, 1_000, 500)]);
    assert_eq!(indicative(&mut stage), (105, 400, -100));
    assert_eq!(stage.depth(), [vec![(105, 400, 1)], vec![(105, 100, 1)]]);
}

#[test]
fn events_that_contradict_earlier_ones_are_refused() {
    let fails = |events: &dyn Fn(&Stage, u64, u64) -> Vec<Event>| {
        let (mut stage, iceberg, plain) = iceberg_and_plain();
        let events = events(&stage, iceberg, plain);
        stage.try_step(&events).unwrap_err().to_string()
    };
    let after_trade = |event: fn(u64) -> Event| {
        fails(&|stage, iceberg, _| {
            let mut events = stage.taking(iceberg, 91, 105, 100, 900);
            events.push(event(iceberg));
            events
        })
    };
    let error = after_trade(|iceberg| refreshed(iceberg, 105, 90));
    assert!(error.contains("what it displays of order"), "{error}");
    let error = after_trade(|iceberg| refreshed(iceberg, 104, 100));
    assert!(error.contains("the price of order"), "{error}");
    let error = fails(&|_, _, plain| vec![refreshed(plain, 105, 30)]);
    assert!(error.contains("its being an iceberg"), "{error}");
    let error = fails(&|_, iceberg, _| vec![iceberg_set(iceberg, 50)]);
    assert!(error.contains("its stay on the book"), "{error}");
    for display_quantity in [-1, 0, 11] {
        let entered = accepted(91, ALICE, Side::Sell, 105, 10, false);
        let error = fails(&|_, _, _| vec![entered, iceberg_set(91, display_quantity)]);
        assert!(error.contains("its display of less than remains"), "{error}");
    }
}
