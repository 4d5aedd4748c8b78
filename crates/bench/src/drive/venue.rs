//! An engine in its own directory, with funded accounts.

use super::feed::feed;
use crate::error::{BenchError, broken, verify};
use crate::suite::Context;
use rialto_disk::{Disk, RealDisk};
use rialto_engine::{Engine, EngineConfig, Level, Producer, Submission};
use rialto_model::Command;
use std::path::Path;
use std::sync::Arc;

/// More orders than the largest workload leaves open.
const ORDERS_MAX: u32 = 8_000_000;

/// The settings in which arms differ; all others are the engine's defaults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VenueSettings {
    pub(crate) level: Level,
    /// The most bytes of one write.
    pub(crate) group_bytes_max: usize,
    /// The most commands in flight.
    pub(crate) in_flight_max: usize,
    /// The number of commands between two snapshots.
    pub(crate) snapshot_every: u64,
    /// The length of a segment of journal and event log.
    pub(crate) segment_bytes: u64,
}

impl VenueSettings {
    /// The default settings at a level, with many commands in flight.
    pub(crate) fn at(context: &Context<'_>, level: Level) -> VenueSettings {
        let config = EngineConfig::default();
        VenueSettings {
            level,
            group_bytes_max: config.group_bytes_max,
            in_flight_max: 8_192,
            snapshot_every: config.snapshot_every,
            segment_bytes: context.sized(config.segment_bytes, 4 << 20),
        }
    }

    /// The settings for a data directory.
    pub(crate) fn config(self, data_dir: &Path) -> EngineConfig {
        let mut config = EngineConfig {
            data_dir: data_dir.to_path_buf(),
            level: self.level,
            group_bytes_max: self.group_bytes_max,
            producer_capacity: self.in_flight_max,
            snapshot_every: self.snapshot_every,
            segment_bytes: self.segment_bytes,
            ..EngineConfig::default()
        };
        config.limits.orders_max = ORDERS_MAX;
        config
    }
}

/// A running engine with one producer.
pub(crate) struct Venue {
    pub(crate) engine: Engine,
    pub(crate) producer: Producer,
}

impl Venue {
    /// Starts an engine on the real disk and feeds it the commands that open the accounts.
    pub(crate) fn open(
        case: &str,
        settings: VenueSettings,
        data_dir: &Path,
        opening: Vec<Command>,
    ) -> Result<Venue, BenchError> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk::new());
        let (engine, _) =
            Engine::start(settings.config(data_dir), disk).map_err(broken(case, "start"))?;
        let mut producer = engine.producer();
        let opening = submissions(opening);
        let fed = feed(case, &mut producer, &opening)?;
        verify(case, "answers to what opens the accounts", fed.answered, opening.len() as u64)?;
        Ok(Venue { engine, producer })
    }
}

/// The submissions of commands, each with its position as its token.
pub(crate) fn submissions(commands: Vec<Command>) -> Vec<Submission> {
    let submission = |(token, command)| Submission { token, command, level: None };
    (0..).zip(commands).map(submission).collect()
}
