//! A venue that is killed after any slice of work that takes many commands: it goes on with the same
//! order, and the events are the same as without the kill.

use crate::stage::{Bench, events, finish, setting, settle};
use rialto_core::StateHash;
use rialto_engine::{Engine, Level, Producer, Progress, Step, Stepped};
use rialto_model::{Command, Seq, Timestamp};

/// Work of several slices.
pub(crate) struct Work {
    /// The commands before it, after the reference data.
    pub(crate) before: Vec<Command>,
    /// The command that begins it.
    pub(crate) begins: Command,
    /// The time of that command.
    pub(crate) at: Timestamp,
}

/// What is left of the work when it has ended without a kill.
pub(crate) struct Undisturbed {
    /// All events of the venue.
    pub(crate) events: Vec<(Seq, Vec<u8>)>,
    /// The sequence of the command that begins the work.
    pub(crate) begun: Seq,
    hash: StateHash,
}

/// Compares the events and the state after a kill with those without one, for a kill after each slice,
/// and for starts with and without a snapshot of that moment. Returns those without a kill, and the
/// number of slices.
pub(crate) fn a_kill_after_any_slice_changes_nothing(work: &Work) -> (Undisturbed, usize) {
    let undisturbed = Venue::new(work).outcome();
    let mut count = 0;
    for with_snapshot in [false, true] {
        for slices in 0.. {
            let mut venue = Venue::new(work);
            (0..slices).for_each(|_| venue.slice());
            if !venue.works() {
                break;
            }
            count = count.max(slices + 1);
            let last = venue.engine.marks().applied;
            if with_snapshot {
                drop(venue.engine.request_snapshot());
                venue.settle_logs();
                assert_eq!(venue.engine.last_snapshot(), last);
            }
            let venue = venue.restart(if with_snapshot { last } else { Seq::ZERO });
            assert!(venue.works(), "after {last}, with a snapshot: {with_snapshot}");
            let outcome = venue.outcome();
            let is_same = outcome.events == undisturbed.events;
            assert!(is_same, "after {last}, with a snapshot: {with_snapshot}");
            assert_eq!(
                outcome.hash, undisturbed.hash,
                "after {last}, with a snapshot: {with_snapshot}"
            );
        }
    }
    (undisturbed, count)
}

struct Venue {
    bench: Bench,
    engine: Engine,
    stepped: Stepped,
    producer: Producer,
    begun: Seq,
}

impl Venue {
    /// A venue that has done the first slices.
    fn new(work: &Work) -> Venue {
        let bench = Bench::new(31, Level::Synced);
        let (engine, stepped, _) = bench.start();
        let producer = engine.producer();
        let mut venue = Venue { bench, engine, stepped, producer, begun: Seq::ZERO };
        for commands in [&setting(), &work.before] {
            for part in commands.chunks(venue.bench.config.producer_capacity) {
                for reply in settle(&mut venue.producer, &mut venue.stepped, part) {
                    let outcome = reply.outcome().unwrap();
                    assert!(!outcome.is_rejected(), "{outcome:?}");
                }
            }
        }
        venue.begun = venue.engine.marks().applied.next();
        venue.bench.clock.set(work.at);
        venue.producer.submit(7, &work.begins, None).unwrap();
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

    /// Whether work is left, in the background or before any other command.
    fn works(&self) -> bool {
        let core = self.stepped.core().unwrap();
        core.has_background_work() || core.next_due() == Timestamp::ZERO
    }

    /// Kills it, and starts it again from a snapshot.
    fn restart(self, snapshot: Seq) -> Venue {
        let Venue { bench, begun, .. } = self;
        bench.disk.kill();
        let (engine, stepped, report) = bench.start();
        assert_eq!(report.snapshot, Some(snapshot));
        let producer = engine.producer();
        Venue { bench, engine, stepped, producer, begun }
    }

    /// Lets the work end.
    fn outcome(mut self) -> Undisturbed {
        self.stepped.run_until_idle();
        assert!(!self.works());
        let events = events(&self.engine, Seq(1), self.engine.marks().applied);
        self.stepped.core().unwrap().check().unwrap();
        let hash = self.stepped.core().unwrap().state_hash();
        finish(&self.engine, &mut self.stepped);
        Undisturbed { events, begun: self.begun, hash }
    }
}

impl Undisturbed {
    /// The events of the work.
    pub(crate) fn of_work(&self) -> Vec<rialto_model::Event> {
        let records = self.events.iter().filter(|(seq, _)| *seq >= self.begun);
        let decoded = records.flat_map(|(_, bytes)| rialto_model::decode_events(bytes).unwrap().1);
        decoded.map(Result::unwrap).collect()
    }
}
