use crate::venue::*;
use rialto_core::{Core, CoreConfig};
use rialto_model::{
    AccountId, Amount, Capacity, Event, Handling, InstrumentId, InstrumentState, NewOrder,
    OrderKind, OrderSize, OrderStatus, Outcome, PostOnly, Price, Quantity, RejectReason, Side,
    TimeInForce, TradingRules,
};

fn refusal(rules: TradingRules, order: NewOrder) -> Outcome {
    Venue::ruled(rules).place(order)
}

#[test]
fn a_limit_order_rests_and_reserves_its_notional_and_fee() {
    let mut venue = Venue::new();
    let outcome = venue.place(buy(ALICE, 100, 50));
    assert!(matches!(outcome, Outcome::Order { status: OrderStatus::Open, .. }));
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 5_050, 5_050));
    assert!(matches!(venue.events[..], [Event::Accepted(accepted)] if accepted.rests));
}

#[test]
fn a_sell_reserves_base_currency() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 50));
    assert_eq!(venue.balance(ALICE, BASE), (FUNDS - 50, 50));
}

#[test]
fn orders_are_numbered_with_the_engine_above_the_counter() {
    let mut venue = Venue::new();
    assert_eq!(venue.enter(buy(ALICE, 1, 1)).0, 3 << 48 | 1);
    assert_eq!(venue.enter(buy(ALICE, 1, 1)).0, 3 << 48 | 2);
}

#[test]
fn the_capacity_of_an_order_is_kept_and_refused_by_older_rules() {
    let handling = Handling::NONE.with_capacity(Some(Capacity::RisklessPrincipal));
    let order = NewOrder { handling, ..buy(ALICE, 100, 1) };
    let mut venue = Venue::new();
    let id = venue.enter(order);
    assert!(matches!(venue.events[..], [Event::Accepted(it)] if it.terms.handling == handling));
    let restored = Core::restore(&venue.core.snapshot(), 0).expect("a sound snapshot");
    assert_eq!(restored.order(id).expect("an open order").handling, handling);

    let config = CoreConfig { rules_version: 2, ..CoreConfig::new(ENGINE) };
    let mut older = Venue::with(config, rules());
    assert_eq!(older.place(order), rejected(RejectReason::AttributeUnknown));
    older.enter(buy(ALICE, 100, 1));
}

#[test]
fn an_unknown_account_is_refused_before_everything_else() {
    let order = NewOrder { instrument: InstrumentId(9), ..buy(AccountId(9), 0, 0) };
    assert_eq!(refusal(rules(), order), rejected(RejectReason::UnknownAccount));
}

#[test]
fn a_house_account_cannot_trade() {
    let order = buy(AccountId::FEES, 100, 1);
    assert_eq!(refusal(rules(), order), rejected(RejectReason::UnknownAccount));
}

#[test]
fn an_unknown_instrument_is_refused() {
    for instrument in [InstrumentId(0), InstrumentId(2), InstrumentId(u32::MAX)] {
        let order = NewOrder { instrument, ..buy(ALICE, 1, 1) };
        assert_eq!(refusal(rules(), order), rejected(RejectReason::UnknownInstrument));
    }
}

#[test]
fn a_halted_or_closed_instrument_takes_no_orders() {
    let mut venue = Venue::new();
    venue.set_state(InstrumentState::Halted);
    assert_eq!(venue.place(buy(ALICE, 1, 1)), rejected(RejectReason::InstrumentHalted));
    venue.set_state(InstrumentState::Withdrawn);
    assert_eq!(venue.place(buy(ALICE, 1, 1)), rejected(RejectReason::InstrumentClosed));
    venue.set_state(InstrumentState::Open);
    assert!(!venue.place(buy(ALICE, 1, 1)).is_rejected());
}

#[test]
fn attributes_that_do_not_go_together_are_refused() {
    let base = buy(ALICE, 100, 1);
    let by_market = market(ALICE, Side::Buy, OrderSize::Base(Quantity(1)));
    let wrong = [
        NewOrder { post_only: PostOnly::Reject, ..by_market },
        NewOrder { post_only: PostOnly::Reject, time_in_force: TimeInForce::Gtc, ..by_market },
        NewOrder { post_only: PostOnly::Reject, time_in_force: TimeInForce::Ioc, ..base },
        NewOrder { post_only: PostOnly::Slide, time_in_force: TimeInForce::Fok, ..base },
        NewOrder { size: OrderSize::Quote(Amount(5)), ..base },
    ];
    for order in wrong {
        assert_eq!(refusal(rules(), order), rejected(RejectReason::InvalidCombination));
    }
}

#[test]
fn quantities_are_positive_whole_lots_up_to_the_largest() {
    let rules = TradingRules { lot: Quantity(5), quantity_max: Quantity(100), ..rules() };
    let reasons = [
        (0, RejectReason::QuantityNotPositive),
        (-5, RejectReason::QuantityNotPositive),
        (7, RejectReason::QuantityOffLot),
        (105, RejectReason::QuantityTooLarge),
    ];
    for (quantity, reason) in reasons {
        assert_eq!(refusal(rules, buy(ALICE, 10, quantity)), rejected(reason), "{quantity}");
    }
}

#[test]
fn prices_are_positive_multiples_of_the_tick() {
    let rules = TradingRules { tick: Price(5), ..rules() };
    assert_eq!(refusal(rules, buy(ALICE, 0, 1)), rejected(RejectReason::PriceNotPositive));
    assert_eq!(refusal(rules, buy(ALICE, 7, 1)), rejected(RejectReason::PriceOffTick));
    let protected = NewOrder { kind: OrderKind::Market, ..buy(ALICE, 7, 1) };
    let protected = NewOrder { time_in_force: TimeInForce::Ioc, ..protected };
    assert_eq!(refusal(rules, protected), rejected(RejectReason::PriceOffTick));
}

#[test]
fn a_collar_is_measured_from_the_reference_and_then_from_the_last_trade() {
    let collared = TradingRules { collar_ppm: 100_000, reference_price: Price(100), ..rules() };
    let mut venue = Venue::ruled(collared);
    assert_eq!(venue.place(sell(ALICE, 111, 1)), rejected(RejectReason::PriceOutsideCollar));
    assert_eq!(venue.place(sell(ALICE, 89, 1)), rejected(RejectReason::PriceOutsideCollar));
    venue.enter(sell(ALICE, 110, 1));
    venue.enter(buy(BOB, 110, 1));
    venue.enter(sell(ALICE, 121, 1));
    assert_eq!(venue.place(sell(ALICE, 98, 1)), rejected(RejectReason::PriceOutsideCollar));
}

#[test]
fn without_a_reference_there_is_no_collar() {
    let collared = TradingRules { collar_ppm: 1, ..rules() };
    assert!(!refusal(collared, buy(ALICE, 1_000, 1)).is_rejected());
}

#[test]
fn open_orders_of_an_account_in_an_instrument_are_bounded() {
    let mut venue = Venue::ruled(TradingRules { open_orders_max: 2, ..rules() });
    let first = venue.enter(buy(ALICE, 10, 1));
    venue.enter(buy(ALICE, 10, 1));
    assert_eq!(venue.place(buy(ALICE, 10, 1)), rejected(RejectReason::OpenOrdersLimit));
    venue.enter(buy(BOB, 10, 1));
    venue.cancel(ALICE, first);
    venue.enter(buy(ALICE, 10, 1));
}

#[test]
fn a_full_venue_takes_only_orders_that_cannot_rest() {
    let mut config = CoreConfig::new(ENGINE);
    config.limits.orders_max = 1;
    let mut venue = Venue::with(config, rules());
    venue.enter(sell(ALICE, 10, 1));
    assert_eq!(venue.place(buy(BOB, 10, 1)), rejected(RejectReason::VenueFull));
    let ioc = NewOrder { time_in_force: TimeInForce::Ioc, ..buy(BOB, 10, 1) };
    venue.enter(ioc);
    assert_eq!(venue.trades(), [(10, 1)]);
}

#[test]
fn the_total_of_a_price_level_never_overflows() {
    let huge = TradingRules { quantity_max: Quantity::MAX, risk: false, ..rules() };
    let mut venue = Venue::ruled(huge);
    venue.enter(buy(ALICE, 1, 1 << 62));
    assert_eq!(venue.place(buy(ALICE, 1, 1 << 62)), rejected(RejectReason::QuantityTooLarge));
    venue.enter(buy(ALICE, 2, 1 << 62));
    venue.enter(buy(ALICE, 1, 1 << 40));
}

#[test]
fn the_notional_has_a_least_and_a_largest_value() {
    let bounded =
        TradingRules { notional_min: Amount(100), quantity_max: Quantity::MAX, ..rules() };
    assert_eq!(refusal(bounded, buy(ALICE, 9, 11)), rejected(RejectReason::NotionalTooSmall));
    let order = buy(ALICE, 1 << 50, 1 << 51);
    assert_eq!(refusal(bounded, order), rejected(RejectReason::NotionalTooLarge));
}

#[test]
fn a_post_only_order_that_would_trade_is_refused() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 1));
    let order = NewOrder { post_only: PostOnly::Reject, ..buy(BOB, 100, 1) };
    assert_eq!(venue.place(order), rejected(RejectReason::WouldCross));
}

#[test]
fn own_orders_count_for_post_only() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 1));
    let order = NewOrder { post_only: PostOnly::Reject, ..buy(ALICE, 100, 1) };
    assert_eq!(venue.place(order), rejected(RejectReason::WouldCross));
}

#[test]
fn a_sliding_order_rests_one_tick_short_of_the_other_side() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 1));
    venue.enter(NewOrder { post_only: PostOnly::Slide, ..buy(BOB, 120, 1) });
    assert_eq!(venue.queue(Side::Buy), [(99, 1)]);
    assert_eq!(venue.balance(BOB, QUOTE).1, 99);
    venue.enter(NewOrder { post_only: PostOnly::Slide, ..sell(ALICE, 50, 1) });
    assert_eq!(venue.queue(Side::Sell), [(100, 1), (100, 1)]);
}

#[test]
fn an_order_cannot_slide_below_one_tick() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 1, 1));
    let order = NewOrder { post_only: PostOnly::Slide, ..buy(BOB, 2, 1) };
    assert_eq!(venue.place(order), rejected(RejectReason::WouldCross));
}

#[test]
fn an_order_beyond_the_balance_is_refused_and_changes_nothing() {
    let mut venue = Venue::new();
    let (price, quantity) = (1_000, 1_000_000);
    assert_eq!(
        venue.place(buy(ALICE, price, quantity)),
        rejected(RejectReason::InsufficientBalance)
    );
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS, 0));
}

#[test]
fn without_risk_nothing_is_reserved_or_posted() {
    let mut venue = Venue::ruled(TradingRules { risk: false, ..rules() });
    venue.enter(sell(ALICE, 1_000_000, 1_000_000));
    venue.enter(buy(BOB, 1_000_000, 1_000_000));
    let trade = *venue.trade_events().next().unwrap();
    assert_eq!((trade.notional, trade.taker_fee, trade.buyer_unreserved), Default::default());
    assert_eq!(venue.balance(BOB, QUOTE), (FUNDS, 0));
}

/// The outcome of a sliding order under these rules, with `first` resting since before they were
/// set.
fn slid(rules: TradingRules, first: NewOrder, order: NewOrder) -> (Outcome, Option<i64>) {
    slid_under(*rialto_core::RULES_VERSIONS.end(), rules, first, order)
}

fn slid_under(
    rules_version: u32,
    new: TradingRules,
    first: NewOrder,
    order: NewOrder,
) -> (Outcome, Option<i64>) {
    let mut venue = Venue::under(rules_version, rules());
    venue.enter(first);
    venue.set_rules(new);
    let order = NewOrder { post_only: PostOnly::Slide, ..order };
    let outcome = venue.place(order);
    (outcome, venue.queue(order.side).first().map(|(price, _)| *price))
}

#[test]
fn a_sliding_order_rests_on_the_tick_though_the_other_side_is_off_it() {
    // Since rules version 4 no order rests off the tick.
    let slid = |rules, first, order| slid_under(3, rules, first, order);
    let coarse = TradingRules { tick: Price(4), ..rules() };
    let (_, price) = slid(coarse, sell(ALICE, 105, 1), buy(BOB, 108, 1));
    assert_eq!(price, Some(104));
    let (_, price) = slid(coarse, buy(ALICE, 95, 1), sell(BOB, 92, 1));
    assert_eq!(price, Some(96));
    let (outcome, _) = slid(coarse, sell(ALICE, 3, 1), buy(BOB, 4, 1));
    assert_eq!(outcome, rejected(RejectReason::WouldCross));
}

#[test]
fn an_order_does_not_slide_out_of_the_collar() {
    let collar = TradingRules { collar_ppm: 50_000, reference_price: Price(100), ..rules() };
    let outside = rejected(RejectReason::PriceOutsideCollar);
    assert_eq!(slid(collar, sell(ALICE, 90, 1), buy(BOB, 100, 1)), (outside, None));
    assert_eq!(slid(collar, buy(ALICE, 110, 1), sell(BOB, 100, 1)), (outside, None));
    assert_eq!(slid(collar, sell(ALICE, 96, 1), buy(BOB, 100, 1)).1, Some(95));
}

#[test]
fn an_order_does_not_slide_below_the_least_notional() {
    let least = TradingRules { notional_min: Amount(500), ..rules() };
    let small = rejected(RejectReason::NotionalTooSmall);
    assert_eq!(slid(least, sell(ALICE, 100, 5), buy(BOB, 101, 5)), (small, None));
}

#[test]
fn an_amended_order_slides_as_a_new_one_does() {
    let mut venue = Venue::under(3, rules());
    venue.enter(sell(ALICE, 105, 1));
    let order = NewOrder { post_only: PostOnly::Slide, ..buy(BOB, 96, 1) };
    let id = venue.enter(order);
    venue.set_rules(TradingRules {
        tick: Price(4),
        collar_ppm: 50_000,
        reference_price: Price(112),
        ..rules()
    });
    // The collar begins at 106.4, above the 104 that it would slide to.
    let outside = rejected(RejectReason::PriceOutsideCollar);
    assert_eq!(venue.amend(BOB, id, Some(108), None), outside);
    venue.set_rules(TradingRules { tick: Price(4), ..rules() });
    venue.amend(BOB, id, Some(108), None);
    assert_eq!(venue.queue(Side::Buy), [(104, 1)]);
}
