//! Kill switches that cancel a few thousand orders, which takes several slices.

use crate::sliced::{Work, a_kill_after_any_slice_changes_nothing};
use crate::stage::{ACCOUNTS, limit};
use rialto_core::ORDERS_PER_COMMAND;
use rialto_model::*;
use std::collections::BTreeMap;

/// The resting orders of each account.
const RESTING: i64 = 500;
/// The conditional orders of each account.
const WAITING: i64 = 300;
/// A second account of the first member.
const SECOND: AccountId = AccountId(ACCOUNTS + 1);

/// Orders of all accounts: on both sides, under names, waiting for a trigger, and with a date.
fn orders() -> Vec<Command> {
    let name = "second".parse().unwrap();
    let mut commands = vec![Command::CreateAccount { account: SECOND, member: MemberId(1), name }];
    commands.extend([1, 2].map(|currency| {
        Command::deposit(Transfer {
            account: SECOND,
            currency: CurrencyId(currency),
            amount: Amount(1 << 80),
            reference: format!("d{currency}").parse().unwrap(),
        })
    }));
    // A trade, which stops need.
    commands.extend([limit(1, Side::Sell, 1_000, 1), limit(2, Side::Buy, 1_000, 1)]);
    for number in 0..RESTING {
        for account in 1..=SECOND.0 {
            let (side, price) = match (i64::from(account) + number) % 2 {
                0 => (Side::Buy, 900 - number % 50),
                _ => (Side::Sell, 1_100 + number % 50),
            };
            let Command::Place(order) = limit(account, side, price, 1 + number % 9) else {
                continue;
            };
            commands.push(Command::Place(match number % 7 {
                0 => NewOrder { client_order_id: format!("c{number}").parse().unwrap(), ..order },
                1 => {
                    let expire_at = Timestamp(1_000_000);
                    NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..order }
                }
                _ => order,
            }));
        }
    }
    for number in 0..WAITING {
        for account in 1..=SECOND.0 {
            let Command::Place(terms) = limit(account, Side::Buy, 1_300, 1) else { continue };
            let trigger = Trigger { kind: TriggerKind::Stop, price: Price(1_200 + number % 50) };
            let order = ConditionalOrder { terms, trigger, immediate: false };
            commands.push(Command::PlaceConditional(order));
        }
    }
    commands
}

/// Kills all orders of a target, which are those of this many accounts.
fn check(target: RestrictionTarget, accounts: u32, by_member: bool) {
    let restriction = Restriction::CancelOnly;
    let kill = Command::Restrict(Restrict { target, restriction, by_member, cancel: true });
    let work = Work { before: orders(), begins: kill, at: Timestamp(2_000) };
    let (undisturbed, slices) = a_kill_after_any_slice_changes_nothing(&work);
    let mut done: BTreeMap<OrderId, DoneReason> = BTreeMap::new();
    for event in undisturbed.of_work() {
        if let Event::Done(it) = event {
            assert!(done.insert(it.order, it.reason).is_none(), "{} ended twice", it.order);
        }
    }
    let expected = accounts * (RESTING + WAITING) as u32;
    assert_eq!(done.len(), expected as usize);
    let reason = done.values().next().copied();
    assert!(done.values().all(|it| Some(*it) == reason));
    // The first slices are those of the command, and of the tick after it.
    assert!(slices as u32 + 1 >= expected / ORDERS_PER_COMMAND, "{slices} slices");
}

#[test]
fn a_kill_after_any_slice_changes_nothing_of_the_kill_of_an_account() {
    check(RestrictionTarget::Account(AccountId(1)), 1, true);
}

#[test]
fn a_kill_after_any_slice_changes_nothing_of_the_kill_of_a_member() {
    check(RestrictionTarget::Member(MemberId(1)), 2, false);
}

#[test]
fn a_kill_after_any_slice_changes_nothing_of_the_kill_of_a_venue() {
    check(RestrictionTarget::Venue, SECOND.0, false);
}

#[test]
fn a_kill_after_any_slice_changes_nothing_of_the_kill_of_an_instrument() {
    check(RestrictionTarget::Instrument(InstrumentId(1)), SECOND.0, false);
}
