//! The largest notional of an order, and fees by the lot.

use crate::venue::*;
use rialto_core::Core;
use rialto_model::{
    Amount, AuctionRules, Command, ContractTerms, InstrumentState, LotFees, NewOrder, OrderSize,
    OrderStatus, Outcome, Quantity, RejectReason, Side, TimeInForce, TradingRules,
};

const FEES: LotFees = LotFees { maker: Amount(-1), taker: Amount(7), auction: Amount(2) };

fn terms(lot_fees: LotFees) -> ContractTerms {
    ContractTerms { lot_fees: Some(lot_fees), ..ContractTerms::PLAIN }
}

fn set(venue: &mut Venue, terms: ContractTerms) -> Outcome {
    venue.apply(Command::SetContractTerms { instrument: SPOT, terms })
}

fn by_lot(lot: i64, fees: LotFees) -> Venue {
    let mut venue = Venue::ruled(TradingRules { lot: Quantity(lot), ..rules() });
    assert_eq!(set(&mut venue, terms(fees)), Outcome::Done);
    venue
}

#[test]
fn a_buy_reserves_the_fee_of_all_its_lots_and_gets_back_what_it_does_not_need() {
    let mut venue = by_lot(10, FEES);
    venue.enter(buy(ALICE, 100, 50));
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 5_035, 5_035));
    venue.enter(sell(BOB, 100, 20));
    // The maker is paid its rebate, and three lots stay open.
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 2_000 + 2 - 3_021, 3_021));
    assert_eq!(venue.balance(BOB, QUOTE), (FUNDS + 2_000 - 14, 0));
    let order = venue.core.orders(SPOT, Side::Buy).next().unwrap();
    assert_eq!((order.maker_fee_ppm, order.taker_fee_ppm, order.fee_residue), (0, 0, 0));
}

#[test]
fn an_amended_buy_reserves_the_fee_of_its_new_lots() {
    let mut venue = by_lot(10, FEES);
    let id = venue.enter(buy(ALICE, 100, 50));
    venue.amend(ALICE, id, None, Some(20));
    assert_eq!(venue.balance(ALICE, QUOTE).1, 2_014);
    venue.amend(ALICE, id, Some(90), Some(30));
    assert_eq!(venue.balance(ALICE, QUOTE).1, 2_721);
    venue.cancel(ALICE, id);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS, 0));
}

#[test]
fn a_buy_needs_its_fee_beside_its_notional() {
    let mut venue = by_lot(1, LotFees { taker: Amount(FUNDS), ..FEES });
    assert_eq!(venue.place(buy(ALICE, 1, 1)), rejected(RejectReason::InsufficientBalance));
    let mut venue = by_lot(1, LotFees { taker: Amount(FUNDS - 1), ..FEES });
    venue.enter(buy(ALICE, 1, 1));
    assert_eq!(venue.balance(ALICE, QUOTE), (0, FUNDS));
    assert_eq!(venue.place(buy(BOB, 1, 2)), rejected(RejectReason::InsufficientBalance));
}

#[test]
fn the_largest_fees_of_the_largest_orders_do_not_overflow() {
    let most = LotFees { maker: LotFees::MAX, taker: LotFees::MAX, auction: LotFees::MAX };
    let largest = TradingRules { quantity_max: Quantity::MAX, ..rules() };
    let mut venue = Venue::ruled(largest);
    assert_eq!(set(&mut venue, terms(most)), Outcome::Done);
    let order = buy(ALICE, 1 << 36, 1 << 62);
    assert_eq!(venue.place(order), rejected(RejectReason::InsufficientBalance));
    let amount = OrderSize::Quote(rialto_model::Instrument::NOTIONAL_MAX);
    let id = venue.enter(sell(BOB, 5, 10));
    let order = NewOrder { price: rialto_model::Price(5), ..market(ALICE, Side::Buy, amount) };
    assert_eq!(venue.place(order), rejected(RejectReason::InsufficientBalance));
    venue.cancel(BOB, id);
    let refused = set(&mut venue, terms(LotFees { taker: Amount(1 << 63), ..most }));
    assert_eq!(refused, rejected(RejectReason::InvalidRules));
}

#[test]
fn an_amount_that_pays_no_lot_with_its_fee_buys_nothing() {
    let mut venue = by_lot(10, FEES);
    venue.enter(sell(BOB, 9, 100));
    let spend = |amount| market(ALICE, Side::Buy, OrderSize::Quote(Amount(amount)));
    let none = venue.place(spend(96));
    assert!(matches!(none, Outcome::Order { filled: Quantity::ZERO, .. }), "{none:?}");
    let one = venue.place(spend(97));
    let filled = Quantity(10);
    assert!(
        matches!(one, Outcome::Order { status: OrderStatus::Filled, filled: it, .. } if it == filled),
        "{one:?}"
    );
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 97, 0));
}

#[test]
fn a_fill_or_kill_for_an_amount_counts_the_fees() {
    let mut venue = by_lot(10, FEES);
    venue.enter(sell(BOB, 9, 20));
    let fok = |amount| NewOrder {
        time_in_force: TimeInForce::Fok,
        ..market(ALICE, Side::Buy, OrderSize::Quote(Amount(amount)))
    };
    // Three lots cost 291, and two are there.
    assert_eq!(venue.place(fok(291)), rejected(RejectReason::Unfillable));
    assert!(!venue.place(fok(290)).is_rejected());
    assert_eq!(venue.trades(), [(9, 20)]);
}

#[test]
fn an_auction_charges_both_sides_its_own_fee() {
    let mut venue = by_lot(10, FEES);
    let rules = AuctionRules { fee_ppm: 100_000, ..AuctionRules::PLAIN };
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
    venue.set_state(InstrumentState::Call);
    venue.enter(buy(ALICE, 110, 30));
    venue.enter(sell(BOB, 100, 20));
    venue.set_state(InstrumentState::Open);
    while venue.trades().is_empty() {
        venue.tick();
    }
    let price = venue.trades()[0].0;
    let fees: Vec<_> = venue.trade_events().map(|it| (it.maker_fee.0, it.taker_fee.0)).collect();
    assert_eq!(fees, [(4, 4)]);
    let cost = i128::from(price) * 20;
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - cost - 4 - 1_107, 1_107));
    assert_eq!(venue.balance(BOB, QUOTE), (FUNDS + cost - 4, 0));
}

#[test]
fn an_instrument_without_risk_charges_nothing_by_the_lot() {
    let mut venue = Venue::ruled(TradingRules { risk: false, ..rules() });
    set(&mut venue, terms(FEES));
    venue.enter(sell(BOB, 9, 100));
    venue.enter(market(ALICE, Side::Buy, OrderSize::Quote(Amount(32))));
    let fees: Vec<_> = venue.trade_events().map(|it| (it.maker_fee.0, it.taker_fee.0)).collect();
    // The fee still counts when the order is sized.
    assert_eq!((fees, venue.trades()), (vec![(0, 0)], vec![(9, 2)]));
}

#[test]
fn terms_outlive_a_snapshot_and_removed_fees_give_way_to_the_rates() {
    let mut venue = by_lot(10, FEES);
    let all = ContractTerms { notional_max: Amount(5_000), ..terms(FEES) };
    assert_eq!(set(&mut venue, all), Outcome::Done);
    venue.core = Core::restore(&venue.core.snapshot(), 0).unwrap();
    assert_eq!(*venue.core.instrument(SPOT).unwrap().terms, all);
    assert_eq!(venue.place(buy(ALICE, 100, 60)), rejected(RejectReason::NotionalTooLarge));
    let id = venue.enter(buy(ALICE, 100, 50));
    assert_eq!(venue.balance(ALICE, QUOTE).1, 5_035);
    let removed = set(&mut venue, ContractTerms::PLAIN);
    assert_eq!(removed, rejected(RejectReason::HasOpenOrders));
    venue.cancel(ALICE, id);
    assert_eq!(set(&mut venue, ContractTerms::PLAIN), Outcome::Done);
    venue.enter(buy(ALICE, 100, 60));
    assert_eq!(venue.balance(ALICE, QUOTE).1, 6_060);
}

#[test]
fn terms_that_contradict_themselves_are_refused_and_change_nothing() {
    let mut venue = Venue::ruled(TradingRules { notional_min: Amount(100), ..rules() });
    let sound = terms(FEES);
    assert_eq!(set(&mut venue, sound), Outcome::Done);
    let notional = |most| ContractTerms { notional_max: Amount(most), ..sound };
    let fees = |maker, taker, auction| {
        let [maker, taker, auction] = [maker, taker, auction].map(Amount);
        terms(LotFees { maker, taker, auction })
    };
    for bad in [
        notional(-1),
        notional(99),
        notional((1 << 100) + 1),
        fees(8, 7, 0),
        fees(-8, 7, 0),
        fees(0, 7, 8),
        fees(0, 7, -1),
        fees(0, -1, 0),
    ] {
        assert_eq!(set(&mut venue, bad), rejected(RejectReason::InvalidRules), "{bad:?}");
    }
    assert_eq!(*venue.core.instrument(SPOT).unwrap().terms, sound);
    assert_eq!(set(&mut venue, notional(100)), Outcome::Done);
}
