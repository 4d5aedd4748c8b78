//! Tenants and directories as operators see and change them.

use crate::active::{ActiveFiles, Standing};
use crate::history::record::{DirectorySettings, Record, Stage};
use crate::info::{DirectoryInfo, TenantInfo, WorkInfo};
use crate::name::{Directory, TenantName};
use crate::pool::Pool;
use crate::quota::Quota;
use crate::record::FileRecord;
use crate::tenant::Tenant;
use crate::{Depot, DepotError, DirectoryKind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The most directories with settings of their own, of one tenant.
pub const DIRECTORIES_MAX: usize = 100_000;

/// The shortest and the longest time after which the files of a directory may expire.
const EXPIRES_AFTER: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(3_650 * 24 * 60 * 60);

impl Depot {
    /// Sets how long the kept files of a directory and those below it are kept, from when they are
    /// stored: one second to 3,650 days. `None` undoes it. A file may be stored with an earlier time
    /// of expiry. Files that are kept already stay as they are.
    ///
    /// # Errors
    /// [`DepotError::Invalid`], [`DepotError::UnknownTenant`], [`DepotError::TooMany`].
    pub fn set_expiry(
        &self,
        tenant: &TenantName,
        directory: &Directory,
        expires_after: Option<Duration>,
    ) -> Result<(), DepotError> {
        if expires_after.is_some_and(|after| !EXPIRES_AFTER.contains(&after)) {
            return Err(DepotError::invalid("expires_after", "use 1 second to 3650 days"));
        }
        self.pool.change_directory(tenant, directory, |settings| {
            settings.expires_after = expires_after;
        })
    }
}

impl Pool {
    pub(crate) fn set_stage(&self, name: &TenantName, stage: Stage) -> Result<(), DepotError> {
        let tenant = self.tenant(name)?;
        let _changing = self.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if tenant.stage() == Stage::Deleting && stage != Stage::Deleting {
            return tenant.check("cannot be enabled again", false);
        }
        // Refused from now on, so that no file arrives behind the record.
        if stage != Stage::Enabled {
            tenant.set_stage(stage);
        }
        self.change_tenant(&tenant, |settings| settings.stage = stage)?;
        tenant.set_stage(stage);
        match stage {
            Stage::Enabled | Stage::Draining => self.ready.announce(&tenant),
            Stage::Deleting => self.note_busy(&tenant),
            Stage::Disabled => {}
        }
        Ok(())
    }

    pub(crate) fn set_directory(
        &self,
        name: &TenantName,
        directory: &Directory,
        kind: Option<DirectoryKind>,
        quota: Quota,
    ) -> Result<(), DepotError> {
        self.change_directory(name, directory, |settings| {
            (settings.kind, settings.quota) = (kind, quota);
        })
    }

    /// Changes some settings of a directory.
    fn change_directory(
        &self,
        name: &TenantName,
        directory: &Directory,
        change: impl FnOnce(&mut DirectorySettings),
    ) -> Result<(), DepotError> {
        let tenant = self.tenant(name)?;
        let _changing = self.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, limit) = (tenant.number, DIRECTORIES_MAX);
        let changed = self.history.record(|state| {
            let known = state.tenants.get(&number);
            let known = known.ok_or_else(|| DepotError::UnknownTenant(name.clone()))?;
            let is_new = !known.directories.contains_key(directory);
            if is_new && known.directories.len() >= limit {
                return Err(DepotError::TooMany { what: "directories with settings", limit });
            }
            let mut settings = known.directories.get(directory).copied().unwrap_or_default();
            change(&mut settings);
            let directory = directory.clone();
            Ok((settings, vec![Record::Directory { tenant: number, directory, settings }]))
        })?;
        // Files that are counted meanwhile count themselves, before this or behind it.
        let files = tenant.files();
        let held = self.held_in(&tenant, &files, directory)?;
        tenant.set_directory(directory.clone(), changed.value, || held);
        drop(files);
        Ok(())
    }

    /// The files in a directory and below it, and their bytes.
    fn held_in(
        &self,
        tenant: &Tenant,
        files: &ActiveFiles,
        directory: &Directory,
    ) -> Result<(u64, u64), DepotError> {
        let is_in = |file: &FileRecord| {
            files.is_counted(file.id)
                && file.directory.with_ancestors().any(|above| above == directory.as_str())
        };
        let add = |(files, bytes), file: &FileRecord| match is_in(file) {
            true => (files + 1, bytes + file.bytes),
            false => (files, bytes),
        };
        let kept = self.history.read(|state| state.held_in(tenant.number, directory))?;
        let kept = (kept.files, kept.bytes);
        Ok(files.after(None).fold(kept, |sum, file| add(sum, &file.record)))
    }

    pub(crate) fn tenant_info(&self, tenant: &Tenant) -> TenantInfo {
        let directory =
            |(directory, settings, used): (Directory, DirectorySettings, (u64, u64))| {
                let DirectorySettings { kind, quota, expires_after } = settings;
                let (files, bytes) = used;
                DirectoryInfo { directory, kind, quota, expires_after, files, bytes }
            };
        let (files, bytes) = tenant.usage.used();
        TenantInfo {
            name: tenant.name.clone(),
            created_at: tenant.created_at,
            stage: tenant.stage().word(),
            quota: tenant.usage.quota(),
            files,
            bytes,
            directories: tenant.directories().into_iter().map(directory).collect(),
            work: self.work_info(tenant),
        }
    }

    fn work_info(&self, tenant: &Tenant) -> WorkInfo {
        let now = self.now();
        let counters = &tenant.counters;
        let mut info = WorkInfo {
            accepted: counters.accepted.load(Relaxed),
            accepted_bytes: counters.accepted_bytes.load(Relaxed),
            claims: counters.claimed.load(Relaxed),
            completed: counters.completed.load(Relaxed),
            failed: counters.failed.load(Relaxed),
            expired: counters.expired.load(Relaxed),
            deleted: counters.deleted.load(Relaxed),
            ..WorkInfo::default()
        };
        for file in tenant.files().after(None) {
            match file.standing {
                Standing::Dead => info.dead += 1,
                Standing::Claimed { until, .. } if until > now => info.claimed += 1,
                _ => {
                    info.waiting += 1;
                    info.oldest_waiting.get_or_insert(file.record.created_at);
                }
            }
        }
        info
    }
}
