//! A watch of an open pool.

use super::WatcherOptions;
use super::candidates::Candidates;
use super::folder::Identity;
use super::mark::Mark;
use super::pauses::Pauses;
use super::signal::Signal;
use super::spec::{WatchSpec, WatchTenants};
use super::status::ScanReport;
use rialto_clock::Timestamp;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most names of a watch that are remembered as reported.
const REPORTED_MAX: usize = 4_096;
/// The most failed files of a watch that rest.
const RESTING_MAX: usize = 65_536;

/// A watch of an open pool.
pub(crate) struct Watch {
    pub(super) spec: WatchSpec,
    pub(super) is_enabled: AtomicBool,
    pub(super) is_removed: AtomicBool,
    pub(super) signal: Arc<Signal>,
    /// Taken for a scan.
    scanning: Mutex<Scanning>,
    shown: Mutex<Shown>,
}

/// What scans of a watch leave for the next one.
pub(super) struct Scanning {
    pub(super) candidates: Candidates,
    pub(super) pauses: Pauses,
    /// Names that were reported.
    reported: HashSet<String>,
    /// Files that failed since the last scan by period: they rest until the next one.
    pub(super) resting: HashSet<Mark>,
    /// Files outside the candidates that wait.
    pub(super) waiting: u64,
}

/// What is shown of a watch while it is being scanned.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) imported: u64,
    pub(super) imported_bytes: u64,
    pub(super) repeats: u64,
    pub(super) failed: u64,
    pub(super) last_error: Option<(Timestamp, String)>,
    pub(super) last_scan: Option<Timestamp>,
    pub(super) last_report: ScanReport,
    /// The reason that the last scan failed.
    pub(super) failure: Option<String>,
    pub(super) candidates: usize,
    pub(super) candidates_largest: usize,
    pub(super) waiting: u64,
    pub(super) has_events: bool,
    /// The folder that the last scan read.
    pub(super) folder: Option<Identity>,
    /// The folder whose changes were asked for.
    pub(super) followed: Option<Identity>,
}

impl Watch {
    pub(super) fn new(spec: WatchSpec, is_enabled: bool, options: &WatcherOptions) -> Self {
        let has_many_tenants = matches!(spec.tenants, WatchTenants::FirstLevel { .. });
        let scanning = Scanning {
            candidates: Candidates::new(options.candidates_max, has_many_tenants),
            pauses: Pauses::default(),
            reported: HashSet::new(),
            resting: HashSet::new(),
            waiting: 0,
        };
        Self {
            spec,
            is_enabled: AtomicBool::new(is_enabled),
            is_removed: AtomicBool::new(false),
            signal: Arc::new(Signal::new(options)),
            scanning: Mutex::new(scanning),
            shown: Mutex::default(),
        }
    }

    pub(super) fn scanning(&self) -> MutexGuard<'_, Scanning> {
        self.scanning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether files may be imported.
    pub(super) fn is_active(&self) -> bool {
        self.is_enabled.load(Ordering::Acquire) && !self.is_removed.load(Ordering::Acquire)
    }
}

impl Scanning {
    /// A file failed. It is tried again by period, and not before.
    pub(super) fn rest(&mut self, mark: Mark) {
        if self.may_rest() {
            self.resting.insert(mark);
        }
    }

    /// Whether more failed files may rest. Otherwise the folder is scanned by period only, since a
    /// scan would meet the same files again.
    pub(super) fn may_rest(&self) -> bool {
        self.resting.len() < RESTING_MAX
    }

    /// Whether a path is to be reported: once, and not more paths than are remembered.
    pub(super) fn is_news(&mut self, path: &str) -> bool {
        self.reported.len() < REPORTED_MAX
            && !self.reported.contains(path)
            && self.reported.insert(path.to_owned())
    }
}
