use crate::venue::*;
use rialto_core::FOK_DEPTH_MAX;
use rialto_model::{NewOrder, Outcome, RejectReason, SelfTrade, TimeInForce, TradingRules};

fn fok(mode: SelfTrade, order: NewOrder) -> NewOrder {
    NewOrder { time_in_force: TimeInForce::Fok, self_trade: Some(mode), ..order }
}

#[test]
fn all_or_nothing() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 5));
    venue.enter(sell(ALICE, 101, 5));
    for mode in [SelfTrade::Allow, SelfTrade::CancelOldest] {
        let refused = venue.place(fok(mode, buy(BOB, 100, 6)));
        assert_eq!(refused, rejected(RejectReason::Unfillable));
    }
    venue.enter(fok(SelfTrade::Allow, buy(BOB, 101, 10)));
    assert_eq!(venue.trades(), [(100, 5), (101, 5)]);
}

/// Whether four are available behind three of the taker's own.
fn past_own_orders(mode: SelfTrade) -> Outcome {
    let mut venue = Venue::new();
    venue.enter(sell(CAROL, 100, 3));
    venue.enter(sell(ALICE, 100, 4));
    venue.place(fok(mode, buy(CAROLS_OTHER, 100, 4)))
}

#[test]
fn own_orders_are_passed_over_where_the_oldest_yields() {
    assert!(!past_own_orders(SelfTrade::CancelOldest).is_rejected());
}

#[test]
fn own_orders_end_the_search_where_the_newest_yields() {
    for mode in [SelfTrade::CancelNewest, SelfTrade::CancelBoth, SelfTrade::Decrement] {
        assert_eq!(past_own_orders(mode), rejected(RejectReason::Unfillable), "{mode:?}");
    }
}

#[test]
fn a_search_among_too_many_orders_is_given_up() {
    let mut venue = Venue::ruled(TradingRules { risk: false, ..rules() });
    let depth = i64::from(FOK_DEPTH_MAX);
    for _ in 0..=depth {
        // The invariants are checked once, not after each of thousands of orders.
        let (seq, time) = (venue.core.seq().next(), venue.core.time());
        let place = rialto_model::Command::Place(sell(ALICE, 100, 1));
        venue.core.apply(seq, time, &place, &mut venue.events);
    }
    let order = |quantity| fok(SelfTrade::CancelOldest, buy(BOB, 100, quantity));
    assert_eq!(venue.place(order(depth + 1)), rejected(RejectReason::TooDeep));
    let one_level = fok(SelfTrade::Allow, buy(BOB, 100, depth + 2));
    assert_eq!(venue.place(one_level), rejected(RejectReason::Unfillable));
    assert!(!venue.place(order(depth)).is_rejected());
}
