use crate::venue::*;
use rialto_model::{
    Amount, DoneReason, NewOrder, OrderSize, OrderStatus, Outcome, Price, Quantity, RejectReason,
    Side, TimeInForce, TradingRules,
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
