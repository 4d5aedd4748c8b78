//! Stops that are triggered by one trade, and a cascade of stops: each trades, and its trade triggers the next.

use crate::sliced::{Work, a_kill_after_any_slice_changes_nothing};
use crate::stage::limit;
use rialto_model::*;

/// The price of the trade that begins it.
const FIRST: i64 = 100_000;
const STOPS: i64 = 1_500;

/// A stop at each price, and the order that it trades with one tick above.
fn ladder() -> Vec<Command> {
    // A trade below all stops.
    let mut commands = vec![limit(1, Side::Sell, FIRST - 1, 1), limit(2, Side::Buy, FIRST - 1, 1)];
    for away in 0..=STOPS {
        commands.push(limit(1, Side::Sell, FIRST + away, 1));
    }
    for away in 0..STOPS {
        let Command::Place(terms) = limit(2 + (away % 2) as u32, Side::Buy, 0, 1) else { continue };
        let terms = NewOrder {
            kind: OrderKind::Market,
            time_in_force: TimeInForce::Ioc,
            price: Price::ZERO,
            ..terms
        };
        let trigger = Trigger { kind: TriggerKind::Stop, price: Price(FIRST + away) };
        let order = ConditionalOrder { terms, trigger, immediate: false };
        commands.push(Command::PlaceConditional(order));
    }
    commands
}

#[test]
fn a_kill_after_any_slice_changes_nothing_of_a_cascade_of_stops() {
    let begins = limit(4, Side::Buy, FIRST, 1);
    let work = Work { before: ladder(), begins, at: Timestamp(2_000) };
    let (undisturbed, slices) = a_kill_after_any_slice_changes_nothing(&work);
    let events = undisturbed.of_work();
    let triggered = events.iter().filter(|event| matches!(event, Event::Triggered(_))).count();
    let traded: Vec<i64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Trade(trade) => Some(trade.price.0),
            _ => None,
        })
        .collect();
    assert_eq!(triggered, STOPS as usize);
    assert_eq!(traded, (FIRST..=FIRST + STOPS).collect::<Vec<_>>());
    assert!(slices > 3, "{slices} slices");
}

#[test]
fn a_kill_after_any_slice_changes_nothing_of_the_entry_of_many_stops() {
    // Triggered at one price, and resting below it.
    let stop = |number: i64| {
        let away = 1 + number % 100;
        let Command::Place(terms) = limit(2 + (number % 2) as u32, Side::Buy, FIRST - away, 1)
        else {
            unreachable!("it is an order")
        };
        let trigger = Trigger { kind: TriggerKind::Stop, price: Price(FIRST) };
        Command::PlaceConditional(ConditionalOrder { terms, trigger, immediate: false })
    };
    let below = [limit(1, Side::Sell, FIRST - 200, 1), limit(2, Side::Buy, FIRST - 200, 1)];
    let mut before = Vec::from(below);
    before.extend((0..STOPS).map(stop));
    before.push(limit(1, Side::Sell, FIRST, 1));
    let work = Work { before, begins: limit(4, Side::Buy, FIRST, 1), at: Timestamp(2_000) };
    let (undisturbed, slices) = a_kill_after_any_slice_changes_nothing(&work);
    let events = undisturbed.of_work();
    let rested = events.iter().filter(|event| matches!(event, Event::Rested(_))).count();
    assert_eq!(rested, STOPS as usize);
    assert!(slices > 3, "{slices} slices");
}
