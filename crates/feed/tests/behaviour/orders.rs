//! The life of an order: its view, its place on the book and what it moves.

use crate::stage::*;
use rialto_feed::{Role, Update};
use rialto_model::*;

#[test]
fn an_order_that_rests_is_on_the_book_and_reserved() {
    let mut stage = Stage::new();
    let order = stage.rest(ALICE, Side::Buy, 100, 50);
    assert_eq!(stage.depth(), [vec![(100, 50, 1)], vec![]]);
    assert_eq!(stage.reserved(ALICE, USD), 5_010);
    assert_eq!(stage.available(ALICE, USD), 1_000_000_000 - 5_010);
    let view = stage.feed.order(order_id(order)).unwrap();
    assert_eq!((view.status, view.resting), (OrderStatus::Open, true));
    assert_eq!(view.accepted.unwrap().seq, stage.feed.seq());
    assert_eq!(stage.feed.account(ALICE).unwrap().open_orders, 1);
}

#[test]
fn a_cancel_gives_everything_back_and_is_remembered() {
    let mut stage = Stage::new();
    let order = stage.rest(ALICE, Side::Sell, 100, 50);
    assert_eq!(stage.reserved(ALICE, BTC), 500_000);
    stage.step(&[cancelled(order, ALICE, Side::Sell, 100, 50)]);
    assert_eq!(stage.reserved(ALICE, BTC), 0);
    assert_eq!(stage.depth(), [vec![], vec![]]);
    assert_eq!(stage.feed.open_orders(ALICE).count(), 0);
    let view = stage.feed.ended_orders(ALICE).next().unwrap();
    assert_eq!((view.status, view.done), (OrderStatus::Cancelled, Some(DoneReason::Cancelled)));
    assert_eq!((view.remaining, view.reserved), (Quantity(50), Amount(0)));
}

#[test]
fn a_trade_moves_both_currencies_the_fees_and_the_reserves() {
    let mut stage = Stage::new();
    let maker = stage.rest(ALICE, Side::Sell, 1_000, 100);
    // Bob buys 60 at up to 1,100: reserved 66,132; paid 60,000 and a fee of 120.
    let all = reserve(Side::Buy, 1_100, 60);
    let deal = trade((maker, ALICE), (90, BOB), Side::Buy, (1_000, 60), (40, 0), all);
    let told = stage.step(&[accepted(90, BOB, Side::Buy, 1_100, 60, false), Event::Trade(deal)]);
    assert_eq!(stage.available(BOB, USD), 1_000_000_000 - 60_120);
    assert_eq!(stage.reserved(BOB, USD), 0);
    assert_eq!(stage.available(BOB, BTC), 1_000_000_000 + 600_000);
    assert_eq!(stage.available(ALICE, USD), 1_000_000_000 + 60_000 - 60);
    assert_eq!(stage.reserved(ALICE, BTC), 400_000);
    assert_eq!(stage.available(AccountId::FEES, USD), 180);
    assert_eq!(stage.available(AccountId::TRANSIT, USD), -2_000_000_000);
    assert_eq!(stage.depth(), [vec![], vec![(1_000, 40, 1)]]);
    let taker = stage.feed.order(order_id(90)).unwrap();
    assert_eq!((taker.status, taker.filled), (OrderStatus::Filled, Quantity(60)));
    assert_eq!(taker.filled_notional, Some(Amount(60_000)));
    assert_eq!(taker.fee, Some(Amount(120)));
    assert_eq!(stage.feed.order(order_id(maker)).unwrap().fee, Some(Amount(60)));
    let sides: Vec<_> = told.fills.iter().map(|f| (f.account, f.role, f.side, f.fee)).collect();
    let (a, b) =
        ((ALICE, Role::Maker, Side::Sell, Amount(60)), (BOB, Role::Taker, Side::Buy, Amount(120)));
    assert_eq!(sides, [a, b]);
}

#[test]
fn the_remainder_of_an_incoming_order_rests_at_the_end_of_the_queue() {
    let mut stage = Stage::new();
    let ask = stage.rest(ALICE, Side::Sell, 100, 30);
    stage.rest(ALICE, Side::Buy, 99, 5);
    let unreserved = Amount(reserve(Side::Buy, 100, 50).0 - reserve(Side::Buy, 100, 20).0);
    stage.step(&[
        accepted(90, BOB, Side::Buy, 100, 50, false),
        Event::Trade(trade((ask, ALICE), (90, BOB), Side::Buy, (100, 30), (0, 20), unreserved)),
        Event::Rested(Rested {
            order: order_id(90),
            account: BOB,
            instrument: MARKET,
            side: Side::Buy,
            price: Price(100),
            remaining: Quantity(20),
        }),
    ]);
    assert_eq!(stage.depth(), [vec![(100, 20, 1), (99, 5, 1)], vec![]]);
    let view = stage.feed.order(order_id(90)).unwrap();
    assert_eq!((view.status, view.resting), (OrderStatus::PartiallyFilled, true));
    assert_eq!(view.reserved, reserve(Side::Buy, 100, 20));
    assert_eq!(stage.feed.order(order_id(ask)).unwrap().status, OrderStatus::Filled);
}

#[test]
fn an_incoming_order_with_more_to_do_is_open_but_not_on_the_book() {
    let mut stage = Stage::new();
    let ask = stage.rest(ALICE, Side::Sell, 100, 30);
    let unreserved = Amount(reserve(Side::Buy, 100, 50).0 - reserve(Side::Buy, 100, 20).0);
    stage.step(&[
        accepted(90, BOB, Side::Buy, 100, 50, false),
        Event::Trade(trade((ask, ALICE), (90, BOB), Side::Buy, (100, 30), (0, 20), unreserved)),
    ]);
    assert_eq!(stage.depth(), [vec![], vec![]]);
    assert!(!stage.feed.open_orders(BOB).next().unwrap().resting);
    let released = reserve(Side::Buy, 100, 20);
    stage.step(&[done(90, BOB, Side::Buy, DoneReason::Remainder, (100, 20), released)]);
    assert_eq!(stage.feed.order(order_id(90)).unwrap().status, OrderStatus::Cancelled);
    assert_eq!(stage.reserved(BOB, USD), 0);
}

#[test]
fn a_reduced_order_keeps_its_place() {
    let mut stage = Stage::new();
    let first = stage.rest(ALICE, Side::Buy, 100, 50);
    let second = stage.rest(BOB, Side::Buy, 100, 10);
    stage.step(&[Event::Reduced(Reduced {
        order: order_id(first),
        account: ALICE,
        instrument: MARKET,
        side: Side::Buy,
        reason: ReduceReason::Amended,
        price: Price(100),
        by: Quantity(20),
        remaining: Quantity(30),
        released: Amount(2_004),
    })]);
    assert_eq!(stage.depth()[0], [(100, 40, 2)]);
    assert_eq!(stage.reserved(ALICE, USD), 5_010 - 2_004);
    let book = stage.feed.order_book(MARKET, 10).unwrap();
    let queue: Vec<_> = book.bids.iter().map(|order| (order.order, order.displayed.0)).collect();
    assert_eq!(queue, [(order_id(first), 30), (order_id(second), 10)]);
    let view = stage.feed.order(order_id(first)).unwrap();
    assert_eq!((view.quantity, view.terms.size), (Quantity(30), OrderSize::Base(Quantity(30))));
}

#[test]
fn an_amended_order_loses_its_place() {
    let mut stage = Stage::new();
    let first = stage.rest(ALICE, Side::Buy, 100, 50);
    let second = stage.rest(BOB, Side::Buy, 101, 10);
    let told = stage.step(&[
        Event::Amended(Amended {
            order: order_id(first),
            account: ALICE,
            instrument: MARKET,
            side: Side::Buy,
            old_price: Price(100),
            old_remaining: Quantity(50),
            price: Price(101),
            quantity: Quantity(60),
            remaining: Quantity(60),
            old_reserved: reserve(Side::Buy, 100, 50),
            reserved: reserve(Side::Buy, 101, 60),
        }),
        Event::Rested(Rested {
            order: order_id(first),
            account: ALICE,
            instrument: MARKET,
            side: Side::Buy,
            price: Price(101),
            remaining: Quantity(60),
        }),
    ]);
    assert_eq!(stage.depth()[0], [(101, 70, 2)]);
    assert_eq!(stage.reserved(ALICE, USD), reserve(Side::Buy, 101, 60).0);
    let book = stage.feed.order_book(MARKET, 10).unwrap();
    assert_eq!([book.bids[0].order, book.bids[1].order], [order_id(second), order_id(first)]);
    let view = stage.feed.order(order_id(first)).unwrap();
    assert_eq!((view.terms.price, view.quantity), (Price(101), Quantity(60)));
    let levels: Vec<_> = told.books[0].bids.iter().map(|l| (l.price.0, l.orders)).collect();
    assert_eq!(levels, [(101, 2), (100, 0)]);
}

#[test]
fn an_order_sized_in_quote_ends_only_with_its_event() {
    let mut stage = Stage::new();
    let ask = stage.rest(ALICE, Side::Sell, 100, 30);
    let mut terms = terms(BOB, Side::Buy, 100, 1);
    (terms.kind, terms.time_in_force) = (OrderKind::Market, TimeInForce::Ioc);
    terms.size = OrderSize::Quote(Amount(1_050));
    let entered = Event::Accepted(Accepted {
        order: order_id(90),
        terms,
        reserved: Amount(1_050),
        rests: false,
    });
    let deal = trade((ask, ALICE), (90, BOB), Side::Buy, (100, 10), (20, 0), Amount(1_002));
    stage.step(&[entered, Event::Trade(deal)]);
    let view = stage.feed.order(order_id(90)).unwrap();
    assert_eq!((view.status, view.remaining), (OrderStatus::PartiallyFilled, Quantity(0)));
    stage.step(&[done(90, BOB, Side::Buy, DoneReason::QuoteSpent, (100, 0), Amount(48))]);
    let view = stage.feed.order(order_id(90)).unwrap();
    assert_eq!((view.status, view.filled), (OrderStatus::Filled, Quantity(10)));
}

#[test]
fn self_trade_decrement_shrinks_one_and_ends_the_other() {
    let mut stage = Stage::new();
    let maker = stage.rest(ALICE, Side::Sell, 100, 30);
    let released = Amount(reserve(Side::Buy, 100, 50).0 - reserve(Side::Buy, 100, 20).0);
    stage.step(&[
        accepted(90, ALICE, Side::Buy, 100, 50, false),
        done(maker, ALICE, Side::Sell, DoneReason::SelfTrade, (100, 30), Amount(300_000)),
        Event::Reduced(Reduced {
            order: order_id(90),
            account: ALICE,
            instrument: MARKET,
            side: Side::Buy,
            reason: ReduceReason::SelfTrade,
            price: Price(100),
            by: Quantity(30),
            remaining: Quantity(20),
            released,
        }),
        Event::Rested(Rested {
            order: order_id(90),
            account: ALICE,
            instrument: MARKET,
            side: Side::Buy,
            price: Price(100),
            remaining: Quantity(20),
        }),
    ]);
    assert_eq!(stage.depth(), [vec![(100, 20, 1)], vec![]]);
    assert_eq!(stage.feed.order(order_id(90)).unwrap().quantity, Quantity(20));
}

#[test]
fn without_risk_nothing_moves_but_volume_is_known() {
    let mut stage = Stage::with(Default::default(), false);
    let entered = |number, account, side, rests| {
        let terms = terms(account, side, 100, 10);
        Event::Accepted(Accepted { order: order_id(number), terms, reserved: Amount(0), rests })
    };
    stage.step(&[entered(80, ALICE, Side::Sell, true)]);
    let nothing = Amount(0);
    let mut deal = trade((80, ALICE), (90, BOB), Side::Buy, (100, 10), (0, 0), nothing);
    (deal.notional, deal.maker_fee, deal.taker_fee) = (nothing, nothing, nothing);
    let told = stage.step(&[entered(90, BOB, Side::Buy, false), Event::Trade(deal)]);
    assert_eq!(told.balances, []);
    assert_eq!(stage.available(BOB, BTC), 1_000_000_000);
    assert_eq!(told.tickers[0].quote_volume, Amount(1_000));
    assert_eq!(stage.feed.order(order_id(90)).unwrap().filled_notional, Some(Amount(1_000)));
}

#[test]
fn an_expired_order_has_its_own_error() {
    let mut stage = Stage::new();
    let order = stage.rest(ALICE, Side::Buy, 100, 50);
    let released = reserve(Side::Buy, 100, 50);
    stage.step(&[done(order, ALICE, Side::Buy, DoneReason::Expired, (100, 50), released)]);
    assert_eq!(stage.feed.order(order_id(order)).unwrap().status, OrderStatus::Expired);
}

#[test]
fn each_order_and_balance_is_published_once_per_command() {
    let mut stage = Stage::new();
    let asks = [100, 101, 102].map(|price| stage.rest(ALICE, Side::Sell, price, 10));
    let mut events = vec![accepted(90, BOB, Side::Buy, 102, 30, false)];
    for (index, ask) in asks.into_iter().enumerate() {
        let left = 20 - 10 * index as i64;
        let unreserved = reserve(Side::Buy, 102, left + 10).0 - reserve(Side::Buy, 102, left).0;
        let deal = (100 + index as i64, 10);
        let sides = ((ask, ALICE), (90, BOB));
        events.push(Event::Trade(trade(
            sides.0,
            sides.1,
            Side::Buy,
            deal,
            (0, left),
            Amount(unreserved),
        )));
    }
    let told = stage.step(&events);
    assert_eq!((told.orders.len(), told.trades.len(), told.fills.len()), (4, 3, 6));
    let takers: Vec<_> = told.orders.iter().filter(|order| order.order == order_id(90)).collect();
    assert_eq!(takers.len(), 1);
    assert_eq!(takers[0].filled, Quantity(30));
    // Alice and Bob in both currencies, and the fees.
    assert_eq!(told.balances.len(), 5);
    assert_eq!(told.tickers.len(), 1);
}

#[test]
fn a_client_order_id_finds_the_last_order_of_that_name() {
    let mut stage = Stage::new();
    let name: ClientOrderId = "mine".parse().unwrap();
    for number in [80, 81] {
        let terms = NewOrder { client_order_id: name, ..terms(ALICE, Side::Buy, 100, 50) };
        let reserved = reserve(Side::Buy, 100, 50);
        stage.step(&[Event::Accepted(Accepted {
            order: order_id(number),
            terms,
            reserved,
            rests: true,
        })]);
        let found = stage.feed.order_by_client_id(ALICE, name).unwrap();
        assert_eq!(found.order, order_id(number));
        stage.step(&[cancelled(number, ALICE, Side::Buy, 100, 50)]);
    }
    assert!(stage.feed.order_by_client_id(ALICE, name).is_some());
    assert!(stage.feed.order_by_client_id(BOB, name).is_none());
}

#[test]
fn several_commands_may_be_published_together() {
    let mut stage = Stage::new();
    let before = stage.feed.seq();
    let mut told = Updates::default();
    for (number, price) in [(80, 100), (81, 101), (82, 100)] {
        let seq = Seq(before.0 + number - 79);
        let event = accepted(number, ALICE, Side::Buy, price, 10, true);
        let mut hear = |update: Update<'_>| told.hear(update);
        stage.feed.fold(seq, Timestamp(SECOND), &event, &mut hear).unwrap();
    }
    let last = Seq(before.0 + 3);
    stage.feed.end_of(last, Timestamp(SECOND), &mut |update| told.hear(update)).unwrap();
    let [delta] = &told.books[..] else { panic!("one delta, not {:?}", told.books) };
    assert_eq!((delta.first_seq, delta.last_seq), (Seq(before.0 + 1), last));
    let levels: Vec<_> = delta.bids.iter().map(|l| (l.price.0, l.quantity.0, l.orders)).collect();
    assert_eq!(levels, [(101, 10, 1), (100, 20, 2)]);
}
