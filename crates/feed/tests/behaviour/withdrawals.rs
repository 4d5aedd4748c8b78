//! Withdrawals that are held, as their events tell of them.

use crate::stage::*;
use rialto_feed::{Feed, FeedConfig, FoldError};
use rialto_model::*;

const AMOUNT: Amount = Amount(400);

fn reference() -> Reference {
    "wire-7".parse().unwrap()
}

fn held(account: AccountId) -> Event {
    Event::WithdrawalHeld { account, currency: USD, amount: AMOUNT, reference: reference() }
}

fn settled(account: AccountId, amount: Amount) -> Event {
    Event::WithdrawalSettled { account, currency: USD, amount, reference: reference() }
}

/// Available, reserved, and what of that withdrawals hold.
fn balance(feed: &Feed, account: AccountId) -> (i128, i128, i128) {
    let balance = feed.balance(account, USD).unwrap();
    (balance.available.0, balance.reserved.0, balance.withdrawing.0)
}

#[test]
fn a_held_withdrawal_is_listed_and_reserved() {
    let mut stage = Stage::new();
    let (available, ..) = balance(&stage.feed, ALICE);
    stage.step(&[held(ALICE)]);
    assert_eq!(balance(&stage.feed, ALICE), (available - 400, 400, 400));
    let withdrawal = stage.feed.withdrawal(ALICE, reference()).unwrap();
    assert_eq!((withdrawal.amount, withdrawal.held.seq), (AMOUNT, stage.feed.seq()));
    assert_eq!(stage.feed.withdrawals(ALICE), [withdrawal]);
    assert_eq!(stage.feed.withdrawals(BOB), []);
    stage.feed.check().unwrap();
}

#[test]
fn a_settled_withdrawal_leaves_the_account() {
    let mut stage = Stage::new();
    let (available, ..) = balance(&stage.feed, ALICE);
    let (outside, ..) = balance(&stage.feed, AccountId::TRANSIT);
    stage.step(&[held(ALICE)]);
    stage.step(&[settled(ALICE, AMOUNT)]);
    assert_eq!(balance(&stage.feed, ALICE), (available - 400, 0, 0));
    assert_eq!(balance(&stage.feed, AccountId::TRANSIT).0, outside + 400);
    assert_eq!(stage.feed.withdrawals(ALICE), []);
    stage.feed.check().unwrap();
}

#[test]
fn a_released_withdrawal_becomes_available() {
    let mut stage = Stage::new();
    let before = balance(&stage.feed, ALICE);
    stage.step(&[held(ALICE)]);
    let (account, currency, amount, reference) = (ALICE, USD, AMOUNT, reference());
    stage.step(&[Event::WithdrawalReleased { account, currency, amount, reference }]);
    assert_eq!(balance(&stage.feed, ALICE), before);
    assert_eq!(stage.feed.withdrawals(ALICE), []);
    stage.feed.check().unwrap();
}

#[test]
fn events_that_contradict_each_other_are_refused() {
    let refuse = |events: &[Event]| {
        let mut feed = Feed::new(FeedConfig::default());
        let stage = Stage::new();
        let mut told = |_: rialto_feed::Update<'_>| {};
        for (seq, time, events) in &stage.history {
            events.iter().for_each(|event| feed.fold(*seq, *time, event, &mut told).unwrap());
            feed.end_of(*seq, *time, &mut told).unwrap();
        }
        let (seq, time) = (feed.seq().next(), feed.time());
        events.iter().find_map(|event| feed.fold(seq, time, event, &mut told).err())
    };
    let twice = refuse(&[held(ALICE), held(ALICE)]);
    assert!(matches!(twice, Some(FoldError::WithdrawalTwice { account: ALICE, .. })));
    for wrong in [settled(BOB, AMOUNT), settled(ALICE, Amount(399))] {
        let unknown = refuse(&[held(ALICE), wrong]);
        assert!(matches!(unknown, Some(FoldError::UnknownWithdrawal { .. })), "{unknown:?}");
    }
}
