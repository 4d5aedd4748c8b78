//! What an operator sets for a watch.

use super::pattern::selects;
use crate::DepotError;
use crate::name::{Directory, TENANT_BYTES_MAX, TenantName};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The most patterns of a kind that a watch has.
pub const PATTERNS_MAX: usize = 32;
/// The longest pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 255;
/// The longest path of a folder, in bytes.
const FOLDER_BYTES_MAX: usize = 4_096;
/// The longest minimum age.
const AGE_MAX: Duration = Duration::from_secs(30 * 86_400);

/// Which tenants the files of a folder are for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchTenants {
    /// All of them are for one tenant. It is created with its first file if the pool does that.
    One(TenantName),
    /// Each folder in the folder has the name of a tenant. Files beside these folders stay.
    FirstLevel {
        /// Whether an unknown tenant is created; otherwise its files stay.
        create: bool,
    },
}

/// What becomes of a source when its file is durable in the pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterImport {
    /// It is deleted.
    Delete,
    /// It is moved to this folder, which is on the same file system, under its path in the watched one.
    Move(PathBuf),
    /// It stays.
    Keep,
}

/// A folder whose files are imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchSpec {
    /// The name, as a tenant's: a to z, 0 to 9, `_` and `-`.
    pub name: String,
    /// The folder: an absolute path.
    pub folder: PathBuf,
    /// Which tenants its files are for.
    pub tenants: WatchTenants,
    /// The directory of the pool that they are imported into. Folders in the folder are directories
    /// below it.
    pub directory: Directory,
    /// Whether files of folders in the folder are imported.
    pub recursive: bool,
    /// Only files that one of these patterns selects are imported; all, if there is none. `*` is any
    /// text and `?` one character, neither of them `/`. A pattern with a `/` is compared with the path
    /// in the folder, and one without with the name.
    pub include: Vec<String>,
    /// Files that one of these patterns selects stay, and folders that one selects are not entered.
    pub exclude: Vec<String>,
    /// Smaller files stay, in bytes.
    pub bytes_min: u64,
    /// Larger files stay, in bytes; 0 is no limit but the pool's.
    pub bytes_max: u64,
    /// Files that were modified more recently are imported later.
    pub age_min: Duration,
    /// What becomes of a source when its file is durable.
    pub after: AfterImport,
}

impl WatchSpec {
    /// A watch that imports all files of a folder for a tenant, except those whose names begin with a
    /// dot, and deletes their sources.
    #[must_use]
    pub fn new(name: &str, folder: impl Into<PathBuf>, tenant: TenantName) -> Self {
        Self {
            name: name.to_owned(),
            folder: folder.into(),
            tenants: WatchTenants::One(tenant),
            directory: Directory::root(),
            recursive: false,
            include: Vec::new(),
            exclude: vec![".*".to_owned()],
            bytes_min: 0,
            bytes_max: 0,
            age_min: Duration::ZERO,
            after: AfterImport::Delete,
        }
    }

    /// Checks everything that does not depend on the pool's state.
    pub(super) fn check(&self) -> Result<(), DepotError> {
        let invalid = |field, why: String| Err(DepotError::invalid(field, why));
        if TenantName::new(&self.name).is_err() {
            let why = format!(
                "{:?} is not the name of a watch: use 1 to {TENANT_BYTES_MAX} of the characters a to \
                 z, 0 to 9, `_` and `-`, the first of which is a letter or a digit",
                self.name.chars().take(80).collect::<String>()
            );
            return invalid("name", why);
        }
        check_folder("folder", &self.folder)?;
        if let AfterImport::Move(to) = &self.after {
            check_folder("after", to)?;
            if *to == self.folder {
                return invalid("after", "the files are in this folder already".to_owned());
            }
        }
        for (field, patterns) in [("include", &self.include), ("exclude", &self.exclude)] {
            if patterns.len() > PATTERNS_MAX {
                return invalid(field, format!("use at most {PATTERNS_MAX} patterns"));
            }
            if patterns.iter().any(|it| it.is_empty() || it.len() > PATTERN_BYTES_MAX) {
                return invalid(field, format!("a pattern has 1 to {PATTERN_BYTES_MAX} bytes"));
            }
        }
        if self.bytes_max != 0 && self.bytes_min > self.bytes_max {
            return invalid("bytes_min", "it is above bytes_max".to_owned());
        }
        if self.age_min > AGE_MAX {
            return invalid("age_min", "use at most 30 days".to_owned());
        }
        Ok(())
    }

    /// Whether the patterns select a file by its path in the folder.
    pub(super) fn selects(&self, path: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| selects(pattern, path));
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }

    /// Whether a folder in the folder is entered.
    pub(super) fn enters(&self, path: &str) -> bool {
        !self.exclude.iter().any(|pattern| selects(pattern, path))
    }

    pub(super) fn has_size(&self, bytes: u64) -> bool {
        bytes >= self.bytes_min && (self.bytes_max == 0 || bytes <= self.bytes_max)
    }

    /// Whether files of folders in the folder are looked at.
    pub(super) fn goes_below(&self) -> bool {
        self.recursive || matches!(self.tenants, WatchTenants::FirstLevel { .. })
    }

    /// Whether both would import a file.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let reaches = |outer: &Self, inner: &Self| {
            inner.folder.starts_with(&outer.folder)
                && (outer.goes_below() || inner.folder == outer.folder)
        };
        reaches(self, other) || reaches(other, self)
    }
}

fn check_folder(field: &'static str, folder: &Path) -> Result<(), DepotError> {
    let is_text = folder
        .to_str()
        .is_some_and(|text| text.len() <= FOLDER_BYTES_MAX && !text.chars().any(char::is_control));
    let is_plain =
        folder.components().all(|it| matches!(it, Component::RootDir | Component::Normal(_)));
    if is_text && is_plain && folder.is_absolute() {
        return Ok(());
    }
    let why = format!(
        "{folder:?} is not the path of a folder: use an absolute path without `..`, of at most \
         {FOLDER_BYTES_MAX} bytes of UTF-8 without control characters"
    );
    Err(DepotError::invalid(field, why))
}
