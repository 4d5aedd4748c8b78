//! A venue that was down, or is killed between the commands of a transition, makes every transition of
//! its timetable, in order and once.

use crate::stage::{Bench, events, finish, rules, setting, settle};
use rialto_core::{ORDERS_PER_COMMAND, StateHash};
use rialto_engine::{Engine, Level, Producer, Progress, Step, Stepped};
use rialto_model::*;

/// More instruments than a command can make a transition of.
const INSTRUMENTS: u32 = 2 * ORDERS_PER_COMMAND;
const DAYS: u64 = 14;
/// Before the first day.
const EVENING: Timestamp = Timestamp(20 * Timestamp::DAY);

/// Fourteen days, each with a call, trading and a close.
fn planned() -> Vec<PlannedTransition> {
    use InstrumentState as S;
    let of_day = |day: u64| {
        let morning = EVENING.0 + day * Timestamp::DAY + Timestamp::DAY / 2;
        let at = |seconds: u64, state| {
            PlannedTransition::plain(Timestamp(morning + seconds * Timestamp::SECOND), state)
        };
        let call = PlannedTransition {
            earliest_end: Timestamp(morning + 60 * Timestamp::SECOND),
            random_end_ms: 30_000,
            ..at(0, S::Call)
        };
        let close = PlannedTransition { ends_session: true, ends_day: true, ..at(200, S::Closed) };
        [call, at(100, S::Open), close]
    };
    (0..DAYS).flat_map(of_day).collect()
}

fn commands() -> Vec<Command> {
    let mut commands = setting();
    for number in 2..=INSTRUMENTS {
        commands.push(Command::CreateInstrument(InstrumentSpec {
            symbol: format!("S{number}").parse().unwrap(),
            kind: InstrumentKind::Spot,
            base: CurrencyId(1),
            quote: CurrencyId(2),
            price_scale: Scale::new(2).unwrap(),
            quantity_scale: Scale::new(4).unwrap(),
            rules: rules(),
        }));
    }
    let calendar: Name = "day".parse().unwrap();
    let planned = planned();
    for (number, transition) in (0..).zip(&planned) {
        let transition = *transition;
        commands.push(Command::PlanTransition { calendar, number, transition });
    }
    let count = planned.len() as u32;
    commands.push(Command::AdoptPlan { calendar, count, digest: 1, seed: 2, replace: true });
    let assign = |id| Command::AssignCalendar { instrument: InstrumentId(id), calendar };
    commands.extend((1..=INSTRUMENTS).map(assign));
    commands
}

struct Venue {
    bench: Bench,
    engine: Engine,
    stepped: Stepped,
    producer: Producer,
}

impl Venue {
    /// A venue in the evening before the first day.
    fn new() -> Venue {
        let bench = Bench::new(41, Level::Synced);
        bench.clock.set(EVENING);
        let (engine, stepped, _) = bench.start();
        let producer = engine.producer();
        let mut venue = Venue { bench, engine, stepped, producer };
        for reply in settle(&mut venue.producer, &mut venue.stepped, &commands()) {
            let outcome = reply.outcome().unwrap();
            assert!(!outcome.is_rejected(), "{outcome:?}");
        }
        venue
    }

    /// Lets a command or two be sequenced, and makes them durable.
    fn slice(&mut self) {
        self.stepped.step(Step::Sequencer);
        let others = || Step::ALL.into_iter().filter(|step| *step != Step::Sequencer);
        while others().map(|step| self.stepped.step(step)).any(|did| did == Progress::Worked) {}
    }

    fn restart(self) -> Venue {
        let Venue { bench, .. } = self;
        bench.disk.kill();
        let (engine, stepped, _) = bench.start();
        let producer = engine.producer();
        Venue { bench, engine, stepped, producer }
    }

    /// Does all that is due: all events, and the state.
    fn outcome(mut self) -> (Vec<(Seq, Vec<u8>)>, StateHash) {
        self.stepped.run_until_idle();
        let events = events(&self.engine, Seq(1), self.engine.marks().applied);
        self.stepped.core().unwrap().check().unwrap();
        let hash = self.stepped.core().unwrap().state_hash();
        finish(&self.engine, &mut self.stepped);
        (events, hash)
    }
}

/// When the transitions were to begin that began, in order.
fn begun(events: &[(Seq, Vec<u8>)]) -> Vec<Timestamp> {
    let all = events.iter().flat_map(|(_, bytes)| decode_events(bytes).unwrap().1);
    let begun = all.filter_map(|event| match event.unwrap() {
        Event::TransitionBegun { at, .. } => Some(at),
        _ => None,
    });
    begun.collect()
}

fn planned_times() -> Vec<Timestamp> {
    planned().iter().map(|transition| transition.at).collect()
}

#[test]
fn a_venue_that_was_down_for_two_weeks_makes_every_transition() {
    let mut venue = Venue::new();
    venue.bench.clock.set(Timestamp(EVENING.0 + (DAYS + 1) * Timestamp::DAY));
    // A venue asks its operator before it believes in such a gap.
    venue.bench.config.accept_clock = true;
    let venue = venue.restart();
    let (events, _) = venue.outcome();
    assert_eq!(begun(&events), planned_times());
}

#[test]
fn a_kill_between_the_commands_of_a_transition_changes_nothing() {
    let late = Timestamp(EVENING.0 + 2 * Timestamp::DAY);
    let undisturbed = Venue::new();
    undisturbed.bench.clock.set(late);
    let (expected, hash) = undisturbed.outcome();
    let times: Vec<Timestamp> = planned_times().into_iter().filter(|time| *time <= late).collect();
    assert_eq!(begun(&expected), times);
    for slices in 1..12 {
        let mut venue = Venue::new();
        venue.bench.clock.set(late);
        (0..slices).for_each(|_| venue.slice());
        let (events, hash_now) = venue.restart().outcome();
        assert!(events == expected, "after {slices} slices");
        assert_eq!(hash_now, hash, "after {slices} slices");
    }
}
