//! The engine's progress and phase.

use crate::Level;
use rialto_model::Seq;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The engine's progress. Each mark covers its sequence and all before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Decided by the core.
    pub applied: Seq,
    /// In the journal; survives the end of the process.
    pub written: Seq,
    /// In the journal and confirmed by the disk.
    pub synced: Seq,
    /// Visible, at the venue's level.
    pub released: Seq,
    /// In the event log.
    pub recorded: Seq,
}

/// A number on its own cache line, because one thread writes it and others poll it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Mark(AtomicU64);

impl Mark {
    fn get(&self) -> Seq {
        Seq(self.0.load(Ordering::Acquire))
    }

    /// Marks never decrease, and each has one writer, so that a plain store suffices.
    fn advance(&self, to: Seq) {
        debug_assert!(self.0.load(Ordering::Relaxed) <= to.0, "a mark went back");
        self.0.store(to.0, Ordering::Release);
    }
}

/// The phase of an engine's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Commands are accepted.
    Running = 0,
    /// No more commands are accepted; accepted ones are being finished.
    Draining = 1,
    /// All accepted commands are finished and the journal is closed.
    Stopped = 2,
    /// The journal failed: nothing more is released.
    Failed = 3,
}

/// Marks and phase, shared by all threads of an engine.
#[derive(Debug)]
pub(crate) struct Progression {
    level: Level,
    applied: Mark,
    written: Mark,
    synced: Mark,
    recorded: Mark,
    phase: AtomicU8,
}

impl Progression {
    /// `recovered` is recovered, written and synced.
    pub(crate) fn new(level: Level, recovered: Seq) -> Self {
        let mark = || Mark(AtomicU64::new(recovered.0));
        Self {
            level,
            applied: mark(),
            written: mark(),
            synced: mark(),
            recorded: mark(),
            phase: AtomicU8::new(Phase::Running as u8),
        }
    }

    /// The mark that must have passed a sequence for `level`.
    #[inline]
    pub(crate) fn of(&self, level: Level) -> Seq {
        match level {
            Level::Memory => self.applied.get(),
            Level::Buffered => self.written.get(),
            Level::Synced => self.synced.get(),
        }
    }

    pub(crate) fn released(&self) -> Seq {
        self.of(self.level)
    }

    pub(crate) fn recorded(&self) -> Seq {
        self.recorded.get()
    }

    pub(crate) fn all(&self) -> Marks {
        // A mark is read before the marks that it follows, so that the values are never out of
        // order.
        let recorded = self.recorded();
        let released = self.released();
        let synced = self.of(Level::Synced);
        let written = self.of(Level::Buffered);
        Marks { applied: self.of(Level::Memory), written, synced, released, recorded }
    }

    pub(crate) fn advance(&self, level: Level, to: Seq) {
        match level {
            Level::Memory => self.applied.advance(to),
            Level::Buffered => self.written.advance(to),
            Level::Synced => self.synced.advance(to),
        }
    }

    pub(crate) fn advance_recorded(&self, to: Seq) {
        self.recorded.advance(to);
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Draining,
            2 => Phase::Stopped,
            _ => Phase::Failed,
        }
    }

    /// Enters a later phase; the first kind of end stays.
    pub(crate) fn enter(&self, phase: Phase) {
        let _ = self.phase.fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| {
            (now < phase as u8 && now < Phase::Stopped as u8).then_some(phase as u8)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_final() {
        let marks = Progression::new(Level::Synced, Seq(4));
        marks.enter(Phase::Failed);
        marks.enter(Phase::Stopped);
        assert_eq!(marks.phase(), Phase::Failed);
    }

    #[test]
    fn the_venues_level_decides_what_is_released() {
        for (level, released) in [(Level::Memory, 9), (Level::Buffered, 8), (Level::Synced, 7)] {
            let marks = Progression::new(level, Seq(1));
            marks.advance(Level::Memory, Seq(9));
            marks.advance(Level::Buffered, Seq(8));
            marks.advance(Level::Synced, Seq(7));
            assert_eq!(marks.released(), Seq(released));
        }
    }
}
