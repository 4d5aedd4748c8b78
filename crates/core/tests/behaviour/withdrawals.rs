use crate::venue::*;
use rialto_core::{Core, CoreConfig};
use rialto_model::{AccountId, Amount, Command, Event, Outcome, Reference, RejectReason, Transfer};

fn hold(account: AccountId, amount: i128, reference: &str) -> Command {
    Command::HoldWithdrawal(transfer(account, QUOTE, amount, reference))
}

fn named(reference: &str) -> Reference {
    reference.parse().unwrap()
}

fn settle(account: AccountId, reference: &str) -> Command {
    Command::SettleWithdrawal { account, reference: named(reference) }
}

fn release(account: AccountId, reference: &str) -> Command {
    Command::ReleaseWithdrawal { account, reference: named(reference) }
}

#[test]
fn a_held_withdrawal_is_reserved_and_still_owed() {
    let mut venue = Venue::new();
    assert_eq!(venue.apply(hold(ALICE, 7, "w")), Outcome::Done);
    let (account, currency, amount, reference) = (ALICE, QUOTE, Amount(7), named("w"));
    assert_eq!(venue.events, [Event::WithdrawalHeld { account, currency, amount, reference }]);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 7, 7));
    assert_eq!(venue.balance(AccountId::TRANSIT, QUOTE).0, -4 * FUNDS);
    let held = venue.core.withdrawals();
    assert_eq!((held.len(), held[0].seq), (1, venue.core.seq()));
}

#[test]
fn settling_pays_out() {
    let mut venue = Venue::new();
    venue.apply(hold(ALICE, 7, "w"));
    assert_eq!(venue.apply(settle(ALICE, "w")), Outcome::Done);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS - 7, 0));
    assert_eq!(venue.balance(AccountId::TRANSIT, QUOTE).0, -4 * FUNDS + 7);
    assert!(venue.core.withdrawals().is_empty());
    venue.core.check().unwrap();
}

#[test]
fn releasing_gives_back() {
    let mut venue = Venue::new();
    venue.apply(hold(ALICE, 7, "w"));
    assert_eq!(venue.apply(release(ALICE, "w")), Outcome::Done);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS, 0));
    assert_eq!(venue.balance(AccountId::TRANSIT, QUOTE).0, -4 * FUNDS);
    venue.core.check().unwrap();
}

#[test]
fn each_step_takes_effect_once_and_the_other_end_is_refused() {
    type End = fn(AccountId, &str) -> Command;
    let ends: [(End, End, _); 2] = [
        (settle, release, RejectReason::WithdrawalSettled),
        (release, settle, RejectReason::WithdrawalReleased),
    ];
    for (end, other, reason) in ends {
        let mut venue = Venue::new();
        assert_eq!(venue.apply(hold(ALICE, 7, "w")), Outcome::Done);
        assert_eq!(venue.apply(hold(ALICE, 7, "w")), Outcome::Repeated);
        assert_eq!(venue.apply(end(ALICE, "w")), Outcome::Done);
        let balances = (venue.balance(ALICE, QUOTE), venue.balance(AccountId::TRANSIT, QUOTE));
        assert_eq!(venue.apply(end(ALICE, "w")), Outcome::Repeated);
        assert!(matches!(venue.events[..], [Event::Repeated { reject: None, .. }]));
        assert_eq!(venue.apply(hold(ALICE, 7, "w")), rejected(reason));
        assert_eq!(venue.apply(other(ALICE, "w")), rejected(reason));
        let after = (venue.balance(ALICE, QUOTE), venue.balance(AccountId::TRANSIT, QUOTE));
        assert_eq!(after, balances);
    }
}

#[test]
fn a_reference_identifies_one_transfer() {
    let conflict = rejected(RejectReason::ReferenceConflict);
    let mut venue = Venue::new();
    venue.apply(hold(ALICE, 7, "w"));
    assert_eq!(venue.apply(hold(ALICE, 8, "w")), conflict);
    assert_eq!(venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 7, "w"))), conflict);
    assert_eq!(venue.apply(Command::deposit(transfer(ALICE, QUOTE, 7, "w"))), conflict);
    assert_eq!(venue.apply(hold(BOB, 7, "w")), Outcome::Done);
    venue.apply(settle(ALICE, "w"));
    assert_eq!(venue.apply(hold(ALICE, 8, "w")), conflict);
    assert_eq!(venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 7, "w"))), conflict);
    venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 7, "at-once")));
    assert_eq!(venue.apply(hold(ALICE, 7, "at-once")), conflict);
}

#[test]
fn only_what_is_held_can_end() {
    let unknown = rejected(RejectReason::UnknownWithdrawal);
    let mut venue = Venue::new();
    venue.apply(hold(ALICE, 7, "w"));
    venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 7, "at-once")));
    for end in [settle, release] {
        assert_eq!(venue.apply(end(ALICE, "other")), unknown);
        assert_eq!(venue.apply(end(ALICE, "at-once")), unknown);
        assert_eq!(venue.apply(end(BOB, "w")), unknown);
        assert_eq!(venue.apply(end(AccountId(99), "w")), rejected(RejectReason::UnknownAccount));
        assert_eq!(venue.apply(end(ALICE, "")), rejected(RejectReason::ReferenceMissing));
    }
}

#[test]
fn a_held_withdrawal_can_neither_be_traded_nor_withdrawn() {
    let mut venue = Venue::new();
    venue.apply(hold(ALICE, FUNDS, "w"));
    let insufficient = rejected(RejectReason::InsufficientBalance);
    assert_eq!(venue.place(buy(ALICE, 1, 1)), insufficient);
    assert_eq!(venue.apply(hold(ALICE, 1, "more")), insufficient);
    assert_eq!(venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 1, "now"))), insufficient);
    venue.apply(release(ALICE, "w"));
    venue.enter(buy(ALICE, 1, 1));
}

#[test]
fn a_withdrawal_names_an_account_a_currency_an_amount_and_a_reference() {
    let good = transfer(ALICE, QUOTE, 1, "w");
    let wrong = [
        (Transfer { account: AccountId::FEES, ..good }, RejectReason::UnknownAccount),
        (Transfer { currency: rialto_model::CurrencyId(3), ..good }, RejectReason::UnknownCurrency),
        (Transfer { amount: Amount(0), ..good }, RejectReason::AmountNotPositive),
        (Transfer { reference: Reference::EMPTY, ..good }, RejectReason::ReferenceMissing),
    ];
    for (transfer, reason) in wrong {
        assert_eq!(Venue::new().apply(Command::HoldWithdrawal(transfer)), rejected(reason));
    }
}

#[test]
fn their_number_is_bounded_per_account_and_in_all() {
    let mut config = CoreConfig::new(ENGINE);
    (config.limits.account_withdrawals_max, config.limits.withdrawals_max) = (2, 3);
    let mut venue = Venue::with(config, rules());
    venue.apply(hold(ALICE, 1, "a"));
    venue.apply(hold(ALICE, 1, "b"));
    let limit = rejected(RejectReason::WithdrawalsLimit);
    assert_eq!(venue.apply(hold(ALICE, 1, "c")), limit);
    assert_eq!(venue.apply(hold(ALICE, 1, "b")), Outcome::Repeated);
    venue.apply(hold(BOB, 1, "a"));
    assert_eq!(venue.apply(hold(BOB, 1, "b")), rejected(RejectReason::VenueFull));
    venue.apply(settle(ALICE, "a"));
    assert_eq!(venue.apply(hold(ALICE, 1, "c")), Outcome::Done);
}

#[test]
fn a_held_withdrawal_stays_known_when_other_references_expire() {
    let mut config = CoreConfig::new(ENGINE);
    config.limits.transfers_max = 1;
    let mut venue = Venue::with(config, rules());
    venue.apply(hold(ALICE, 7, "w"));
    for number in 0..3 {
        let reference = format!("d{number}");
        venue.apply(Command::deposit(transfer(ALICE, QUOTE, 1, &reference)));
    }
    assert_eq!(venue.apply(hold(ALICE, 7, "w")), Outcome::Repeated);
    assert_eq!(venue.apply(settle(ALICE, "w")), Outcome::Done);
}

#[test]
fn a_restored_core_knows_what_is_held_and_what_has_ended() {
    let mut venue = Venue::new();
    for reference in ["held", "settled", "released", "also-held"] {
        venue.apply(hold(ALICE, 7, reference));
    }
    venue.apply(settle(ALICE, "settled"));
    venue.apply(release(ALICE, "released"));
    let before = venue.core.withdrawals();
    let hash = venue.core.state_hash();
    venue.core = Core::restore(&venue.core.snapshot(), 9).unwrap();
    venue.core.check().unwrap();
    assert_eq!((venue.core.withdrawals(), venue.core.state_hash()), (before, hash));
    assert_eq!(venue.apply(settle(ALICE, "settled")), Outcome::Repeated);
    assert_eq!(venue.apply(release(ALICE, "released")), Outcome::Repeated);
    assert_eq!(venue.apply(settle(ALICE, "held")), Outcome::Done);
}
