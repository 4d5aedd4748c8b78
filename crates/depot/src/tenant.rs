//! A tenant in memory: its settings, its usage, and its files that wait or are claimed.

use crate::active::ActiveFiles;
use crate::dead::DeadLetterCursor;
use crate::history::record::{DirectorySettings, Ending, Stage, TenantNumber};
use crate::name::{Directory, TenantName};
use crate::quota::Usage;
use crate::rate::Rate;
use crate::work::Work;
use crate::{DepotError, DirectoryKind};
use rialto_clock::Timestamp;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// What is set for a directory, and how much it holds if it has a quota.
#[derive(Debug)]
struct DirectoryEntry {
    settings: DirectorySettings,
    usage: Arc<Usage>,
}

pub(crate) struct Tenant {
    pub(crate) number: TenantNumber,
    pub(crate) name: TenantName,
    pub(crate) created_at: Timestamp,
    stage: AtomicU8,
    pub(crate) usage: Arc<Usage>,
    directories: RwLock<HashMap<Directory, DirectoryEntry>>,
    /// Whether any directory has settings.
    has_directories: AtomicBool,
    files: Mutex<ActiveFiles>,
    work: OnceLock<Work>,
    /// Whether it stands in the ring of tenants whose files may be claimed.
    pub(crate) is_queued: AtomicBool,
    /// How often files of it became claimable.
    pub(crate) announcements: AtomicU64,
    /// Whether housekeeping visits it.
    pub(crate) is_busy: AtomicBool,
    /// Whether its record is known to be durable.
    pub(crate) is_durable: AtomicBool,
    /// Whether anybody has looked it up since it was made.
    pub(crate) is_looked_up: AtomicBool,
    pub(crate) counters: Counters,
    pub(crate) rate: Rate,
    pub(crate) dead_letters: DeadLetterCursor,
}

/// What happened to the files of a tenant since the pool was opened.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) accepted: AtomicU64,
    pub(crate) accepted_bytes: AtomicU64,
    pub(crate) claimed: AtomicU64,
    pub(crate) completed: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) deleted: AtomicU64,
}

impl Counters {
    pub(crate) fn of(&self, ending: Ending) -> &AtomicU64 {
        match ending {
            Ending::Completed => &self.completed,
            Ending::Deleted => &self.deleted,
            Ending::Expired => &self.expired,
        }
    }

    pub(crate) fn add(counter: &AtomicU64, more: u64) {
        counter.fetch_add(more, Ordering::Relaxed);
    }
}

const STAGES: [(Stage, &str); 4] = [
    (Stage::Enabled, "enabled"),
    (Stage::Disabled, "disabled"),
    (Stage::Draining, "draining"),
    (Stage::Deleting, "deleting"),
];

impl Stage {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        STAGES.iter().find(|(stage, _)| *stage == self).map_or("", |(_, word)| word)
    }
}

impl Tenant {
    pub(crate) fn new(
        number: TenantNumber,
        name: TenantName,
        created_at: Timestamp,
        stage: Stage,
        usage: Usage,
    ) -> Self {
        let tenant = Self {
            number,
            name,
            created_at,
            stage: AtomicU8::new(0),
            usage: Arc::new(usage),
            directories: RwLock::default(),
            has_directories: AtomicBool::new(false),
            files: Mutex::default(),
            work: OnceLock::new(),
            is_queued: AtomicBool::new(false),
            announcements: AtomicU64::new(0),
            is_busy: AtomicBool::new(false),
            is_durable: AtomicBool::new(false),
            is_looked_up: AtomicBool::new(false),
            counters: Counters::default(),
            rate: Rate::default(),
            dead_letters: DeadLetterCursor::default(),
        };
        tenant.set_stage(stage);
        tenant
    }

    #[inline]
    pub(crate) fn stage(&self) -> Stage {
        let nth = usize::from(self.stage.load(Ordering::Acquire));
        STAGES.get(nth).map_or(Stage::Deleting, |(stage, _)| *stage)
    }

    pub(crate) fn set_stage(&self, stage: Stage) {
        let nth = STAGES.iter().position(|(other, _)| *other == stage).unwrap_or(STAGES.len());
        self.stage.store(nth as u8, Ordering::Release);
    }

    /// Refuses, unless the tenant is enabled, or drains and that is enough.
    pub(crate) fn check(
        &self,
        refuses: &'static str,
        draining_too: bool,
    ) -> Result<(), DepotError> {
        match self.stage() {
            Stage::Enabled => Ok(()),
            Stage::Draining if draining_too => Ok(()),
            stage => Err(DepotError::TenantStage {
                tenant: self.name.clone(),
                stage: stage.word(),
                refuses,
            }),
        }
    }

    pub(crate) fn files(&self) -> MutexGuard<'_, ActiveFiles> {
        // No code of a user runs under this lock.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The work queue, if there is one.
    pub(crate) fn work(&self) -> Option<&Work> {
        self.work.get()
    }

    /// The work queue, opened or created at the first use.
    pub(crate) fn work_or_open(
        &self,
        open: impl FnOnce() -> Result<Work, DepotError>,
    ) -> Result<&Work, DepotError> {
        if let Some(work) = self.work.get() {
            return Ok(work);
        }
        let work = open()?;
        Ok(self.work.get_or_init(|| work))
    }

    /// What becomes of the files of a directory: what is set for it, or for the nearest one above.
    pub(crate) fn kind_of(&self, directory: &Directory) -> DirectoryKind {
        if !self.has_directories.load(Ordering::Acquire) {
            return DirectoryKind::Work;
        }
        let directories = self.directories.read().unwrap_or_else(PoisonError::into_inner);
        let kind_at = |path: &str| directories.get(path).and_then(|entry| entry.settings.kind);
        directory.with_ancestors().find_map(kind_at).unwrap_or_default()
    }

    /// How long the kept files of a directory are kept, if that is set for it or above.
    pub(crate) fn expiry_of(&self, directory: &Directory) -> Option<Duration> {
        if !self.has_directories.load(Ordering::Acquire) {
            return None;
        }
        let directories = self.directories.read().unwrap_or_else(PoisonError::into_inner);
        let expiry_at = |path: &str| directories.get(path)?.settings.expires_after;
        directory.with_ancestors().find_map(expiry_at)
    }

    /// The usages that a file of a directory counts in, the tenant's first, and the directories that
    /// they belong to.
    pub(crate) fn usages_of(&self, directory: &Directory) -> (Vec<Arc<Usage>>, Vec<Directory>) {
        let (mut usages, mut owners) = (vec![self.usage.clone()], Vec::new());
        if self.has_directories.load(Ordering::Acquire) {
            let directories = self.directories.read().unwrap_or_else(PoisonError::into_inner);
            for path in directory.with_ancestors() {
                if let Some((owner, entry)) = directories.get_key_value(path) {
                    usages.push(entry.usage.clone());
                    owners.push(owner.clone());
                }
            }
        }
        (usages, owners)
    }

    /// Counts a file that exists, or has ceased to.
    pub(crate) fn count(&self, directory: &Directory, bytes: u64) {
        self.usages_of(directory).0.iter().for_each(|usage| usage.count(1, bytes));
    }

    pub(crate) fn uncount(&self, directory: &Directory, bytes: u64) {
        self.usages_of(directory).0.iter().for_each(|usage| usage.give_back(1, bytes));
    }

    /// Sets a directory. `held` says how much it holds, itself and those below it, if it was not set
    /// before.
    pub(crate) fn set_directory(
        &self,
        directory: Directory,
        settings: DirectorySettings,
        held: impl FnOnce() -> (u64, u64),
    ) {
        let mut directories = self.directories.write().unwrap_or_else(PoisonError::into_inner);
        if settings == DirectorySettings::default() {
            directories.remove(&directory);
        } else if let Some(entry) = directories.get_mut(&directory) {
            entry.settings = settings;
            entry.usage.set_quota(settings.quota);
        } else {
            let usage = Usage::new(settings.quota);
            let (files, bytes) = held();
            usage.count(files, bytes);
            directories.insert(directory, DirectoryEntry { settings, usage: Arc::new(usage) });
        }
        self.has_directories.store(!directories.is_empty(), Ordering::Release);
    }

    /// The directories with settings: settings, files and bytes.
    pub(crate) fn directories(&self) -> Vec<(Directory, DirectorySettings, (u64, u64))> {
        let directories = self.directories.read().unwrap_or_else(PoisonError::into_inner);
        let entry = |(directory, entry): (&Directory, &DirectoryEntry)| {
            (directory.clone(), entry.settings, entry.usage.used())
        };
        let mut all: Vec<_> = directories.iter().map(entry).collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    }
}
