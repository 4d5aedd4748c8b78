//! Checks for a hanging disk, and for steps of the clock on an idle venue.

use crate::marks::Phase;
use crate::signal::Progress;
use crate::state::EngineState;
use std::sync::Arc;
use std::time::Duration;

/// The shortest interval of checks; usually it is a tenth of the time that counts as hanging.
const EVERY_MIN: Duration = Duration::from_millis(1);

/// Checks for hanging operations.
pub(crate) struct Watcher {
    state: Arc<EngineState>,
    every: Duration,
}

impl Watcher {
    pub(crate) fn new(state: Arc<EngineState>, stalled_after: Duration) -> Self {
        Self { state, every: (stalled_after / 10).max(EVERY_MIN) }
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.state.progression.phase() >= Phase::Stopped {
            return Progress::Finished;
        }
        self.state.watch_io();
        // An idle venue notices a step of the wall clock too.
        self.state.clock.read();
        Progress::Idle(Some(self.every))
    }
}
