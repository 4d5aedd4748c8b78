//! Throughput of a workload at several levels, side by side.

use super::arm::{self, Arm};
use crate::drive::{VenueSettings, submissions};
use crate::error::BenchError;
use crate::measure::{SideBySide, percentile_spreads, side_by_side};
use crate::references::{Metric, Work};
use crate::report::{Case, Risk, Row, Transport, Unit};
use crate::suite::Context;
use rialto_engine::{Level, Submission};
use rialto_workload::{FEES, Workload, commands};

const UNPACED: &str = "One thread submits everything at once and takes the replies.";
const STAMPED: &str = "From the stamp of a command to its release, in the run whose throughput \
    stands above; unpaced, so it is the depth of the queue more than the speed of the engine.";

/// The targets of a workload by level.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Targets {
    /// Commands per second at `buffered`.
    pub(super) buffered: Option<f64>,
    /// Commands per second at `synced`.
    pub(super) synced: Option<f64>,
    /// The ratio of `synced` to `buffered`.
    pub(super) ratio: Option<f64>,
}

/// A workload with its name and references.
pub(super) struct Job<'a> {
    pub(super) workload: &'a Workload,
    pub(super) unit: Unit,
    pub(super) work: Work,
    pub(super) targets: Targets,
    pub(super) rounds: usize,
    /// Whether the latencies of the same runs are reported.
    pub(super) latencies: bool,
}

/// The measurements of a workload at every level.
pub(super) struct Levels {
    case: Case,
    side: SideBySide,
    /// The runs of each level.
    arms: Vec<Vec<Arm>>,
}

/// Runs a workload at all levels in turns.
pub(super) fn measure(context: &mut Context<'_>, job: &Job<'_>) -> Result<Levels, BenchError> {
    let work = format!("engine, {}", job.workload.name);
    let case = Case { work, risk: Risk::On, transport: Transport::InProcess };
    let name = case.to_string();
    let submissions: Vec<Submission> = submissions(commands(job.workload));
    let mut arms = vec![Vec::new(); Level::ALL.len()];
    let side = side_by_side(Level::ALL.len(), job.rounds, |at| {
        let level = Level::ALL[at];
        context.progress(&format!("  {}: {level}, round {}", case.work, arms[at].len() + 1));
        let settings = VenueSettings::at(context, level);
        let arm = arm::run(context, &name, settings, job.workload, &submissions)?;
        arms[at].push(arm);
        Ok(arm.rate)
    })?;
    Ok(Levels { case, side, arms })
}

impl Levels {
    /// The median rate at a level.
    pub(super) fn rate(&self, level: Level) -> f64 {
        self.side.spread(level as usize).median
    }

    pub(super) fn rows(&self, job: &Job<'_>) -> Vec<Row> {
        let mut rows = Vec::new();
        for level in Level::ALL {
            rows.push(self.throughput(job, level));
            if job.latencies {
                rows.extend(self.latencies(level));
            }
        }
        let ratio = self.side.ratio(Level::Synced as usize, Level::Buffered as usize);
        let row =
            Row::of_spread(&self.case, "throughput over that of buffered", ratio, Unit::Ratio)
                .level(Level::Synced.name())
                .beside(job.work, Metric::Throughput)
                .checks(&job.workload.checks())
                .target(job.targets.ratio)
                .footnote("Both of a pair ran right after each other; the median of the pairs.");
        rows.push(row);
        rows
    }

    fn throughput(&self, job: &Job<'_>, level: Level) -> Row {
        let arms = &self.arms[level as usize];
        let spread = self.side.spread(level as usize);
        let target = match level {
            Level::Memory => None,
            Level::Buffered => job.targets.buffered,
            Level::Synced => job.targets.synced,
        };
        let middle = &arms[arms.len() / 2];
        Row::of_spread(&self.case, "throughput", spread, job.unit)
            .level(level.name())
            .beside(job.work, Metric::Throughput)
            .checks(&job.workload.checks())
            .check("journal_groups", middle.groups)
            .check("median_group_bytes", middle.group_bytes)
            .check("disk_bytes_per_command", middle.bytes_per_command)
            .target(target)
            .footnote(UNPACED)
            .footnote(FEES)
    }

    fn latencies(&self, level: Level) -> Vec<Row> {
        let arms = &self.arms[level as usize];
        let spreads = percentile_spreads(arms.iter().map(|arm| &arm.acknowledge));
        let row = |(name, spread)| {
            let metric = format!("acknowledgement {name}");
            Row::of_spread(&self.case, metric, spread, Unit::Nanoseconds)
                .level(level.name())
                .check("journal_groups", arms[0].groups)
                .footnote(STAMPED)
        };
        spreads.map(row).collect()
    }
}
