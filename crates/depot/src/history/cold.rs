//! Kept and completed files, which are in the index.

use super::index::Key;
use super::record::{Retained, Submitted, TenantNumber};
use super::state::{Garbage, Held, State, garbage_of, weight_of};
use crate::FileId;
use crate::name::Directory;
use crate::record::FileRecord;
use crate::volume::VolumeNumber;
use rialto_clock::Timestamp;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

impl State {
    /// The file that is kept under a path.
    pub(crate) fn kept(&self, tenant: TenantNumber, path: &str) -> Option<Arc<FileRecord>> {
        self.index.get(&Key::kept(tenant, path)).map(Arc::new)
    }

    pub(crate) fn kept_by_id(&self, tenant: TenantNumber, id: FileId) -> Option<Arc<FileRecord>> {
        let (_, path): (TenantNumber, String) = self.index.get(&Key::path(id, tenant))?;
        self.kept(tenant, &path)
    }

    /// A completed file.
    pub(crate) fn completed(&self, tenant: TenantNumber, id: FileId) -> Option<Arc<Retained>> {
        self.index.get(&Key::completed(tenant, id)).map(Arc::new)
    }

    /// Shows `visit` the kept files whose paths begin with `prefix`, behind `after`, in the order of
    /// their paths, until it returns false.
    pub(crate) fn each_kept(
        &self,
        tenant: TenantNumber,
        prefix: &str,
        after: Option<&str>,
        mut visit: impl FnMut(FileRecord) -> bool,
    ) {
        let after = after.filter(|after| *after >= prefix).map(|after| Key::kept(tenant, after));
        let from = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        self.index.scan(&Key::kept(tenant, prefix), from, |_, file| visit(file));
    }

    /// The completed files behind `after`, at most `max`.
    pub(crate) fn completed_after(
        &self,
        tenant: TenantNumber,
        after: Option<FileId>,
        max: usize,
    ) -> Vec<Arc<Retained>> {
        let after = after.map(|id| Key::completed(tenant, id));
        let from = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut page = Vec::new();
        if max > 0 {
            self.index.scan(&Key::all_completed(tenant), from, |_, retained| {
                page.push(Arc::new(retained));
                page.len() < max
            });
        }
        page
    }

    /// The files of a tenant in a directory and below it that are kept or completed.
    pub(crate) fn held_in(&self, tenant: TenantNumber, directory: &Directory) -> Held {
        let path = directory.as_str();
        let mut sum = self.index.get::<Held>(&Key::directory(tenant, path)).unwrap_or_default();
        let below = if path.is_empty() { String::new() } else { format!("{path}/") };
        let own = Key::directory(tenant, path);
        self.index.scan(&Key::directory(tenant, &below), Bound::Unbounded, |key, held: Held| {
            // The root is above all directories, itself included.
            if key != own.as_bytes() {
                sum.files += held.files;
                sum.bytes += held.bytes;
            }
            true
        });
        sum
    }

    /// The number of kept and completed files on a volume.
    pub(crate) fn files_on(&self, volume: VolumeNumber) -> u64 {
        self.on_volumes.get(&volume).copied().unwrap_or(0)
    }

    /// Whether the bytes of a kept or completed file of any tenant are on a volume.
    pub(crate) fn is_recorded_on(&self, id: FileId, volume: VolumeNumber) -> bool {
        let is_here =
            |file: &FileRecord| file.place.stored().is_some_and(|stored| stored.volume == volume);
        let mut is_recorded = false;
        self.index.scan(
            &Key::paths(id),
            Bound::Unbounded,
            |_, (tenant, path): (TenantNumber, String)| {
                is_recorded |= self.kept(tenant, &path).is_some_and(|file| is_here(&file));
                !is_recorded
            },
        );
        self.index.scan(&Key::owners(id), Bound::Unbounded, |_, tenant: TenantNumber| {
            is_recorded |= self.completed(tenant, id).is_some_and(|it| is_here(&it.file));
            !is_recorded
        });
        is_recorded
    }

    /// The file that was accepted under a submit key, if it is kept or gone.
    pub(crate) fn submitted(&self, tenant: TenantNumber, key: &str) -> Option<(FileId, u64)> {
        if let Some(id) = self.index.get(&Key::submit(tenant, key)) {
            return Some((id, self.kept_by_id(tenant, id)?.fingerprint()));
        }
        let known = self.tenants.get(&tenant)?.submits.find(key)?;
        Some((known.id, known.fingerprint))
    }

    /// The kept files that had expired by `now`, at most `max`.
    pub(crate) fn expired_kept(&self, now: Timestamp, max: usize) -> Vec<(TenantNumber, FileId)> {
        self.due(&Key::expiries(), &self.expiries_from, now, max)
    }

    /// The completed files whose time was over by `now`, at most `max`.
    pub(crate) fn expired_completed(
        &self,
        now: Timestamp,
        max: usize,
    ) -> Vec<(TenantNumber, FileId)> {
        self.due(&Key::ends(), &self.ends_from, now, max)
    }

    fn due(
        &self,
        times: &Key,
        first: &AtomicU64,
        now: Timestamp,
        max: usize,
    ) -> Vec<(TenantNumber, FileId)> {
        // It is asked many times a second, and the rows of files that are gone may still be there.
        let from = first.load(Relaxed);
        if from > now.0 {
            return Vec::new();
        }
        let from = times.clone().at(Timestamp(from), TenantNumber(0), FileId(0));
        let (mut due, mut earliest) = (Vec::new(), u64::MAX);
        self.index.scan(times, Bound::Included(&from), |_, (at, tenant, id): (Timestamp, _, _)| {
            earliest = earliest.min(at.0);
            if at <= now {
                due.push((tenant, id));
            }
            at <= now && due.len() < max
        });
        first.store(earliest, Relaxed);
        due
    }

    /// Keeps a file. Returns bytes that no record refers to any more.
    pub(super) fn keep(&mut self, number: TenantNumber, file: &FileRecord) -> Option<Garbage> {
        let (id, path) = (file.id, file.path());
        let before = self.kept(number, &path);
        if let Some(before) = &before {
            self.forget_kept(number, before);
        }
        self.count(number, file, false);
        if let Some(at) = file.expires_at {
            self.expiries_from.fetch_min(at.0, Relaxed);
            self.index.put(Key::expiries().at(at, number, id), &(at, number, id));
        }
        if let Some(key) = &file.submit_key {
            self.index.put(Key::submit(number, key), &id);
        }
        self.index.put(Key::path(id, number), &(number, &path));
        self.index.put(Key::kept(number, &path), file);
        let before = before?;
        if before.id == id {
            // It moved, unless this repeats the record.
            return garbage_of(&before).filter(|garbage| garbage_of(file) != Some(*garbage));
        }
        self.remember_submit(number, &before);
        garbage_of(&before)
    }

    /// Keeps a completed file. Returns the bytes that it has left, if it moved.
    pub(super) fn retain(&mut self, number: TenantNumber, retained: &Retained) -> Option<Garbage> {
        let id = retained.file.id;
        let before = self.completed(number, id);
        if let Some(before) = &before {
            self.forget_completed(number, before);
        }
        self.count(number, &retained.file, true);
        self.ends_from.fetch_min(retained.until.0, Relaxed);
        self.index.put(Key::ends().at(retained.until, number, id), &(retained.until, number, id));
        self.index.put(Key::owner(id, number), &number);
        self.index.put(Key::completed(number, id), retained);
        let now = garbage_of(&retained.file);
        garbage_of(&before?.file).filter(|garbage| now != Some(*garbage))
    }

    /// Removes a kept or completed file.
    pub(super) fn remove(&mut self, number: TenantNumber, id: FileId) -> Option<Garbage> {
        if let Some(retained) = self.completed(number, id) {
            self.forget_completed(number, &retained);
            return garbage_of(&retained.file);
        }
        let file = self.kept_by_id(number, id)?;
        self.forget_kept(number, &file);
        self.remember_submit(number, &file);
        garbage_of(&file)
    }

    /// Removes what is left of a tenant that is deleted: its files were removed before.
    pub(super) fn remove_files(&mut self, number: TenantNumber) {
        let mut kept = Vec::new();
        self.each_kept(number, "", None, |file| {
            kept.push(file);
            true
        });
        kept.iter().for_each(|file| self.forget_kept(number, file));
        for retained in self.completed_after(number, None, usize::MAX) {
            self.forget_completed(number, &retained);
        }
    }

    fn forget_kept(&mut self, number: TenantNumber, file: &FileRecord) {
        self.uncount(number, file, false);
        if let Some(at) = file.expires_at {
            self.index.remove(Key::expiries().at(at, number, file.id));
        }
        if let Some(key) = &file.submit_key {
            let key = Key::submit(number, key);
            if self.index.get(&key) == Some(file.id) {
                self.index.remove(key);
            }
        }
        self.index.remove(Key::path(file.id, number));
        self.index.remove(Key::kept(number, &file.path()));
    }

    fn forget_completed(&mut self, number: TenantNumber, retained: &Retained) {
        let id = retained.file.id;
        self.uncount(number, &retained.file, true);
        self.index.remove(Key::ends().at(retained.until, number, id));
        self.index.remove(Key::owner(id, number));
        self.index.remove(Key::completed(number, id));
    }

    /// Remembers the submit key of a file that is no longer kept.
    fn remember_submit(&mut self, number: TenantNumber, file: &FileRecord) {
        let Some(key) = &file.submit_key else { return };
        let (id, fingerprint) = (file.id, file.fingerprint());
        let submits = &mut self.tenants.entry(number).or_default().submits;
        submits.remember(Submitted { key: key.clone(), id, fingerprint });
    }

    fn count(&mut self, number: TenantNumber, file: &FileRecord, is_completed: bool) {
        self.weight += weight_of(file);
        let tenant = self.tenants.entry(number).or_default();
        let held = if is_completed { &mut tenant.completed } else { &mut tenant.kept };
        held.add(file.bytes);
        if let Some(stored) = file.place.stored() {
            *self.on_volumes.entry(stored.volume).or_default() += 1;
        }
        let key = Key::directory(number, file.directory.as_str());
        let mut held = self.index.get::<Held>(&key).unwrap_or_default();
        held.add(file.bytes);
        self.index.put(key, &held);
    }

    fn uncount(&mut self, number: TenantNumber, file: &FileRecord, is_completed: bool) {
        self.weight = self.weight.saturating_sub(weight_of(file));
        if let Some(tenant) = self.tenants.get_mut(&number) {
            let held = if is_completed { &mut tenant.completed } else { &mut tenant.kept };
            held.subtract(file.bytes);
        }
        if let Some(on) = file.place.stored().and_then(|it| self.on_volumes.get_mut(&it.volume)) {
            *on = on.saturating_sub(1);
        }
        let key = Key::directory(number, file.directory.as_str());
        let mut held = self.index.get::<Held>(&key).unwrap_or_default();
        held.subtract(file.bytes);
        match held.files {
            0 => self.index.remove(key),
            _ => self.index.put(key, &held),
        }
    }
}
