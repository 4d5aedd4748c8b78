use crate::venue::*;
use rialto_model::{DoneReason, Event, NewOrder, OrderId, Quantity, SelfTrade, Side};

/// Carol's other account meets an order of Carol's for 5, behind which Alice has one for 5.
fn meets(mode: SelfTrade, quantity: i64) -> (Venue, OrderId, OrderId) {
    let mut venue = Venue::new();
    let own = venue.enter(sell(CAROL, 100, 5));
    venue.enter(sell(ALICE, 100, 5));
    let order = NewOrder { self_trade: Some(mode), ..buy(CAROLS_OTHER, 100, quantity) };
    let taker = venue.enter(order);
    (venue, own, taker)
}

#[test]
fn members_may_allow_it() {
    let (venue, own, _) = meets(SelfTrade::Allow, 5);
    assert_eq!(venue.makers(), [own]);
}

#[test]
fn the_newest_is_cancelled() {
    let (venue, _, taker) = meets(SelfTrade::CancelNewest, 8);
    assert_eq!(venue.done(), [(taker, DoneReason::SelfTrade, 8)]);
    assert_eq!(venue.queue(Side::Sell), [(100, 5), (100, 5)]);
}

#[test]
fn the_oldest_is_cancelled_and_matching_continues() {
    let (venue, own, _) = meets(SelfTrade::CancelOldest, 8);
    assert_eq!(venue.done(), [(own, DoneReason::SelfTrade, 5)]);
    assert_eq!(venue.trades(), [(100, 5)]);
    assert_eq!(venue.queue(Side::Buy), [(100, 3)]);
}

#[test]
fn both_are_cancelled() {
    let (venue, own, taker) = meets(SelfTrade::CancelBoth, 8);
    let reason = DoneReason::SelfTrade;
    assert_eq!(venue.done(), [(own, reason, 5), (taker, reason, 8)]);
}

#[test]
fn decrement_ends_the_smaller_maker_and_reduces_the_taker() {
    let (venue, own, taker) = meets(SelfTrade::Decrement, 8);
    assert_eq!(venue.done(), [(own, DoneReason::SelfTrade, 5)]);
    let reduced = venue.events.iter().find_map(|event| match event {
        Event::Reduced(reduced) => Some(*reduced),
        _ => None,
    });
    let reduced = reduced.unwrap();
    assert_eq!((reduced.order, reduced.by, reduced.remaining), (taker, Quantity(5), Quantity(3)));
    assert_eq!(reduced.released.0, 505);
    assert_eq!(venue.trades(), [(100, 3)]);
}

#[test]
fn decrement_ends_the_smaller_taker_and_reduces_the_maker() {
    let (venue, _, taker) = meets(SelfTrade::Decrement, 2);
    assert_eq!(venue.done(), [(taker, DoneReason::SelfTrade, 2)]);
    assert_eq!(venue.queue(Side::Sell), [(100, 3), (100, 5)]);
    assert_eq!(venue.balance(CAROL, BASE).1, 3);
}

#[test]
fn a_decremented_quantity_leaves_the_total() {
    let (venue, own, _) = meets(SelfTrade::Decrement, 2);
    assert_eq!(venue.core.order(own).unwrap().quantity, Quantity(3));
}

#[test]
fn the_instrument_decides_where_the_order_names_no_mode() {
    let mut venue = Venue::new();
    venue.enter(sell(CAROL, 100, 5));
    let taker = venue.enter(buy(CAROLS_OTHER, 100, 5));
    assert_eq!(venue.done(), [(taker, DoneReason::SelfTrade, 5)]);
}
