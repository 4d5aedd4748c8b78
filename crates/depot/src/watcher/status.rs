//! The description of a watch that a caller gets.

use super::spec::WatchSpec;
use rialto_clock::Timestamp;

/// Whether a folder is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchState {
    /// It is.
    Watching,
    /// An operator disabled the watch.
    Disabled,
    /// The last scan failed for this reason. It is repeated by period.
    Failed(String),
}

/// The result of a scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanReport {
    /// Files that were imported.
    pub imported: u64,
    /// Files that had been imported already, and whose source was removed now.
    pub repeats: u64,
    /// Imports and removals that failed.
    pub failed: u64,
    /// Files that stay: filtered, of a size outside the limits, links and other files that are not
    /// regular, of an unknown tenant, or with a name that the pool does not accept.
    pub skipped: u64,
    /// Those of them with a name that the pool does not accept.
    pub refused_names: u64,
    /// Files that were imported earlier and are kept.
    pub kept: u64,
    /// Files that wait: too young, not settled, of a tenant that is disabled or whose quota is reached.
    pub pending: u64,
    /// Whether the scan reached the end of the folder. Otherwise there were more candidates than fit
    /// into memory, and it is repeated soon.
    pub is_complete: bool,
    /// Why files wait, if it is not for their age.
    pub paused: Option<String>,
}

/// A watch and what it did since the pool was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchStatus {
    /// The watch.
    pub spec: WatchSpec,
    /// Whether the folder is watched.
    pub state: WatchState,
    /// Files that were imported.
    pub imported: u64,
    /// Their bytes.
    pub imported_bytes: u64,
    /// Files that had been imported already, and whose source was removed.
    pub repeats: u64,
    /// Imports and removals that failed.
    pub failed: u64,
    /// The last such error, or the reason for which a scan failed, and when it happened.
    pub last_error: Option<(Timestamp, String)>,
    /// When the last scan ended.
    pub last_scan: Option<Timestamp>,
    /// The last scan.
    pub last_report: ScanReport,
    /// The candidates in memory now.
    pub candidates: usize,
    /// The most candidates that were in memory at once.
    pub candidates_largest: usize,
    /// The imports that are remembered because their sources are still there.
    pub remembered: usize,
    /// Whether the system reports changes of the folder. Otherwise they are noticed by period.
    pub has_events: bool,
}
