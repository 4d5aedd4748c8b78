//! Pairs, of which one order trades.

use super::*;

#[test]
fn the_first_fill_of_a_pair_comes_after_the_end_of_its_other_order() {
    let mut venue = at_100();
    let first = enter(&mut venue, pair(sell(ALICE, 110, 10), stop(90, 89)));
    let told = ["Accepted", "Accepted", "TriggerSet", "OrdersLinked"];
    assert_eq!(names(&venue), told);
    let (list, other) = (first, Some(next(first, 1)));
    let linked = Links { list, other, take_profit: None, stop_loss: None };
    assert_eq!(links(&venue, first), Some(linked));
    assert_eq!(links(&venue, next(first, 1)), Some(Links { other: Some(first), ..linked }));
    venue.enter(buy(BOB, 110, 3));
    assert_eq!(names(&venue), ["Accepted", "Done", "Trade"]);
    assert_eq!(venue.done(), [(next(first, 1), DoneReason::Linked, 10)]);
    assert_eq!(links(&venue, first), None, "what is left is a plain order");
    assert!(!venue.amend(ALICE, first, Some(111), None).is_rejected());
}

#[test]
fn a_stop_of_a_pair_is_triggered_with_what_the_first_order_held() {
    let mut venue = at_100();
    let all = venue.balance(ALICE, BASE).0;
    let first = enter(&mut venue, pair(sell(ALICE, 110, 10), stop(90, 89)));
    venue.apply(Command::Withdraw(transfer(ALICE, BASE, all - 10, "rest")));
    assert_eq!(venue.balance(ALICE, BASE), (0, 10));
    venue.enter(buy(BOB, 89, 10));
    last(&mut venue, 90);
    assert_eq!(names(&venue)[..2], ["Accepted", "Trade"]);
    venue.tick();
    assert_eq!(names(&venue), ["Done", "Triggered", "Trade"]);
    assert_eq!(venue.done(), [(first, DoneReason::Linked, 10)]);
    let released = venue.events.iter().find_map(|event| match event {
        Event::Triggered(triggered) => Some(triggered.released.0),
        _ => None,
    });
    assert_eq!(released, Some(-10), "it holds now what it needs");
    assert_eq!(venue.balance(ALICE, BASE), (0, 0));
}

#[test]
fn an_order_of_a_pair_that_ends_takes_the_other_with_it() {
    for which in [0, 1] {
        let mut venue = at_100();
        let first = enter(&mut venue, pair(sell(ALICE, 110, 10), stop(90, 89)));
        venue.cancel(ALICE, next(first, which));
        let ended = [
            (next(first, which), DoneReason::Cancelled),
            (next(first, 1 - which), DoneReason::Linked),
        ];
        let done: Vec<_> =
            venue.done().into_iter().map(|(order, reason, _)| (order, reason)).collect();
        assert_eq!(done, ended);
        assert_eq!(venue.balance(ALICE, BASE), (FUNDS, 0));
    }
}

#[test]
fn a_pair_reserves_the_larger_need_up_to_the_last_unit() {
    let mut venue = at_100();
    let list = pair(buy(ALICE, 90, 10), stop(110, 112));
    venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, FUNDS - 1_119, "rest")));
    assert_eq!(refused(&mut venue, list), RejectReason::InsufficientBalance);
    venue.apply(Command::deposit(transfer(ALICE, QUOTE, 1, "more")));
    let first = enter(&mut venue, list);
    let reserved = |order| venue.core.order(order).unwrap().reserved.0;
    assert_eq!((reserved(first), reserved(next(first, 1))), (900, 220));
    assert_eq!(venue.balance(ALICE, QUOTE), (0, 1_120));
}

#[test]
fn the_orders_of_a_pair_were_not_amended_before_version_10() {
    let mut venue = Venue::under(9, rules());
    last(&mut venue, 100);
    let first = enter(&mut venue, pair(sell(ALICE, 110, 10), stop(90, 89)));
    for order in [first, next(first, 1)] {
        let linked = rejected(RejectReason::OrderLinked);
        assert_eq!(venue.amend(ALICE, order, Some(111), None), linked);
        assert_eq!(venue.amend(ALICE, order, None, Some(5)), linked);
    }
}

#[test]
fn a_pair_of_which_one_is_reduced_is_over() {
    let mut venue = at_100();
    let first = enter(&mut venue, pair(sell(CAROL, 110, 10), stop(90, 89)));
    venue.enter(NewOrder { self_trade: Some(SelfTrade::Decrement), ..buy(CAROLS_OTHER, 110, 4) });
    assert_eq!(names(&venue), ["Accepted", "Done", "Reduced", "Done"]);
    assert_eq!(venue.done()[0], (next(first, 1), DoneReason::Linked, 10));
    assert_eq!(venue.queue(Side::Sell), [(110, 6)]);
    assert_eq!(links(&venue, first), None);
}

#[test]
fn a_pair_that_would_trade_or_be_triggered_is_refused() {
    let mut venue = at_100();
    venue.enter(buy(BOB, 99, 1));
    let list = |price, stop_loss| pair(sell(ALICE, price, 1), stop_loss);
    assert_eq!(refused(&mut venue, list(99, stop(90, 89))), RejectReason::WouldCross);
    assert_eq!(refused(&mut venue, list(110, stop(100, 99))), RejectReason::WouldTrigger);
    let waits = trigger(TriggerKind::TakeProfit, 100);
    let touched = OrderList { condition: waits, ..list(110, stop(90, 89)) };
    assert_eq!(refused(&mut venue, touched), RejectReason::WouldTrigger);
    let waits = trigger(TriggerKind::TakeProfit, 101);
    enter(&mut venue, OrderList { condition: waits, ..touched });
}

#[test]
fn a_pair_needs_room_for_two_orders() {
    let mut venue = at_100();
    venue.set_rules(TradingRules { open_orders_max: 2, ..rules() });
    let plain = venue.enter(buy(ALICE, 50, 1));
    let list = pair(sell(ALICE, 110, 10), stop(90, 89));
    assert_eq!(refused(&mut venue, list), RejectReason::OpenOrdersLimit);
    venue.cancel(ALICE, plain);
    enter(&mut venue, list);
}

#[test]
fn a_trailing_stop_follows_the_price_in_its_pair() {
    let mut venue = at_100();
    let distance = Distance::Price(Price(5));
    let trail = TrailTerms { distance, activation_price: Price::ZERO };
    let trailing = leg(Some(Condition::Trail(trail)), 0);
    let first = enter(&mut venue, pair(sell(ALICE, 110, 10), trailing));
    let told = ["Accepted", "Accepted", "TrailSet", "TrailActivated", "OrdersLinked"];
    assert_eq!(names(&venue), told);
    venue.enter(buy(BOB, 100, 10));
    last(&mut venue, 108);
    last(&mut venue, 103);
    venue.tick();
    assert_eq!(venue.done()[0], (first, DoneReason::Linked, 10));
    assert_eq!(venue.trades(), [(100, 10)]);
}
