//! The writer during a kill switch, during an auction and while stops are entered: its processor time between two
//! commands of another instrument.

use super::auction::{BOOK, books};
use super::check::{Traded, verify_core, verify_state};
use super::kill_switch::KILL;
use super::shortest::{SHORTEST, longest_of_shortest, percentiles};
use super::triggers::{stops, trailing_stops};
use crate::drive::{VenueSettings, check, submissions};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Percentiles, Spread, processor_time_ns};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{self, Context};
use rialto_core::Core;
use rialto_disk::{Disk, RealDisk};
use rialto_engine::{Level, ManualClock, Producer, Sources, Step, Stepped};
use rialto_model::{Command, InstrumentId, Outcome, Quantity, Timestamp};
use rialto_workload::{MarketFlow, pair_beside, resting_orders};
use std::sync::Arc;

/// The target of the longest time, in nanoseconds.
const BETWEEN_NS: f64 = 300e3;
/// Orders that are submitted together while the books are filled.
const FILL: usize = 4_096;
/// The instrument of the stops.
const STOPPED: InstrumentId = InstrumentId(1);
/// Steps of the writer after which the others of the engine take theirs.
const STEPS: u64 = 16;

const STEPPED: &str = "The engine's steps taken by one thread, and those of the writer timed. The clock \
    stands still, so that the background's share of the time never ends: behind every command of the \
    other instrument comes a tick that touches at most 256 orders, which a venue allows itself less \
    often. Both are journaled in memory and applied, and their events written. The time is from one command to the \
    next, that command included.";
const PROCESSOR: &str =
    "In processor time of the thread, so that other work on the machine is not in it.";

/// The measurements of a run.
struct Run {
    /// The time up to each command.
    between_ns: Vec<u64>,
    between: Percentiles,
}

/// Verifies a core after some pairs of orders, whose trades are given.
type Verify<'a> = &'a dyn Fn(&str, u64, Traded, &Core) -> Result<(), BenchError>;

/// What goes on beside the commands of another instrument.
struct Work<'a> {
    case: Case,
    /// The commands before it.
    before: Vec<Command>,
    /// The command that begins it.
    begin: Command,
    /// Orders that it touches.
    orders: (&'static str, u64),
    /// Two orders of the other instrument, which trade with each other.
    pair: MarketFlow,
    /// Verifies the core after all of it and the pairs.
    verify: Verify<'a>,
    note: Option<&'static str>,
}

pub(super) fn measure(context: &mut Context<'_>, outcome: &mut suite::Outcome) {
    outcome.take(beside_kill_switch(context));
    outcome.take(beside_auctions(context));
    let orders = context.sized(10_000, 500);
    let (fixed, trailing) = (stops(STOPPED, orders), trailing_stops(STOPPED, orders, false));
    outcome.take(beside_stops(context, "stops", orders, fixed));
    outcome.take(beside_stops(context, "trailing stops", orders, trailing));
}

fn beside_kill_switch(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    context.progress("  resting orders: generating");
    let flow = resting_orders(context.sized(1_000_000, 2_000));
    let work =
        format!("engine, commands of another instrument during a kill switch over {}", flow.name);
    let work = Work {
        case: Case { work, risk: Risk::On, transport: Transport::InProcess },
        before: [flow.opening(), flow.commands].concat(),
        begin: KILL,
        orders: ("orders_cancelled", flow.placed),
        pair: pair_beside(),
        verify: &|case, pairs, traded, core| verify_core(case, &pair_beside(), pairs, traded, core),
        note: None,
    };
    rows(context, &work)
}

fn beside_auctions(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let mut all = Vec::new();
    for auction in books(context) {
        let flow = &auction.flow;
        let (collect, uncross) = auction.parts();
        let work = format!(
            "engine, commands of another instrument during the uncrossing of {}",
            flow.name
        );
        let pair = auction.pair_beside();
        let work = Work {
            case: Case { work, risk: Risk::On, transport: Transport::InProcess },
            before: [&flow.opening(), collect].concat(),
            begin: *uncross,
            orders: ("orders_uncrossed", flow.placed),
            pair: pair.clone(),
            verify: &|case, pairs, traded, core| {
                let expected = Traded::from(pair.expected.tally).rounds(pairs);
                verify(case, "what traded beside it", traded, expected)?;
                verify_state(case, &auction.with_pairs(pairs), 1, core)
            },
            note: Some(BOOK),
        };
        all.extend(rows(context, &work)?);
    }
    Ok(all)
}

fn beside_stops(
    context: &mut Context<'_>,
    kind: &str,
    orders: usize,
    (stops, begin): (Vec<Command>, Command),
) -> Result<Vec<Row>, BenchError> {
    let pair = pair_beside();
    let work = format!(
        "engine, commands of another instrument while {orders} triggered {kind} are entered"
    );
    let work = Work {
        case: Case { work, risk: Risk::On, transport: Transport::InProcess },
        before: [pair.opening(), stops].concat(),
        begin,
        orders: ("orders_triggered", orders as u64),
        pair: pair.clone(),
        verify: &|case, pairs, traded, core| {
            let expected = Traded::from(pair.expected.tally).rounds(pairs);
            verify(case, "what traded beside it", traded, expected)?;
            verify(case, "waiting orders", core.waiting_orders(STOPPED).count(), 0)?;
            let resting = core.instrument(STOPPED).map_or(0, |view| view.open_orders);
            verify(case, "orders that were entered and rest", resting, orders)
        },
        note: None,
    };
    rows(context, &work)
}

fn rows(context: &mut Context<'_>, work: &Work<'_>) -> Result<Vec<Row>, BenchError> {
    let case = &work.case;
    let mut runs = Vec::new();
    for run in 1..=context.sized(5, 2) {
        context.progress(&format!("  {}, run {run}", case.work));
        runs.push(commands_beside(context, &case.to_string(), work)?);
    }
    let each: Vec<&[u64]> = runs.iter().map(|run| &run.between_ns[..]).collect();
    let longest = longest_of_shortest(&case.to_string(), &each)?;
    let checked = |row: Row| {
        row.level(Level::Memory.name())
            .check(work.orders.0, work.orders.1)
            .check("commands_meanwhile", runs[0].between_ns.len())
            .footnotes(work.note)
            .footnote(STEPPED)
            .footnote(PROCESSOR)
    };
    let metric = |what: &str| format!("processor time of the writer between two commands, {what}");
    let row = |name: &str, value: fn(&Run) -> u64| {
        let spread = Spread::over(&runs, |run| value(run) as f64);
        checked(Row::of_spread(case, metric(name), spread, Unit::Nanoseconds))
    };
    let name = metric("longest, each at its shortest of the runs");
    let longest = checked(Row::new(case, name, longest as f64, Unit::Nanoseconds));
    Ok(vec![
        row("p50", |run| run.between.p50),
        row("p99", |run| run.between.p99),
        row("longest", |run| run.between.max),
        longest.target(BETWEEN_NS).footnote(SHORTEST),
    ])
}

fn commands_beside(
    context: &mut Context<'_>,
    case: &str,
    work: &Work<'_>,
) -> Result<Run, BenchError> {
    let directory = context.fresh_directory()?;
    let config = VenueSettings::at(context, Level::Memory).config(directory.path());
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    let clock = Arc::new(ManualClock::new(Timestamp(1)));
    let sources = Sources { clock, ..Sources::system() };
    let (engine, mut stepped, _) =
        Stepped::start(config, disk, &sources).map_err(broken(case, "start"))?;
    let mut producer = engine.producer();
    fill(case, &mut stepped, &mut producer, work.before.clone())?;
    let mut traded = Traded::default();
    let mut commands = work.pair.commands.iter().cycle();
    let (mut sent, mut between_ns, mut since_ns) = (0, Vec::new(), 0);
    submit(case, &mut producer, &work.begin)?;
    let mut has_begun = false;
    let mut steps = 0_u64;
    // Ends behind a pair, so that the trades are known.
    while !has_begun || works(&stepped) || sent % 2 == 1 || producer.outstanding() > 0 {
        if producer.outstanding() == usize::from(!has_begun) {
            submit(case, &mut producer, commands.next().expect("a cycle has no end"))?;
            sent += 1;
        }
        let began = processor_time_ns();
        stepped.step(Step::Sequencer);
        since_ns += processor_time_ns() - began;
        steps += 1;
        let mut came = false;
        while let Some(reply) = producer.try_reply() {
            check(case, &reply)?;
            // The answers come in the order of the commands.
            if !has_begun {
                has_begun = true;
                continue;
            }
            match reply.outcome() {
                Ok(Outcome::Order { filled, .. }) if filled > Quantity::ZERO => {
                    traded.trades += 1;
                    traded.quantity += i128::from(filled.0);
                    came = true;
                }
                _ => came = true,
            }
        }
        if came {
            between_ns.push(since_ns);
            since_ns = 0;
        }
        if !came || steps.is_multiple_of(STEPS) {
            // The writer may wait for them.
            Step::ALL.into_iter().filter(|step| *step != Step::Sequencer).for_each(|step| {
                stepped.step(step);
            });
        }
    }
    let core = stepped.core().ok_or("it has ended").map_err(broken(case, "see its core"))?;
    verify(case, "commands answered", between_ns.len() as u64, sent)?;
    (work.verify)(case, sent / 2, traded, core)?;
    let between = percentiles(&between_ns);
    Ok(Run { between_ns, between })
}

fn works(stepped: &Stepped) -> bool {
    stepped.core().is_some_and(Core::has_background_work)
}

fn submit(case: &str, producer: &mut Producer, command: &Command) -> Result<(), BenchError> {
    producer.submit(0, command, None).map_err(broken(case, "submit a command"))
}

/// Submits commands and takes steps until all are answered.
fn fill(
    case: &str,
    stepped: &mut Stepped,
    producer: &mut Producer,
    commands: Vec<Command>,
) -> Result<(), BenchError> {
    for chunk in submissions(commands).chunks(FILL) {
        let taken = producer.submit_batch(chunk).map_err(broken(case, "submit commands"))?;
        verify(case, "submitted commands", taken, chunk.len())?;
        stepped.run_until_idle();
        let mut answered = 0;
        while let Some(reply) = producer.try_reply() {
            check(case, &reply)?;
            answered += 1;
        }
        verify(case, "answers", answered, chunk.len())?;
    }
    Ok(())
}
