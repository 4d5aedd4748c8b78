//! Restrictions: who sets and lifts them, and the cancels that come with them.

use crate::sweeping::{open, settle};
use crate::venue::*;
use rialto_core::Core;
use rialto_model::{
    AccountId, Command, DoneReason, Event, InstrumentState, MemberId, NewOrder, Outcome,
    RejectReason, Restrict, Restriction, RestrictionTarget, Side, TimeInForce,
};

const MANY: usize = 600;
const CAROLS: MemberId = MemberId(3);

fn set(target: RestrictionTarget, restriction: Restriction) -> Restrict {
    Restrict { target, restriction, by_member: false, cancel: false }
}

fn on_account(account: AccountId, restriction: Restriction) -> Restrict {
    set(RestrictionTarget::Account(account), restriction)
}

fn killed(account: AccountId) -> Restrict {
    let by_member = true;
    Restrict { by_member, cancel: true, ..on_account(account, Restriction::CancelOnly) }
}

fn restrict(venue: &mut Venue, restrict: Restrict) -> Outcome {
    venue.apply(Command::Restrict(restrict))
}

#[test]
fn a_member_does_not_lift_what_an_operator_has_set() {
    let mut venue = Venue::new();
    restrict(&mut venue, on_account(ALICE, Restriction::Frozen));
    restrict(&mut venue, killed(ALICE));
    let by_member = true;
    restrict(&mut venue, Restrict { by_member, ..on_account(ALICE, Restriction::None) });
    let refused = rejected(RejectReason::AccountRestricted);
    assert_eq!(venue.place(buy(ALICE, 50, 1)), refused);
    let withdrawal = Command::Withdraw(transfer(ALICE, QUOTE, 1, "out"));
    assert_eq!(venue.apply(withdrawal), refused);
    restrict(&mut venue, on_account(ALICE, Restriction::None));
    venue.enter(buy(ALICE, 50, 1));
}

#[test]
fn the_strictest_restriction_is_in_force() {
    let mut venue = Venue::new();
    restrict(&mut venue, on_account(CAROL, Restriction::CancelOnly));
    restrict(&mut venue, set(RestrictionTarget::Member(CAROLS), Restriction::Frozen));
    let refused = rejected(RejectReason::AccountRestricted);
    let withdrawal = |account| Command::HoldWithdrawal(transfer(account, QUOTE, 1, "out"));
    assert_eq!(venue.apply(withdrawal(CAROL)), refused);
    assert_eq!(venue.apply(withdrawal(CAROLS_OTHER)), refused);
    assert_eq!(venue.apply(withdrawal(BOB)), Outcome::Done);
    restrict(&mut venue, set(RestrictionTarget::Member(CAROLS), Restriction::None));
    assert_eq!(venue.apply(withdrawal(CAROL)), Outcome::Done);
    assert_eq!(venue.place(buy(CAROL, 50, 1)), refused);
    venue.enter(buy(CAROLS_OTHER, 50, 1));
}

#[test]
fn a_held_withdrawal_of_a_frozen_account_is_settled() {
    let mut venue = Venue::new();
    let held = transfer(ALICE, QUOTE, 5, "out");
    venue.apply(Command::HoldWithdrawal(held));
    restrict(&mut venue, on_account(ALICE, Restriction::Frozen));
    let (account, reference) = (ALICE, held.reference);
    assert_eq!(venue.apply(Command::HoldWithdrawal(held)), Outcome::Repeated);
    let settled = venue.apply(Command::SettleWithdrawal { account, reference });
    assert_eq!(settled, Outcome::Done);
}

#[test]
fn a_repeated_order_of_a_restricted_account_gets_its_first_answer() {
    let mut venue = Venue::new();
    let order = NewOrder { client_order_id: "mine".parse().unwrap(), ..buy(ALICE, 50, 1) };
    venue.enter(order);
    restrict(&mut venue, on_account(ALICE, Restriction::CancelOnly));
    assert!(matches!(venue.place(order), Outcome::Order { repeated: true, .. }));
}

#[test]
fn orders_of_a_restricted_account_trade_with_those_of_others() {
    let mut venue = Venue::new();
    venue.enter(buy(ALICE, 50, 2));
    restrict(&mut venue, on_account(ALICE, Restriction::Frozen));
    venue.enter(sell(BOB, 50, 2));
    assert_eq!(venue.trades(), [(50, 2)]);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let mut venue = Venue::new();
    let wrong = rejected(RejectReason::RestrictionInvalid);
    let instrument = RestrictionTarget::Instrument(SPOT);
    for restriction in [
        Restrict { cancel: true, ..on_account(ALICE, Restriction::None) },
        Restrict { by_member: true, ..set(instrument, Restriction::CancelOnly) },
        Restrict { by_member: true, ..set(RestrictionTarget::Venue, Restriction::Frozen) },
        set(instrument, Restriction::Frozen),
    ] {
        assert_eq!(restrict(&mut venue, restriction), wrong, "{restriction:?}");
    }
    for (target, reason) in [
        (RestrictionTarget::Member(MemberId(77)), RejectReason::UnknownMember),
        (RestrictionTarget::Account(AccountId(77)), RejectReason::UnknownAccount),
        (RestrictionTarget::Account(AccountId::FEES), RejectReason::UnknownAccount),
        (RestrictionTarget::Instrument(Default::default()), RejectReason::UnknownInstrument),
    ] {
        let outcome = restrict(&mut venue, set(target, Restriction::Frozen));
        assert_eq!(outcome, rejected(reason), "{target:?}");
    }
    assert_eq!(venue.core.restrictions().count(), 0);
}

#[test]
fn versions_before_4_know_no_restrictions() {
    for version in 1..=3 {
        let mut venue = Venue::under(version, rules());
        let outcome = restrict(&mut venue, on_account(ALICE, Restriction::Frozen));
        assert_eq!(outcome, rejected(RejectReason::CommandUnknown));
    }
}

#[test]
fn a_kill_cancels_the_orders_of_an_account_in_slices() {
    let mut venue = Venue::new();
    for _ in 0..MANY {
        venue.enter(buy(ALICE, 50, 1));
        venue.enter(buy(BOB, 50, 1));
    }
    let outcome = restrict(&mut venue, killed(ALICE));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 256, pending: true });
    let ended = settle(&mut venue);
    assert!(ended.iter().all(|(_, reason)| *reason == DoneReason::Restricted));
    assert_eq!((open(&venue, ALICE), open(&venue, BOB)), (0, MANY));
}

#[test]
fn a_member_is_cancelled_in_all_its_accounts() {
    let mut venue = Venue::new();
    for account in [BOB, CAROL, CAROLS_OTHER] {
        for _ in 0..MANY {
            venue.enter(buy(account, 50, 1));
        }
    }
    let target = RestrictionTarget::Member(CAROLS);
    let cancelling = Restrict { cancel: true, ..set(target, Restriction::CancelOnly) };
    let outcome = restrict(&mut venue, cancelling);
    assert!(matches!(outcome, Outcome::Cancelling { pending: true, .. }));
    // Orders that come after the restriction was lifted stay.
    restrict(&mut venue, set(target, Restriction::None));
    let later = venue.enter(buy(CAROLS_OTHER, 50, 1));
    settle(&mut venue);
    let left: Vec<_> = venue.core.orders_of(CAROLS_OTHER).map(|order| order.id).collect();
    assert_eq!((open(&venue, BOB), open(&venue, CAROL), left), (MANY, 0, vec![later]));
}

#[test]
fn all_accounts_of_the_venue_are_looked_at_in_slices() {
    let mut venue = Venue::new();
    let name = "more".parse().unwrap();
    for _ in 0..9_000 {
        let account = AccountId(0);
        let opened = Command::CreateAccount { account, member: MemberId(1), name };
        let (seq, time) = (rialto_model::Seq(venue.core.seq().0 + 1), venue.core.time());
        venue.core.apply(seq, time, &opened, &mut Vec::new());
    }
    let last = AccountId(9_004);
    venue.apply(Command::deposit(transfer(last, QUOTE, 1_000, "in")));
    venue.enter(buy(ALICE, 50, 1));
    venue.enter(buy(last, 50, 1));
    let target = RestrictionTarget::Venue;
    let cancelling = Restrict { cancel: true, ..set(target, Restriction::CancelOnly) };
    let outcome = restrict(&mut venue, cancelling);
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 1, pending: true });
    let mut ticks = 0;
    while venue.core.has_background_work() {
        venue.tick();
        ticks += 1;
        let restored = Core::restore(&venue.core.snapshot(), 9).unwrap();
        assert_eq!(restored.state_hash(), venue.core.state_hash());
    }
    assert_eq!((ticks, open(&venue, ALICE), open(&venue, last)), (2, 0, 0));
}

#[test]
fn a_restricted_instrument_is_cleared_and_then_opened_again() {
    let mut venue = Venue::new();
    for _ in 0..MANY {
        venue.enter(buy(ALICE, 50, 1));
    }
    let target = RestrictionTarget::Instrument(SPOT);
    let cancelling = Restrict { cancel: true, ..set(target, Restriction::CancelOnly) };
    let outcome = restrict(&mut venue, cancelling);
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 256, pending: true });
    let lifted = set(target, Restriction::None);
    assert_eq!(restrict(&mut venue, lifted), rejected(RejectReason::HasOpenOrders));
    let ended = settle(&mut venue);
    assert!(ended.iter().all(|(_, reason)| *reason == DoneReason::Restricted));
    assert_eq!(open(&venue, ALICE), 0);
    restrict(&mut venue, lifted);
    venue.enter(buy(ALICE, 50, 1));
}

/// A call whose auction takes several commands, and orders that are left of it.
fn uncrossing() -> Venue {
    let mut venue = Venue::new();
    venue.set_state(InstrumentState::Call);
    for _ in 0..200 {
        venue.enter(buy(BOB, 101, 1));
        venue.enter(sell(ALICE, 99, 1));
    }
    venue.enter(buy(ALICE, 50, 2));
    venue.set_state(InstrumentState::Open);
    assert_eq!(venue.core.instrument(SPOT).unwrap().instrument.state, InstrumentState::Uncrossing);
    venue
}

#[test]
fn an_instrument_is_cleared_when_its_auction_has_ended() {
    let mut venue = uncrossing();
    let target = RestrictionTarget::Instrument(SPOT);
    let cancelling = Restrict { cancel: true, ..set(target, Restriction::CancelOnly) };
    let outcome = restrict(&mut venue, cancelling);
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 0, pending: true });
    let restored = Core::restore(&venue.core.snapshot(), 9).unwrap();
    assert_eq!(restored.state_hash(), venue.core.state_hash());
    let ended = settle(&mut venue);
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].1, DoneReason::Restricted);
    assert_eq!(venue.queue(Side::Buy), []);
}

#[test]
fn a_killed_account_takes_part_in_an_auction_that_has_begun() {
    let mut venue = uncrossing();
    let outcome = restrict(&mut venue, killed(ALICE));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 0, pending: true });
    let trades = |venue: &Venue| venue.trades().len();
    let mut traded = 0;
    while venue.core.has_background_work() {
        venue.tick();
        traded += trades(&venue);
    }
    assert!(traded > 0);
    assert_eq!(open(&venue, ALICE), 0);
}

#[test]
fn withdrawing_a_restricted_instrument_ends_what_is_left_as_closed() {
    let mut venue = Venue::new();
    for _ in 0..MANY {
        venue.enter(buy(ALICE, 50, 1));
    }
    let target = RestrictionTarget::Instrument(SPOT);
    restrict(&mut venue, Restrict { cancel: true, ..set(target, Restriction::CancelOnly) });
    venue.set_state(InstrumentState::Withdrawn);
    let ended = settle(&mut venue);
    assert!(ended.iter().all(|(_, reason)| *reason == DoneReason::InstrumentClosed));
    assert_eq!(open(&venue, ALICE), 0);
    assert_eq!(restrict(&mut venue, set(target, Restriction::None)), Outcome::Done);
}

#[test]
fn an_order_that_expires_while_it_is_cleared_ends_as_expired() {
    let mut venue = Venue::new();
    let expire_at = rialto_model::Timestamp(venue.time + 5);
    for _ in 0..MANY {
        let gtd = NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..buy(ALICE, 50, 1) };
        venue.enter(gtd);
    }
    let target = RestrictionTarget::Instrument(SPOT);
    restrict(&mut venue, Restrict { cancel: true, ..set(target, Restriction::CancelOnly) });
    venue.time += 5;
    let ended = settle(&mut venue);
    assert_eq!(ended.len(), MANY - 256);
    assert!(ended.iter().all(|(_, reason)| *reason == DoneReason::Expired));
}

#[test]
fn the_event_says_what_was_set_and_by_whom() {
    let mut venue = Venue::new();
    restrict(&mut venue, killed(ALICE));
    assert_eq!(venue.events[0], Event::Restricted(killed(ALICE)));
    let kept = Restrict { cancel: false, ..killed(ALICE) };
    assert_eq!(venue.core.restrictions().collect::<Vec<_>>(), [kept]);
}

#[test]
fn restrictions_survive_a_snapshot() {
    let mut venue = Venue::new();
    let all = [
        set(RestrictionTarget::Venue, Restriction::Frozen),
        set(RestrictionTarget::Member(CAROLS), Restriction::CancelOnly),
        Restrict { cancel: false, ..killed(ALICE) },
        on_account(BOB, Restriction::Frozen),
        set(RestrictionTarget::Instrument(SPOT), Restriction::CancelOnly),
    ];
    for restriction in all {
        restrict(&mut venue, restriction);
    }
    let restored = Core::restore(&venue.core.snapshot(), 9).unwrap();
    assert_eq!(restored.restrictions().collect::<Vec<_>>(), all);
    assert_eq!(restored.state_hash(), venue.core.state_hash());
}
