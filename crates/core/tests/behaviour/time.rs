use crate::venue::*;
use rialto_core::DEAD_MAN_MAX_NS;
use rialto_model::{
    Command, DoneReason, Event, NewOrder, RejectReason, Side, TimeInForce, Timestamp, TradingRules,
};

fn until(account: rialto_model::AccountId, price: i64, expire_at: u64) -> NewOrder {
    let expire_at = Timestamp(expire_at);
    NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..buy(account, price, 1) }
}

#[test]
fn orders_expire_at_their_time_the_earliest_first() {
    let mut venue = Venue::new();
    let later = venue.enter(until(ALICE, 100, START + 20));
    let sooner = venue.enter(until(ALICE, 99, START + 10));
    let same = venue.enter(until(BOB, 98, START + 10));
    assert_eq!(venue.core.next_background_work(), Timestamp(START + 10));
    venue.time += 20;
    venue.tick();
    let reason = DoneReason::Expired;
    assert_eq!(venue.done(), [(sooner, reason, 1), (same, reason, 1), (later, reason, 1)]);
    assert_eq!(venue.core.next_background_work(), Timestamp::MAX);
}

#[test]
fn an_expiry_is_in_the_future_and_only_of_good_till_date_orders() {
    let refused = rejected(RejectReason::ExpiryInvalid);
    assert_eq!(Venue::new().place(until(ALICE, 100, START)), refused);
    let order = NewOrder { time_in_force: TimeInForce::Gtc, ..until(ALICE, 100, START + 5) };
    assert_eq!(Venue::new().place(order), refused);
}

#[test]
fn a_day_order_expires_at_the_next_end_of_day() {
    let mut venue = Venue::ruled(TradingRules { day_end_s: 3_600, ..rules() });
    let order = NewOrder { time_in_force: TimeInForce::Day, ..buy(ALICE, 100, 1) };
    venue.enter(order);
    assert_eq!(venue.core.next_background_work(), Timestamp(3_600 * Timestamp::SECOND));
    venue.time = 3_600 * Timestamp::SECOND;
    venue.tick();
    venue.enter(order);
    let next = Timestamp(Timestamp::DAY + 3_600 * Timestamp::SECOND);
    assert_eq!(venue.core.next_background_work(), next);
    assert_eq!(venue.queue(Side::Buy).len(), 1);
}

#[test]
#[should_panic(expected = "a tick is due")]
fn no_command_overtakes_a_tick_that_is_due() {
    let mut venue = Venue::new();
    venue.apply(Command::SetDeadMan { account: ALICE, timeout_ns: 10 });
    let (seq, time) = (venue.core.seq().next(), Timestamp(START + 10));
    venue.core.apply(seq, time, &Command::Place(buy(ALICE, 1, 1)), &mut venue.events);
}

#[test]
fn a_tick_without_work_reports_none() {
    assert_eq!(Venue::new().tick(), [Event::Ticked]);
}

#[test]
fn a_dead_man_timer_cancels_everything_once() {
    let mut venue = Venue::new();
    let id = venue.enter(buy(ALICE, 100, 1));
    venue.apply(Command::SetDeadMan { account: ALICE, timeout_ns: 50 });
    venue.time += 50;
    venue.tick();
    assert_eq!(venue.done(), [(id, DoneReason::DeadMan, 1)]);
    venue.enter(buy(ALICE, 100, 1));
    venue.time += 1_000;
    assert_eq!(venue.tick(), [Event::Ticked]);
}

#[test]
fn a_dead_man_timer_is_put_off_or_switched_off() {
    let mut venue = Venue::new();
    let set = |timeout_ns| Command::SetDeadMan { account: ALICE, timeout_ns };
    venue.apply(set(50));
    venue.time += 40;
    venue.apply(set(50));
    assert_eq!(venue.core.next_due(), Timestamp(START + 90));
    venue.apply(set(0));
    assert_eq!(venue.events, [Event::DeadManSet { account: ALICE, due: Timestamp::MAX }]);
    assert_eq!(venue.core.next_due(), Timestamp::MAX);
    assert_eq!(venue.apply(set(DEAD_MAN_MAX_NS + 1)), rejected(RejectReason::TimerInvalid));
}
