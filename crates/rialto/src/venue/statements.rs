//! Statements as a component: their runs, and the store that these live in.

use super::STATEMENTS_DIR;
use super::made::Made;
use crate::config::Config;
use rialto_depot::Depot;
use rialto_desk::{Live, VenueParts};
use rialto_disk::Disk;
use rialto_engine::Engine;
use rialto_flow::store::{Level, LogOptions, LogStore, StoreLimits};
use rialto_lifecycle::{Component, Failure, Health};
use rialto_recorder::Recorder;
use rialto_statements::{StatementOptions, StatementSettings, Statements, StatementsBus};
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// The length of a file of the log of runs: there is one run a day, and those of operators.
const SEGMENT_BYTES: u64 = 4 << 20;
/// The log of runs is compacted when it has grown by this much.
const CHECKPOINT_BYTES: u64 = 32 << 20;
/// The runs that are remembered. The last one is where the next begins, so that age drops none.
const RUNS_MAX: usize = 1_000;
const RETENTION: Duration = Duration::from_secs(100 * 365 * 24 * 3_600);

pub(super) struct Part {
    settings: StatementSettings,
    dir: PathBuf,
    options: LogOptions,
    disk: Arc<dyn Disk>,
    engine: Made<Engine>,
    live: Made<Live>,
    depot: Made<Depot>,
    recorder: Option<Arc<Recorder>>,
    made: Made<Weak<StatementsBus>>,
    running: Option<Statements>,
}

impl Part {
    pub(super) fn new(
        config: &Config,
        disk: Arc<dyn Disk>,
        (engine, live): (Made<Engine>, Made<Live>),
        depot: Made<Depot>,
        recorder: Option<Arc<Recorder>>,
    ) -> Part {
        let limits = StoreLimits {
            ended_runs_max: RUNS_MAX,
            retention: RETENTION,
            ..StoreLimits::default()
        };
        let options = LogOptions {
            limits,
            segment_bytes: SEGMENT_BYTES,
            checkpoint_bytes: CHECKPOINT_BYTES,
            reserve_segments: config.engine.reserve_segments,
            sealing: config.engine.sealing,
            keys: config.engine.keys.clone(),
            ..LogOptions::new(Level::Synced)
        };
        let settings = StatementSettings { at: config.statements.at, ..Default::default() };
        let (dir, made) = (config.data_dir().join(STATEMENTS_DIR), Made::new("statements"));
        let running = None;
        Part { settings, dir, options, disk, engine, live, depot, recorder, made, running }
    }

    /// The bus, while statements are made. Holding it prevents their end.
    pub(super) fn made(&self) -> Made<Weak<StatementsBus>> {
        self.made.clone()
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        let (engine, live, depot) = (self.engine.get()?, self.live.get()?, self.depot.get()?);
        let store = LogStore::open_on(Arc::clone(&self.disk), &self.dir, self.options.clone())?;
        let options = StatementOptions {
            settings: self.settings.clone(),
            recorder: self.recorder.clone(),
            ..StatementOptions::default()
        };
        let venue = VenueParts::new(engine, live);
        let statements = Statements::open(venue, Depot::clone(&depot), Arc::new(store), options)?;
        self.made.put(Arc::downgrade(&statements.bus()));
        self.running = Some(statements);
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        self.running = None;
        Ok(())
    }

    fn health(&mut self) -> Health {
        let Some(statements) = &self.running else {
            return Health::Failed("it was not started".to_string());
        };
        match statements.fault() {
            None => Health::Up,
            Some(fault) => Health::Failed(fault),
        }
    }
}
