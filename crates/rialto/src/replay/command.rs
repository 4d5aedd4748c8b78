//! The command: from a file to the printed result.

use super::bitstamp::{Comparison, Passive};
use super::drive::Driver;
use super::error::InputError;
use super::input::{Format, Input};
use super::operation::Overview;
use super::pace::{Pace, Speed};
use super::report::{Outcome, Report};
use super::{stage, tally::Tally};
use crate::Error;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rialto_disk::{Disk, RealDisk};
use rialto_engine::{At, Engine, EngineConfig, KeyRing, Level, ManualClock, Sources};
use rialto_model::Timestamp;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest shutdown of the engine, its snapshot included.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(600);
/// Files with fewer operations get smaller segments, which are written in full before their use.
const SMALL_FILE_OPERATIONS: u64 = 100_000;
/// The bar is drawn after this many operations.
const BAR_STEP: u64 = 1_024;

/// Replays a recorded order-level file through a real venue and prints the results.
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The file: an OBW1 stream, an order file or a Bitstamp capture; packed with gzip or not.
    file: PathBuf,
    /// The file's format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The speed: max, or a multiple of the recorded speed such as 1x or 20x.
    #[arg(long, default_value = "max")]
    speed: Speed,
    /// The durability level: memory, buffered or synced.
    #[arg(long, default_value_t = Level::Synced)]
    level: Level,
    /// The data directory, which must be empty or missing; by default a temporary one, removed at
    /// the end.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Whether balances are reserved, checked and posted; every account is funded.
    #[arg(long, default_value = "on", value_parser = clap::builder::BoolishValueParser::new(),
          action = clap::ArgAction::Set, value_name = "on|off")]
    risk: bool,
    /// For a Bitstamp capture: the treatment of an order that never took liquidity and would take
    /// it here.
    #[arg(long, value_enum, default_value_t)]
    passive: Passive,
    /// For a Bitstamp capture: the file of the real trades; by default trades.csv beside the
    /// capture.
    #[arg(long)]
    trades: Option<PathBuf>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// The file cannot be read, the venue fails, or a stream's totals differ from its header.
pub fn run(args: &ReplayArgs) -> Result<(), Error> {
    let trades = args.trades.as_deref();
    let mut input = Input::open(&args.file, args.format, trades, args.passive).map_err(told)?;
    if trades.is_some() && !matches!(input, Input::Bitstamp(_)) {
        let reason = "--trades needs a Bitstamp capture, which this file is not";
        return Err(Error::Usage(reason.into()));
    }
    let overview = input.scan().map_err(told)?;
    let accounts_max = stage::limits().accounts_max;
    if overview.accounts.len() > accounts_max as usize {
        let (path, got) = (args.file.clone(), overview.accounts.len());
        return Err(told(InputError::TooManyAccounts { path, got, max: accounts_max }));
    }
    if args.speed != Speed::Max && overview.first.is_none() {
        let reason = "the file records no times: use --speed max";
        return Err(Error::Usage(reason.into()));
    }
    let (_temporary, dir) = directory(args.data.as_deref())?;
    let report = replay(args, &input, &overview, &dir)?;
    report.print(args.json);
    report.check()
}

/// A defect of the file is a failed command, not a failed disk.
fn told(error: InputError) -> Error {
    Error::Failed(crate::tell_all(&error))
}

/// The data directory, and the guard that removes a temporary one.
fn directory(given: Option<&Path>) -> Result<(Option<tempfile::TempDir>, PathBuf), Error> {
    let Some(dir) = given else {
        let temporary = tempfile::Builder::new().prefix("rialto-replay-").tempdir();
        let temporary =
            temporary.map_err(Error::file("create a directory in", std::env::temp_dir()))?;
        let dir = temporary.path().join("venue");
        return Ok((Some(temporary), dir));
    };
    match std::fs::read_dir(dir).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(Error::Usage(format!(
            "{} is not empty; a replay needs an empty directory",
            dir.display()
        ))),
        Ok(false) => Ok((None, dir.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok((None, dir.to_owned())),
        Err(error) => Err(Error::file("read", dir)(error)),
    }
}

fn replay(
    args: &ReplayArgs,
    input: &Input,
    overview: &Overview,
    dir: &Path,
) -> Result<Report, Error> {
    let small = overview.operations < SMALL_FILE_OPERATIONS;
    let defaults = EngineConfig::default();
    let config = EngineConfig {
        data_dir: dir.to_owned(),
        level: args.level,
        segment_bytes: if small { 4 << 20 } else { defaults.segment_bytes },
        limits: stage::limits(),
        ..defaults
    };
    // The clock stands where the recording begins, so that the same file always leads to the same
    // state; only a paced replay moves it along.
    let clock = Arc::new(ManualClock::new(overview.first.unwrap_or_default().max(Timestamp(1))));
    let sources = Sources { clock: Arc::clone(&clock) as _, ..Sources::system() };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
    let (engine, _) = Engine::start_with(config, Arc::clone(&disk), sources)?;

    let tally = match input {
        Input::Bitstamp(_) => Tally::keeping(),
        _ => Tally::default(),
    };
    let (commands, accounts) = (stage::commands(overview, args.risk), stage::accounts(overview));
    let mut driver = Driver::begin(&engine, clock, &commands, accounts, tally)?;
    let bar = bar(overview.operations);
    let began = Instant::now();
    let pace = Pace::begin(args.speed, overview.first);
    for (done, operation) in (0_u64..).zip(input.operations().map_err(told)?) {
        driver.operation(&operation.map_err(told)?, pace.as_ref())?;
        if done.is_multiple_of(BAR_STEP) || pace.is_some() {
            bar.set_position(done);
        }
    }
    driver.settle()?;
    let took = began.elapsed();
    bar.finish_and_clear();
    let mut finished = driver.finish();
    let shutdown = engine.shutdown(SHUTDOWN_TIMEOUT);
    if !shutdown.finished {
        return Err(Error::NotDrained(shutdown.to_string()));
    }
    let last = finished.rest()?;
    let core = rialto_engine::replay_to(&disk, dir, &KeyRing::empty(), At::Seq(last))
        .map_err(|error| Error::Failed(crate::tell_all(&error)))?;
    core.check().map_err(|error| Error::Failed(crate::tell_all(&error)))?;
    let resting = core.instruments().map(|market| market.open_orders as u64).sum();
    let outcome = Outcome {
        resting,
        state_hash: core.state_hash().to_string(),
        last,
        took,
        latency_ns: finished.latency_ns,
        commands: finished.commands,
        without_order: finished.without_order,
    };
    let comparison = match (input, &finished.tally.fills) {
        (Input::Bitstamp(capture), Some(ours)) => {
            capture.trades.as_ref().map(|real| Comparison::of(real, ours))
        }
        _ => None,
    };
    Ok(Report::new(args, input, overview, finished.tally, outcome, comparison))
}

impl ReplayArgs {
    /// The settings that affect the result.
    pub(super) fn settings(&self) -> (Level, bool, Passive, &Path) {
        (self.level, self.risk, self.passive, &self.file)
    }
}

/// A progress bar on standard error, if that is a terminal.
fn bar(operations: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(operations), ProgressDrawTarget::stderr());
    let style = "{bar:40} {human_pos} of {human_len} operations, {per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is a constant"));
    bar
}
