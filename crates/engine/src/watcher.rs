//! Looks again and again whether the disk hangs, and at the clocks, when nothing else does.

use crate::marks::Phase;
use crate::signal::Progress;
use crate::venue::Venue;
use std::sync::Arc;
use std::time::Duration;

/// How often it looks: a tenth of what it looks for, but no more often than this.
const EVERY_MIN: Duration = Duration::from_millis(1);

/// Looks for operations that hang.
pub(crate) struct Watcher {
    venue: Arc<Venue>,
    every: Duration,
}

impl Watcher {
    pub(crate) fn new(venue: Arc<Venue>, stalled_after: Duration) -> Self {
        Self { venue, every: (stalled_after / 10).max(EVERY_MIN) }
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.venue.progression.phase() >= Phase::Stopped {
            return Progress::Finished;
        }
        self.venue.watch_io();
        // An idle venue notices a step of the wall clock, too.
        self.venue.clock.read();
        Progress::Idle(Some(self.every))
    }
}
