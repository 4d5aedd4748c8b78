//! Auctions of several slices.

use crate::sliced::{Work, a_kill_after_any_slice_changes_nothing};
use crate::stage::{limit, until};
use rialto_core::{ORDERS_PER_COMMAND, SEARCH_STEPS_PER_ORDER};
use rialto_model::*;

const SPOT: InstrumentId = InstrumentId(1);
/// Orders that expire before the call ends. They take two slices, and leave too little of the
/// third one for the search.
const EXPIRED: u32 = 3 * ORDERS_PER_COMMAND - 5;
/// Levels of each side.
const LEVELS: i64 = 12 * SEARCH_STEPS_PER_ORDER as i64;
/// Orders of each side at each of them.
const ORDERS: i64 = 4;
/// Orders for the auction only that do not trade: more than one slice ends.
const LEFT_OVER: i64 = 300;

/// A call with orders that have expired at its end, orders that trade, own orders that meet, and orders
/// that the auction leaves over.
fn call() -> Vec<Command> {
    let rules = AuctionRules { self_trade: SelfTrade::CancelNewest, ..AuctionRules::PLAIN };
    let mut commands = vec![
        Command::SetAuctionRules { instrument: SPOT, rules, seed: 5 },
        Command::SetInstrumentState { instrument: SPOT, state: InstrumentState::Call },
    ];
    let expired = |_| until(Timestamp(5_000), limit(4, Side::Sell, 900, 1));
    commands.extend((0..EXPIRED).map(expired));
    for order in 0..ORDERS {
        for level in 0..LEVELS {
            let buyer = 1 + (level % 2) as u32;
            commands.push(limit(buyer, Side::Buy, 1_000 + level, 3 + order));
            commands.push(limit(2 + (order % 2) as u32, Side::Sell, 1_000 - level, 2 + 2 * order));
        }
    }
    for _ in 0..LEFT_OVER {
        let Command::Place(order) = limit(3, Side::Buy, 10, 1) else { continue };
        commands.push(Command::Place(NewOrder { time_in_force: TimeInForce::Gfa, ..order }));
    }
    commands
}

/// The parts of the auction that commands end in: a search, trades, and the ending of the orders that
/// were for the auction.
fn stages(events: &[(Seq, Vec<u8>)], end: Seq) -> [usize; 3] {
    let (mut counts, mut stage) = ([0; 3], 0);
    for (_, bytes) in events.iter().filter(|(seq, _)| *seq >= end) {
        let (_, events) = decode_events(bytes).unwrap();
        for event in events {
            match event.unwrap() {
                Event::Uncrossed(_) => stage = 1,
                Event::Done(done) if done.reason == DoneReason::AuctionEnded => stage = 2,
                _ => {}
            }
        }
        counts[stage] += 1;
    }
    counts
}

#[test]
fn a_kill_after_any_slice_changes_nothing_of_an_auction() {
    let open = Command::SetInstrumentState { instrument: SPOT, state: InstrumentState::Open };
    let work = Work { before: call(), begins: open, at: Timestamp(9_000) };
    let (undisturbed, slices) = a_kill_after_any_slice_changes_nothing(&work);
    let [searches, trades, ends] = stages(&undisturbed.events, undisturbed.begun);
    assert!(searches > 2 && trades > 4 && ends > 1, "{searches} {trades} {ends}");
    assert!(slices > 7, "{slices}");
}
