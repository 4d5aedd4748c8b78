//! Linked orders beside the examples of their page: the order of events, reserves, limits and bounds.

use crate::venue::*;
use rialto_core::{Core, EVENTS_PER_COMMAND, Links};
use rialto_model::{
    Command, Condition, Distance, DoneReason, Event, HaltScope, InstrumentState, Leg, LinkKind,
    MassCancel, MemberId, NewOrder, OrderId, OrderKind, OrderList, Outcome, Price, Quantity,
    RejectReason, Restrict, Restriction, RestrictionTarget, SelfTrade, Side, TimeInForce,
    Timestamp, TradingRules, TrailTerms, Trigger, TriggerKind,
};

fn leg(condition: Option<Condition>, price: i64) -> Leg {
    Leg {
        condition,
        kind: if price == 0 { OrderKind::Market } else { OrderKind::Limit },
        time_in_force: TimeInForce::Gtc,
        price: Price(price),
        expire_at: Timestamp::ZERO,
    }
}

fn limit_at(price: i64) -> Leg {
    leg(None, price)
}

fn trigger(kind: TriggerKind, price: i64) -> Option<Condition> {
    Some(Condition::Trigger(Trigger { kind, price: Price(price) }))
}

fn stop(price: i64, limit: i64) -> Leg {
    leg(trigger(TriggerKind::Stop, price), limit)
}

fn pair(terms: NewOrder, stop_loss: Leg) -> OrderList {
    OrderList {
        terms,
        condition: None,
        kind: LinkKind::Oco,
        take_profit: None,
        stop_loss: Some(stop_loss),
    }
}

fn bracket(terms: NewOrder, take_profit: Leg, stop_loss: Leg) -> OrderList {
    OrderList {
        terms,
        condition: None,
        kind: LinkKind::Oto,
        take_profit: Some(take_profit),
        stop_loss: Some(stop_loss),
    }
}

/// A bracket around 100 for ten units.
fn around_100() -> OrderList {
    bracket(buy(ALICE, 100, 10), limit_at(110), stop(90, 89))
}

fn enter(venue: &mut Venue, list: OrderList) -> OrderId {
    match venue.apply(Command::PlaceList(list)) {
        Outcome::Order { order, .. } => order,
        other => panic!("{list:?} was answered {other:?}"),
    }
}

fn refused(venue: &mut Venue, list: OrderList) -> RejectReason {
    match venue.apply(Command::PlaceList(list)) {
        Outcome::Rejected { reason } => reason,
        other => panic!("{list:?} was answered {other:?}"),
    }
}

/// A venue without fees whose last price is 100.
fn at_100() -> Venue {
    let mut venue = Venue::ruled(TradingRules { maker_fee_ppm: 0, taker_fee_ppm: 0, ..rules() });
    last(&mut venue, 100);
    venue
}

fn next(order: OrderId, by: u64) -> OrderId {
    OrderId(order.0 + by)
}

/// The names of the events of the last command, without what they say.
fn names(venue: &Venue) -> Vec<String> {
    let name = |event: &Event| {
        let text = format!("{event:?}");
        text.split(['(', ' ']).next().unwrap().to_owned()
    };
    venue.events.iter().map(name).collect()
}

fn links(venue: &Venue, order: OrderId) -> Option<Links> {
    venue.core.order(order).unwrap().links
}

/// What an account's orders are for, by age.
fn quantities(venue: &Venue) -> Vec<i64> {
    let mut orders: Vec<_> = venue.core.orders_of(ALICE).collect();
    orders.sort_by_key(|order| order.id);
    orders.into_iter().map(|order| order.remaining.0).collect()
}

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

#[test]
fn a_list_is_remembered_with_all_that_it_was() {
    let mut venue = at_100();
    let client_order_id = "list".parse().unwrap();
    let terms = NewOrder { client_order_id, ..buy(ALICE, 100, 10) };
    let list = bracket(terms, limit_at(110), stop(90, 89));
    let first = enter(&mut venue, list);
    let again = venue.apply(Command::PlaceList(list));
    assert!(matches!(again, Outcome::Order { order, repeated: true, .. } if order == first));
    let others = [
        OrderList { take_profit: Some(limit_at(111)), ..list },
        OrderList { stop_loss: None, ..list },
        OrderList { kind: LinkKind::Oco, take_profit: None, ..list },
        OrderList { condition: trigger(TriggerKind::TakeProfit, 110), ..list },
    ];
    for other in others {
        assert_eq!(refused(&mut venue, other), RejectReason::ClientIdConflict);
    }
    assert_eq!(venue.place(terms), rejected(RejectReason::ClientIdConflict));
    venue.cancel(ALICE, first);
    let again = venue.apply(Command::PlaceList(list));
    assert!(matches!(again, Outcome::Order { repeated: true, .. }));
}

#[test]
fn lists_are_unknown_before_version_9() {
    let mut venue = Venue::under(8, rules());
    let client_order_id = "list".parse().unwrap();
    let terms = NewOrder { client_order_id, ..buy(ALICE, 100, 10) };
    let list = bracket(terms, limit_at(110), stop(90, 89));
    for _ in 0..2 {
        assert_eq!(refused(&mut venue, list), RejectReason::CommandUnknown);
    }
    venue.apply(Command::SetRulesVersion { version: 9 });
    enter(&mut venue, list);
}

#[test]
fn exits_of_an_auction_are_entered_when_trading_begins() {
    let mut venue = at_100();
    venue.set_state(InstrumentState::Call);
    enter(&mut venue, around_100());
    let first = enter(&mut venue, pair(sell(BOB, 99, 4), stop(90, 89)));
    venue.set_state(InstrumentState::Open);
    let ends = venue.done();
    assert_eq!(ends, [(next(first, 1), DoneReason::Linked, 4)], "before its order trades");
    assert_eq!(venue.trades().len(), 1);
    venue.tick();
    assert_eq!(quantities(&venue), [6, 4, 4]);
}

#[test]
fn a_halt_holds_back_exits() {
    let mut venue = at_100();
    enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    let scope = HaltScope::Instrument(SPOT);
    venue.apply(Command::HaltTrading { scope, duration_ms: 1_000 });
    venue.tick();
    assert_eq!(quantities(&venue), [6]);
    venue.set_state(InstrumentState::Open);
    venue.tick();
    assert_eq!(quantities(&venue), [6, 4, 4]);
}

#[test]
fn a_kill_switch_ends_all_orders_of_a_list_and_refuses_exits_that_are_pending() {
    for is_read in [true, false] {
        let mut venue = at_100();
        let first = enter(&mut venue, around_100());
        venue.enter(sell(BOB, 100, 4));
        if is_read {
            venue.tick();
        }
        let target = RestrictionTarget::Account(ALICE);
        let restriction = Restriction::CancelOnly;
        let killed = Restrict { target, restriction, by_member: true, cancel: true };
        venue.apply(Command::Restrict(killed));
        assert_eq!(quantities(&venue), [0_i64; 0]);
        assert_eq!(venue.done()[0], (first, DoneReason::Restricted, 6));
        venue.tick();
        match is_read {
            true => assert_eq!(names(&venue), ["Ticked"]),
            false => assert_eq!(names(&venue), ["ExitsRefused"]),
        }
        assert_eq!(quantities(&venue), [0_i64; 0]);
    }
}

/// All restrictions that refuse an account's orders, without a cancel.
fn restrictions() -> impl Iterator<Item = Restrict> {
    let set = |target, restriction| {
        let (by_member, cancel) = (false, false);
        Restrict { target, restriction, by_member, cancel }
    };
    let member = RestrictionTarget::Member(MemberId(1));
    let owners = [RestrictionTarget::Account(ALICE), member, RestrictionTarget::Venue];
    let both = [Restriction::CancelOnly, Restriction::Frozen];
    let owners = owners.into_iter().flat_map(move |target| both.map(|it| set(target, it)));
    owners.chain([set(RestrictionTarget::Instrument(SPOT), Restriction::CancelOnly)])
}

/// Restricts between the trigger of an order and its entry, and lifts the restriction after that; returns what
/// ended.
fn restrict_before_entry(venue: &mut Venue, restrict: Restrict) -> Vec<(OrderId, DoneReason, i64)> {
    assert!(venue.core.has_background_work(), "an order was triggered");
    assert_eq!(venue.apply(Command::Restrict(restrict)), Outcome::Done);
    assert_eq!(venue.done(), [], "the restriction itself ends nothing");
    venue.tick();
    assert_eq!(venue.trades(), []);
    let done = venue.done();
    venue.apply(Command::Restrict(Restrict { restriction: Restriction::None, ..restrict }));
    assert!(!venue.core.has_background_work());
    done
}

#[test]
fn a_restriction_between_trigger_and_entry_ends_a_pair() {
    let trail = TrailTerms { distance: Distance::Price(Price(10)), activation_price: Price::ZERO };
    let touched = OrderList {
        condition: trigger(TriggerKind::TakeProfit, 110),
        ..pair(sell(ALICE, 109, 10), stop(90, 89))
    };
    for restrict in restrictions() {
        for (list, reached, triggered) in [
            (pair(sell(ALICE, 110, 10), stop(90, 89)), 90, 1),
            (pair(sell(ALICE, 110, 10), leg(Some(Condition::Trail(trail)), 0)), 90, 1),
            (touched, 110, 0),
        ] {
            let mut venue = at_100();
            venue.enter(buy(BOB, 89, 20));
            let first = enter(&mut venue, list);
            last(&mut venue, reached);
            let done = restrict_before_entry(&mut venue, restrict);
            let ended = [
                (next(first, triggered), DoneReason::Restricted, 10),
                (next(first, 1 - triggered), DoneReason::Linked, 10),
            ];
            assert_eq!(done, ended, "{restrict:?} {list:?}");
            assert_eq!(quantities(&venue), [0_i64; 0]);
            assert_eq!(venue.balance(ALICE, BASE), (FUNDS, 0));
        }
    }
}

#[test]
fn a_restriction_that_is_lifted_before_the_entry_has_no_effect() {
    for restrict in restrictions() {
        let mut venue = at_100();
        venue.enter(buy(BOB, 89, 20));
        enter(&mut venue, pair(sell(ALICE, 110, 10), stop(90, 89)));
        last(&mut venue, 90);
        venue.set_state(InstrumentState::Halted);
        venue.apply(Command::Restrict(restrict));
        venue.tick();
        assert_eq!(venue.done(), [], "{restrict:?}");
        venue.apply(Command::Restrict(Restrict { restriction: Restriction::None, ..restrict }));
        venue.set_state(InstrumentState::Open);
        venue.tick();
        assert_eq!(venue.trades(), [(89, 10)], "{restrict:?}");
    }
}

#[test]
fn a_restriction_between_trigger_and_entry_of_an_exit_ends_its_list() {
    for restrict in restrictions() {
        let mut venue = at_100();
        let take_profit = leg(trigger(TriggerKind::TakeProfit, 110), 109);
        let list = bracket(buy(ALICE, 100, 10), take_profit, stop(90, 89));
        let entry = enter(&mut venue, list);
        venue.enter(sell(BOB, 100, 4));
        venue.tick();
        assert_eq!(quantities(&venue), [6, 4, 4]);
        let exits = [1, 2].map(|by| venue.core.orders_of(ALICE).nth(by).unwrap().id);
        last(&mut venue, 110);
        let done = restrict_before_entry(&mut venue, restrict);
        let ended = [
            (exits[0], DoneReason::Restricted, 4),
            (exits[1], DoneReason::Linked, 4),
            (entry, DoneReason::Linked, 6),
        ];
        assert_eq!(done, ended, "{restrict:?}");
        assert_eq!(quantities(&venue), [0_i64; 0]);
        assert_eq!(venue.balance(ALICE, BASE), (FUNDS + 4, 0), "what it bought stays");
        assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 400, 0));
    }
}

#[test]
fn a_mass_cancel_leaves_exits_of_what_traded_before() {
    let mut venue = at_100();
    enter(&mut venue, around_100());
    venue.enter(sell(BOB, 100, 4));
    let all = MassCancel { account: ALICE, instrument: None, side: None };
    venue.apply(Command::MassCancel(all));
    venue.tick();
    assert_eq!(quantities(&venue), [4, 4]);
}

#[test]
fn a_withdrawn_instrument_refuses_exits_that_are_pending() {
    let mut venue = at_100();
    venue.set_state(InstrumentState::Call);
    let first = enter(&mut venue, bracket(buy(ALICE, 100, 4), limit_at(110), stop(90, 89)));
    venue.enter(sell(BOB, 100, 4));
    venue.set_state(InstrumentState::Closed);
    assert_eq!(venue.trades(), [(100, 4)]);
    for state in [InstrumentState::Listed, InstrumentState::Delisted] {
        assert_eq!(venue.set_state(state), rejected(RejectReason::HasOpenOrders));
    }
    venue.set_state(InstrumentState::Withdrawn);
    let refused = venue.events.iter().find_map(|event| match event {
        Event::ExitsRefused(refused) => Some((refused.order, refused.reason)),
        _ => None,
    });
    assert_eq!(refused, Some((first, RejectReason::InstrumentClosed)));
    assert_eq!(venue.set_state(InstrumentState::Listed), Outcome::Done);
}

#[test]
fn an_exit_whose_time_is_over_ends_with_its_list() {
    let mut venue = at_100();
    let expire_at = Timestamp(venue.time + 10);
    let gtd = |leg: Leg| Leg { time_in_force: TimeInForce::Gtd, expire_at, ..leg };
    let list = bracket(buy(ALICE, 100, 10), gtd(limit_at(110)), gtd(stop(90, 89)));
    let first = enter(&mut venue, list);
    venue.enter(sell(BOB, 100, 4));
    venue.tick();
    venue.time += 10;
    venue.tick();
    let reasons: Vec<_> = venue.done().iter().map(|(_, reason, _)| *reason).collect();
    assert_eq!(reasons, [DoneReason::Expired, DoneReason::Expired, DoneReason::Linked]);
    assert_eq!(venue.done()[2].0, first);
    // Exits that are too late are refused.
    let mut venue = at_100();
    let expire_at = Timestamp(venue.time + 10);
    let late = Leg { time_in_force: TimeInForce::Gtd, expire_at, ..limit_at(110) };
    enter(&mut venue, bracket(buy(ALICE, 100, 10), late, stop(90, 89)));
    venue.time += 10;
    venue.enter(sell(BOB, 100, 4));
    venue.tick();
    let Event::ExitsRefused(refused) = venue.events[0] else { panic!("{:?}", venue.events) };
    assert_eq!(refused.reason, RejectReason::ExpiryInvalid);
}

#[test]
fn quantities_and_prices_at_their_limits_are_linked() {
    let most = 1 << 62;
    let rules = TradingRules { quantity_max: Quantity(most), risk: false, ..rules() };
    let mut venue = Venue::ruled(rules);
    let list = bracket(buy(ALICE, 2, most), limit_at(i64::MAX), stop(1, 1));
    enter(&mut venue, list);
    venue.enter(sell(BOB, 2, most - 1));
    venue.tick();
    // What the exit would be worth cannot be expressed.
    let Event::ExitsRefused(refused) = venue.events[0] else { panic!("{:?}", venue.events) };
    assert_eq!(refused.reason, RejectReason::NotionalTooLarge);
    let list = bracket(buy(ALICE, 2, most), limit_at(3), stop(1, 1));
    enter(&mut venue, list);
    venue.enter(sell(BOB, 2, most - 1));
    venue.tick();
    venue.enter(sell(BOB, 2, 1));
    venue.tick();
    assert_eq!(quantities(&venue), [most, most]);
}

#[test]
fn many_lists_that_end_at_once_keep_within_the_bounds() {
    let mut venue = at_100();
    for _ in 0..300 {
        enter(&mut venue, bracket(buy(ALICE, 100, 2), limit_at(110), stop(90, 89)));
    }
    for _ in 0..300 {
        venue.enter(sell(BOB, 100, 1));
    }
    while venue.core.has_background_work() {
        venue.tick();
        assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
    }
    // Only as many trade as end with what is linked to them.
    assert_eq!(quantities(&venue).len(), 150 + 2 * 150);
    venue.enter(buy(CAROL, 110, 300));
    assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
    assert!(venue.done().len() + venue.trades().len() <= 256 + 2);
    venue.apply(Command::MassCancel(MassCancel { account: ALICE, instrument: None, side: None }));
    assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
}

#[test]
fn a_restart_in_the_middle_changes_nothing() {
    let mut venue = at_100();
    enter(&mut venue, around_100());
    enter(&mut venue, pair(sell(BOB, 120, 5), stop(80, 79)));
    let sells = |venue: &mut Venue, quantity| {
        venue.enter(sell(BOB, 100, quantity));
    };
    let ticks = |venue: &mut Venue| {
        venue.tick();
    };
    let script: [&dyn Fn(&mut Venue); 7] = [
        &|venue| sells(venue, 4),
        &ticks,
        &|venue| sells(venue, 3),
        &|venue| last(venue, 110),
        &ticks,
        &|venue| last(venue, 90),
        &ticks,
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
}

#[test]
fn own_exits_that_a_taker_ends_count_with_what_ends_with_them() {
    let mut venue = at_100();
    for number in 0..256 {
        // Each is better than those before, so that it trades.
        let price = 1_000 + number;
        enter(&mut venue, bracket(buy(CAROL, price, 2), limit_at(2_000), stop(90, 89)));
        venue.enter(sell(BOB, price, 1));
        venue.tick();
    }
    assert_eq!(venue.core.orders_of(CAROL).count(), 3 * 256);
    let decrement = Some(SelfTrade::Decrement);
    venue.enter(NewOrder { self_trade: decrement, ..buy(CAROLS_OTHER, 2_000, 1_000) });
    let bound = EVENTS_PER_COMMAND;
    loop {
        assert!(venue.events.len() <= bound, "{} events", venue.events.len());
        if !venue.core.has_background_work() && venue.core.next_due() > Timestamp::ZERO {
            break;
        }
        venue.tick();
    }
    assert_eq!(venue.core.orders_of(CAROL).count(), 0, "all of them have ended");
}

#[test]
fn exits_that_are_to_be_entered_count_as_an_open_order() {
    let mut venue = at_100();
    venue.set_rules(TradingRules { open_orders_max: 2, ..rules() });
    venue.set_state(InstrumentState::Call);
    let with_stop =
        |terms| OrderList { take_profit: None, ..bracket(terms, limit_at(110), stop(90, 89)) };
    for _ in 0..2 {
        enter(&mut venue, with_stop(buy(ALICE, 100, 1)));
    }
    venue.enter(sell(BOB, 100, 2));
    venue.set_state(InstrumentState::Closed);
    while venue.core.has_background_work() {
        venue.tick();
    }
    assert_eq!(venue.core.orders_of(ALICE).count(), 0, "both entries are filled");
    venue.set_state(InstrumentState::Call);
    let third = refused(&mut venue, with_stop(buy(ALICE, 100, 1)));
    assert_eq!(third, RejectReason::OpenOrdersLimit);
    let plain = venue.place(buy(ALICE, 100, 1));
    assert_eq!(plain, rejected(RejectReason::OpenOrdersLimit));
    venue.set_state(InstrumentState::Open);
    venue.tick();
    assert_eq!(quantities(&venue), [1, 1], "their exits are entered in their place");
}
