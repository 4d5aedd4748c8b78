use crate::venue::*;
use rialto_model::{
    AccountId, DoneReason, Event, NewOrder, OrderStatus, Outcome, Price, Quantity, Side,
    TimeInForce, TradingRules,
};

#[test]
fn the_best_price_trades_first_and_then_the_oldest_order() {
    let mut venue = Venue::new();
    let worse = venue.enter(sell(ALICE, 101, 1));
    let first = venue.enter(sell(ALICE, 100, 1));
    let second = venue.enter(sell(ALICE, 100, 1));
    venue.enter(buy(BOB, 101, 3));
    assert_eq!(venue.makers(), [first, second, worse]);
}

#[test]
fn a_trade_is_at_the_makers_price() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 5));
    venue.enter(buy(BOB, 120, 5));
    assert_eq!(venue.trades(), [(100, 5)]);
}

#[test]
fn the_legs_of_a_trade_are_posted_with_fees() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 50));
    venue.enter(buy(BOB, 120, 50));
    assert_eq!(venue.balance(BOB, QUOTE), (FUNDS - 5_000 - 50, 0));
    assert_eq!(venue.balance(BOB, BASE), (FUNDS + 50, 0));
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS + 5_000 - 5, 0));
    assert_eq!(venue.balance(ALICE, BASE), (FUNDS - 50, 0));
    assert_eq!(venue.balance(AccountId::FEES, QUOTE), (55, 0));
}

#[test]
fn a_buying_maker_gets_back_what_its_lower_fee_does_not_need() {
    let mut venue = Venue::new();
    venue.enter(buy(ALICE, 100, 50));
    assert_eq!(venue.balance(ALICE, QUOTE).1, 5_050);
    venue.enter(sell(BOB, 100, 20));
    assert_eq!(venue.trade_events().next().unwrap().buyer_unreserved.0, 2_020);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 2_002 - 3_030, 3_030));
}

#[test]
fn a_rebate_comes_from_the_fee_account() {
    let mut venue = Venue::ruled(TradingRules { maker_fee_ppm: -10_000, ..rules() });
    venue.enter(sell(ALICE, 100, 50));
    venue.enter(buy(BOB, 100, 50));
    assert_eq!(venue.balance(ALICE, QUOTE).0, FUNDS + 5_050);
    assert_eq!(venue.balance(AccountId::FEES, QUOTE), (0, 0));
}

#[test]
fn open_orders_keep_the_fees_they_were_accepted_with() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 50));
    venue.set_rules(TradingRules { maker_fee_ppm: 0, taker_fee_ppm: 0, ..rules() });
    venue.enter(buy(BOB, 100, 50));
    let trade = venue.trade_events().next().unwrap();
    assert_eq!((trade.maker_fee.0, trade.taker_fee.0), (5, 0));
}

#[test]
fn the_remainder_rests() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 2));
    let outcome = venue.place(buy(BOB, 100, 5));
    assert!(matches!(
        outcome,
        Outcome::Order {
            status: OrderStatus::PartiallyFilled,
            filled: Quantity(2),
            remaining: Quantity(3),
            price: Price(100),
            repeated: false,
            ..
        }
    ));
    assert!(matches!(venue.events[..], [Event::Accepted(_), Event::Trade(_), Event::Rested(_)]));
    assert_eq!(venue.queue(Side::Buy), [(100, 3)]);
}

#[test]
fn the_remainder_of_an_immediate_order_is_cancelled_and_released() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 2));
    let id = venue.enter(NewOrder { time_in_force: TimeInForce::Ioc, ..buy(BOB, 100, 5) });
    assert_eq!(venue.done(), [(id, DoneReason::Remainder, 3)]);
    assert_eq!(venue.done_events().next().unwrap().released.0, 303);
    assert_eq!(venue.balance(BOB, QUOTE).1, 0);
}

#[test]
fn accounts_hold_available_and_reserved_in_full_after_everything_traded() {
    let mut venue = Venue::new();
    for price in 90..110 {
        venue.enter(buy(ALICE, price, 7));
    }
    venue.enter(sell(BOB, 90, 140));
    assert_eq!(venue.balance(ALICE, QUOTE).1, 0);
    assert_eq!(venue.balance(BOB, BASE), (FUNDS - 140, 0));
}
