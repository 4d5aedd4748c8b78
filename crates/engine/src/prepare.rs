//! Makes the next segments of both logs before they are needed.

use crate::marks::Phase;
use crate::signal::Progress;
use crate::venue::Venue;
use rialto_log::{
    Commit, Group, Preparation, PreparedSegment, SegmentPreparer, Volume, WriteError, Writer,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Where a prepared segment waits for its writer.
#[derive(Default)]
pub(crate) struct Shelf {
    wanted: AtomicBool,
    stocked: AtomicBool,
    segment: Mutex<Option<PreparedSegment>>,
}

/// A log's writer with the shelf that its next segments come from. A segment is asked for when the
/// current one is half full, so that a venue with little to do does not write zeros for nothing.
pub(crate) struct Supplied {
    pub(crate) writer: Writer,
    shelf: Arc<Shelf>,
    venue: Arc<Venue>,
    segment_bytes: u64,
}

impl Supplied {
    pub(crate) fn new(
        writer: Writer,
        shelf: Arc<Shelf>,
        venue: Arc<Venue>,
        segment_bytes: u64,
    ) -> Self {
        Self { writer, shelf, venue, segment_bytes }
    }

    /// Stores a group and returns what it takes.
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
            self.venue.preparer.notify();
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
            // It is given back only if it is not needed, which was just ruled out.
            let _ = self.writer.accept(prepared);
        }
        self.shelf.wanted.store(false, Ordering::Release);
    }
}

/// The making of the segments of one log.
struct Line {
    shelf: Arc<Shelf>,
    preparer: SegmentPreparer,
    making: Option<Preparation>,
}

/// Fills the shelves, a mebibyte of zeros at a time, the journal's first.
pub(crate) struct Preparer {
    lines: [Line; 2],
    venue: Arc<Venue>,
}

impl Preparer {
    pub(crate) fn new(
        journal: (Arc<Shelf>, SegmentPreparer),
        events: (Arc<Shelf>, SegmentPreparer),
        venue: Arc<Venue>,
    ) -> Self {
        let lines =
            [journal, events].map(|(shelf, preparer)| Line { shelf, preparer, making: None });
        Self { lines, venue }
    }

    pub(crate) fn step(&mut self) -> Progress {
        if self.venue.progression.phase() >= Phase::Draining {
            return Progress::Finished;
        }
        for line in &mut self.lines {
            if line.step() {
                return Progress::Worked;
            }
        }
        Progress::Idle(None)
    }
}

impl Line {
    /// A failure is not told: the writer will try itself, and what it meets then is told.
    fn step(&mut self) -> bool {
        let making = match self.making.take() {
            Some(making) => Ok(making),
            None => {
                let stocked = self.shelf.stocked.load(Ordering::Acquire);
                if stocked || !self.shelf.wanted.load(Ordering::Acquire) {
                    return false;
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
            }
            Ok(Err(unfinished)) => self.making = Some(unfinished),
            Err(_) => self.shelf.wanted.store(false, Ordering::Release),
        }
        true
    }
}
