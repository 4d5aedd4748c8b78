//! Looks again and again whether the disk hangs, and at the clocks, when nothing else does.

use crate::marks::Phase;
use crate::signal::Progress;
use crate::state::EngineState;
use std::sync::Arc;
use std::time::Duration;

/// How often it looks: a tenth of what it looks for, but no more often than this.
const EVERY_MIN: Duration = Duration::from_millis(1);

/// Looks for operations that hang.
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
        // An idle venue notices a step of the wall clock, too.
        self.state.clock.read();
        Progress::Idle(Some(self.every))
    }
}
