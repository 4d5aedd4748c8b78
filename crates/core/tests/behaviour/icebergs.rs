//! Icebergs beside the examples of their page: reserves, limits, names and bounds.

use crate::venue::*;
use rialto_core::{EVENTS_PER_COMMAND, LEVEL_QUANTITY_MAX, ORDERS_PER_COMMAND};
use rialto_model::{
    Command, ConditionalOrder, Event, Iceberg, IcebergOrder, NewOrder, OrderId, Outcome, PostOnly,
    Price, Quantity, RejectReason, SelfTrade, Side, TimeInForce, TradingRules, Trigger,
    TriggerKind,
};

fn iceberg(terms: NewOrder, display_quantity: i64) -> Command {
    Command::PlaceIceberg(IcebergOrder { terms, display_quantity: Quantity(display_quantity) })
}

fn enter(venue: &mut Venue, terms: NewOrder, display_quantity: i64) -> OrderId {
    match venue.apply(iceberg(terms, display_quantity)) {
        Outcome::Order { order, .. } => order,
        other => panic!("{terms:?} was answered {other:?}"),
    }
}

fn displayed(venue: &Venue, order: OrderId) -> i64 {
    venue.core.order(order).unwrap().iceberg.unwrap().displayed.0
}

#[test]
fn the_reserve_is_for_the_whole_quantity() {
    let mut venue = Venue::ruled(TradingRules { taker_fee_ppm: 0, maker_fee_ppm: 0, ..rules() });
    let order = enter(&mut venue, buy(ALICE, 100, 60), 10);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 6_000, 6_000));
    venue.enter(sell(BOB, 100, 25));
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 6_000, 3_500));
    venue.cancel(ALICE, order);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 2_500, 0));
}

#[test]
fn quantities_at_their_limit_trade_tranche_by_tranche() {
    let most = 1 << 60;
    let quantity_max = Quantity(most);
    let mut venue = Venue::ruled(TradingRules { quantity_max, risk: false, ..rules() });
    let order = enter(&mut venue, buy(ALICE, 1, most), most - 1);
    let beside = enter(&mut venue, buy(ALICE, 1, most), most / 100 + 1);
    venue.enter(sell(BOB, 1, most));
    assert_eq!(venue.trades(), [(1, most - 1), (1, 1)]);
    assert_eq!(displayed(&venue, order), 1);
    assert_eq!(displayed(&venue, beside), most / 100);
}

#[test]
fn a_taker_meets_no_more_tranches_than_orders_in_one_command() {
    let mut venue = Venue::new();
    for _ in 0..5 {
        enter(&mut venue, buy(ALICE, 100, 100), 1);
    }
    venue.enter(sell(BOB, 100, 500));
    assert_eq!(venue.trades().len(), ORDERS_PER_COMMAND as usize);
    assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
    venue.tick();
    assert_eq!(venue.trades().len(), 500 - ORDERS_PER_COMMAND as usize);
    assert_eq!(venue.queue(Side::Buy), []);
}

#[test]
fn self_trade_prevention_reduces_what_is_hidden_first() {
    let mut venue = Venue::new();
    let order = enter(&mut venue, buy(CAROL, 100, 10), 4);
    let decrement = |quantity| NewOrder {
        self_trade: Some(SelfTrade::Decrement),
        ..sell(CAROLS_OTHER, 100, quantity)
    };
    venue.enter(decrement(5));
    assert_eq!((displayed(&venue, order), venue.trades().len()), (4, 0));
    venue.enter(decrement(3));
    assert_eq!(displayed(&venue, order), 2);
    venue.enter(decrement(2));
    assert_eq!(venue.queue(Side::Buy), []);
}

#[test]
fn an_iceberg_that_slides_back_without_growing_goes_to_the_end_of_its_price() {
    for (quantity, place) in [(50, 1), (60, 0)] {
        let mut venue = Venue::new();
        venue.enter(buy(BOB, 100, 1));
        let terms = NewOrder { post_only: PostOnly::Slide, ..sell(ALICE, 101, 50) };
        let order = enter(&mut venue, terms, 10);
        venue.enter(sell(BOB, 101, 1));
        venue.amend(ALICE, order, Some(100), Some(quantity));
        let queue: Vec<_> = venue.core.orders(SPOT, Side::Sell).map(|order| order.id).collect();
        assert_eq!(queue[place], order, "{quantity}");
        assert_eq!(venue.core.order(order).unwrap().price.0, 101);
        let rested = venue.events.iter().any(|event| matches!(event, Event::Rested(_)));
        assert_eq!(rested, place == 1, "what keeps its place does not rest again");
    }
}

#[test]
fn what_is_hidden_is_not_shown_to_those_who_cannot_pay() {
    let must_fill = |account, quantity| {
        let time_in_force = TimeInForce::Fok;
        NewOrder { time_in_force, ..buy(account, 100, quantity) }
    };
    let at_least = |account, quantity| {
        let (time_in_force, minimum_quantity) = (TimeInForce::Ioc, Quantity(quantity));
        NewOrder { time_in_force, minimum_quantity, ..buy(account, 100, quantity) }
    };
    for rules_version in [7, 8] {
        let mut venue = Venue::under(rules_version, rules());
        let offered = sell(ALICE, 100, 50);
        match rules_version {
            7 => drop(venue.enter(offered)),
            _ => drop(enter(&mut venue, offered, 5)),
        }
        venue.apply(Command::Withdraw(transfer(BOB, QUOTE, FUNDS, "all")));
        let poor = rejected(RejectReason::InsufficientBalance);
        assert_eq!(venue.place(must_fill(BOB, 50)), poor);
        assert_eq!(venue.place(at_least(BOB, 50)), poor);
        let before = rejected(RejectReason::Unfillable);
        let now = if rules_version == 7 { before } else { poor };
        assert_eq!(venue.place(must_fill(BOB, 51)), now);
        assert_eq!(venue.place(at_least(BOB, 51)), now);
        assert_eq!(venue.place(must_fill(CAROL, 51)), before);
    }
}

#[test]
fn the_room_at_a_price_is_not_shown_to_those_who_cannot_pay() {
    let most = LEVEL_QUANTITY_MAX;
    let rules = TradingRules { quantity_max: Quantity(most), ..rules() };
    for rules_version in [7, 8] {
        let mut venue = Venue::under(rules_version, rules);
        venue.enter(buy(ALICE, 1, 50));
        let own = venue.enter(buy(BOB, 1, 10));
        let trigger = Trigger { kind: TriggerKind::Stop, price: Price(2) };
        let waiting = |quantity| {
            let terms = buy(BOB, 1, quantity);
            Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate: false })
        };
        assert!(!venue.apply(waiting(50)).is_rejected());
        for (beside, reason) in
            [(0, RejectReason::QuantityTooLarge), (60, RejectReason::InsufficientBalance)]
        {
            let now = if rules_version == 7 { reason } else { RejectReason::InsufficientBalance };
            let quantity = most - beside;
            assert_eq!(venue.place(buy(BOB, 1, quantity)), rejected(now));
            assert_eq!(venue.amend(BOB, own, None, Some(quantity)), rejected(now));
            assert_eq!(venue.apply(waiting(quantity)), rejected(now));
        }
    }
}

#[test]
fn an_iceberg_is_remembered_with_its_display_quantity() {
    let mut venue = Venue::new();
    let client_order_id = "whale".parse().unwrap();
    let terms = NewOrder { client_order_id, ..buy(ALICE, 100, 50) };
    let first = enter(&mut venue, terms, 10);
    let again = venue.apply(iceberg(terms, 10));
    assert!(matches!(again, Outcome::Order { order, repeated: true, .. } if order == first));
    assert!(matches!(venue.events[..], [Event::Repeated { .. }]));
    let conflict = rejected(RejectReason::ClientIdConflict);
    assert_eq!(venue.apply(iceberg(terms, 11)), conflict);
    assert_eq!(venue.place(terms), conflict);
}

#[test]
fn a_restart_changes_nothing_that_is_displayed() {
    let mut venue = Venue::new();
    let order = enter(&mut venue, buy(ALICE, 100, 50), 10);
    venue.enter(buy(BOB, 100, 5));
    venue.enter(sell(CAROL, 100, 4));
    let restored = rialto_core::Core::restore(&venue.core.snapshot(), 7).unwrap();
    assert_eq!(restored.order(order), venue.core.order(order));
    let iceberg = restored.order(order).unwrap().iceberg;
    let (display_quantity, displayed) = (Quantity(10), Quantity(6));
    assert_eq!(iceberg, Some(Iceberg { display_quantity, displayed }));
}
