//! Entries and the exits that they enter as they trade.

use super::*;

#[test]
fn an_entry_is_accepted_with_its_exits_and_enters_them_as_it_trades() {
    let mut venue = at_100();
    let first = enter(&mut venue, around_100());
    assert_eq!(names(&venue), ["Accepted", "ExitsSet"]);
    let entry = Links {
        list: first,
        other: None,
        take_profit: Some(limit_at(110)),
        stop_loss: Some(stop(90, 89)),
    };
    assert_eq!(links(&venue, first), Some(entry));
    venue.enter(sell(BOB, 100, 4));
    assert_eq!(names(&venue), ["Accepted", "Trade"]);
    assert!(venue.core.has_background_work());
    venue.tick();
    assert_eq!(names(&venue), ["Accepted", "Accepted", "TriggerSet", "OrdersLinked"]);
    assert_eq!(quantities(&venue), [6, 4, 4]);
    let exits = [1, 2].map(|by| venue.core.orders_of(ALICE).nth(by).unwrap().id);
    assert_eq!(links(&venue, exits[0]).unwrap().other, Some(exits[1]));
    assert_eq!(venue.balance(ALICE, BASE).1, 4, "two exits, one need");
    assert!(!venue.core.has_background_work());
}

#[test]
fn exits_grow_behind_others_at_their_price() {
    let mut venue = at_100();
    enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    venue.tick();
    venue.enter(sell(BOB, 110, 1));
    assert_eq!(venue.queue(Side::Sell), [(110, 4), (110, 1)]);
    venue.enter(sell(BOB, 100, 3));
    venue.tick();
    assert_eq!(names(&venue), ["Amended", "Rested", "Amended"]);
    assert_eq!(venue.queue(Side::Sell), [(110, 1), (110, 7)]);
    assert_eq!(quantities(&venue), [3, 7, 7]);
}

#[test]
fn an_exit_that_trades_ends_the_other_and_then_the_rest_of_its_entry() {
    let mut venue = at_100();
    let first = enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    venue.tick();
    venue.enter(buy(CAROL, 110, 1));
    assert_eq!(names(&venue), ["Accepted", "Done", "Done", "Trade"]);
    let ended: Vec<_> = venue.done().iter().map(|(_, reason, left)| (*reason, *left)).collect();
    assert_eq!(ended, [(DoneReason::Linked, 4), (DoneReason::Linked, 6)]);
    assert_eq!(venue.done()[1].0, first);
    assert_eq!(quantities(&venue), [3]);
}

#[test]
fn what_an_entry_traded_before_its_exits_grew_gets_exits_of_its_own() {
    let mut venue = at_100();
    let first = enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    venue.tick();
    venue.enter(sell(BOB, 100, 3));
    venue.enter(buy(CAROL, 110, 4));
    assert_eq!(venue.trades(), [(110, 4)]);
    assert_eq!(quantities(&venue), [0_i64; 0]);
    venue.tick();
    assert_eq!(names(&venue), ["Accepted", "Accepted", "TriggerSet", "OrdersLinked"]);
    assert_eq!(quantities(&venue), [3, 3]);
    let list = venue.core.orders_of(ALICE).next().unwrap().links.unwrap().list;
    assert_eq!(list, first);
}

#[test]
fn exits_stay_when_their_entry_is_cancelled() {
    let mut venue = at_100();
    for is_read in [true, false] {
        let first = enter(&mut venue, around_100());
        venue.enter(sell(BOB, 100, 4));
        if is_read {
            venue.tick();
        }
        venue.cancel(ALICE, first);
        assert_eq!(venue.done(), [(first, DoneReason::Cancelled, 6)]);
        venue.tick();
        assert_eq!(quantities(&venue), [4, 4]);
        let exit = venue.core.orders_of(ALICE).next().unwrap().id;
        venue.cancel(ALICE, exit);
        assert_eq!(quantities(&venue), [0_i64; 0]);
    }
}

#[test]
fn an_entry_that_has_not_traded_leaves_nothing() {
    let mut venue = at_100();
    let first = enter(&mut venue, around_100());
    venue.cancel(ALICE, first);
    assert!(!venue.core.has_background_work());
    assert_eq!(venue.set_state(InstrumentState::Listed), Outcome::Done);
}

#[test]
fn a_take_profit_that_would_trade_is_entered_alone() {
    let mut venue = at_100();
    venue.enter(buy(CAROL, 99, 2));
    venue.enter(sell(BOB, 100, 3));
    let terms = NewOrder { time_in_force: TimeInForce::Ioc, ..buy(ALICE, 100, 5) };
    let first = enter(&mut venue, bracket(terms, limit_at(99), stop(90, 89)));
    let told = ["Accepted", "ExitsSet", "Trade", "Done"];
    assert_eq!(names(&venue), told);
    venue.tick();
    assert_eq!(names(&venue), ["OrdersLinked", "Accepted", "Trade", "Rested"]);
    let Event::OrdersLinked(linked) = venue.events[0] else { panic!() };
    assert_eq!((linked.list, linked.stop_loss), (first, OrderId(0)));
    assert_eq!(links(&venue, linked.take_profit), None, "it is a plain order");
    assert_eq!(quantities(&venue), [1]);
}

#[test]
fn a_stop_loss_that_is_reached_is_entered_alone() {
    let mut venue = at_100();
    venue.enter(buy(CAROL, 80, 9));
    let first = enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    // The price falls before the trade is read.
    venue.cancel(ALICE, first);
    last(&mut venue, 90);
    venue.tick();
    let told = ["OrdersLinked", "Accepted", "TriggerSet", "Triggered", "Rested"];
    assert_eq!(names(&venue), told);
    assert_eq!(venue.queue(Side::Sell), [(89, 4)]);
}

#[test]
fn exits_of_an_entry_that_was_an_incoming_order_wait_until_it_stops() {
    let mut venue = at_100();
    for _ in 0..300 {
        venue.enter(sell(BOB, 100, 1));
    }
    enter(&mut venue, bracket(buy(ALICE, 100, 290), limit_at(110), stop(90, 89)));
    assert_eq!(venue.trades().len(), 256);
    venue.tick();
    assert_eq!(venue.trades().len(), 34);
    assert_eq!(names(&venue).last().unwrap(), "OrdersLinked");
    assert_eq!(quantities(&venue), [290, 290]);
}

#[test]
fn exits_are_refused_with_the_reason_and_the_rest_of_their_entry_ends() {
    let mut venue = at_100();
    venue.apply(Command::Withdraw(transfer(ALICE, BASE, FUNDS, "all")));
    let first = enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    venue.apply(Command::Withdraw(transfer(ALICE, BASE, 1, "one")));
    venue.tick();
    assert_eq!(names(&venue), ["ExitsRefused", "Done"]);
    let Event::ExitsRefused(refused) = venue.events[0] else { panic!() };
    assert_eq!((refused.order, refused.reason), (first, RejectReason::InsufficientBalance));
    assert_eq!(venue.done(), [(first, DoneReason::Linked, 6)]);
}

#[test]
fn exits_that_cannot_grow_stay_as_they_are() {
    let mut venue = at_100();
    venue.apply(Command::Withdraw(transfer(ALICE, BASE, FUNDS, "all")));
    let first = enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    venue.tick();
    venue.enter(sell(BOB, 100, 3));
    venue.apply(Command::Withdraw(transfer(ALICE, BASE, 1, "one")));
    venue.tick();
    assert_eq!(names(&venue), ["ExitsRefused", "Done"]);
    assert_eq!(venue.done(), [(first, DoneReason::Linked, 3)]);
    assert_eq!(quantities(&venue), [4, 4]);
    let exit = venue.core.orders_of(ALICE).next().unwrap().id;
    assert!(links(&venue, exit).unwrap().other.is_some(), "they are a pair still");
    venue.enter(buy(CAROL, 110, 4));
    assert_eq!(quantities(&venue), [0_i64; 0]);
    assert!(!venue.core.has_background_work(), "what was refused is not tried again");
}

#[test]
fn exits_that_are_worth_too_little_wait_for_more_while_their_entry_stands() {
    let rules = TradingRules {
        notional_min: rialto_model::Amount(300),
        maker_fee_ppm: 0,
        taker_fee_ppm: 0,
        ..rules()
    };
    for is_cancelled in [false, true] {
        let mut venue = Venue::ruled(rules);
        let first = enter(&mut venue, around_100());
        venue.enter(sell(BOB, 100, 3));
        venue.tick();
        assert_eq!(names(&venue), ["Ticked"], "three at 89 are worth too little");
        if is_cancelled {
            venue.cancel(ALICE, first);
            venue.tick();
            assert_eq!(names(&venue), ["ExitsRefused"]);
            assert_eq!(quantities(&venue), [0_i64; 0]);
        } else {
            venue.enter(sell(BOB, 100, 3));
            venue.tick();
            assert_eq!(quantities(&venue), [4, 6, 6]);
        }
    }
}

#[test]
fn an_entry_keeps_between_its_exits_when_it_is_amended() {
    let mut venue = at_100();
    let first = enter(&mut venue, around_100());
    for (price, is_fine) in [(110, false), (111, false), (109, true), (90, false), (91, true)] {
        let outcome = venue.amend(ALICE, first, Some(price), None);
        let expected = rejected(RejectReason::ExitPriceInvalid);
        assert_eq!(outcome != expected, is_fine, "{price}");
        assert_eq!(outcome.is_rejected(), !is_fine, "{price}");
    }
    venue.enter(sell(BOB, 91, 4));
    venue.tick();
    venue.amend(ALICE, first, Some(92), Some(20));
    venue.enter(sell(BOB, 92, 16));
    venue.tick();
    assert_eq!(quantities(&venue), [20, 20], "what it traded before counts");
}
