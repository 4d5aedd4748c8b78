//! `recovery`: the replay rate of a journal, and the restart of a large venue.

use crate::drive::{EventTally, VenueSettings, feed, replayed, submissions};
use crate::error::{BenchError, broken, verify};
use crate::measure::{Clock, Spread};
use crate::references::{Metric, Work};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::{Context, Suite, part};
use rialto_core::{Core, CoreConfig, StateHash};
use rialto_disk::{Disk, RealDisk};
use rialto_engine::{Engine, EngineConfig, Level, ManualClock, RecoveryReport, Sources};
use rialto_model::{Command, Seq, Timestamp};
use rialto_workload::{Cycle, ENGINE, FEES};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const SEED: u64 = 1;
/// The time of all commands, so that a separate core reaches the same state.
const TIME: Timestamp = Timestamp(1);
/// Journal and event log of one command are shorter than this.
const BYTES_PER_COMMAND: u64 = 250;
const DEADLINE: Duration = Duration::from_secs(600);

const REPLAYED: &str = "The whole journal from an empty venue, reading, checking and decoding \
    included, and every event compared with the recorded ones by their chained hash.";
const RESTARTED: &str = "From the start of the engine to taking commands: newest snapshot, the \
    journal behind it, and the recorded events compared. The last snapshot is as old as the \
    default setting ever lets it become.";
const STATE: &str = "`state_hash` is that of a core beside the engine that was given the same \
    commands, and that of the recovered venue.";

/// The commands to write before the restart.
struct Plan {
    rounds: u64,
    /// Rounds between snapshots, and between the last one and the end.
    snapshot_rounds: u64,
    restarts: usize,
}

/// The suite.
pub(crate) const SUITE: Suite = Suite {
    name: "recovery",
    about: "the replay rate of a journal, and the restart of a venue with 100 M commands",
    parts: &[
        part("replay", |context, outcome| outcome.take(replay(context))),
        part("restart", |context, outcome| outcome.take(restart_large(context))),
    ],
};

fn replay(context: &mut Context<'_>) -> Result<Row, BenchError> {
    let cycle = cycle(context);
    let whole = Plan { rounds: context.sized(20, 3), snapshot_rounds: u64::MAX, restarts: 3 };
    Ok(replay_row(&recover(context, cycle, &whole)?))
}

fn restart_large(context: &mut Context<'_>) -> Result<Vec<Row>, BenchError> {
    let cycle = cycle(context);
    let wanted = context.sized(100, 6);
    let rounds = wanted.min(rounds_that_fit(context, &cycle)?);
    let large = Plan { rounds, snapshot_rounds: context.sized(20, 2), restarts: 3 };
    Ok(restart_rows(&recover(context, cycle, &large)?, rounds == wanted))
}

fn cycle(context: &mut Context<'_>) -> Cycle {
    let (resting, each) = context.sized((1_000, 1_000_000), (50, 1_000));
    context.progress("  exchange-core's mix: generating");
    Cycle::of_mix(SEED, resting, each)
}

fn rounds_that_fit(context: &mut Context<'_>, cycle: &Cycle) -> Result<u64, BenchError> {
    let directory = context.fresh_directory()?;
    let free = RealDisk::new().free_bytes(directory.path());
    let free = free.map_err(broken("recovery", "learn the free space"))?;
    // Half of it is left free.
    Ok((free / 2 / (cycle.commands_per_round() * BYTES_PER_COMMAND)).max(1))
}

/// The measurements of a venue.
struct Came {
    case: Case,
    commands: u64,
    starts: Starts,
    checks: BTreeMap<String, Value>,
}

/// The measurements of its starts.
struct Starts {
    report: RecoveryReport,
    replay_rate: Spread,
    took_s: Spread,
}

fn recover(context: &mut Context<'_>, mut cycle: Cycle, plan: &Plan) -> Result<Came, BenchError> {
    let commands = cycle.opening().len() as u64 + plan.rounds * cycle.commands_per_round();
    let work = format!("recovery, {} commands of exchange-core's mix", in_millions(commands));
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let name = case.to_string();
    let directory = context.fresh_directory()?;
    let settings =
        VenueSettings { snapshot_every: u64::MAX, ..VenueSettings::at(context, Level::Buffered) };
    let config = settings.config(directory.path());
    let last = write(context, &name, &config, &mut cycle.clone(), plan)?;
    verify(&name, "the last sequence", last.0, commands)?;
    context.progress(&format!("  {name}: the same commands through a core beside it"));
    let (beside, tally) = core_beside(&config, &mut cycle, plan.rounds);
    verify(&name, "trades and traded quantity", tally, cycle.trades(plan.rounds))?;
    let starts = restart(context, &name, &config, plan.restarts)?;
    let core = replayed(&name, directory.path(), last)?;
    verify(&name, "the state hash", core.state_hash(), beside)?;
    let (trades, traded_quantity) = tally;
    let snapshot = starts.report.snapshot.map_or(Value::Null, |seq| seq.0.into());
    let checks = [
        ("commands", commands.into()),
        ("trades", trades.into()),
        // A hundred million commands trade far less than 2^63.
        ("traded_quantity", (traded_quantity as i64).into()),
        ("state_hash", beside.to_string().into()),
        ("snapshot_at", snapshot),
        ("replayed", starts.report.replayed.into()),
    ];
    let checks = checks.map(|(name, value)| (name.to_string(), value)).into();
    Ok(Came { case, commands, starts, checks })
}

/// Writes a journal; the engine is dropped without a last snapshot, as by a kill.
fn write(
    context: &mut Context<'_>,
    name: &str,
    config: &EngineConfig,
    cycle: &mut Cycle,
    plan: &Plan,
) -> Result<Seq, BenchError> {
    let engine = start(name, config)?.0;
    let mut producer = engine.producer();
    let mut last = feed(name, &mut producer, &submissions(cycle.opening()))?.last;
    let mut ticket = None;
    for round in 1..=plan.rounds {
        let commands: Vec<Command> = cycle.next_round().collect();
        last = feed(name, &mut producer, &submissions(commands))?.last;
        if round < plan.rounds && (plan.rounds - round).is_multiple_of(plan.snapshot_rounds) {
            ticket = Some(engine.request_snapshot());
        }
        if round.is_multiple_of(10) || round == plan.rounds {
            context.progress(&format!("  {name}: wrote {last} commands"));
        }
    }
    if let Some(ticket) = ticket {
        ticket.wait(DEADLINE).map_err(broken(name, "make a snapshot"))?;
    }
    drop(producer);
    drop(engine);
    Ok(last)
}

fn start(name: &str, config: &EngineConfig) -> Result<(Engine, RecoveryReport), BenchError> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    let sources = Sources { clock: Arc::new(ManualClock::new(TIME)), ..Sources::system() };
    Engine::start_with(config.clone(), disk, sources).map_err(broken(name, "start"))
}

/// State hash, trades and traded quantity of a core with the same commands.
fn core_beside(config: &EngineConfig, cycle: &mut Cycle, rounds: u64) -> (StateHash, (u64, i128)) {
    let limits = config.limits;
    let mut core = Core::new(CoreConfig { limits, ..CoreConfig::new(ENGINE) });
    let mut events = EventTally::default();
    let mut seq = Seq::ZERO;
    let mut apply = |command: &Command| {
        seq = seq.next();
        core.apply(seq, TIME, command, &mut events);
    };
    cycle.opening().iter().for_each(&mut apply);
    for _ in 0..rounds {
        cycle.next_round().for_each(|command| apply(&command));
    }
    (core.state_hash(), (events.tally.trades, events.tally.traded_quantity))
}

/// Starts the venue several times; it is dropped without a snapshot, so that every start has the
/// same work.
fn restart(
    context: &mut Context<'_>,
    name: &str,
    config: &EngineConfig,
    restarts: usize,
) -> Result<Starts, BenchError> {
    let (mut rates, mut seconds) = (Vec::new(), Vec::new());
    let mut report = RecoveryReport::default();
    for start_number in 1..=restarts {
        context.progress(&format!("  {name}: start {start_number} of {restarts}"));
        let clock = Clock::start();
        let (engine, recovered) = start(name, config)?;
        seconds.push(clock.now_ns() as f64 / 1e9);
        rates.push(recovered.replayed as f64 / recovered.took.as_secs_f64());
        context.progress(&format!("  {name}: {recovered}"));
        report = recovered;
        drop(engine);
    }
    let spread = |values: Vec<f64>| Spread::over(values, |value| value);
    Ok(Starts { report, replay_rate: spread(rates), took_s: spread(seconds) })
}

fn replay_row(came: &Came) -> Row {
    Row::of_spread(&came.case, "replay", came.starts.replay_rate, Unit::CommandsPerSecond)
        .level(Level::Buffered.name())
        .beside(Work::Replay, Metric::Throughput)
        .checks(&came.checks)
        .target(5e6)
        .footnote(REPLAYED)
        .footnote(STATE)
        .footnote(FEES)
}

fn restart_rows(came: &Came, is_whole: bool) -> Vec<Row> {
    let restart = Row::of_spread(&came.case, "restart", came.starts.took_s, Unit::Seconds)
        .level(Level::Buffered.name())
        .checks(&came.checks)
        .target(10.0)
        .footnote(RESTARTED)
        .footnote(STATE);
    let replay = Row::of_spread(
        &came.case,
        "replay behind the snapshot",
        came.starts.replay_rate,
        Unit::CommandsPerSecond,
    )
    .level(Level::Buffered.name())
    .checks(&came.checks)
    .footnote(RESTARTED);
    let short = format!(
        "Only {} commands: the free space of the disk holds no more.",
        in_millions(came.commands)
    );
    let rows = [restart, replay];
    rows.map(|row| if is_whole { row } else { row.footnote(&short) }).into()
}

fn in_millions(commands: u64) -> String {
    match commands {
        0..1_000_000 => commands.to_string(),
        _ => format!("{:.0} M", commands as f64 / 1e6),
    }
}
