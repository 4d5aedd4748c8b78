//! A kill after any slice of an auction: the venue goes on with the same order, and the events are the
//! same as without it.

use crate::stage::{Bench, events, finish, limit, setting, settle, until};
use rialto_core::{ORDERS_PER_COMMAND, SEARCH_STEPS_PER_ORDER, StateHash};
use rialto_engine::{Engine, Level, Producer, Progress, Step, Stepped};
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

/// An auction of several slices.
struct Venue {
    bench: Bench,
    engine: Engine,
    stepped: Stepped,
    producer: Producer,
    /// The command that ends the call.
    end: Seq,
}

impl Venue {
    /// A venue that has done the first slices.
    fn new() -> Venue {
        let bench = Bench::new(31, Level::Synced);
        let (engine, stepped, _) = bench.start();
        let producer = engine.producer();
        let mut venue = Venue { bench, engine, stepped, producer, end: Seq::ZERO };
        for commands in [setting(), call()] {
            for reply in settle(&mut venue.producer, &mut venue.stepped, &commands) {
                let outcome = reply.outcome().unwrap();
                assert!(!outcome.is_rejected(), "{outcome:?}");
            }
        }
        venue.end = venue.engine.marks().applied.next();
        venue.bench.clock.set(Timestamp(9_000));
        let open = Command::SetInstrumentState { instrument: SPOT, state: InstrumentState::Open };
        venue.producer.submit(7, &open, None).unwrap();
        venue.slice();
        venue
    }

    /// Does the next slices, at most two, which are then durable.
    fn slice(&mut self) {
        self.stepped.step(Step::Sequencer);
        self.settle_logs();
        assert_eq!(self.engine.marks().synced, self.engine.marks().applied);
    }

    /// Everything but further commands.
    fn settle_logs(&mut self) {
        let others = || Step::ALL.into_iter().filter(|step| *step != Step::Sequencer);
        while others().map(|step| self.stepped.step(step)).any(|did| did == Progress::Worked) {}
    }

    fn uncrosses(&self) -> bool {
        let core = self.stepped.core().unwrap();
        core.instrument(SPOT).unwrap().instrument.state == InstrumentState::Uncrossing
    }

    /// Kills it, and starts it again from a snapshot.
    fn restart(self, snapshot: Seq) -> Venue {
        let Venue { bench, end, .. } = self;
        bench.disk.kill();
        let (engine, stepped, report) = bench.start();
        assert_eq!(report.snapshot, Some(snapshot));
        let producer = engine.producer();
        Venue { bench, engine, stepped, producer, end }
    }

    /// Lets the auction end: all events, and the state.
    fn outcome(mut self) -> (Vec<(Seq, Vec<u8>)>, StateHash) {
        self.stepped.run_until_idle();
        assert!(!self.uncrosses());
        let events = events(&self.engine, Seq(1), self.engine.marks().applied);
        self.stepped.core().unwrap().check().unwrap();
        let hash = self.stepped.core().unwrap().state_hash();
        finish(&self.engine, &mut self.stepped);
        (events, hash)
    }
}

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
    let undisturbed = Venue::new();
    let end = undisturbed.end;
    let (expected, hash) = undisturbed.outcome();
    let [searches, trades, ends] = stages(&expected, end);
    assert!(searches > 2 && trades > 4 && ends > 1, "{searches} {trades} {ends}");
    for with_snapshot in [false, true] {
        for slices in 0.. {
            let mut venue = Venue::new();
            (0..slices).for_each(|_| venue.slice());
            if !venue.uncrosses() {
                break;
            }
            let last = venue.engine.marks().applied;
            if with_snapshot {
                drop(venue.engine.request_snapshot());
                venue.settle_logs();
                assert_eq!(venue.engine.last_snapshot(), last);
            }
            let venue = venue.restart(if with_snapshot { last } else { Seq::ZERO });
            assert!(venue.uncrosses());
            let (events, hash_now) = venue.outcome();
            assert!(events == expected, "after {last}, with a snapshot: {with_snapshot}");
            assert_eq!(hash_now, hash, "after {last}, with a snapshot: {with_snapshot}");
        }
    }
}
