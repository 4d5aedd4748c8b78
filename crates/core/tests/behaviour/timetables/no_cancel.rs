//! The end of a call, in which members cannot take orders back.

use super::*;
use rialto_core::Core;
use rialto_model::{
    DoneReason, Handling, MassCancel, NewOrder, OrderId, OrderRef, Price, Quantity, RejectReason,
    Seq,
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
