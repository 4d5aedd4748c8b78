//! The state that the history is folded into.

use super::index::ColdIndex;
use super::record::{DirectorySettings, Ended, PoolLevel, Record, TenantNumber, TenantSettings};
use super::submits::SubmitKeys;
use super::volumes::VolumeSettings;
use super::watches::WatchStates;
use crate::FileId;
use crate::name::{Directory, TenantName};
use crate::record::FileRecord;
use crate::volume::VolumeNumber;
use rialto_clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A tenant as history knows it. While records are read, one may stand for a tenant whose image is
/// still to come; then it has no name.
#[derive(Debug, Default)]
pub(crate) struct TenantState {
    pub(crate) name: Option<TenantName>,
    pub(crate) created_at: Timestamp,
    pub(crate) settings: TenantSettings,
    pub(crate) directories: BTreeMap<Directory, DirectorySettings>,
    /// The kept files. The files themselves are in the index.
    pub(crate) kept: Held,
    /// The completed files that are kept for a while.
    pub(crate) completed: Held,
    /// The submit keys of files that are gone.
    pub(crate) submits: SubmitKeys,
}

/// Files and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

impl Held {
    pub(super) fn add(&mut self, bytes: u64) {
        *self = Self { files: self.files + 1, bytes: self.bytes + bytes };
    }

    pub(super) fn subtract(&mut self, bytes: u64) {
        let (files, bytes) = (self.files.saturating_sub(1), self.bytes.saturating_sub(bytes));
        *self = Self { files, bytes };
    }
}

/// What was recorded since the state was saved.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    /// The bytes of the records.
    pub(super) bytes: AtomicU64,
    /// Bytes that they left behind, and that may not have been removed yet.
    pub(super) garbage: Vec<Garbage>,
}

/// Bytes that no record refers to any more, to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Garbage {
    pub(crate) id: FileId,
    pub(crate) volume: VolumeNumber,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) tenants: BTreeMap<TenantNumber, TenantState>,
    pub(crate) volumes: BTreeMap<VolumeNumber, VolumeSettings>,
    /// The watched folders.
    pub(crate) watches: WatchStates,
    /// Work files that ended, until their acknowledgement is known to be durable.
    pub(crate) ended: HashMap<FileId, Arc<Ended>>,
    /// Kept and completed files.
    pub(super) index: ColdIndex,
    /// How many of them are on each volume.
    pub(super) on_volumes: BTreeMap<VolumeNumber, u64>,
    /// The level that the pool was made with; none in a pool that an earlier version made.
    pub(crate) level: Option<PoolLevel>,
    next_tenant: u32,
    next_volume: u16,
    pub(super) weight: usize,
    pub(super) unsaved: Unsaved,
    /// No kept file expires before this time.
    pub(super) expiries_from: AtomicU64,
    /// No completed file is removed before this time.
    pub(super) ends_from: AtomicU64,
    /// Whether records are being read: then `garbage` collects what they leave behind.
    is_reading: bool,
    pub(crate) garbage: Vec<Garbage>,
}

/// The approximate bytes of a submit key in an image.
const SUBMIT_KEY_BYTES: usize = 64;

/// The approximate bytes of a file's image.
pub(super) fn weight_of(file: &FileRecord) -> usize {
    let metadata: usize = file.metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    160 + file.name.as_str().len() + file.directory.as_str().len() + metadata
}

pub(super) fn garbage_of(file: &FileRecord) -> Option<Garbage> {
    file.place.stored().map(|stored| Garbage { id: file.id, volume: stored.volume })
}

impl State {
    pub(crate) fn reading() -> Self {
        Self { is_reading: true, ..Self::default() }
    }

    /// The state that is read with these rows, which are empty or those of a saved state.
    pub(super) fn with_index(index: ColdIndex) -> Self {
        Self { index, ..Self::reading() }
    }

    pub(super) fn finish_reading(&mut self) {
        self.is_reading = false;
        // A tenant without a name was deleted before its image was written.
        self.tenants.retain(|_, tenant| tenant.name.is_some());
        self.watches.finish_reading();
    }

    pub(crate) fn next_tenant(&self) -> TenantNumber {
        TenantNumber(self.next_tenant)
    }

    fn insert_volume(&mut self, number: VolumeNumber, settings: VolumeSettings) -> Vec<Garbage> {
        self.next_volume = self.next_volume.max(number.0 + 1);
        self.volumes.insert(number, settings);
        Vec::new()
    }

    pub(crate) fn next_volume(&self) -> VolumeNumber {
        VolumeNumber(self.next_volume)
    }

    /// The approximate bytes of all images. The log is repeated when it is some times as long, so
    /// images without a weight would be repeated again and again.
    pub(super) fn weight(&self) -> usize {
        let of_tenant = |tenant: &TenantState| {
            128 * (1 + tenant.directories.len()) + SUBMIT_KEY_BYTES * tenant.submits.len()
        };
        let of_ended =
            |ended: &Arc<Ended>| 160 + ended.published.iter().map(weight_of).sum::<usize>();
        self.weight
            + self.tenants.values().map(of_tenant).sum::<usize>()
            + self.ended.values().map(of_ended).sum::<usize>()
            + 512 * self.volumes.len()
            + self.watches.weight()
    }

    /// Applies a record. Returns the bytes that it leaves without a record.
    pub(crate) fn apply(&mut self, record: Record) -> Vec<Garbage> {
        match record {
            Record::Tenant { number, name, created_at, settings } => {
                self.next_tenant = self.next_tenant.max(number.0 + 1);
                let tenant = self.tenants.entry(number).or_default();
                tenant.name = Some(name);
                tenant.created_at = created_at;
                tenant.settings = settings;
                Vec::new()
            }
            Record::Shelf { number, name, created_at, settings } => {
                let (directory, root) = (Directory::root(), DirectorySettings::shelf());
                self.apply(Record::Tenant { number, name, created_at, settings });
                self.apply(Record::Directory { tenant: number, directory, settings: root })
            }
            Record::TenantDeleted { number } => {
                self.remove_files(number);
                self.tenants.remove(&number);
                self.ended.retain(|_, ended| ended.tenant != number);
                Vec::new()
            }
            Record::Directory { tenant, directory, settings } => {
                let directories = &mut self.tenants.entry(tenant).or_default().directories;
                if settings == DirectorySettings::default() {
                    directories.remove(&directory);
                } else {
                    directories.insert(directory, settings);
                }
                Vec::new()
            }
            Record::Volume { number, settings } => {
                self.insert_volume(number, VolumeSettings::Directory(settings))
            }
            Record::Bucket { number, settings } => {
                self.insert_volume(number, VolumeSettings::Bucket(settings))
            }
            Record::VolumeUnmounted { number } => {
                self.volumes.remove(&number);
                Vec::new()
            }
            Record::Kept { tenant, file } => {
                let garbage = self.keep(tenant, &file);
                self.collect(garbage)
            }
            Record::Removed { tenant, id } => {
                // A file that is adopted begins anew, and its earlier end is over.
                self.ended.remove(&id);
                let garbage = self.remove(tenant, id);
                self.collect(garbage)
            }
            Record::Ended(ended) => self.end(ended),
            Record::SubmitKeys { tenant, keys } => {
                let submits = &mut self.tenants.entry(tenant).or_default().submits;
                keys.into_iter().for_each(|key| submits.remember(key));
                Vec::new()
            }
            Record::Completed { tenant, retained } => {
                let garbage = self.retain(tenant, &retained);
                self.collect(garbage)
            }
            Record::Counters { tenant, volume } => {
                self.next_tenant = self.next_tenant.max(tenant.0);
                self.next_volume = self.next_volume.max(volume.0);
                Vec::new()
            }
            Record::Watch { spec, is_enabled } => {
                self.watches.set(spec, is_enabled);
                Vec::new()
            }
            Record::WatchRemoved { name } => {
                self.watches.remove(&name);
                Vec::new()
            }
            Record::Imported { watch, marks } => {
                self.watches.remember(&watch, &marks);
                Vec::new()
            }
            Record::ImportsForgotten { watch, marks } => {
                self.watches.forget(&watch, &marks);
                Vec::new()
            }
            Record::Level(level) => {
                self.level = Some(level);
                Vec::new()
            }
        }
    }

    fn end(&mut self, ended: Ended) -> Vec<Garbage> {
        let tenant = self.tenants.entry(ended.tenant).or_default();
        if let Some(submitted) = &ended.submitted {
            tenant.submits.remember(submitted.clone());
        }
        let mut garbage: Vec<Garbage> = Vec::new();
        garbage.extend(ended.volume.map(|volume| Garbage { id: ended.id, volume }));
        for file in &ended.kept {
            garbage.extend(self.keep(ended.tenant, file));
        }
        if let Some(retained) = &ended.retained {
            garbage.extend(self.retain(ended.tenant, retained));
        }
        // Kept results have images of their own, and may be replaced while this end is remembered.
        let ended = Ended { kept: Vec::new(), ..ended };
        self.ended.insert(ended.id, Arc::new(ended));
        self.collect(garbage)
    }

    fn collect(&mut self, garbage: impl IntoIterator<Item = Garbage>) -> Vec<Garbage> {
        let garbage: Vec<_> = garbage.into_iter().collect();
        if self.is_reading {
            self.garbage.extend(&garbage);
        }
        self.unsaved.garbage.extend(&garbage);
        garbage
    }
}
