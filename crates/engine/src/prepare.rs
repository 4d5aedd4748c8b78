//! Makes the next segments of both logs in advance.

use crate::marks::Phase;
use crate::signal::Progress;
use crate::state::EngineState;
use rialto_disk::DiskError;
use rialto_log::{
    Commit, Group, Preparation, PreparedSegment, SegmentPreparer, Volume, WriteError, Writer,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Passes a prepared segment to its writer.
#[derive(Default)]
pub(crate) struct SegmentHandoff {
    wanted: AtomicBool,
    stocked: AtomicBool,
    segment: Mutex<Option<PreparedSegment>>,
}

/// The writer of a log with its prepared segments. A segment is requested when the current one is
/// half full, so that an idle venue writes no zeros for nothing.
pub(crate) struct PreparedWriter {
    pub(crate) writer: Writer,
    shelf: Arc<SegmentHandoff>,
    state: Arc<EngineState>,
    segment_bytes: u64,
}

impl PreparedWriter {
    pub(crate) fn new(
        writer: Writer,
        shelf: Arc<SegmentHandoff>,
        state: Arc<EngineState>,
        segment_bytes: u64,
    ) -> Self {
        Self { writer, shelf, state, segment_bytes }
    }

    /// Stores a group and returns its size.
    pub(crate) fn write(
        &mut self,
        group: &mut Group,
        commit: Commit,
    ) -> Result<Volume, WriteError> {
        if self.writer.wants_segment() && self.shelf.stocked.swap(false, Ordering::AcqRel) {
            self.take_from_shelf();
        }
        let before = self.writer.volume();
        self.writer.write(group, commit)?;
        if self.writer.segment_filled_bytes() > self.segment_bytes / 2
            && self.writer.wants_segment()
            && !self.shelf.wanted.swap(true, Ordering::AcqRel)
        {
            self.state.preparer.notify();
        }
        let after = self.writer.volume();
        Ok(Volume {
            plain_bytes: after.plain_bytes - before.plain_bytes,
            stored_bytes: after.stored_bytes - before.stored_bytes,
        })
    }

    fn take_from_shelf(&mut self) {
        let prepared = self.shelf.segment.lock().ok().and_then(|mut segment| segment.take());
        if let Some(prepared) = prepared {
            // It is refused only if it is not needed, which was just excluded.
            let _ = self.writer.accept(prepared);
        }
        self.shelf.wanted.store(false, Ordering::Release);
    }
}

/// The delay before a failed segment is tried again; it grows, since retries do not help a full
/// disk.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(100);
const TRY_AGAIN_AFTER_MAX: Duration = Duration::from_secs(30);

/// Makes the segments of one log.
struct SegmentMaker {
    log: &'static str,
    shelf: Arc<SegmentHandoff>,
    preparer: SegmentPreparer,
    making: Option<Preparation>,
    failing: Option<Failing>,
}

/// The state after failed attempts.
struct Failing {
    /// The next attempt, on the monotonic clock.
    next: Duration,
    pause: Duration,
}

/// Makes segments, a mebibyte of zeros at a time, the journal's first.
pub(crate) struct Preparer {
    lines: [SegmentMaker; 2],
    state: Arc<EngineState>,
}

impl Preparer {
    pub(crate) fn new(
        journal: (Arc<SegmentHandoff>, SegmentPreparer),
        events: (Arc<SegmentHandoff>, SegmentPreparer),
        state: Arc<EngineState>,
    ) -> Self {
        let line = |log, (shelf, preparer)| SegmentMaker {
            log,
            shelf,
            preparer,
            making: None,
            failing: None,
        };
        let lines = [line("journal", journal), line("event log", events)];
        Self { lines, state }
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.state.progression.phase() >= Phase::Draining {
            return Progress::Finished;
        }
        let mut nap: Option<Duration> = None;
        for line in &mut self.lines {
            match line.step(|| self.state.clock.passed()) {
                Progress::Idle(None) => {}
                Progress::Idle(Some(left)) => nap = Some(nap.map_or(left, |nap| nap.min(left))),
                progress => return progress,
            }
        }
        Progress::Idle(nap)
    }
}

impl SegmentMaker {
    /// A failure has no effect yet: there is time until the current segment is full, and then the
    /// writer tries itself.
    fn step(&mut self, passed: impl Fn() -> Duration) -> Progress {
        let making = match self.making.take() {
            Some(making) => Ok(making),
            None => {
                let stocked = self.shelf.stocked.load(Ordering::Acquire);
                if stocked || !self.shelf.wanted.load(Ordering::Acquire) {
                    return Progress::Idle(None);
                }
                if let Some(failing) = &self.failing {
                    let left = failing.next.saturating_sub(passed());
                    if !left.is_zero() {
                        return Progress::Idle(Some(left));
                    }
                }
                self.preparer.begin()
            }
        };
        match making.and_then(Preparation::step) {
            Ok(Ok(prepared)) => {
                if let Ok(mut segment) = self.shelf.segment.lock() {
                    *segment = Some(prepared);
                }
                self.shelf.stocked.store(true, Ordering::Release);
                if self.failing.take().is_some() {
                    tracing::info!("the next segment of the {} is made after all", self.log);
                }
            }
            Ok(Err(unfinished)) => self.making = Some(unfinished),
            Err(error) => self.fail(&error, passed()),
        }
        Progress::Worked
    }

    /// Logged once, until it succeeds.
    fn fail(&mut self, error: &DiskError, passed: Duration) {
        let pause = match &self.failing {
            Some(failing) => (2 * failing.pause).min(TRY_AGAIN_AFTER_MAX),
            None => {
                tracing::warn!(
                    "the next segment of the {} cannot be made: {error}. It is tried again; if the \
                     current one is full first, a reserved segment is used, and without one the \
                     engine fails",
                    self.log
                );
                TRY_AGAIN_AFTER
            }
        };
        self.failing = Some(Failing { next: passed.saturating_add(pause), pause });
    }
}
