use crate::venue::*;
use rialto_core::Core;
use rialto_model::{
    Amount, Command, Condition, DoneReason, Event, Leg, LinkKind, NewOrder, OrderKind, OrderList,
    OrderSize, OrderStatus, Outcome, Price, Quantity, RejectReason, SelfTrade, Side, TimeInForce,
    Timestamp, TradingRules, Trigger, TriggerKind,
};

fn base(quantity: i64) -> OrderSize {
    OrderSize::Base(Quantity(quantity))
}

fn quote(amount: i128) -> OrderSize {
    OrderSize::Quote(Amount(amount))
}

#[test]
fn a_market_order_needs_something_to_trade_with() {
    let order = market(BOB, Side::Buy, base(1));
    assert_eq!(Venue::new().place(order), rejected(RejectReason::NoLiquidity));
}

#[test]
fn a_market_order_goes_no_further_than_its_protection() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 105, 1));
    venue.enter(sell(ALICE, 115, 1));
    venue.enter(sell(ALICE, 116, 1));
    let id = venue.enter(market(BOB, Side::Buy, base(3)));
    assert_eq!(venue.trades(), [(105, 1), (115, 1)]);
    assert_eq!(venue.done(), [(id, DoneReason::Remainder, 1)]);
}

#[test]
fn protection_is_rounded_to_the_tick_towards_the_best_price() {
    let mut venue = Venue::ruled(TradingRules { tick: Price(4), ..rules() });
    venue.enter(sell(ALICE, 104, 1));
    venue.enter(buy(ALICE, 96, 1));
    let limit = |outcome| match outcome {
        Outcome::Order { price, .. } => price.0,
        other => panic!("{other:?}"),
    };
    assert_eq!(limit(venue.place(market(BOB, Side::Buy, base(1)))), 112);
    assert_eq!(limit(venue.place(market(BOB, Side::Sell, base(1)))), 88);
}

#[test]
fn a_given_protection_price_is_the_limit() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 105, 1));
    let protected = |price| NewOrder { price: Price(price), ..market(BOB, Side::Buy, base(1)) };
    assert_eq!(venue.place(protected(104)), rejected(RejectReason::NoLiquidity));
    venue.enter(protected(105));
    assert_eq!(venue.trades(), [(105, 1)]);
}

#[test]
fn a_market_order_does_not_leave_the_collar() {
    let collar = TradingRules {
        collar_ppm: 50_000,
        reference_price: Price(15_094),
        market_protection_ppm: 999_999,
        ..rules()
    };
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 27_581, 1));
    venue.enter(buy(ALICE, 9_000, 1));
    venue.set_rules(collar);
    for side in [Side::Buy, Side::Sell] {
        let outcome = venue.place(market(BOB, side, base(1)));
        assert_eq!(outcome, rejected(RejectReason::NoLiquidity), "{side:?}");
    }
    venue.enter(sell(ALICE, 15_848, 1));
    let id = venue.enter(market(BOB, Side::Buy, base(2)));
    assert_eq!(venue.trades(), [(15_848, 1)]);
    assert_eq!(venue.done(), [(id, DoneReason::Remainder, 1)]);
}

#[test]
fn the_collar_of_a_market_order_ends_on_a_tick() {
    let collar = TradingRules {
        tick: Price(4),
        collar_ppm: 50_000,
        reference_price: Price(1_000),
        market_protection_ppm: 999_999,
        ..rules()
    };
    let mut venue = Venue::ruled(collar);
    venue.enter(sell(ALICE, 1_000, 1));
    venue.enter(buy(ALICE, 960, 1));
    let limit = |outcome| match outcome {
        Outcome::Order { price, .. } => price.0,
        other => panic!("{other:?}"),
    };
    assert_eq!(limit(venue.place(market(BOB, Side::Buy, base(1)))), 1_048);
    assert_eq!(limit(venue.place(market(BOB, Side::Sell, base(1)))), 952);
}

#[test]
fn a_quote_sized_buy_spends_its_amount_with_the_fee() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 50));
    let outcome = venue.place(market(BOB, Side::Buy, quote(1_100)));
    assert_eq!(venue.trades(), [(100, 10)]);
    assert!(matches!(
        outcome,
        Outcome::Order { status: OrderStatus::Filled, filled: Quantity(10), .. }
    ));
    let done = *venue.done_events().next().unwrap();
    assert_eq!((done.reason, done.remaining.0, done.released.0), (DoneReason::QuoteSpent, 0, 90));
    assert_eq!(venue.balance(BOB, QUOTE), (FUNDS - 1_010, 0));
}

#[test]
fn a_quote_sized_order_that_runs_out_of_makers_ends_with_a_remainder() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 5));
    venue.enter(market(BOB, Side::Buy, quote(5_000)));
    assert_eq!(venue.trades(), [(100, 5)]);
    assert_eq!(venue.done()[0].1, DoneReason::Remainder);
}

#[test]
fn a_quote_sized_sell_sells_for_at_most_its_amount() {
    let mut venue = Venue::ruled(TradingRules { lot: Quantity(2), ..rules() });
    venue.enter(buy(ALICE, 100, 50));
    venue.enter(market(BOB, Side::Sell, quote(799)));
    assert_eq!(venue.trades(), [(100, 6)]);
    assert_eq!(venue.balance(BOB, QUOTE).0, FUNDS + 600 - 6);
    assert_eq!(venue.balance(BOB, BASE), (FUNDS - 6, 0));
}

#[test]
fn a_quote_sized_sell_needs_a_lot_to_sell() {
    let mut venue = Venue::new();
    venue.enter(buy(ALICE, 100, 50));
    venue.apply(rialto_model::Command::Withdraw(transfer(BOB, BASE, FUNDS, "all")));
    let outcome = venue.place(market(BOB, Side::Sell, quote(500)));
    assert_eq!(outcome, rejected(RejectReason::InsufficientBalance));
}

#[test]
fn a_quote_size_is_a_positive_amount() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 1));
    let outcome = venue.place(market(BOB, Side::Buy, quote(0)));
    assert_eq!(outcome, rejected(RejectReason::AmountNotPositive));
}

#[test]
fn the_least_notional_of_a_quote_sized_order_is_its_amount() {
    let mut venue = Venue::ruled(TradingRules { notional_min: Amount(500), ..rules() });
    venue.enter(sell(ALICE, 100, 10));
    let outcome = venue.place(market(BOB, Side::Buy, quote(499)));
    assert_eq!(outcome, rejected(RejectReason::NotionalTooSmall));
}

#[test]
fn a_quote_sized_fill_or_kill_must_be_able_to_spend_its_amount() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 5));
    let order = |amount| NewOrder {
        time_in_force: TimeInForce::Fok,
        ..market(BOB, Side::Buy, quote(amount))
    };
    assert_eq!(venue.place(order(700)), rejected(RejectReason::Unfillable));
    venue.enter(order(600));
    assert_eq!(venue.trades(), [(100, 5)]);
}

/// An order for the best five prices, of which what is left may rest.
fn five_levels(side: Side, quantity: i64) -> NewOrder {
    NewOrder { kind: OrderKind::FiveLevels, ..limit(BOB, side, 0, quantity) }
}

#[test]
fn what_is_left_of_five_levels_rests_at_the_last_price_traded() {
    let mut venue = Venue::new();
    for price in [101, 103, 104] {
        venue.enter(sell(ALICE, price, 2));
    }
    // The collar ends between the two first levels, so that the limit is at a price of none.
    let (collar_ppm, reference_price) = (20_000, Price(100));
    venue.set_rules(TradingRules { collar_ppm, reference_price, ..rules() });
    let outcome = venue.place(five_levels(Side::Buy, 10));
    let Outcome::Order { order, status: OrderStatus::PartiallyFilled, price, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!((price, venue.queue(Side::Buy)), (Price(101), vec![(101, 8)]));
    let amended = venue.events.iter().find_map(|event| match event {
        Event::Amended(amended) => Some(*amended),
        _ => None,
    });
    let amended = amended.unwrap();
    assert_eq!((amended.old_price, amended.price), (Price(102), Price(101)));
    assert_eq!((amended.quantity, amended.remaining), (Quantity(10), Quantity(8)));
    // Eight units and their fees: 1 % of all that is left to buy, and what is owed for two.
    let state = venue.core.order(order).unwrap();
    assert_eq!(state.reserved, amended.reserved);
    assert_eq!(venue.balance(BOB, QUOTE).1, amended.reserved.0);
    assert!(amended.old_reserved.0 - amended.reserved.0 >= 8);
}

#[test]
fn five_levels_that_may_rest_count_as_an_open_order() {
    let mut venue = Venue::ruled(TradingRules { open_orders_max: 1, ..rules() });
    venue.enter(sell(ALICE, 101, 1));
    venue.enter(buy(BOB, 50, 1));
    let full = rejected(RejectReason::OpenOrdersLimit);
    assert_eq!(venue.place(five_levels(Side::Buy, 2)), full);
    let at_once = NewOrder { time_in_force: TimeInForce::Ioc, ..five_levels(Side::Buy, 2) };
    assert!(!venue.place(at_once).is_rejected());
    let mut old = Venue::under(9, rules());
    old.enter(sell(ALICE, 101, 1));
    let unknown = rejected(RejectReason::InvalidCombination);
    assert_eq!(old.place(five_levels(Side::Buy, 2)), unknown);
}

#[test]
fn five_levels_go_on_behind_the_makers_of_one_command() {
    let mut venue = Venue::new();
    for number in 0..300 {
        venue.enter(sell(ALICE, 101 + number % 2, 1));
    }
    let outcome = venue.place(five_levels(Side::Buy, 400));
    assert!(matches!(outcome, Outcome::Order { remaining: Quantity(144), .. }), "{outcome:?}");
    let bytes = venue.core.snapshot();
    let core = Core::restore(&bytes, 7).unwrap();
    assert_eq!(core.snapshot(), bytes);
    let mut other = Venue { core, time: venue.time, events: Vec::new() };
    venue.tick();
    other.tick();
    assert_eq!(venue.events, other.events);
    assert_eq!(venue.queue(Side::Buy), [(102, 100)]);
}

#[test]
fn five_levels_that_trade_with_nobody_end() {
    let mut venue = Venue::new();
    venue.enter(sell(CAROL, 101, 2));
    let own = NewOrder {
        account: CAROLS_OTHER,
        self_trade: Some(SelfTrade::CancelOldest),
        ..five_levels(Side::Buy, 5)
    };
    let order = venue.enter(own);
    assert_eq!(venue.done()[1], (order, DoneReason::Remainder, 5));
    assert_eq!(venue.queue(Side::Buy), []);
}

#[test]
fn five_levels_do_not_rest_beyond_their_exits() {
    let mut venue = Venue::new();
    for price in [101, 103, 104] {
        venue.enter(sell(ALICE, price, 2));
    }
    let (collar_ppm, reference_price) = (20_000, Price(100));
    venue.set_rules(TradingRules { collar_ppm, reference_price, ..rules() });
    let stop = |price| Leg {
        condition: Some(Condition::Trigger(Trigger {
            kind: TriggerKind::Stop,
            price: Price(price),
        })),
        kind: OrderKind::Market,
        time_in_force: TimeInForce::Gtc,
        price: Price::ZERO,
        expire_at: Timestamp::ZERO,
    };
    // The limit is 102, and what is left would rest at 101.
    let list = OrderList {
        terms: five_levels(Side::Buy, 10),
        condition: None,
        kind: LinkKind::Oto,
        take_profit: None,
        stop_loss: Some(stop(101)),
    };
    let outcome = venue.apply(Command::PlaceList(list));
    assert!(
        matches!(outcome, Outcome::Order { status: OrderStatus::Cancelled, .. }),
        "{outcome:?}"
    );
    assert_eq!(venue.queue(Side::Buy), []);
}
