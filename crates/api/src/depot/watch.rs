//! Watched folders.

use crate::text::{Rows, Str, U64Text};
use rialto_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most patterns of a kind.
pub const WATCH_PATTERNS_MAX: usize = 32;

/// What becomes of a source when its file is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepotWatchAfter {
    /// It is deleted.
    #[default]
    Delete,
    /// It is moved to the folder `move_to`.
    Move,
    /// It stays.
    Keep,
}

/// A folder to watch.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DepotWatchRequest<'a> {
    /// A name: 1 to 63 of `a` to `z`, `0` to `9`, `_` and `-`.
    #[serde(borrow)]
    pub name: Str<'a>,
    /// The folder, as an absolute path on the machine of the venue. It is below one of
    /// `depot.watch_roots`.
    pub folder: Str<'a>,
    /// The tenant of all files. Left out, each folder in the folder has the name of a tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Str<'a>>,
    /// Whether the folder of an unknown tenant creates it; for watches without `tenant`.
    #[serde(default)]
    pub create_tenants: bool,
    /// The directory of the pool that files go to; left out, the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<Str<'a>>,
    /// Whether files of folders in the folder are imported.
    #[serde(default)]
    pub recursive: bool,
    /// Patterns of `*` and `?`: other files stay. Left out, all are imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include: Option<Rows<Str<'a>, WATCH_PATTERNS_MAX>>,
    /// Patterns of files that stay, and of folders that are not entered; left out, `.*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<Rows<Str<'a>, WATCH_PATTERNS_MAX>>,
    /// Smaller files stay.
    #[serde(default)]
    pub bytes_min: U64Text,
    /// Larger files stay; 0 is no limit.
    #[serde(default)]
    pub bytes_max: U64Text,
    /// Files that were modified more recently wait.
    #[serde(default)]
    pub age_min_ms: u64,
    /// What becomes of a source; left out, it is deleted.
    #[serde(default)]
    pub after: DepotWatchAfter,
    /// The folder that sources are moved to. It is below one of `depot.watch_roots`, on the file system
    /// of the watched one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub move_to: Option<Str<'a>>,
}

/// Whether a folder is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DepotWatchState {
    /// It is.
    Watching,
    /// An operator disabled the watch.
    Disabled,
    /// The last scan failed. It is repeated by period.
    Failed,
}

/// A scan of a watched folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepotScan {
    /// Files that were imported.
    pub imported: U64Text,
    /// Files that had been imported before, whose source was removed now.
    pub repeats: U64Text,
    /// Imports and removals that failed.
    pub failed: U64Text,
    /// Files that the watch does not import.
    pub skipped: U64Text,
    /// Files of these that have names which the pool does not accept.
    pub refused_names: U64Text,
    /// Files that were imported before and are kept.
    pub kept: U64Text,
    /// Files that wait.
    pub pending: U64Text,
    /// Whether the scan reached the end of the folder.
    pub is_complete: bool,
    /// Why files wait, if it is not for their age.
    pub paused: Option<String>,
}

/// A watched folder. The counts begin with the start of the venue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DepotWatch {
    /// Its name.
    pub name: String,
    /// The folder.
    pub folder: String,
    /// The tenant of all files; null if each folder in the folder has the name of one.
    pub tenant: Option<String>,
    /// Whether the folder of an unknown tenant creates it.
    pub create_tenants: bool,
    /// The directory of the pool that files go to.
    pub directory: String,
    /// Whether files of folders in the folder are imported.
    pub recursive: bool,
    /// Patterns: other files stay.
    pub include: Vec<String>,
    /// Patterns of files that stay.
    pub exclude: Vec<String>,
    /// Smaller files stay.
    pub bytes_min: U64Text,
    /// Larger files stay; 0 is no limit.
    pub bytes_max: U64Text,
    /// Files that were modified more recently wait.
    pub age_min_ms: u64,
    /// What becomes of a source.
    pub after: DepotWatchAfter,
    /// The folder that sources are moved to.
    pub move_to: Option<String>,
    /// Whether the folder is watched.
    pub state: DepotWatchState,
    /// Files that were imported.
    pub imported: U64Text,
    /// Their bytes.
    pub imported_bytes: U64Text,
    /// Files that had been imported before, whose source was removed.
    pub repeats: U64Text,
    /// Imports and removals that failed.
    pub failed: U64Text,
    /// The last such failure, or that of a scan.
    pub last_error: Option<String>,
    /// When it happened.
    pub last_error_at: Option<Timestamp>,
    /// When the last scan ended.
    pub last_scan_at: Option<Timestamp>,
    /// The last scan.
    pub last_scan: DepotScan,
    /// Imports that are remembered because their sources are still there.
    pub remembered: U64Text,
    /// Whether the system reports changes of the folder. Otherwise they are noticed by period.
    pub has_events: bool,
}

/// The watched folders.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DepotWatchesAnswer {
    /// The watches, by name.
    pub watches: Vec<DepotWatch>,
}
