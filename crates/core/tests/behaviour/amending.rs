use crate::venue::*;
use rialto_model::{
    Event, InstrumentState, NewOrder, OrderId, OrderStatus, Outcome, PostOnly, Price, Quantity,
    RejectReason, Side, TimeInForce, Timestamp, TradingRules,
};

/// Alice's order for 50 at 100, with one of Bob's behind it.
fn queued() -> (Venue, OrderId) {
    let mut venue = Venue::new();
    let id = venue.enter(buy(ALICE, 100, 50));
    venue.enter(buy(BOB, 100, 60));
    (venue, id)
}

#[test]
fn a_smaller_quantity_keeps_the_place_and_releases_the_rest() {
    let (mut venue, id) = queued();
    venue.amend(ALICE, id, None, Some(20));
    assert!(matches!(venue.events[..], [Event::Reduced(reduced)] if reduced.released.0 == 3_030));
    assert_eq!(venue.queue(Side::Buy), [(100, 20), (100, 60)]);
    assert_eq!(venue.balance(ALICE, QUOTE).1, 2_020);
}

#[test]
fn a_larger_quantity_goes_to_the_end_of_the_queue() {
    let (mut venue, id) = queued();
    venue.amend(ALICE, id, None, Some(70));
    assert!(matches!(venue.events[..], [Event::Amended(_), Event::Rested(_)]));
    assert_eq!(venue.queue(Side::Buy), [(100, 60), (100, 70)]);
    assert_eq!(venue.balance(ALICE, QUOTE).1, 7_070);
}

#[test]
fn a_new_price_moves_the_order() {
    let (mut venue, id) = queued();
    venue.amend(ALICE, id, Some(99), None);
    assert_eq!(venue.queue(Side::Buy), [(100, 60), (99, 50)]);
}

#[test]
fn an_order_amended_into_a_cross_trades_as_a_taker() {
    let (mut venue, id) = queued();
    venue.enter(sell(CAROL, 105, 20));
    let outcome = venue.amend(ALICE, id, Some(105), None);
    assert!(matches!(
        outcome,
        Outcome::Order {
            status: OrderStatus::PartiallyFilled,
            filled: Quantity(20),
            remaining: Quantity(30),
            ..
        }
    ));
    assert_eq!(venue.trade_events().next().unwrap().taker_fee.0, 21);
    assert_eq!(venue.queue(Side::Buy), [(105, 30), (100, 60)]);
}

#[test]
fn the_total_counts_what_has_traded() {
    let (mut venue, id) = queued();
    venue.enter(sell(CAROL, 100, 20));
    assert_eq!(venue.amend(ALICE, id, None, Some(20)), rejected(RejectReason::QuantityBelowFilled));
    venue.amend(ALICE, id, None, Some(21));
    assert_eq!(venue.queue(Side::Buy), [(100, 1), (100, 60)]);
}

#[test]
fn an_amendment_that_changes_nothing_is_refused() {
    let (mut venue, id) = queued();
    let refused = rejected(RejectReason::NothingToAmend);
    assert_eq!(venue.amend(ALICE, id, None, None), refused);
    assert_eq!(venue.amend(ALICE, id, Some(100), Some(50)), refused);
}

#[test]
fn only_the_owner_amends_an_open_order() {
    let (mut venue, id) = queued();
    let refused = rejected(RejectReason::UnknownOrder);
    assert_eq!(venue.amend(BOB, id, Some(99), None), refused);
    venue.cancel(ALICE, id);
    assert_eq!(venue.amend(ALICE, id, Some(99), None), refused);
}

#[test]
fn new_terms_are_checked_like_those_of_a_new_order() {
    let mut venue = Venue::ruled(TradingRules { tick: Price(5), lot: Quantity(10), ..rules() });
    let id = venue.enter(buy(ALICE, 100, 50));
    let refusals = [
        (Some(0), None, RejectReason::PriceNotPositive),
        (Some(99), None, RejectReason::PriceOffTick),
        (None, Some(0), RejectReason::QuantityNotPositive),
        (None, Some(45), RejectReason::QuantityOffLot),
        (None, Some(1_000_010), RejectReason::QuantityTooLarge),
    ];
    for (price, quantity, reason) in refusals {
        assert_eq!(venue.amend(ALICE, id, price, quantity), rejected(reason));
    }
    venue.set_state(InstrumentState::Halted);
    let halted = rejected(RejectReason::InstrumentHalted);
    assert_eq!(venue.amend(ALICE, id, Some(95), None), halted);
}

#[test]
fn new_terms_must_be_covered_by_what_is_free_and_what_was_reserved() {
    let mut venue = Venue::new();
    let id = venue.enter(buy(ALICE, 1_000, 900_000));
    let refused = rejected(RejectReason::InsufficientBalance);
    assert_eq!(venue.amend(ALICE, id, None, Some(999_999)), refused);
    assert_eq!(venue.balance(ALICE, QUOTE).1, 909_000_000);
    assert!(!venue.amend(ALICE, id, None, Some(990_000)).is_rejected());
}

#[test]
fn an_amended_order_takes_the_fees_now_in_force() {
    let (mut venue, id) = queued();
    venue.set_rules(TradingRules { taker_fee_ppm: 20_000, ..rules() });
    venue.amend(ALICE, id, Some(99), None);
    assert_eq!(venue.balance(ALICE, QUOTE).1, 4_950 + 99);
}

#[test]
fn a_post_only_order_is_not_amended_into_a_cross() {
    let mut venue = Venue::new();
    venue.enter(sell(BOB, 110, 1));
    let id = venue.enter(NewOrder { post_only: PostOnly::Reject, ..buy(ALICE, 100, 1) });
    assert_eq!(venue.amend(ALICE, id, Some(110), None), rejected(RejectReason::WouldCross));
    let slides = venue.enter(NewOrder { post_only: PostOnly::Slide, ..buy(ALICE, 100, 1) });
    venue.amend(ALICE, slides, Some(115), None);
    assert_eq!(venue.queue(Side::Buy), [(109, 1), (100, 1)]);
}

#[test]
fn an_amended_order_still_expires() {
    let mut venue = Venue::new();
    let expire_at = Timestamp(START + 100);
    let id =
        venue.enter(NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..buy(ALICE, 100, 1) });
    venue.amend(ALICE, id, Some(101), None);
    assert_eq!(venue.core.next_background_work(), expire_at);
    venue.time += 100;
    venue.tick();
    assert_eq!(venue.queue(Side::Buy), []);
}
