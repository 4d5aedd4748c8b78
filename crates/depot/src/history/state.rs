//! The state that the history is folded into.

use super::record::{
    DirectorySettings, Ended, Record, Retained, Submitted, TenantNumber, TenantSettings,
    VolumeSettings,
};
use super::submits::SubmitKeys;
use super::watches::WatchStates;
use crate::FileId;
use crate::name::{Directory, TenantName};
use crate::record::FileRecord;
use crate::volume::VolumeNumber;
use rialto_clock::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A tenant as history knows it. While records are read, one may stand for a tenant whose image is
/// still to come; then it has no name.
#[derive(Debug, Default)]
pub(crate) struct TenantState {
    pub(crate) name: Option<TenantName>,
    pub(crate) created_at: Timestamp,
    pub(crate) settings: TenantSettings,
    pub(crate) directories: BTreeMap<Directory, DirectorySettings>,
    /// Kept files by path.
    pub(crate) kept: BTreeMap<String, Arc<FileRecord>>,
    /// Completed files that are kept for a while.
    pub(crate) completed: BTreeMap<FileId, Arc<Retained>>,
    /// The paths of kept files.
    paths: HashMap<FileId, String>,
    /// The submit keys of kept files.
    kept_submits: HashMap<String, FileId>,
    /// Those of files that are gone.
    pub(crate) submits: SubmitKeys,
}

impl TenantState {
    /// The file that was accepted under a submit key, if it is kept or gone.
    pub(crate) fn submitted(&self, key: &str) -> Option<(FileId, u64)> {
        if let Some(id) = self.kept_submits.get(key) {
            let file = self.kept_by_id(*id)?;
            return Some((*id, file.fingerprint()));
        }
        self.submits.find(key).map(|known| (known.id, known.fingerprint))
    }

    /// Remembers the submit key of a file that is no longer kept.
    fn remember_submit(&mut self, file: &FileRecord) {
        let Some(key) = &file.submit_key else { return };
        if self.kept_submits.get(key) == Some(&file.id) {
            self.kept_submits.remove(key);
        }
        let (id, fingerprint) = (file.id, file.fingerprint());
        self.submits.remember(Submitted { key: key.clone(), id, fingerprint });
    }

    pub(crate) fn kept_by_id(&self, id: FileId) -> Option<&Arc<FileRecord>> {
        self.kept.get(self.paths.get(&id)?)
    }
}

/// Bytes that no record refers to any more, to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Kept files with a time of expiry, in its order.
    expiries: BTreeSet<(Timestamp, TenantNumber, FileId)>,
    /// Completed files in the order in which their time is over.
    completed_ends: BTreeSet<(Timestamp, TenantNumber, FileId)>,
    next_tenant: u32,
    next_volume: u16,
    weight: usize,
    /// Whether records are being read: then `garbage` collects what they leave behind.
    is_reading: bool,
    pub(crate) garbage: Vec<Garbage>,
}

/// The approximate bytes of a file's image.
fn weight_of(file: &FileRecord) -> usize {
    let metadata: usize = file.metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    160 + file.name.as_str().len() + file.directory.as_str().len() + metadata
}

fn garbage_of(file: &FileRecord) -> Option<Garbage> {
    file.place.stored().map(|stored| Garbage { id: file.id, volume: stored.volume })
}

impl State {
    pub(crate) fn reading() -> Self {
        Self { is_reading: true, ..Self::default() }
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

    pub(crate) fn next_volume(&self) -> VolumeNumber {
        VolumeNumber(self.next_volume)
    }

    pub(super) fn weight(&self) -> usize {
        let objects = self.tenants.len() + self.volumes.len() + self.ended.len();
        self.weight + 128 * objects + self.watches.weight()
    }

    /// The kept files that had expired by `now`, at most `max`.
    pub(crate) fn expired_kept(&self, now: Timestamp, max: usize) -> Vec<(TenantNumber, FileId)> {
        let expired = self.expiries.iter().take_while(|(at, _, _)| *at <= now);
        expired.take(max).map(|(_, tenant, id)| (*tenant, *id)).collect()
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
            Record::TenantDeleted { number } => {
                if let Some(tenant) = self.tenants.remove(&number) {
                    self.weight -= tenant.kept.values().map(|file| weight_of(file)).sum::<usize>();
                    let completed = tenant.completed.values();
                    self.weight -= completed.map(|it| weight_of(&it.file)).sum::<usize>();
                }
                self.ended.retain(|_, ended| ended.tenant != number);
                self.expiries.retain(|(_, tenant, _)| *tenant != number);
                self.completed_ends.retain(|(_, tenant, _)| *tenant != number);
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
                self.next_volume = self.next_volume.max(number.0 + 1);
                self.volumes.insert(number, settings);
                Vec::new()
            }
            Record::VolumeUnmounted { number } => {
                self.volumes.remove(&number);
                Vec::new()
            }
            Record::Kept { tenant, file } => {
                let garbage = self.keep(tenant, file);
                self.collect(garbage)
            }
            Record::Removed { tenant, id } => {
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
                let garbage = self.retain(tenant, retained);
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
        }
    }

    fn keep(&mut self, number: TenantNumber, file: FileRecord) -> Option<Garbage> {
        let tenant = self.tenants.entry(number).or_default();
        self.weight += weight_of(&file);
        let (id, path) = (file.id, file.path());
        if let Some(at) = file.expires_at {
            self.expiries.insert((at, number, id));
        }
        if let Some(key) = &file.submit_key {
            tenant.kept_submits.insert(key.clone(), id);
        }
        let before = tenant.kept.insert(path.clone(), Arc::new(file));
        tenant.paths.insert(id, path.clone());
        let before = before?;
        self.weight -= weight_of(&before);
        if before.id == id {
            // It moved, unless this repeats the record.
            let now = tenant.kept.get(&path).and_then(|file| garbage_of(file));
            return garbage_of(&before).filter(|garbage| now != Some(*garbage));
        }
        tenant.paths.remove(&before.id);
        tenant.remember_submit(&before);
        if let Some(at) = before.expires_at {
            self.expiries.remove(&(at, number, before.id));
        }
        garbage_of(&before)
    }

    /// Keeps a completed file. Returns the bytes that it has left, if it moved.
    fn retain(&mut self, number: TenantNumber, retained: Retained) -> Option<Garbage> {
        let (id, now) = (retained.file.id, garbage_of(&retained.file));
        self.weight += weight_of(&retained.file);
        self.completed_ends.insert((retained.until, number, id));
        let tenant = self.tenants.entry(number).or_default();
        let before = tenant.completed.insert(id, Arc::new(retained))?;
        self.weight -= weight_of(&before.file);
        garbage_of(&before.file).filter(|garbage| now != Some(*garbage))
    }

    /// The completed files whose time was over by `now`, at most `max`.
    pub(crate) fn expired_completed(
        &self,
        now: Timestamp,
        max: usize,
    ) -> Vec<(TenantNumber, FileId)> {
        let expired = self.completed_ends.iter().take_while(|(at, _, _)| *at <= now);
        expired.take(max).map(|(_, tenant, id)| (*tenant, *id)).collect()
    }

    fn remove(&mut self, number: TenantNumber, id: FileId) -> Option<Garbage> {
        let tenant = self.tenants.get_mut(&number)?;
        if let Some(retained) = tenant.completed.remove(&id) {
            self.weight -= weight_of(&retained.file);
            self.completed_ends.remove(&(retained.until, number, id));
            return garbage_of(&retained.file);
        }
        let path = tenant.paths.remove(&id)?;
        let file = tenant.kept.remove(&path)?;
        self.weight -= weight_of(&file);
        tenant.remember_submit(&file);
        if let Some(at) = file.expires_at {
            self.expiries.remove(&(at, number, id));
        }
        garbage_of(&file)
    }

    fn end(&mut self, ended: Ended) -> Vec<Garbage> {
        let tenant = self.tenants.entry(ended.tenant).or_default();
        if let Some(submitted) = &ended.submitted {
            tenant.submits.remember(submitted.clone());
        }
        let mut garbage: Vec<Garbage> = Vec::new();
        garbage.extend(ended.volume.map(|volume| Garbage { id: ended.id, volume }));
        for file in &ended.kept {
            garbage.extend(self.keep(ended.tenant, file.clone()));
        }
        if let Some(retained) = &ended.retained {
            garbage.extend(self.retain(ended.tenant, retained.clone()));
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
        garbage
    }
}
