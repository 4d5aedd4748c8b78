use crate::venue::*;
use rialto_core::{Core, CoreConfig, HELD_MAX, Limits};
use rialto_model::{
    AccountId, Amount, Command, CurrencyId, Deposit, Event, Outcome, RejectReason, Timestamp,
    Transfer,
};

#[test]
fn a_deposit_is_owed_to_the_world_outside() {
    let mut venue = Venue::new();
    venue.apply(Command::deposit(transfer(ALICE, QUOTE, 7, "a")));
    assert_eq!(venue.balance(ALICE, QUOTE).0, FUNDS + 7);
    assert_eq!(venue.balance(AccountId::TRANSIT, QUOTE).0, -4 * FUNDS - 7);
}

#[test]
fn the_same_transfer_takes_effect_once() {
    let mut venue = Venue::new();
    let deposit = Command::deposit(transfer(ALICE, QUOTE, 7, "a"));
    assert_eq!(venue.apply(deposit), Outcome::Done);
    assert_eq!(venue.apply(deposit), Outcome::Repeated);
    assert!(matches!(venue.events[..], [Event::Repeated { reject: None, .. }]));
    assert_eq!(venue.balance(ALICE, QUOTE).0, FUNDS + 7);
}

#[test]
fn deposits_and_withdrawals_share_their_references() {
    let mut venue = Venue::new();
    venue.apply(Command::deposit(transfer(ALICE, QUOTE, 7, "a")));
    let conflict = rejected(RejectReason::ReferenceConflict);
    assert_eq!(venue.apply(Command::Withdraw(transfer(ALICE, QUOTE, 7, "a"))), conflict);
    assert_eq!(venue.apply(Command::deposit(transfer(ALICE, QUOTE, 8, "a"))), conflict);
    assert_eq!(venue.apply(Command::deposit(transfer(BOB, QUOTE, 8, "a"))), Outcome::Done);
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
fn reserved_amounts_cannot_be_withdrawn() {
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
        assert_eq!(Venue::new().apply(Command::deposit(transfer)), rejected(reason));
    }
}

#[test]
fn the_total_of_a_currency_is_bounded() {
    let mut venue = Venue::new();
    let room = HELD_MAX - 4 * FUNDS;
    let too_much = Command::deposit(transfer(ALICE, QUOTE, room + 1, "a"));
    assert_eq!(venue.apply(too_much), rejected(RejectReason::AmountTooLarge));
    assert_eq!(venue.apply(Command::deposit(transfer(ALICE, QUOTE, room, "a"))), Outcome::Done);
    let more = Command::deposit(transfer(ALICE, QUOTE, i128::MAX, "b"));
    assert_eq!(venue.apply(more), rejected(RejectReason::AmountTooLarge));
}

const DAY: u64 = Timestamp::DAY;

/// A venue of these limits, forty days after its beginning.
fn bounded(limits: Limits) -> Venue {
    let mut venue = Venue::with(CoreConfig { limits, ..CoreConfig::new(ENGINE) }, rules());
    venue.time += 40 * DAY;
    venue
}

fn deposit(reference: &str, time: u64) -> Command {
    let transfer = transfer(ALICE, QUOTE, 7, reference);
    Command::Deposit(Deposit { transfer, time: Timestamp(time) })
}

#[test]
fn a_deposit_of_a_known_time_takes_effect_once_for_ever() {
    let mut venue = bounded(Limits::default());
    let made = venue.time - 29 * DAY;
    assert_eq!(venue.apply(deposit("a", made)), Outcome::Done);
    venue.time = made + 30 * DAY;
    assert_eq!(venue.apply(deposit("a", made)), Outcome::Repeated);
    venue.time += 1;
    let too_old = rejected(RejectReason::ReferenceTooOld);
    assert_eq!(venue.apply(deposit("a", made)), too_old);
    assert_eq!(venue.apply(deposit("b", made)), too_old);
    assert_eq!(venue.balance(ALICE, QUOTE).0, FUNDS + 7);
}

#[test]
fn a_deposit_without_a_time_is_of_the_time_of_its_command() {
    let mut venue = bounded(Limits::default());
    let untimed = Command::deposit(transfer(ALICE, QUOTE, 7, "a"));
    assert_eq!(venue.apply(untimed), Outcome::Done);
    venue.time += 30 * DAY;
    assert_eq!(venue.apply(untimed), Outcome::Repeated);
    assert_eq!(venue.apply(deposit("a", venue.time)), Outcome::Repeated, "times do not count");
    venue.time += 1;
    assert_eq!(venue.apply(untimed), Outcome::Done);
}

#[test]
fn a_full_memory_of_deposits_refuses_and_has_room_again_after_30_days() {
    // The four accounts were funded with eight deposits, which are forgotten by now.
    let mut venue = bounded(Limits { deposits_max: 8, ..Limits::default() });
    let now = venue.time;
    for number in 0..8 {
        assert_eq!(venue.apply(deposit(&format!("r{number}"), now)), Outcome::Done);
    }
    assert_eq!(venue.apply(deposit("more", now)), rejected(RejectReason::VenueFull));
    assert_eq!(venue.apply(deposit("r0", now)), Outcome::Repeated);
    venue.time += 30 * DAY;
    assert_eq!(venue.apply(deposit("more", venue.time)), rejected(RejectReason::VenueFull));
    venue.time += 1;
    assert_eq!(venue.apply(deposit("more", venue.time)), Outcome::Done);
}

#[test]
fn withdrawals_displace_references_of_their_own_account_only() {
    let limits = Limits { account_transfers_max: 3, transfers_max: 5, ..Limits::default() };
    let mut venue = bounded(limits);
    let now = venue.time;
    let withdraw = |account, number: u32| {
        Command::Withdraw(transfer(account, QUOTE, 1, &format!("w{number}")))
    };
    assert_eq!(venue.apply(deposit("in", now)), Outcome::Done);
    for number in 0..100 {
        venue.apply(withdraw(ALICE, number));
    }
    assert_eq!(venue.apply(deposit("in", now)), Outcome::Repeated);
    assert_eq!(venue.apply(withdraw(ALICE, 97)), Outcome::Repeated);
    assert_eq!(venue.apply(withdraw(ALICE, 96)), Outcome::Done, "it was forgotten");
    venue.apply(withdraw(BOB, 1));
    venue.apply(withdraw(BOB, 2));
    // The sixth is the account's that has most: Alice's oldest is forgotten.
    venue.apply(withdraw(CAROL, 1));
    assert_eq!(venue.apply(withdraw(BOB, 1)), Outcome::Repeated);
    assert_eq!(venue.apply(withdraw(CAROL, 1)), Outcome::Repeated);
    assert_eq!(venue.apply(withdraw(ALICE, 99)), Outcome::Repeated);
    assert_eq!(venue.apply(withdraw(ALICE, 98)), Outcome::Done);
}

#[test]
fn references_of_the_first_rules_version_stay_known() {
    let mut venue =
        Venue::with(CoreConfig { rules_version: 1, ..CoreConfig::new(ENGINE) }, rules());
    let before = Command::deposit(transfer(ALICE, QUOTE, 7, "a"));
    assert_eq!(venue.apply(before), Outcome::Done);
    venue.apply(Command::SetRulesVersion { version: 2 });
    venue.time += 31 * DAY;
    assert_eq!(venue.apply(before), Outcome::Repeated);
    let restored = Core::restore(&venue.core.snapshot(), 3).unwrap();
    assert_eq!(restored.state_hash(), venue.core.state_hash());
}

#[test]
fn members_withdrawals_let_a_deposit_count_twice_under_the_first_rules_only() {
    for (rules_version, again) in [(1, Outcome::Done), (2, Outcome::Repeated)] {
        let limits = Limits { transfers_max: 10, ..Limits::default() };
        let config = CoreConfig { rules_version, limits, ..CoreConfig::new(ENGINE) };
        let mut venue = Venue::with(config, rules());
        let wire = Command::deposit(transfer(ALICE, QUOTE, 7, "wire"));
        assert_eq!(venue.apply(wire), Outcome::Done);
        for number in 0..10 {
            venue.apply(Command::Withdraw(transfer(BOB, QUOTE, 1, &format!("w{number}"))));
        }
        assert_eq!(venue.apply(wire), again, "rules version {rules_version}");
    }
}
