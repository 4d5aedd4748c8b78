//! Work that the core does in parts: a command, and the ticks behind it.

use super::shortest::{SHORTEST, longest_of_shortest, percentiles};
use crate::error::BenchError;
use crate::measure::{Clock, CoreWait, Percentiles, Spread, processor_time_ns};
use crate::report::{Case, Row, Unit};

/// The target of the longest command, in nanoseconds.
const LONGEST_NS: f64 = 100e3;

const WALL: &str = "By the wall clock, readings of the clocks between the commands included.";
const PROCESSOR: &str = "In processor time of the thread, so that other work on the machine is not in \
    it. `longest_wall_ns` in the checks is by the wall clock.";

/// The measurements of a run.
pub(super) struct Run {
    total_ns: u64,
    /// The processor time of each command.
    commands_ns: Vec<u64>,
    processor: Percentiles,
    longest_wall_ns: u64,
    waited: Option<f64>,
}

/// A run in progress.
pub(super) struct Timing {
    clock: Clock,
    wait: CoreWait,
    commands_ns: Vec<u64>,
    longest_wall_ns: u64,
}

impl Timing {
    /// Starts a run. `commands` is the expected number of its commands.
    pub(super) fn start(commands: usize) -> Timing {
        let commands_ns = Vec::with_capacity(commands);
        Timing { wait: CoreWait::start(), clock: Clock::start(), commands_ns, longest_wall_ns: 0 }
    }

    /// Times a command.
    pub(super) fn command<T>(&mut self, command: impl FnOnce() -> T) -> T {
        let (wall, before) = (self.clock.now_ns(), processor_time_ns());
        let outcome = command();
        self.commands_ns.push(processor_time_ns() - before);
        self.longest_wall_ns = self.longest_wall_ns.max(self.clock.now_ns() - wall);
        outcome
    }

    /// The number of commands so far.
    pub(super) fn commands(&self) -> usize {
        self.commands_ns.len()
    }

    pub(super) fn end(self) -> Run {
        let total_ns = self.clock.now_ns();
        Run {
            total_ns,
            processor: percentiles(&self.commands_ns),
            commands_ns: self.commands_ns,
            longest_wall_ns: self.longest_wall_ns,
            waited: self.wait.share(),
        }
    }
}

/// The rows of runs that do the same. `total_ns` is the target of all commands together, and `checked`
/// adds what the case says of itself.
pub(super) fn rows(
    case: &Case,
    runs: &[Run],
    total_ns: f64,
    checked: impl Fn(Row) -> Row,
) -> Result<Vec<Row>, BenchError> {
    let waited = runs.iter().filter_map(|run| run.waited).reduce(f64::max);
    let longest_wall = runs.iter().map(|run| run.longest_wall_ns).max();
    let each: Vec<&[u64]> = runs.iter().map(|run| &run.commands_ns[..]).collect();
    let longest = longest_of_shortest(&case.to_string(), &each)?;
    let checked = |row: Row| {
        checked(row)
            .check("commands", runs[0].commands_ns.len())
            .check("longest_wall_ns", longest_wall)
            .waited_for_core(waited)
    };
    let row = |metric: &str, value: fn(&Run) -> u64| {
        let spread = Spread::over(runs, |run| value(run) as f64);
        checked(Row::of_spread(case, metric, spread, Unit::Nanoseconds))
    };
    let metric = "longest command, each at its shortest of the runs";
    let longest = checked(Row::new(case, metric, longest as f64, Unit::Nanoseconds));
    Ok(vec![
        row("time", |run| run.total_ns).target(total_ns).footnote(WALL),
        row("one command, p50", |run| run.processor.p50).footnote(PROCESSOR),
        row("one command, p99", |run| run.processor.p99).footnote(PROCESSOR),
        row("one command, longest", |run| run.processor.max).footnote(PROCESSOR),
        longest.target(LONGEST_NS).footnote(PROCESSOR).footnote(SHORTEST),
    ])
}
