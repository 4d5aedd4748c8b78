use crate::venue::*;
use rialto_core::{CoreConfig, EVENTS_PER_COMMAND};
use rialto_model::{
    Command, ConditionalOrder, Distance, Event, InstrumentState, MassCancel, NewOrder, OrderId,
    OrderRef, OrderStatus, Outcome, Price, Quantity, RejectReason, Side, TimeInForce, Timestamp,
    TradingRules, TrailTerms, TrailingOrder, Trigger, TriggerKind,
};

fn crowd(order: NewOrder, count: usize) -> Venue {
    let mut venue = Venue::new();
    (0..count).for_each(|_| {
        venue.enter(order);
    });
    venue
}

fn all_of_alice() -> Command {
    Command::MassCancel(MassCancel { account: ALICE, instrument: None, side: None })
}

#[test]
fn a_taker_touches_256_makers_in_one_command_and_continues_in_ticks() {
    let mut venue = crowd(sell(ALICE, 100, 1), 600);
    let outcome = venue.place(buy(BOB, 100, 601));
    assert!(matches!(
        outcome,
        Outcome::Order {
            status: OrderStatus::PartiallyFilled,
            filled: Quantity(256),
            remaining: Quantity(345),
            ..
        }
    ));
    assert_eq!(venue.core.next_due(), Timestamp::ZERO);
    venue.tick();
    assert_eq!(venue.trades().len(), 256);
    venue.tick();
    assert_eq!(venue.trades().len(), 88);
    assert_eq!(venue.queue(Side::Buy), [(100, 1)]);
    assert_eq!(venue.core.next_due(), Timestamp::MAX);
}

#[test]
fn a_taker_that_is_done_with_256_makers_is_not_suspended() {
    let mut venue = crowd(sell(ALICE, 100, 1), 256);
    venue.place(buy(BOB, 100, 300));
    assert_eq!(venue.core.next_due(), Timestamp::MAX);
    assert_eq!(venue.queue(Side::Buy), [(100, 44)]);
}

#[test]
fn a_mass_cancel_continues_in_the_background() {
    let mut venue = crowd(buy(ALICE, 100, 1), 300);
    assert_eq!(venue.apply(all_of_alice()), Outcome::Cancelling { cancelled: 256, pending: true });
    assert!(venue.core.has_background_work());
    let late = venue.enter(buy(ALICE, 101, 1));
    venue.tick();
    let (account, instrument) = (ALICE, rialto_model::InstrumentId(0));
    let progress = Event::CancelProgress { account, instrument, cancelled: 44, pending: false };
    assert_eq!(venue.events.last(), Some(&progress));
    assert!(!venue.core.has_background_work());
    assert!(venue.core.order(late).is_some(), "it came after the mass cancel");
}

#[test]
fn orders_that_end_meanwhile_are_skipped() {
    let mut venue = crowd(buy(ALICE, 100, 1), 260);
    venue.apply(all_of_alice());
    venue.enter(sell(BOB, 100, 3));
    venue.tick();
    assert_eq!(venue.done().len(), 1);
    assert_eq!(venue.core.account(ALICE).unwrap().open_orders, 0);
}

#[test]
fn an_order_that_is_amended_meanwhile_is_cancelled_all_the_same() {
    let mut venue = crowd(buy(ALICE, 100, 1), 260);
    venue.apply(all_of_alice());
    venue.enter(sell(BOB, 110, 1));
    let next = venue.core.orders_of(ALICE).next().unwrap().id;
    venue.amend(ALICE, next, Some(110), Some(5));
    assert_eq!(venue.trades(), [(110, 1)]);
    venue.tick();
    assert_eq!(venue.done().len(), 4);
}

#[test]
fn under_the_first_rules_version_concurrent_mass_cancels_are_bounded() {
    let mut config = CoreConfig::new(ENGINE);
    (config.rules_version, config.limits.pending_cancels_max) = (1, 1);
    let mut venue = Venue::with(config, rules());
    (0..600).for_each(|_| {
        venue.enter(buy(ALICE, 100, 1));
    });
    venue.apply(all_of_alice());
    assert_eq!(venue.apply(all_of_alice()), rejected(RejectReason::VenueFull));
    venue.enter(buy(BOB, 100, 1));
    let of_bob = Command::MassCancel(MassCancel { account: BOB, instrument: None, side: None });
    assert_eq!(venue.apply(of_bob), Outcome::Cancelling { cancelled: 1, pending: false });
}

#[test]
fn closing_continues_in_the_background_and_cannot_be_undone_meanwhile() {
    let mut venue = crowd(buy(ALICE, 100, 1), 300);
    let outcome = venue.set_state(InstrumentState::Withdrawn);
    assert_eq!(outcome, Outcome::Cancelling { cancelled: 256, pending: true });
    assert_eq!(venue.set_state(InstrumentState::Open), rejected(RejectReason::HasOpenOrders));
    let last = venue.core.orders_of(ALICE).last().unwrap().id;
    assert!(!venue.cancel(ALICE, last).is_rejected());
    venue.tick();
    assert_eq!(venue.done().len(), 43);
    assert_eq!(venue.set_state(InstrumentState::Open), Outcome::Done);
}

#[test]
fn a_tick_expires_256_orders_at_most() {
    let expire_at = Timestamp(START + 10);
    let order = NewOrder { time_in_force: TimeInForce::Gtd, expire_at, ..buy(ALICE, 100, 1) };
    let mut venue = crowd(order, 300);
    venue.time += 10;
    venue.tick();
    assert_eq!(venue.done().len(), 256);
    assert!(venue.core.has_background_work());
    venue.tick();
    assert_eq!(venue.done().len(), 44);
    assert!(!venue.core.has_background_work());
}

/// Ticks until nothing is left to do, in commands whose events are bounded. Returns the orders that were
/// triggered, in their order.
fn triggered_in_slices(venue: &mut Venue) -> Vec<OrderId> {
    let mut triggered = Vec::new();
    while venue.core.has_background_work() {
        venue.unchecked(Command::Tick);
        assert!(venue.events.len() <= EVENTS_PER_COMMAND, "{} events", venue.events.len());
        triggered.extend(venue.events.iter().filter_map(|event| match event {
            Event::Triggered(triggered) => Some(triggered.order),
            _ => None,
        }));
    }
    triggered
}

/// What a trade triggers is entered in several commands, each of which has a bounded number of events.
#[test]
fn ten_thousand_triggered_orders_are_entered_in_slices_and_in_order() {
    for prices in [1, 5_000] {
        let mut venue = Venue::ruled(TradingRules { open_orders_max: 20_000, ..rules() });
        venue.enter(sell(ALICE, 10_000, 1));
        venue.enter(buy(BOB, 10_000, 1));
        let mut expected = Vec::new();
        for number in 0..10_000 {
            let price = Price(9_999 - number % prices);
            let trigger = Trigger { kind: TriggerKind::Stop, price };
            let order =
                ConditionalOrder { terms: sell(CAROL, 20_000, 1), trigger, immediate: false };
            let id = venue.unchecked(Command::PlaceConditional(order));
            expected.push((-price.0, id));
        }
        expected.sort_unstable();
        venue.enter(buy(BOB, 10, 1));
        venue.place(sell(ALICE, 10, 1));
        assert_eq!(venue.events.len(), 2, "the trade itself enters nothing");
        let expected: Vec<_> = expected.into_iter().map(|(_, id)| id).collect();
        assert_eq!(triggered_in_slices(&mut venue), expected);
        venue.core.check().unwrap();
    }
}

/// A trade moves all trailing stops at once. The core enters triggered ones in several commands, the nearest
/// first, although the price returns before.
#[test]
fn ten_thousand_trailing_stops_move_at_once_and_are_entered_in_slices_and_in_order() {
    for distances in [1, 4_000] {
        let mut venue = Venue::ruled(TradingRules { open_orders_max: 20_000, ..rules() });
        let trade_at = |venue: &mut Venue, price| {
            venue.enter(buy(BOB, price, 1));
            venue.place(sell(ALICE, price, 1));
            assert_eq!(venue.events.len(), 2, "the trade itself enters nothing");
        };
        trade_at(&mut venue, 10_000);
        let mut expected = Vec::new();
        for number in 0..10_000 {
            let distance = 1 + number % distances;
            let trail = TrailTerms {
                distance: Distance::Price(Price(distance)),
                activation_price: Price::ZERO,
            };
            let order = TrailingOrder { terms: sell(CAROL, 20_000, 1), trail };
            let id = venue.unchecked(Command::PlaceTrailing(order));
            expected.push((distance, id));
        }
        expected.sort_unstable();
        assert!(!venue.core.has_background_work(), "each was active at once");
        trade_at(&mut venue, 15_000);
        assert!(!venue.core.has_background_work(), "a price that only moves them is no work");
        trade_at(&mut venue, 10_000);
        trade_at(&mut venue, 16_000);
        let expected: Vec<_> = expected.into_iter().map(|(_, id)| id).collect();
        assert_eq!(triggered_in_slices(&mut venue), expected);
        venue.core.check().unwrap();
    }
}

/// A price that cannot be handled before the instrument trades holds up later ones; their number is bounded.
#[test]
fn trailing_stops_are_refused_where_too_many_prices_are_queued() {
    let mut venue = Venue::ruled(TradingRules { open_orders_max: 80_000, ..rules() });
    venue.enter(sell(ALICE, 100, 1));
    venue.enter(buy(BOB, 100, 1));
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(99) };
    let stop = ConditionalOrder { terms: sell(CAROL, 90, 1), trigger, immediate: false };
    venue.unchecked(Command::PlaceConditional(stop));
    venue.enter(buy(BOB, 98, 1));
    venue.place(sell(ALICE, 98, 1));
    venue.set_state(InstrumentState::Call);
    let trail = TrailTerms { distance: Distance::Price(Price(5)), activation_price: Price::ZERO };
    let order = TrailingOrder { terms: sell(CAROL, 90, 1), trail };
    let placing = Command::PlaceTrailing(order);
    // What is cancelled leaves nothing for long.
    for _ in 0..100_000 {
        let id = venue.unchecked(placing);
        assert_ne!(id, OrderId(0));
        venue.unchecked(Command::Cancel { account: CAROL, order: OrderRef::Id(id) });
    }
    let mut entered = 0;
    while venue.unchecked(placing) != OrderId(0) {
        entered += 1;
    }
    assert!((65_000..65_536).contains(&entered), "{entered} wait");
    assert_eq!(venue.apply(placing), rejected(RejectReason::VenueFull));
    venue.set_state(InstrumentState::Open);
    while venue.core.has_background_work() {
        venue.unchecked(Command::Tick);
    }
    assert!(!venue.apply(placing).is_rejected());
}
