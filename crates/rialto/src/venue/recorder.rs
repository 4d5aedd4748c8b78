//! The recorder as a component: it records while the venue runs, and stores its records at the end.

use super::made::Made;
use crate::config::Config;
use crate::inspect::RECORDINGS_DIR;
use crate::tell_all;
use rialto_disk::Disk;
use rialto_engine::{Engine, StorageLevel};
use rialto_lifecycle::{Component, Failure, Health};
use rialto_recorder::{
    Keeper, Recorder, RecorderBounds, RecordingError, RecordingWriter, RingBounds, Sampling,
    TickClock,
};
use std::sync::Arc;
use std::time::Duration;

/// The interval at which ended records are stored.
const STORE_EVERY: Duration = Duration::from_millis(200);

pub(super) struct Part {
    recorder: Arc<Recorder>,
    /// Until it starts.
    writer: Option<RecordingWriter>,
    engine: Made<Engine>,
    keeper: Option<Keeper>,
}

impl Part {
    /// The recorder that the configuration wants, if it wants one. One that cannot store its records
    /// says so and keeps them in memory: a venue does not stay closed for that.
    pub(super) fn open(config: &Config, disk: Arc<dyn Disk>, engine: Made<Engine>) -> Option<Part> {
        let wanted = &config.recorder;
        let sampling = match (wanted.only_failures, wanted.per_second) {
            (true, _) => Sampling::Failures,
            (false, 0) => return None,
            (false, per_second) => Sampling::Adaptive { per_second },
        };
        let bounds =
            RecorderBounds { records_max: wanted.records_max, ..RecorderBounds::default() };
        let recorder = Recorder::new(bounds, sampling, TickClock::new());
        let ring = RingBounds { bytes_max: wanted.bytes_max, ..RingBounds::default() };
        let dir = config.data_dir().join(RECORDINGS_DIR);
        // Recordings are not encrypted, and hold what requests said.
        let secret = config.engine.sealing.encryption.is_some();
        if secret && wanted.bytes_max > 0 {
            tracing::info!(
                "requests are recorded in memory only, because recordings are not encrypted and \
                 journal.encryption is set"
            );
        }
        let stored = wanted.bytes_max > 0 && !secret;
        let writer = stored.then(|| RecordingWriter::open(disk, &dir, ring));
        let writer = writer.transpose().unwrap_or_else(|error| {
            tracing::warn!("requests are not recorded on disk: {}", tell_all(&error));
            None
        });
        let recorder = match &writer {
            Some(writer) => recorder.numbered_after(writer.last()),
            None => recorder,
        };
        Some(Part { recorder: Arc::new(recorder), writer, engine, keeper: None })
    }

    pub(super) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }
}

impl Component for Part {
    fn start(&mut self) -> Result<(), Failure> {
        if let Some(writer) = self.writer.take() {
            let tell = |error: &RecordingError| {
                tracing::warn!("records of requests are lost: {}", tell_all(error));
            };
            let storage = Arc::clone(self.engine.get()?.storage());
            let may_store = move || storage.level() == StorageLevel::Enough;
            let recorder = self.recorder();
            let keeper = Keeper::start_while(recorder, writer, STORE_EVERY, may_store, tell)?;
            self.keeper = Some(keeper);
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // It first stores the records in memory.
        self.keeper = None;
        Ok(())
    }

    fn health(&mut self) -> Health {
        // That records cannot be stored is logged; requests are served.
        Health::Up
    }
}
