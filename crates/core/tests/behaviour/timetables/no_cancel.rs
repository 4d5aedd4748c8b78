//! The end of a call, in which members cannot take orders back.

use super::*;
use rialto_core::Core;
use rialto_model::{
    AuctionRules, DoneReason, HaltScope, Handling, MassCancel, MemberId, NewOrder, OrderId,
    OrderRef, Price, Quantity, RejectReason, Restrict, Restriction, RestrictionTarget, Seq,
    TimeInForce,
};

/// In the last half minute of a call, with an order of Alice.
fn in_no_cancel_period() -> (Venue, OrderId) {
    let planned = [call(MIDNIGHT + 5, InstrumentState::Call, InstrumentState::Open)];
    let mut venue = following(&planned);
    let handling = Handling::NONE.with_cancel_on_disconnect(true);
    pass_to(&mut venue, MIDNIGHT + 5);
    let order = venue.enter(NewOrder { handling, ..buy(ALICE, 100, 5) });
    venue.time = MIDNIGHT + 5 + MINUTE / 2 - 1;
    assert!(!venue.amend(ALICE, order, None, Some(4)).is_rejected());
    venue.time += 1;
    (venue, order)
}

#[test]
fn members_cannot_cancel_or_amend_in_the_no_cancel_period() {
    let (mut venue, order) = in_no_cancel_period();
    let refused = rejected(RejectReason::NoCancelPeriod);
    assert_eq!(venue.cancel(ALICE, order), refused);
    assert_eq!(venue.amend(ALICE, order, Some(101), None), refused);
    assert_eq!(venue.amend(ALICE, order, None, Some(3)), refused);
    assert!(!venue.place(buy(ALICE, 100, 1)).is_rejected(), "orders are accepted");
    let time = venue.time + MINUTE;
    pass_to(&mut venue, time);
    catch_up(&mut venue);
    assert_eq!(state(&venue), InstrumentState::Open);
    assert!(!venue.cancel(ALICE, order).is_rejected());
}

#[test]
fn a_mass_cancel_leaves_the_orders_of_a_no_cancel_period_and_does_not_come_back() {
    let (mut venue, order) = in_no_cancel_period();
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    let other = venue.enter(NewOrder { instrument: InstrumentId(2), ..buy(ALICE, 100, 1) });
    let everything = MassCancel { account: ALICE, instrument: None, side: None };
    let outcome = venue.apply(Command::MassCancel(everything));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 1, pending: false });
    assert!(venue.core.order(other).is_none());
    let time = venue.time + MINUTE;
    pass_to(&mut venue, time);
    catch_up(&mut venue);
    assert!(venue.core.order(order).is_some(), "it is not cancelled later");
}

#[test]
fn the_no_cancel_period_binds_neither_timers_nor_operators_nor_lost_connections() {
    let (mut venue, order) = in_no_cancel_period();
    venue.apply(Command::SetDeadMan { account: ALICE, timeout_ns: 1 });
    venue.time += 1;
    catch_up(&mut venue);
    assert!(venue.core.order(order).is_none());

    let (mut venue, order) = in_no_cancel_period();
    venue.apply(Command::Disconnect { account: ALICE });
    assert_eq!(venue.done(), [(order, DoneReason::Disconnected, 4)]);

    let (mut venue, order) = in_no_cancel_period();
    venue.set_state(InstrumentState::Withdrawn);
    assert_eq!(venue.done(), [(order, DoneReason::InstrumentClosed, 4)]);
}

#[test]
fn orders_expire_in_the_no_cancel_period() {
    let (mut venue, _) = in_no_cancel_period();
    let expire_at = Timestamp(venue.time + 5);
    let gtd = NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..buy(ALICE, 100, 1) };
    let order = venue.enter(gtd);
    venue.time += 5;
    venue.tick();
    assert_eq!(venue.done(), [(order, DoneReason::Expired, 1)]);
}

/// A restriction that cancels what is open, unless `cancel` is changed.
fn clears(target: RestrictionTarget) -> Restrict {
    Restrict { target, restriction: Restriction::CancelOnly, by_member: false, cancel: true }
}

fn kill_switch() -> Restrict {
    Restrict { by_member: true, ..clears(RestrictionTarget::Account(ALICE)) }
}

#[test]
fn the_kill_switch_takes_the_orders_of_an_account_out_of_a_no_cancel_period() {
    let (mut venue, order) = in_no_cancel_period();
    let others = venue.enter(buy(BOB, 100, 1));
    let outcome = venue.apply(Command::Restrict(kill_switch()));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 1, pending: false });
    assert_eq!(venue.done(), [(order, DoneReason::Restricted, 4)]);
    assert!(venue.core.order(others).is_some());
    assert_eq!(venue.place(buy(ALICE, 100, 1)), rejected(RejectReason::AccountRestricted));
    let lifted = Restrict { restriction: Restriction::None, cancel: false, ..kill_switch() };
    venue.apply(Command::Restrict(lifted));
    venue.enter(buy(ALICE, 100, 1));
}

#[test]
fn a_kill_switch_without_cancels_leaves_the_orders_of_a_no_cancel_period_bound() {
    let (mut venue, order) = in_no_cancel_period();
    venue.apply(Command::Restrict(Restrict { cancel: false, ..kill_switch() }));
    assert_eq!(venue.done(), []);
    assert_eq!(venue.cancel(ALICE, order), rejected(RejectReason::NoCancelPeriod));
    let smaller = venue.amend(ALICE, order, None, Some(3));
    assert_eq!(smaller, rejected(RejectReason::NoCancelPeriod));
}

#[test]
fn operators_clear_any_target_in_a_no_cancel_period() {
    for target in [
        RestrictionTarget::Account(ALICE),
        RestrictionTarget::Member(MemberId(1)),
        RestrictionTarget::Instrument(SPOT),
        RestrictionTarget::Venue,
    ] {
        let (mut venue, order) = in_no_cancel_period();
        venue.apply(Command::Restrict(clears(target)));
        let mut ended = venue.done();
        while venue.core.has_background_work() {
            venue.tick();
            ended.extend(venue.done());
        }
        assert_eq!(ended, [(order, DoneReason::Restricted, 4)], "{target:?}");
    }
}

/// The no-cancel period of a call after a trade at 100; auctions may be 1 % away from it. Two orders
/// cross at 110.
fn out_of_range() -> (Venue, OrderId) {
    let planned = [call(MIDNIGHT + 5, InstrumentState::Call, InstrumentState::Open)];
    let mut venue = following(&planned);
    let rules = AuctionRules { auction_range_ppm: 10_000, call_ms: 60_000, ..AuctionRules::PLAIN };
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
    last(&mut venue, 100);
    pass_to(&mut venue, MIDNIGHT + 5);
    let order = venue.enter(buy(ALICE, 110, 4));
    venue.enter(sell(BOB, 110, 4));
    venue.time = MIDNIGHT + 5 + MINUTE / 2;
    assert_eq!(venue.cancel(ALICE, order), rejected(RejectReason::NoCancelPeriod));
    (venue, order)
}

#[test]
fn members_cancel_again_when_the_auction_extends_the_call() {
    let extended = || {
        let (mut venue, order) = out_of_range();
        pass_to(&mut venue, MIDNIGHT + 5 + 2 * MINUTE - 1);
        catch_up(&mut venue);
        assert_eq!(state(&venue), InstrumentState::Call, "nothing traded at 110");
        (venue, order)
    };
    let (mut venue, order) = extended();
    assert!(!venue.amend(ALICE, order, Some(109), Some(5)).is_rejected());
    venue.cancel(ALICE, order);
    assert_eq!(venue.done(), [(order, DoneReason::Cancelled, 5)]);
    let (mut venue, order) = extended();
    let all = MassCancel { account: ALICE, instrument: None, side: None };
    venue.apply(Command::MassCancel(all));
    assert_eq!(venue.done(), [(order, DoneReason::MassCancelled, 4)]);
}

fn halt(venue: &mut Venue, duration_ms: u32) {
    let scope = HaltScope::Instrument(SPOT);
    assert_eq!(venue.apply(Command::HaltTrading { scope, duration_ms }), Outcome::Done);
    assert_eq!(state(venue), InstrumentState::Halted);
}

#[test]
fn members_cancel_while_a_halt_interrupts_the_no_cancel_period() {
    let (mut venue, order) = in_no_cancel_period();
    let kept = venue.enter(buy(ALICE, 99, 1));
    halt(&mut venue, 10_000);
    assert_eq!(venue.amend(ALICE, kept, None, Some(2)), rejected(RejectReason::InstrumentHalted));
    venue.cancel(ALICE, order);
    assert_eq!(venue.done(), [(order, DoneReason::Cancelled, 4)]);
    // The call goes on before its planned end, and so does the period.
    let time = venue.time + 10 * Timestamp::SECOND;
    pass_to(&mut venue, time);
    assert_eq!(state(&venue), InstrumentState::Call);
    assert_eq!(venue.cancel(ALICE, kept), rejected(RejectReason::NoCancelPeriod));
    pass_to(&mut venue, time + MINUTE);
    assert_eq!(state(&venue), InstrumentState::Open);
    assert!(!venue.cancel(ALICE, kept).is_rejected());
}

#[test]
fn a_mass_cancel_takes_orders_out_of_a_no_cancel_period_that_a_halt_interrupts() {
    let (mut venue, order) = in_no_cancel_period();
    halt(&mut venue, 10_000);
    let all = MassCancel { account: ALICE, instrument: None, side: None };
    let outcome = venue.apply(Command::MassCancel(all));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 1, pending: false });
    assert_eq!(venue.done(), [(order, DoneReason::MassCancelled, 4)]);
}

#[test]
fn a_call_that_outlasts_its_planned_end_after_a_halt_has_no_no_cancel_period() {
    let (mut venue, order) = in_no_cancel_period();
    let rules = AuctionRules { call_ms: 60_000, ..AuctionRules::PLAIN };
    venue.apply(Command::SetAuctionRules { instrument: SPOT, rules, seed: 1 });
    halt(&mut venue, 120_000);
    let time = venue.time + 120 * Timestamp::SECOND;
    pass_to(&mut venue, time);
    assert_eq!(state(&venue), InstrumentState::Call);
    assert!(!venue.cancel(ALICE, order).is_rejected());
}

#[test]
fn orders_of_a_no_cancel_period_are_named_by_client_order_id_too() {
    let (mut venue, _) = in_no_cancel_period();
    let client_order_id = "mine".parse().unwrap();
    venue.enter(NewOrder { client_order_id, ..buy(ALICE, 100, 1) });
    let cancel = Command::Cancel { account: ALICE, order: OrderRef::Client(client_order_id) };
    assert_eq!(venue.apply(cancel), rejected(RejectReason::NoCancelPeriod));
}

#[test]
fn it_goes_on_after_a_restart() {
    let (venue, order) = in_no_cancel_period();
    let mut restored = Core::restore(&venue.core.snapshot(), 5).unwrap();
    let cancel = Command::Cancel { account: ALICE, order: OrderRef::Id(order) };
    let (seq, time) = (Seq(restored.seq().0 + 1), Timestamp(venue.time));
    let outcome = restored.apply(seq, time, &cancel, &mut Vec::new());
    assert_eq!(outcome, rejected(RejectReason::NoCancelPeriod));
    assert_eq!(restored.next_due(), venue.core.next_due());
    let view = restored.order(order).unwrap();
    assert_eq!((view.price, view.remaining), (Price(100), Quantity(4)));
}
