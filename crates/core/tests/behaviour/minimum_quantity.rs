//! The minimum quantity of an order that must trade at once.

use crate::venue::*;
use rialto_model::{
    Amount, InstrumentState, NewOrder, OrderKind, OrderSize, Outcome, PostOnly, Price, Quantity,
    RejectReason, SelfTrade, TimeInForce,
};

fn at_least(minimum: i64, order: NewOrder) -> NewOrder {
    NewOrder { minimum_quantity: Quantity(minimum), ..order }
}

#[test]
fn an_order_trades_at_least_that_much_at_once_or_is_refused() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 2));
    venue.enter(sell(ALICE, 101, 3));
    venue.enter(sell(ALICE, 102, 9));
    let unfillable = rejected(RejectReason::Unfillable);
    assert_eq!(venue.place(at_least(6, buy(BOB, 101, 8))), unfillable);
    assert_eq!(venue.trades(), []);
    venue.enter(at_least(5, buy(BOB, 101, 8)));
    assert_eq!(venue.trades(), [(100, 2), (101, 3)]);
    assert_eq!(venue.queue(rialto_model::Side::Buy), [(101, 3)]);
    // What rests trades in any quantity.
    venue.enter(sell(ALICE, 101, 1));
    assert_eq!(venue.trades(), [(101, 1)]);
    // An order that rests trades nothing at once.
    assert_eq!(venue.place(at_least(1, buy(BOB, 90, 8))), unfillable);
}

#[test]
fn what_is_left_of_an_immediate_order_ends() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 2));
    let ioc = NewOrder { time_in_force: TimeInForce::Ioc, ..buy(BOB, 100, 8) };
    assert_eq!(venue.place(at_least(3, ioc)), rejected(RejectReason::Unfillable));
    let id = venue.enter(at_least(2, ioc));
    assert_eq!(venue.trades(), [(100, 2)]);
    assert_eq!(venue.done(), [(id, rialto_model::DoneReason::Remainder, 6)]);
}

#[test]
fn orders_that_take_their_limit_from_the_book_have_a_minimum_quantity_too() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 2));
    venue.enter(sell(ALICE, 101, 3));
    let best = NewOrder {
        kind: OrderKind::BestPrice,
        time_in_force: TimeInForce::Gtc,
        price: Price::ZERO,
        ..buy(BOB, 0, 8)
    };
    assert_eq!(venue.place(at_least(3, best)), rejected(RejectReason::Unfillable));
    venue.enter(at_least(2, best));
    assert_eq!(venue.queue(rialto_model::Side::Buy), [(100, 6)]);
}

#[test]
fn orders_of_the_same_member_do_not_count() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 2));
    venue.enter(sell(BOB, 100, 5));
    venue.enter(sell(ALICE, 100, 4));
    let order =
        |mode, minimum| at_least(minimum, NewOrder { self_trade: Some(mode), ..buy(BOB, 100, 9) });
    let unfillable = rejected(RejectReason::Unfillable);
    assert_eq!(venue.place(order(SelfTrade::CancelNewest, 3)), unfillable);
    assert_eq!(venue.place(order(SelfTrade::CancelOldest, 7)), unfillable);
    venue.enter(order(SelfTrade::CancelOldest, 6));
    assert_eq!(venue.trades(), [(100, 2), (100, 4)]);
}

#[test]
fn it_goes_with_few_attributes() {
    let base = buy(BOB, 100, 8);
    let wrong = [
        at_least(9, base),
        at_least(-1, base),
        at_least(i64::MIN, base),
        at_least(1, NewOrder { time_in_force: TimeInForce::Fok, ..base }),
        at_least(1, NewOrder { time_in_force: TimeInForce::Gfa, ..base }),
        at_least(1, NewOrder { post_only: PostOnly::Reject, ..base }),
        at_least(1, NewOrder { post_only: PostOnly::Slide, ..base }),
        at_least(1, market(BOB, rialto_model::Side::Buy, OrderSize::Quote(Amount(800)))),
    ];
    for order in wrong {
        let mut venue = Venue::new();
        venue.enter(sell(ALICE, 100, 8));
        assert_eq!(venue.place(order), rejected(RejectReason::InvalidCombination), "{order:?}");
    }
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 8));
    venue.enter(at_least(8, base));
    assert_eq!(venue.trades(), [(100, 8)]);
    venue.set_state(InstrumentState::Call);
    assert_eq!(venue.place(at_least(1, base)), rejected(RejectReason::WrongPhase));
}

#[test]
fn older_rules_know_none() {
    let mut venue = Venue::under(4, rules());
    venue.enter(sell(ALICE, 100, 8));
    let named = NewOrder { client_order_id: "a".parse().unwrap(), ..buy(BOB, 100, 8) };
    let unknown = rejected(RejectReason::AttributeUnknown);
    assert_eq!(venue.place(at_least(1, named)), unknown);
    // The same again, before and after the core was restored.
    assert_eq!(venue.place(at_least(1, named)), unknown);
    venue.core = rialto_core::Core::restore(&venue.core.snapshot(), 0).unwrap();
    assert_eq!(venue.place(at_least(1, named)), unknown);
}

#[test]
fn a_repeated_order_has_the_same_minimum_quantity() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 4));
    let named = NewOrder { client_order_id: "a".parse().unwrap(), ..buy(BOB, 100, 8) };
    venue.enter(at_least(4, named));
    for _ in 0..2 {
        assert!(matches!(
            venue.place(at_least(4, named)),
            Outcome::Order { repeated: true, filled: Quantity(4), .. }
        ));
        let conflict = rejected(RejectReason::ClientIdConflict);
        assert_eq!(venue.place(at_least(3, named)), conflict);
        assert_eq!(venue.place(named), conflict);
        venue.core = rialto_core::Core::restore(&venue.core.snapshot(), 0).unwrap();
    }
}
