//! Orders past their expiry time that are still on the book: nothing trades with them.

use crate::venue::*;
use rialto_model::{
    Command, DoneReason, NewOrder, OrderId, OrderSize, OrderStatus, Outcome, PostOnly, Quantity,
    RejectReason, SelfTrade, Side, TimeInForce, Timestamp,
};

const LIFE: u64 = 10;

/// An order whose time is over when the venue's time is [`LIFE`] later.
fn mortal(order: NewOrder) -> NewOrder {
    let expire_at = Timestamp(START + LIFE);
    NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..order }
}

/// A venue with `dead` sells at 100 whose time is over, and one live sell for 5 at 105.
fn venue_with(dead: usize) -> Venue {
    let mut venue = Venue::new();
    for _ in 0..dead {
        venue.enter(mortal(sell(BOB, 100, 1)));
    }
    venue.enter(sell(BOB, 105, 5));
    venue.time += LIFE;
    venue
}

fn expired(venue: &Venue) -> usize {
    venue.done().iter().filter(|(_, reason, _)| *reason == DoneReason::Expired).count()
}

#[test]
fn a_taker_ends_the_dead_that_it_meets_and_trades_with_the_living() {
    let mut venue = venue_with(3);
    venue.enter(buy(ALICE, 105, 2));
    assert_eq!((expired(&venue), venue.trades()), (3, vec![(105, 2)]));
}

#[test]
fn an_order_is_dead_at_its_time_and_not_before() {
    let mut venue = venue_with(1);
    venue.time -= 1;
    venue.enter(buy(ALICE, 105, 1));
    assert_eq!(venue.trades(), [(100, 1)]);
}

#[test]
fn a_taker_that_meets_more_dead_than_one_command_may_is_suspended() {
    let mut venue = venue_with(300);
    let outcome = venue.place(buy(ALICE, 105, 2));
    assert!(matches!(outcome, Outcome::Order { status: OrderStatus::Open, .. }), "{outcome:?}");
    assert_eq!((expired(&venue), venue.core.next_due()), (256, Timestamp::ZERO));
    venue.tick();
    assert_eq!((expired(&venue), venue.trades()), (44, vec![(105, 2)]));
}

#[test]
fn a_dead_order_of_the_same_member_prevents_no_trade() {
    let mut venue = Venue::new();
    venue.enter(mortal(sell(ALICE, 100, 1)));
    venue.enter(sell(BOB, 101, 1));
    venue.time += LIFE;
    venue.enter(NewOrder { self_trade: Some(SelfTrade::CancelNewest), ..buy(ALICE, 101, 1) });
    assert_eq!(venue.trades(), [(101, 1)]);
}

#[test]
fn a_market_order_is_protected_around_the_best_living_price() {
    let mut venue = venue_with(2);
    // Ten percent above 105 is more than ten percent above 100 would be.
    venue.enter(sell(BOB, 114, 5));
    venue.enter(market(ALICE, Side::Buy, OrderSize::Base(Quantity(7))));
    assert_eq!(venue.trades(), [(105, 5), (114, 2)]);
}

#[test]
fn a_market_order_finds_no_liquidity_among_the_dead() {
    let mut venue = Venue::new();
    venue.enter(mortal(sell(BOB, 100, 1)));
    venue.time += LIFE;
    let order = market(ALICE, Side::Buy, OrderSize::Base(Quantity(1)));
    assert_eq!(venue.place(order), rejected(RejectReason::NoLiquidity));
}

#[test]
fn a_fill_or_kill_order_does_not_count_the_dead() {
    let fok = |quantity| NewOrder {
        time_in_force: TimeInForce::Fok,
        self_trade: Some(SelfTrade::Allow),
        ..buy(ALICE, 105, quantity)
    };
    let mut venue = venue_with(3);
    assert_eq!(venue.place(fok(6)), rejected(RejectReason::Unfillable));
    venue.enter(fok(5));
    assert_eq!(venue.trades(), [(105, 5)]);
}

#[test]
fn a_post_only_order_rests_where_only_the_dead_stand_against_it() {
    for mode in [PostOnly::Reject, PostOnly::Slide] {
        let mut venue = venue_with(3);
        venue.enter(NewOrder { post_only: mode, ..buy(ALICE, 102, 2) });
        assert_eq!((expired(&venue), venue.trades()), (3, vec![]));
        assert_eq!(venue.queue(Side::Buy), [(102, 2)]);
        assert_eq!(venue.queue(Side::Sell), [(105, 5)]);
    }
}

#[test]
fn a_post_only_order_slides_from_the_best_living_price() {
    let mut venue = venue_with(300);
    venue.enter(NewOrder { post_only: PostOnly::Slide, ..buy(ALICE, 110, 2) });
    venue.tick();
    assert_eq!(venue.queue(Side::Buy), [(104, 2)]);
    assert_eq!(venue.queue(Side::Sell), [(105, 5)]);
    let crossing = NewOrder { post_only: PostOnly::Reject, ..buy(ALICE, 105, 2) };
    assert_eq!(venue.place(crossing), rejected(RejectReason::WouldCross));
}

#[test]
fn an_order_that_needs_the_best_live_price_is_refused_behind_too_many_expired() {
    let mut venue = venue_with(4_097);
    let deep = rejected(RejectReason::TooDeep);
    assert_eq!(venue.place(market(ALICE, Side::Buy, OrderSize::Base(Quantity(1)))), deep);
    assert_eq!(venue.place(NewOrder { post_only: PostOnly::Slide, ..buy(ALICE, 104, 1) }), deep);
    venue.tick();
    venue.enter(NewOrder { post_only: PostOnly::Slide, ..buy(ALICE, 104, 1) });
}

#[test]
fn commands_about_an_expired_order_are_refused() {
    let mut venue = Venue::new();
    let id = venue.enter(mortal(buy(ALICE, 100, 5)));
    venue.time += LIFE;
    let refused = rejected(RejectReason::OrderExpired);
    assert_eq!(venue.cancel(ALICE, id), refused);
    assert_eq!(venue.amend(ALICE, id, None, Some(2)), refused);
    venue.tick();
    assert_eq!(venue.cancel(ALICE, id), rejected(RejectReason::UnknownOrder));
}

#[test]
fn a_dead_order_has_expired_whatever_ends_it() {
    let end: [fn(&mut Venue); 2] = [
        |venue| {
            let (account, instrument, side) = (ALICE, None, None);
            let all = rialto_model::MassCancel { account, instrument, side };
            venue.apply(Command::MassCancel(all));
        },
        |venue| {
            venue.set_state(rialto_model::InstrumentState::Withdrawn);
        },
    ];
    for end in end {
        let mut venue = Venue::new();
        let id = venue.enter(mortal(buy(ALICE, 100, 5)));
        venue.time += LIFE;
        end(&mut venue);
        assert_eq!(venue.done(), [(id, DoneReason::Expired, 5)]);
    }
}

#[test]
fn other_commands_continue_while_orders_expire() {
    let mut venue = venue_with(2_000);
    let mut last = OrderId(0);
    for _ in 0..10 {
        last = venue.enter(buy(ALICE, 90, 1));
        assert_eq!(venue.events.len(), 1, "nothing came before it");
    }
    assert!(venue.core.order(last).is_some());
    let mut ticks = 0;
    while venue.core.has_background_work() {
        venue.tick();
        ticks += 1;
    }
    assert_eq!((ticks, venue.queue(Side::Sell)), (8, vec![(105, 5)]));
}

#[test]
fn an_amended_order_expires_even_while_it_matches() {
    let mut venue = Venue::new();
    for _ in 0..300 {
        venue.enter(sell(BOB, 100, 1));
    }
    let id = venue.enter(mortal(buy(ALICE, 90, 400)));
    venue.amend(ALICE, id, Some(100), None);
    assert_eq!(venue.core.next_due(), Timestamp::ZERO);
    venue.time += LIFE;
    venue.tick();
    assert_eq!((venue.trades(), venue.done()), (vec![], vec![(id, DoneReason::Expired, 144)]));
}
