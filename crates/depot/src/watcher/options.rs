//! The settings of all watches of a pool.

use std::time::Duration;

/// The settings of all watches of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatcherOptions {
    /// The time between two scans of a folder that no event asked for.
    pub period: Duration,
    /// How long a file must not have changed before it is imported.
    pub settle: Duration,
    /// The most files of a watch that are imported at once. One less is the number of threads that
    /// help the threads of all watches together.
    pub imports_at_once: usize,
    /// The most candidates of a watch in memory. A folder with more is scanned again.
    pub candidates_max: usize,
    /// The most paths of a watch that events name before the whole folder is scanned instead.
    pub hints_max: usize,
    /// The most imports of all watches that are remembered because their sources are still there.
    /// Files beyond it are not imported.
    pub remembered_max: usize,
}

impl Default for WatcherOptions {
    fn default() -> Self {
        Self {
            period: Duration::from_secs(30),
            settle: Duration::from_millis(500),
            imports_at_once: 8,
            candidates_max: 8_192,
            hints_max: 4_096,
            remembered_max: 1_000_000,
        }
    }
}
