//! A gateway with a queue, on a free port.

use super::super::stage::Stage;
use crate::drive::ServedEngine;
use crate::error::{BenchError, broken};
use crate::suite::Context;
use rialto_disk::RealDisk;
use rialto_engine::{Engine, EngineConfig, Level};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(30);

/// A venue without trading that serves the queue of a stage.
pub(super) struct Served {
    served: ServedEngine,
    pub(super) stage: Stage,
}

impl Served {
    /// A new queue with a topic at `buffered`. Rate limits are disabled; every other check is on.
    pub(super) fn start(context: &mut Context<'_>, case: &str) -> Result<Served, BenchError> {
        let stage = Stage::at(context, case, Level::Buffered)?;
        let directory = stage.directory().expect("a buffered topic lies in a directory");
        let venue = directory.path().join("venue");
        let config = EngineConfig {
            data_dir: venue.join("data"),
            segment_bytes: 4 << 20,
            ..EngineConfig::default()
        };
        let (engine, _) = Engine::start(config, Arc::new(RealDisk::new()))
            .map_err(broken(case, "start the engine"))?;
        let served = ServedEngine::start(case, engine, &venue, Some(stage.queue()))?;
        Ok(Served { served, stage })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.served.address()
    }

    /// The authorisation header of every request.
    pub(super) fn authorization(&self) -> String {
        format!("authorization: Bearer {}", self.served.admin.reveal())
    }

    pub(super) fn end(self, case: &str) -> Result<(), BenchError> {
        self.served.end(case)?.shutdown(DEADLINE);
        self.stage.close()
    }
}
