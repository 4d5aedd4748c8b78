use crate::venue::*;
use rialto_model::{
    AccountId, ClientOrderId, Command, DoneReason, Event, Handling, InstrumentId, InstrumentState,
    MassCancel, NewOrder, OrderRef, OrderStatus, Outcome, Quantity, RejectReason, Side,
};

#[test]
fn a_cancelled_order_gives_back_its_reserve() {
    let mut venue = Venue::new();
    let id = venue.enter(buy(ALICE, 100, 50));
    let outcome = venue.cancel(ALICE, id);
    assert!(matches!(
        outcome,
        Outcome::Order { status: OrderStatus::Cancelled, remaining: Quantity(50), .. }
    ));
    assert_eq!(venue.done(), [(id, DoneReason::Cancelled, 50)]);
    assert_eq!(venue.balance(ALICE, QUOTE), (FUNDS, 0));
}

#[test]
fn only_the_owner_cancels_and_only_once() {
    let mut venue = Venue::new();
    let id = venue.enter(buy(CAROL, 100, 50));
    assert_eq!(venue.cancel(CAROLS_OTHER, id), rejected(RejectReason::UnknownOrder));
    venue.cancel(CAROL, id);
    assert_eq!(venue.cancel(CAROL, id), rejected(RejectReason::UnknownOrder));
    assert_eq!(venue.cancel(AccountId(77), id), rejected(RejectReason::UnknownAccount));
}

#[test]
fn orders_may_be_cancelled_while_the_instrument_is_halted() {
    let mut venue = Venue::new();
    let id = venue.enter(buy(ALICE, 100, 50));
    venue.set_state(InstrumentState::Halted);
    assert!(!venue.cancel(ALICE, id).is_rejected());
}

#[test]
fn an_order_is_cancelled_by_the_members_own_name() {
    let mut venue = Venue::new();
    let name: ClientOrderId = "mine".parse().unwrap();
    venue.enter(NewOrder { client_order_id: name, ..buy(ALICE, 100, 1) });
    let cancel = |account| Command::Cancel { account, order: OrderRef::Client(name) };
    assert_eq!(venue.apply(cancel(BOB)), rejected(RejectReason::UnknownOrder));
    assert!(!venue.apply(cancel(ALICE)).is_rejected());
    assert_eq!(venue.apply(cancel(ALICE)), rejected(RejectReason::UnknownOrder));
}

#[test]
fn many_orders_are_cancelled_by_ascending_id() {
    let mut venue = Venue::new();
    let ids = [100, 90, 95].map(|price| venue.enter(buy(ALICE, price, 1)));
    venue.enter(buy(BOB, 100, 1));
    let (instrument, side) = (None, None);
    let outcome = venue.apply(Command::MassCancel(MassCancel { account: ALICE, instrument, side }));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 3, pending: false });
    assert_eq!(venue.done(), ids.map(|id| (id, DoneReason::MassCancelled, 1)));
    assert_eq!(venue.queue(Side::Buy), [(100, 1)]);
}

#[test]
fn a_mass_cancel_may_be_of_one_side_or_instrument() {
    let mut venue = Venue::new();
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    venue.enter(buy(ALICE, 100, 1));
    let sell_id = venue.enter(sell(ALICE, 110, 1));
    let other = venue.enter(NewOrder { instrument: InstrumentId(2), ..sell(ALICE, 110, 1) });
    let side = Some(Side::Sell);
    let instrument = Some(InstrumentId(2));
    venue.apply(Command::MassCancel(MassCancel { account: ALICE, instrument, side }));
    assert_eq!(venue.done(), [(other, DoneReason::MassCancelled, 1)]);
    venue.apply(Command::MassCancel(MassCancel { account: ALICE, instrument: None, side }));
    assert_eq!(venue.done(), [(sell_id, DoneReason::MassCancelled, 1)]);
}

#[test]
fn a_lost_connection_cancels_only_orders_that_asked_for_it() {
    let mut venue = Venue::new();
    venue.enter(buy(ALICE, 100, 1));
    let id = venue.enter(NewOrder {
        handling: Handling::NONE.with_cancel_on_disconnect(true),
        ..buy(ALICE, 99, 1)
    });
    venue.apply(Command::Disconnect { account: ALICE });
    assert_eq!(venue.done(), [(id, DoneReason::Disconnected, 1)]);
    assert_eq!(venue.queue(Side::Buy), [(100, 1)]);
}

#[test]
fn closing_cancels_the_best_buys_first_and_then_the_sells() {
    let mut venue = Venue::new();
    let ask = venue.enter(sell(BOB, 105, 1));
    let low = venue.enter(buy(ALICE, 99, 1));
    let high = venue.enter(buy(ALICE, 100, 1));
    venue.set_state(InstrumentState::Withdrawn);
    let reason = DoneReason::InstrumentClosed;
    assert_eq!(venue.done(), [(high, reason, 1), (low, reason, 1), (ask, reason, 1)]);
    let progress = Event::CancelProgress {
        account: AccountId(0),
        instrument: SPOT,
        cancelled: 3,
        pending: false,
    };
    assert_eq!(venue.events.last(), Some(&progress));
}
