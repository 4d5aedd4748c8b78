//! Mass cancels that take several commands: one walk along each account's orders, in turns.

use crate::venue::*;
use rialto_core::{CoreConfig, EVENTS_PER_COMMAND};
use rialto_model::{
    AccountId, Command, DoneReason, Event, Handling, InstrumentId, InstrumentState, MassCancel,
    NewOrder, OrderId, Outcome, Side, TimeInForce, Timestamp,
};

const MANY: usize = 600;

fn cancel_all(account: AccountId) -> Command {
    Command::MassCancel(MassCancel { account, instrument: None, side: None })
}

fn cancel_some(account: AccountId, side: Option<Side>, instrument: u32) -> Command {
    let instrument = Some(InstrumentId(instrument));
    Command::MassCancel(MassCancel { account, instrument, side })
}

/// A second instrument, and orders of both sides in both, one after the other, for these accounts.
fn crowd(accounts: &[AccountId]) -> Venue {
    let config = CoreConfig::new(ENGINE);
    let mut venue = Venue::with(config, rules());
    venue.apply(Command::CreateInstrument(spec("OTHER", rules())));
    for at in 0..MANY {
        for &account in accounts {
            let order = if at % 2 == 0 { buy(account, 50, 1) } else { sell(account, 200, 1) };
            let instrument = InstrumentId(1 + at as u32 / 2 % 2);
            venue.enter(NewOrder { instrument, ..order });
        }
    }
    venue
}

/// Ticks until nothing is left to do; returns the reason that each order ended for.
pub(crate) fn settle(venue: &mut Venue) -> Vec<(OrderId, DoneReason)> {
    let mut ended = Vec::new();
    while venue.core.has_background_work() {
        venue.tick();
        assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{}", venue.events.len());
        ended.extend(venue.done().iter().map(|(order, reason, _)| (*order, *reason)));
    }
    ended
}

pub(crate) fn open(venue: &Venue, account: AccountId) -> usize {
    venue.core.orders_of(account).count()
}

#[test]
fn a_kill_switch_has_room_whatever_others_have_begun() {
    let mut config = CoreConfig::new(ENGINE);
    config.limits.pending_cancels_max = 1;
    let mut venue = Venue::with(config, rules());
    for account in [ALICE, BOB] {
        for _ in 0..MANY {
            venue.enter(buy(account, 50, 1));
        }
    }
    for _ in 0..50 {
        let outcome = venue.apply(cancel_some(ALICE, Some(Side::Sell), 1));
        assert!(!outcome.is_rejected(), "{outcome:?}");
    }
    let outcome = venue.apply(cancel_all(BOB));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 256, pending: true });
    settle(&mut venue);
    assert_eq!((open(&venue, ALICE), open(&venue, BOB)), (MANY, 0));
}

#[test]
fn a_mass_cancel_during_another_one_covers_all_present_orders() {
    let mut venue = crowd(&[ALICE]);
    // The first walk leaves what the second asks for behind it.
    venue.apply(cancel_some(ALICE, Some(Side::Buy), 1));
    venue.apply(cancel_some(ALICE, Some(Side::Sell), 2));
    let later = venue.enter(buy(ALICE, 50, 1));
    settle(&mut venue);
    let left: Vec<_> = venue.core.orders_of(ALICE).collect();
    assert_eq!(left.len(), MANY / 2 + 1);
    let spared = |instrument, side| (InstrumentId(instrument), side);
    let kinds = [spared(1, Side::Sell), spared(2, Side::Buy)];
    let is_left = |order: &rialto_core::OrderState| {
        kinds.contains(&(order.instrument, order.side)) || order.id == later
    };
    assert!(left.iter().all(is_left));
}

#[test]
fn later_orders_are_not_cancelled() {
    let mut venue = crowd(&[ALICE]);
    venue.apply(cancel_all(ALICE));
    let later: Vec<_> = (0..3).map(|_| venue.enter(buy(ALICE, 40, 1))).collect();
    settle(&mut venue);
    let left: Vec<_> = venue.core.orders_of(ALICE).map(|order| order.id).collect();
    assert_eq!(left, later);
}

#[test]
fn a_walk_continues_after_the_next_order_has_left() {
    let mut venue = crowd(&[ALICE]);
    venue.apply(cancel_some(ALICE, Some(Side::Buy), 1));
    let ids: Vec<_> = venue.core.orders_of(ALICE).map(|order| order.id).collect();
    for id in ids {
        venue.cancel(ALICE, id);
    }
    let again = venue.enter(buy(ALICE, 50, 1));
    assert_eq!(settle(&mut venue), []);
    let outcome = venue.apply(cancel_all(ALICE));
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 1, pending: false });
    assert!(venue.core.order(again).is_none());
}

/// A sweep that commands have finished waits for its turn to be forgotten; the list that it stood at
/// the end of may have grown meanwhile.
#[test]
fn a_finished_sweep_restarts_with_the_present_orders() {
    let mut venue = crowd(&[ALICE]);
    let all = |venue: &mut Venue| venue.apply(cancel_all(ALICE));
    while all(&mut venue) != (Outcome::Cancelling { cancelled: 0, pending: false }) {}
    venue.enter(buy(ALICE, 50, 1));
    assert_eq!(all(&mut venue), Outcome::Cancelling { cancelled: 1, pending: false });
    assert_eq!(settle(&mut venue), []);
}

#[test]
fn accounts_and_kinds_take_turns() {
    let mut venue = crowd(&[ALICE, BOB]);
    let expire_at = Timestamp(START + 10);
    let closing = (InstrumentId(2), InstrumentState::Withdrawn);
    for _ in 0..MANY {
        venue.enter(NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..sell(CAROL, 300, 1) });
    }
    venue.apply(cancel_some(ALICE, None, 1));
    venue.apply(cancel_some(BOB, None, 1));
    venue.apply(Command::SetInstrumentState { instrument: closing.0, state: closing.1 });
    venue.time += 10;
    let told = |venue: &Venue| {
        let progress = venue.events.iter().find_map(|event| match event {
            Event::CancelProgress { account, instrument, .. } => Some((*account, *instrument)),
            _ => None,
        });
        progress.unwrap_or_default()
    };
    let mut turns = Vec::new();
    for _ in 0..4 {
        venue.tick();
        turns.push(told(&venue));
    }
    let nobody = AccountId(0);
    let (all, none) = (InstrumentId(0), (nobody, InstrumentId(0)));
    assert_eq!(turns, [(ALICE, all), (nobody, closing.0), none, (BOB, all)]);
}

#[test]
fn a_dead_man_and_a_kill_switch_continue_together() {
    let mut venue = crowd(&[ALICE]);
    venue.apply(Command::SetDeadMan { account: ALICE, timeout_ns: 10 });
    venue.apply(cancel_some(ALICE, Some(Side::Buy), 1));
    venue.time += 10;
    let ended = settle(&mut venue);
    assert_eq!(open(&venue, ALICE), 0);
    let mass = ended.iter().filter(|(_, reason)| *reason == DoneReason::MassCancelled).count();
    let dead_man = ended.iter().filter(|(_, reason)| *reason == DoneReason::DeadMan).count();
    assert!(mass > 0 && dead_man > 0 && mass + dead_man == ended.len());
}

#[test]
fn background_work_of_rules_version_1_continues_under_version_2() {
    let config = CoreConfig { rules_version: 1, ..CoreConfig::new(ENGINE) };
    let mut venue = Venue::with(config, rules());
    for account in [ALICE, BOB] {
        for at in 0..MANY {
            let order = if at % 2 == 0 { buy(account, 50, 1) } else { sell(account, 200, 1) };
            let handling = Handling::NONE.with_cancel_on_disconnect(at % 3 == 0);
            venue.enter(NewOrder { handling, ..order });
        }
    }
    venue.apply(cancel_some(ALICE, Some(Side::Buy), 1));
    venue.apply(Command::Disconnect { account: BOB });
    venue.apply(Command::SetRulesVersion { version: 2 });
    let later = venue.enter(buy(ALICE, 50, 1));
    settle(&mut venue);
    assert_eq!(open(&venue, ALICE), MANY / 2 + 1);
    assert!(venue.core.order(later).is_some());
    assert!(venue.core.orders_of(BOB).all(|order| !order.handling.cancel_on_disconnect));
    assert_eq!(open(&venue, BOB), MANY * 2 / 3);
}

/// Under the first rules thousands of mass cancels tell their progress in one tick; where their
/// events outgrew a record, the engine ended and could not start again.
#[test]
fn the_first_rules_end_a_tick_before_its_events_outgrow_a_record() {
    let mut config = CoreConfig { rules_version: 1, ..CoreConfig::new(ENGINE) };
    config.limits.pending_cancels_max = 7_000;
    let mut venue = Venue::with(config, rules());
    for _ in 0..257 {
        venue.enter(buy(ALICE, 50, 1));
    }
    // Each visits 256 orders that it leaves alone, and keeps one for later.
    for _ in 0..6_500 {
        let outcome = venue.apply(cancel_some(ALICE, Some(Side::Sell), 1));
        assert_eq!(outcome, Outcome::Cancelling { cancelled: 0, pending: true });
    }
    let ids: Vec<_> = venue.core.orders_of(ALICE).map(|order| order.id).collect();
    for id in ids {
        venue.cancel(ALICE, id);
    }
    let mut told = 0;
    while venue.core.has_background_work() {
        venue.tick();
        let len: usize = venue
            .events
            .iter()
            .map(|event| rialto_model::encode_event(event, &mut [0; rialto_model::EVENT_BYTES_MAX]))
            .sum();
        assert!(len <= rialto_core::EVENTS_BYTES_MAX, "{len} bytes of events");
        told += venue.events.len();
    }
    assert_eq!(told, 6_500);
}
