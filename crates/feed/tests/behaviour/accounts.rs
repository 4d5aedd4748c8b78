//! Private data of an account, what is forgotten, and resuming a stream.

use crate::stage::*;
use rialto_feed::{FeedConfig, NotRemembered};
use rialto_model::*;

fn deal(stage: &mut Stage, buyer: AccountId) {
    let maker = stage.rest(ALICE, Side::Sell, 100, 10);
    let all = reserve(Side::Buy, 100, 10);
    let taker = maker + 1_000_000;
    let event = trade((maker, ALICE), (taker, buyer), Side::Buy, (100, 10), (0, 0), all);
    stage.step(&[accepted(taker, buyer, Side::Buy, 100, 10, false), Event::Trade(event)]);
}

#[test]
fn a_withdrawal_leaves_and_zero_balances_are_left_out() {
    let mut stage = Stage::new();
    let (reference, amount) = ("out".parse().unwrap(), Amount(1_000_000_000));
    stage.step(&[Event::Withdrawn { account: ALICE, currency: BTC, amount, reference }]);
    let held: Vec<_> = stage.feed.balances(ALICE).map(|balance| balance.currency).collect();
    assert_eq!(held, [USD]);
    assert_eq!(stage.feed.balance(ALICE, BTC).unwrap().available, Amount(0));
    assert_eq!(stage.feed.balance(ALICE, CurrencyId(9)), None);
    assert_eq!(stage.feed.balance(AccountId(9), BTC), None);
}

#[test]
fn members_have_accounts() {
    let mut stage = Stage::new();
    let (member, name) = (MemberId(1), "second".parse().unwrap());
    stage.step(&[Event::AccountCreated { account: AccountId(7), member, name }]);
    let owned: Vec<_> = stage.feed.accounts_of(member).map(|account| account.account).collect();
    assert_eq!(owned, [ALICE, AccountId(7)]);
    assert_eq!(stage.feed.members().count(), 2);
    assert_eq!(stage.feed.accounts().count(), 3);
    assert_eq!(stage.feed.account(AccountId::FEES), None);
}

#[test]
fn a_dead_man_timer_shows_until_its_time_has_come() {
    let mut stage = Stage::new();
    let due = Timestamp(stage.time + 10);
    stage.step(&[Event::DeadManSet { account: ALICE, due }]);
    assert_eq!(stage.feed.account(ALICE).unwrap().dead_man, Some(due));
    stage.time += 10;
    stage.step(&[Event::Ticked]);
    assert_eq!(stage.feed.account(ALICE).unwrap().dead_man, None);
    stage.step(&[Event::DeadManSet { account: ALICE, due: Timestamp::MAX }]);
    assert_eq!(stage.feed.account(ALICE).unwrap().dead_man, None);
}

#[test]
fn each_account_keeps_its_last_fills() {
    let config = FeedConfig { fills_per_account: 2, ..FeedConfig::default() };
    let mut stage = Stage::with(config, true);
    for _ in 0..3 {
        deal(&mut stage, BOB);
    }
    let fills: Vec<_> = stage.feed.fills(BOB).map(|fill| fill.at.seq).collect();
    assert_eq!(fills, [stage.feed.seq(), Seq(stage.feed.seq().0 - 2)]);
}

#[test]
fn over_all_accounts_the_oldest_fill_goes_first() {
    let config = FeedConfig { fills_total: 3, ..FeedConfig::default() };
    let mut stage = Stage::with(config, true);
    deal(&mut stage, BOB);
    deal(&mut stage, ALICE);
    assert_eq!(stage.feed.fills(BOB).count() + stage.feed.fills(ALICE).count(), 3);
    // Of the first deal the maker's part came first.
    assert_eq!((stage.feed.fills(BOB).count(), stage.feed.fills(ALICE).count()), (1, 2));
}

#[test]
fn ended_orders_are_forgotten_oldest_first() {
    let config = FeedConfig { ended_orders: 2, ..FeedConfig::default() };
    let mut stage = Stage::with(config, true);
    let name: ClientOrderId = "mine".parse().unwrap();
    for number in 80..83 {
        let terms = NewOrder { client_order_id: name, ..terms(ALICE, Side::Buy, 100, 50) };
        let (order, reserved) = (order_id(number), reserve(Side::Buy, 100, 50));
        stage.step(&[Event::Accepted(Accepted { order, terms, reserved, rests: true })]);
        stage.step(&[cancelled(number, ALICE, Side::Buy, 100, 50)]);
    }
    let ended: Vec<_> = stage.feed.ended_orders(ALICE).map(|order| order.order).collect();
    assert_eq!(ended, [order_id(82), order_id(81)]);
    assert_eq!(stage.feed.order(order_id(80)), None);
    // The name stays with the order that took it last.
    let found = stage.feed.order_by_client_id(ALICE, name).unwrap();
    assert_eq!(found.order, order_id(82));
}

/// Enters an order that is cancelled at once; under a client order id if there is one.
fn come_and_go(stage: &mut Stage, number: u64, account: AccountId, name: &str) {
    let client_order_id = name.parse().unwrap();
    let terms = NewOrder { client_order_id, ..terms(account, Side::Buy, 100, 50) };
    let (order, reserved) = (order_id(number), reserve(Side::Buy, 100, 50));
    stage.step(&[
        Event::Accepted(Accepted { order, terms, reserved, rests: true }),
        cancelled(number, account, Side::Buy, 100, 50),
    ]);
}

#[test]
fn the_traffic_of_others_displaces_no_ended_order() {
    let config = FeedConfig { ended_orders: 10, ..FeedConfig::default() };
    let mut stage = Stage::with(config, true);
    for number in 0..4 {
        come_and_go(&mut stage, 100 + number, BOB, &format!("bob-{number}"));
    }
    for number in 0..100 {
        come_and_go(&mut stage, 200 + number, ALICE, "");
    }
    let found = |name: &str| stage.feed.order_by_client_id(BOB, name.parse().unwrap());
    assert!((0..4).all(|number| found(&format!("bob-{number}")).is_some()));
    assert_eq!(stage.feed.ended_orders(BOB).count(), 4);
    let left: Vec<_> = stage.feed.ended_orders(ALICE).map(|order| order.order).collect();
    assert_eq!(left, (294..300).rev().map(order_id).collect::<Vec<_>>());
}

#[test]
fn orders_with_names_outlast_those_without() {
    let config = FeedConfig { ended_orders: 6, names_per_account: 2, ..FeedConfig::default() };
    let mut stage = Stage::with(config, true);
    for number in 0..4 {
        come_and_go(&mut stage, 100 + number, ALICE, &format!("mine-{number}"));
    }
    for number in 0..50 {
        come_and_go(&mut stage, 200 + number, ALICE, "");
    }
    let left: Vec<_> = stage.feed.ended_orders(ALICE).map(|order| order.order).collect();
    assert_eq!(left, [249, 248, 247, 246, 103, 102].map(order_id));
}

#[test]
fn a_stream_resumes_where_it_was_interrupted() {
    let mut stage = Stage::new();
    let quiet = stage.rest(ALICE, Side::Buy, 50, 10);
    let since = stage.feed.seq();
    deal(&mut stage, BOB);
    let changed = stage.rest(ALICE, Side::Buy, 51, 10);
    let changes = stage.feed.changes_since(ALICE, since).unwrap().unwrap();
    assert_eq!(changes.seq, stage.feed.seq());
    let orders: Vec<_> = changes.orders.iter().map(|order| order.status).collect();
    assert_eq!(orders, [OrderStatus::Open, OrderStatus::Filled]);
    assert_eq!(changes.orders[0].order, order_id(changed));
    assert!(changes.orders.iter().all(|order| order.order != order_id(quiet)));
    assert_eq!(changes.fills.len(), 1);
    assert_eq!(changes.balances.iter().map(|b| b.currency).collect::<Vec<_>>(), [BTC, USD]);
    let nothing = stage.feed.changes_since(ALICE, stage.feed.seq()).unwrap().unwrap();
    assert!(nothing.orders.is_empty() && nothing.fills.is_empty() && nothing.balances.is_empty());
    assert_eq!(stage.feed.changes_since(AccountId(9), since), Ok(None));
}

#[test]
fn a_stream_cannot_resume_from_a_forgotten_or_future_sequence() {
    let config = FeedConfig { ended_orders: 1, ..FeedConfig::default() };
    let mut stage = Stage::with(config, true);
    let since = stage.feed.seq();
    let order = stage.rest(ALICE, Side::Buy, 100, 10);
    stage.step(&[cancelled(order, ALICE, Side::Buy, 100, 10)]);
    assert!(stage.feed.changes_since(ALICE, since).is_ok());
    let end = stage.feed.seq();
    let order = stage.rest(BOB, Side::Buy, 100, 10);
    stage.step(&[cancelled(order, BOB, Side::Buy, 100, 10)]);
    let newest = stage.feed.seq();
    let error = Err(NotRemembered { oldest: end, newest });
    assert_eq!(stage.feed.changes_since(ALICE, since), error);
    assert!(stage.feed.changes_since(ALICE, end).is_ok());
    assert!(stage.feed.changes_since(BOB, since).is_ok());
    let error = Err(NotRemembered { oldest: end, newest });
    assert_eq!(stage.feed.changes_since(ALICE, newest.next()), error);
}
