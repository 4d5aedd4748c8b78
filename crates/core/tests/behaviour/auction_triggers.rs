//! Conditional orders in calls and auctions: what triggers them, and when they are entered.

use crate::sweeping::settle;
use crate::venue::*;
use rialto_core::Core;
use rialto_model::{
    AccountId, Command, ConditionalOrder, Distance, DoneReason, Event, IcebergOrder,
    InstrumentState, Leg, LinkKind, NewOrder, OrderId, OrderKind, OrderList, OrderStatus, Outcome,
    Price, Quantity, RejectReason, Restrict, Restriction, RestrictionTarget, Side, TimeInForce,
    Timestamp, TrailTerms, TrailingOrder, Trigger, TriggerKind,
};

/// More pairs of crossing orders than one command may trade.
const PAIRS: usize = 300;

/// A call after a trade at 100.
fn in_call() -> Venue {
    let mut venue = Venue::new();
    last(&mut venue, 100);
    venue.set_state(InstrumentState::Call);
    venue
}

fn state(venue: &Venue) -> InstrumentState {
    venue.core.instrument(SPOT).unwrap().instrument.state
}

fn at_stop(terms: NewOrder, price: i64) -> Command {
    let trigger = Trigger { kind: TriggerKind::Stop, price: Price(price) };
    Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate: false })
}

fn at_trail(terms: NewOrder, distance: i64) -> Command {
    let distance = Distance::Price(Price(distance));
    let trail = TrailTerms { distance, activation_price: Price::ZERO };
    Command::PlaceTrailing(TrailingOrder { terms, trail })
}

/// Enters an order that must wait.
fn wait(venue: &mut Venue, command: Command) -> OrderId {
    match venue.apply(command) {
        Outcome::Order { order, status: OrderStatus::Waiting, .. } => order,
        other => panic!("{command:?} was answered {other:?}"),
    }
}

fn triggered(events: &[Event]) -> Vec<OrderId> {
    let triggered = events.iter().filter_map(|event| match event {
        Event::Triggered(it) => Some(it.order),
        _ => None,
    });
    triggered.collect()
}

/// Two orders that cross at a price.
fn cross(venue: &mut Venue, price: i64) {
    venue.enter(buy(CAROL, price, 1));
    venue.enter(sell(BOB, price, 1));
}

/// Opens the instrument; its auction trades and ends within the command.
fn open(venue: &mut Venue) {
    venue.set_state(InstrumentState::Open);
    assert_eq!(state(venue), InstrumentState::Open);
}

#[test]
fn a_trade_of_an_auction_triggers_a_stop_that_trades_when_the_auction_has_ended() {
    let mut venue = in_call();
    let stop = wait(&mut venue, at_stop(buy(ALICE, 110, 2), 105));
    let next = wait(&mut venue, at_stop(buy(ALICE, 110, 1), 106));
    let rests = venue.enter(sell(BOB, 108, 5));
    cross(&mut venue, 105);
    open(&mut venue);
    assert_eq!(venue.trades(), [(105, 1)]);
    assert_eq!(triggered(&venue.events), [], "it is entered by the command that follows at once");
    venue.tick();
    assert_eq!(
        triggered(&venue.events),
        [stop, next],
        "the trade of the first triggers the second"
    );
    assert_eq!((venue.trades(), venue.makers()), (vec![(108, 2), (108, 1)], vec![rests, rests]));
    assert!(venue.trade_events().all(|trade| !trade.auction), "they trade continuously");
}

#[test]
fn orders_that_cross_in_a_call_trigger_nothing_until_they_trade() {
    let mut venue = in_call();
    wait(&mut venue, at_stop(buy(ALICE, 110, 2), 105));
    cross(&mut venue, 105);
    assert!(!venue.core.has_background_work());
    venue.tick();
    assert_eq!(triggered(&venue.events), []);
    // The last price is still that of the last trade.
    wait(&mut venue, at_stop(buy(ALICE, 110, 2), 101));
    let reached = venue.apply(at_stop(buy(ALICE, 110, 2), 100));
    assert_eq!(reached, rejected(RejectReason::WouldTrigger));
}

#[test]
fn an_auction_moves_a_trailing_stop_and_triggers_it() {
    let mut venue = in_call();
    let trail = wait(&mut venue, at_trail(sell(ALICE, 1, 1), 5));
    let follows = |venue: &Venue| {
        let trail = venue.core.order(trail).unwrap().trail.unwrap();
        trail.trigger_price(Side::Sell, Price(1)).unwrap().0
    };
    assert_eq!(follows(&venue), 95);
    cross(&mut venue, 120);
    open(&mut venue);
    settle(&mut venue);
    assert_eq!(follows(&venue), 115);
    venue.set_state(InstrumentState::Call);
    cross(&mut venue, 115);
    open(&mut venue);
    venue.tick();
    assert_eq!(triggered(&venue.events), [trail]);
}

#[test]
fn an_order_that_the_closing_auction_triggers_waits_for_the_next_opening() {
    let mut venue = Venue::new();
    last(&mut venue, 100);
    venue.set_state(InstrumentState::ClosingCall);
    let stop = wait(&mut venue, at_stop(buy(ALICE, 110, 2), 105));
    cross(&mut venue, 105);
    venue.set_state(InstrumentState::Closed);
    assert_eq!(venue.trades(), [(105, 1)]);
    for state in [InstrumentState::Closed, InstrumentState::PreOpen, InstrumentState::Call] {
        venue.set_state(state);
        assert!(!venue.core.has_background_work(), "{state:?}");
        let restored = Core::restore(&venue.core.snapshot(), 7).unwrap();
        assert_eq!(restored.state_hash(), venue.core.state_hash());
    }
    // A price that does not reach it changes nothing.
    cross(&mut venue, 101);
    open(&mut venue);
    venue.tick();
    assert_eq!(triggered(&venue.events), [stop]);
}

/// An auction at 105 that takes several commands, in its first, with orders of ALICE that it triggers.
fn uncrossing(orders: &[Command]) -> (Venue, Vec<OrderId>) {
    let mut venue = in_call();
    let waiting = orders.iter().map(|order| wait(&mut venue, *order)).collect();
    (0..PAIRS).for_each(|_| cross(&mut venue, 105));
    venue.set_state(InstrumentState::Open);
    assert_eq!(state(&venue), InstrumentState::Uncrossing);
    assert!(!venue.trades().is_empty(), "some orders have traded");
    (venue, waiting)
}

#[test]
fn triggered_orders_are_entered_behind_all_trades_of_an_auction() {
    let orders = [at_stop(buy(ALICE, 110, 1), 105), at_trail(buy(ALICE, 110, 1), 5)];
    let (mut venue, mut waiting) = uncrossing(&orders);
    let (mut traded, mut entered) = (venue.trades().len(), Vec::new());
    while venue.core.has_background_work() {
        venue.tick();
        traded += venue.trades().len();
        if state(&venue) == InstrumentState::Uncrossing {
            assert_eq!(triggered(&venue.events), []);
        }
        entered.extend(triggered(&venue.events));
    }
    entered.sort();
    waiting.sort();
    assert_eq!((traded, entered), (PAIRS, waiting));
    assert_eq!(venue.queue(Side::Buy), [(110, 1), (110, 1)]);
}

#[test]
fn nothing_that_waits_is_accepted_amended_or_cancelled_while_the_instrument_uncrosses() {
    let (mut venue, waiting) = uncrossing(&[at_stop(buy(ALICE, 110, 1), 105)]);
    let terms = buy(ALICE, 110, 2);
    let leg = Leg {
        condition: None,
        kind: OrderKind::Limit,
        time_in_force: TimeInForce::Gtc,
        price: Price(150),
        expire_at: Timestamp::ZERO,
    };
    let bracket = OrderList {
        terms,
        condition: None,
        kind: LinkKind::Oto,
        take_profit: Some(leg),
        stop_loss: None,
    };
    let display_quantity = Quantity(1);
    for command in [
        at_stop(terms, 150),
        at_trail(terms, 5),
        Command::PlaceIceberg(IcebergOrder { terms, display_quantity }),
        Command::PlaceList(bracket),
    ] {
        let refused = rejected(RejectReason::InstrumentUncrossing);
        assert_eq!(venue.apply(command), refused, "{command:?}");
    }
    let refused = rejected(RejectReason::InstrumentUncrossing);
    assert_eq!(venue.amend(ALICE, waiting[0], None, Some(2)), refused);
    assert_eq!(venue.cancel(ALICE, waiting[0]), refused);
}

#[test]
fn a_kill_switch_ends_what_an_auction_has_triggered() {
    let (mut venue, waiting) = uncrossing(&[at_stop(buy(ALICE, 110, 1), 105)]);
    let target = RestrictionTarget::Account(ALICE);
    let restriction = Restriction::CancelOnly;
    let kill = Restrict { target, restriction, by_member: true, cancel: true };
    venue.apply(Command::Restrict(kill));
    assert_eq!(settle(&mut venue), [(waiting[0], DoneReason::Restricted)]);
    assert_eq!(held(&venue, ALICE), (0, 0));
}

fn held(venue: &Venue, account: AccountId) -> (i128, i128) {
    (venue.balance(account, BASE).1, venue.balance(account, QUOTE).1)
}
