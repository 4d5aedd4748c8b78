use crate::venue::*;
use rialto_core::HELD_MAX;
use rialto_model::{
    AccountId, Amount, Command, CurrencyId, Event, Outcome, RejectReason, Transfer,
};

#[test]
fn a_deposit_is_owed_to_the_world_outside() {
    let mut venue = Venue::new();
    venue.apply(Command::Deposit(transfer(ALICE, QUOTE, 7, "a")));
    assert_eq!(venue.balance(ALICE, QUOTE).0, FUNDS + 7);
    assert_eq!(venue.balance(AccountId::TRANSIT, QUOTE).0, -4 * FUNDS - 7);
}

#[test]
fn the_same_transfer_takes_effect_once() {
    let mut venue = Venue::new();
    let deposit = Command::Deposit(transfer(ALICE, QUOTE, 7, "a"));
    assert_eq!(venue.apply(deposit), Outcome::Done);
    assert_eq!(venue.apply(deposit), Outcome::Repeated);
    assert!(matches!(venue.events[..], [Event::Repeated { reject: None, .. }]));
    assert_eq!(venue.balance(ALICE, QUOTE).0, FUNDS + 7);
}

#[test]
fn deposits_and_withdrawals_share_their_references() {
    let mut venue = Venue::new();
    venue.apply(Command::Deposit(transfer(ALICE, QUOTE, 7, "a")));
    let conflict = rejected(RejectReason::ReferenceConflict);
    assert_eq!(venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 7, "a"))), conflict);
    assert_eq!(venue.apply(Command::Deposit(transfer(ALICE, QUOTE, 8, "a"))), conflict);
    assert_eq!(venue.apply(Command::Deposit(transfer(BOB, QUOTE, 8, "a"))), Outcome::Done);
}

#[test]
fn a_refused_transfer_is_not_remembered() {
    let mut venue = Venue::new();
    let large = Command::Withdraw(transfer(ALICE, QUOTE, FUNDS + 1, "a"));
    assert_eq!(venue.apply(large), rejected(RejectReason::InsufficientBalance));
    assert_eq!(venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 5, "a"))), Outcome::Done);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 5, 0));
}

#[test]
fn what_is_reserved_cannot_be_withdrawn() {
    let mut venue = Venue::new();
    venue.enter(sell(ALICE, 100, 1));
    let all = Command::Withdraw(transfer(ALICE, BASE, FUNDS, "a"));
    assert_eq!(venue.apply(all), rejected(RejectReason::InsufficientBalance));
}

#[test]
fn transfers_name_an_account_a_currency_an_amount_and_a_reference() {
    let good = transfer(ALICE, QUOTE, 1, "a");
    let wrong = [
        (Transfer { account: AccountId::FEES, ..good }, RejectReason::UnknownAccount),
        (Transfer { currency: CurrencyId(0), ..good }, RejectReason::UnknownCurrency),
        (Transfer { currency: CurrencyId(3), ..good }, RejectReason::UnknownCurrency),
        (Transfer { amount: Amount(0), ..good }, RejectReason::AmountNotPositive),
        (Transfer { reference: Default::default(), ..good }, RejectReason::ReferenceMissing),
    ];
    for (transfer, reason) in wrong {
        assert_eq!(Venue::new().apply(Command::Deposit(transfer)), rejected(reason));
    }
}

#[test]
fn what_is_held_of_a_currency_is_bounded() {
    let mut venue = Venue::new();
    let room = HELD_MAX - 4 * FUNDS;
    let too_much = Command::Deposit(transfer(ALICE, QUOTE, room + 1, "a"));
    assert_eq!(venue.apply(too_much), rejected(RejectReason::AmountTooLarge));
    assert_eq!(venue.apply(Command::Deposit(transfer(ALICE, QUOTE, room, "a"))), Outcome::Done);
    let more = Command::Deposit(transfer(ALICE, QUOTE, i128::MAX, "b"));
    assert_eq!(venue.apply(more), rejected(RejectReason::AmountTooLarge));
}
