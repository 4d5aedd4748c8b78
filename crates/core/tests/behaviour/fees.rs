//! Fees by order: what the trades of an order come to, rounded down once.

use crate::venue::*;
use rialto_core::{Core, CoreConfig};
use rialto_model::{AccountId, Seq, Side, Timestamp, TradingRules};

/// The maker's and the taker's fee of each trade of the last command.
fn fees(venue: &Venue) -> Vec<(i128, i128)> {
    venue.trade_events().map(|trade| (trade.maker_fee.0, trade.taker_fee.0)).collect()
}

fn under_version_1(rules: TradingRules) -> Venue {
    Venue::with(CoreConfig { rules_version: 1, ..CoreConfig::new(ENGINE) }, rules)
}

#[test]
fn an_order_taken_in_pieces_pays_what_it_would_pay_at_once() {
    for (mut venue, takers_fees) in
        [(Venue::new(), vec![0, 1, 0, 1]), (under_version_1(rules()), vec![0, 0, 0, 0])]
    {
        for _ in 0..4 {
            venue.enter(sell(ALICE, 50, 1));
        }
        venue.enter(buy(BOB, 50, 4));
        let paid: Vec<i128> = fees(&venue).iter().map(|fee| fee.1).collect();
        assert_eq!(paid, takers_fees);
    }
}

#[test]
fn a_resting_order_filled_by_many_pays_the_fee_of_all_it_traded() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 50, 40));
    let mut paid = Vec::new();
    for _ in 0..40 {
        venue.enter(buy(BOB, 50, 1));
        paid.push(fees(&venue)[0].0);
    }
    assert_eq!(paid.iter().sum::<i128>(), 2);
    assert_eq!(paid.iter().position(|fee| *fee > 0), Some(19));
}

#[test]
fn an_amended_order_still_owes_what_it_owed() {
    let mut venue = Venue::new();
    let id = venue.enter(sell(ALICE, 50, 20));
    venue.enter(buy(BOB, 50, 19));
    assert_eq!(fees(&venue), [(0, 9)]);
    assert_eq!(venue.core.order(id).unwrap().fee_residue, 950_000);
    venue.amend(ALICE, id, Some(51), Some(40));
    venue.amend(ALICE, id, Some(50), None);
    venue.amend(ALICE, id, None, Some(30));
    assert_eq!(venue.core.order(id).unwrap().fee_residue, 950_000);
    venue.enter(buy(BOB, 50, 1));
    assert_eq!(fees(&venue)[0].0, 1);
}

#[test]
fn a_takers_underpaid_fee_is_charged_when_it_makes() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 50, 1));
    venue.enter(buy(BOB, 50, 11));
    assert_eq!(fees(&venue), [(0, 0)]);
    venue.enter(sell(ALICE, 50, 10));
    assert_eq!(fees(&venue), [(1, 5)]);
}

#[test]
fn a_rebate_ends_with_the_fee_that_paid_for_it() {
    let generous = TradingRules { maker_fee_ppm: -10_000, taker_fee_ppm: 20_000, ..rules() };
    let free = TradingRules { maker_fee_ppm: 0, taker_fee_ppm: 0, ..rules() };
    for (mut venue, rebate) in [(Venue::ruled(generous), 0), (under_version_1(generous), -10)] {
        venue.enter(sell(ALICE, 100, 20));
        venue.enter(buy(BOB, 100, 10));
        assert_eq!(fees(&venue), [(-10, 20)]);
        venue.set_rules(free);
        venue.enter(buy(BOB, 100, 10));
        assert_eq!(fees(&venue), [(rebate, 0)]);
        assert_eq!(venue.balance(AccountId::FEES, QUOTE).0, 10 + rebate);
    }
}

#[test]
fn a_suspended_taker_keeps_what_it_owes() {
    let mut venue = Venue::new();
    for _ in 0..301 {
        venue.enter(sell(ALICE, 50, 1));
    }
    venue.enter(buy(BOB, 50, 301));
    assert_eq!(venue.core.next_due(), Timestamp::ZERO, "the taker is suspended");
    let mut first: i128 = fees(&venue).iter().map(|fee| fee.1).sum();
    venue.core = Core::restore(&venue.core.snapshot(), 9).unwrap();
    venue.tick();
    first += fees(&venue).iter().map(|fee| fee.1).sum::<i128>();
    assert_eq!(first, 301 * 50 / 100);
}

#[test]
fn a_partly_filled_buy_that_owes_is_restored_with_its_reserve() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 50, 1));
    let id = venue.enter(buy(BOB, 50, 4));
    // 150 of notional, and 1.5 of fee beside the half that it owes.
    assert_eq!(venue.core.order(id).unwrap().reserved.0, 152);
    let mut restored = Core::restore(&venue.core.snapshot(), 9).unwrap();
    restored.check().unwrap();
    assert_eq!(restored.state_hash(), venue.core.state_hash());
    let (seq, time) = (Seq(restored.seq().0 + 1), restored.time());
    let order = rialto_model::Command::Place(limit(ALICE, Side::Sell, 50, 3));
    let mut events = Vec::new();
    restored.apply(seq, time, &order, &mut events);
    let rest = restored.balance(BOB, QUOTE).unwrap();
    // A taker's 1 % of 50, then a maker's 0.1 % of 150: 0.65 in all.
    assert_eq!((rest.available.0, rest.reserved.0), (FUNDS - 200, 0));
}
