//! Shutdown without losses.

use crate::engine::Engine;
use crate::health::Health;
use crate::marks::{Marks, Phase};
use crate::recovery::epoch_of;
use crate::threads::Threads;
use rialto_model::Seq;
use std::fmt;
use std::time::{Duration, Instant};

/// The report of a shutdown. It displays as one line.
#[derive(Clone, Debug)]
pub struct ShutdownReport {
    /// Whether everything was finished by the deadline.
    pub finished: bool,
    /// The engine's health at the end.
    pub health: Health,
    /// The engine's progress.
    pub marks: Marks,
    /// The last snapshot, if one was due, or the reason of its failure.
    pub snapshot: Option<Result<Seq, String>>,
}

impl ShutdownReport {
    pub(crate) fn new(
        engine: &Engine,
        finished: bool,
        snapshot: Option<Result<Seq, String>>,
    ) -> Self {
        Self { finished, health: engine.health(), marks: engine.marks(), snapshot }
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.finished {
            return write!(f, "not finished by the deadline ({})", self.health);
        }
        write!(f, "{} at sequence {}", self.health, self.marks.synced)?;
        match &self.snapshot {
            Some(Ok(seq)) => write!(f, ", snapshot at {seq}"),
            Some(Err(reason)) => write!(f, ", no snapshot: {reason}"),
            None => Ok(()),
        }
    }
}

/// Waits for the threads of an engine whose intake is closed, and makes its last snapshot.
pub(crate) fn finish(engine: &Engine, threads: Threads, deadline: Duration) -> ShutdownReport {
    let end = Instant::now().checked_add(deadline);
    // The last thread to end wakes the readers of events; the clock is read only for the deadline.
    while engine.state.progression.phase() < Phase::Stopped || !threads.are_finished() {
        if end.is_some_and(|end| Instant::now() >= end) {
            return ShutdownReport::new(engine, false, None);
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    let core = threads.join();
    let snapshot = match (engine.health(), core) {
        (Health::Stopped, Some(core)) if core.seq() > engine.state.snapshots.durable() => {
            let epoch = epoch_of(&engine.journal, core.seq());
            let written = engine
                .store
                .write(&core, epoch)
                .and_then(|_| Ok(engine.store.prune(engine.config.snapshots_kept)?));
            Some(written.map(|()| core.seq()).map_err(|error| error.to_string()))
        }
        _ => None,
    };
    ShutdownReport::new(engine, true, snapshot)
}
