//! Watches disk operations of the journal and the event log for hangs.
//!
//! A hanging disk is not a failure: mostly it continues by itself. Meanwhile nothing can be
//! released, so that nothing is accepted either. After a longer time the engine fails, because a
//! process that waits for a lost disk answers no requests.

use crate::health::Stall;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    Journal = 0,
    EventLog = 1,
}

/// No operation is in progress.
const NOTHING: u64 = u64::MAX;

/// The begin of each operation in progress.
pub(crate) struct IoWatch {
    /// Nanoseconds on the monotonic clock, or [`NOTHING`]; each has one writer.
    began: [AtomicU64; 2],
    dirs: [PathBuf; 2],
    stalled_after: Duration,
    /// The duration after which the engine fails.
    pub(crate) failed_after: Duration,
    stalled: AtomicBool,
}

/// An operation in progress, until this is dropped.
pub(crate) struct UnderWay<'a> {
    watch: &'a IoWatch,
    watched: Watched,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.watch.began[self.watched as usize].store(NOTHING, Ordering::Release);
    }
}

impl IoWatch {
    /// `dirs` are those of the journal and of the event log.
    pub(crate) fn new(stalled_after: Duration, failed_after: Duration, dirs: [PathBuf; 2]) -> Self {
        Self {
            began: [AtomicU64::new(NOTHING), AtomicU64::new(NOTHING)],
            dirs,
            stalled_after,
            failed_after,
            stalled: AtomicBool::new(false),
        }
    }

    pub(crate) fn begin(&self, watched: Watched, passed: Duration) -> UnderWay<'_> {
        let began = u64::try_from(passed.as_nanos()).unwrap_or(NOTHING - 1);
        self.began[watched as usize].store(began, Ordering::Release);
        UnderWay { watch: self, watched }
    }

    /// Whether an operation was hanging at the last [`IoWatch::look`].
    #[inline]
    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Relaxed)
    }

    /// The operation that has hung for longest, if one does, and whether that has changed since the
    /// last call.
    pub(crate) fn look(&self, passed: Duration) -> (Option<Stall>, bool) {
        let longest = [Watched::Journal, Watched::EventLog]
            .into_iter()
            .filter_map(|watched| Some((watched, self.lasting(watched, passed)?)))
            .max_by_key(|(_, lasting)| *lasting)
            .filter(|(_, lasting)| *lasting >= self.stalled_after);
        let changed = self.stalled.swap(longest.is_some(), Ordering::AcqRel) != longest.is_some();
        let stall = longest.map(|(watched, lasting)| Stall {
            what: match watched {
                Watched::Journal => "journal",
                Watched::EventLog => "event log",
            },
            dir: self.dirs[watched as usize].clone(),
            lasting,
        });
        (stall, changed)
    }

    fn lasting(&self, watched: Watched, passed: Duration) -> Option<Duration> {
        let began = self.began[watched as usize].load(Ordering::Acquire);
        (began != NOTHING).then(|| passed.saturating_sub(Duration::from_nanos(began)))
    }
}
