//! Tenants and directories as operators see and change them.

use crate::active::{ActiveFiles, Standing};
use crate::history::record::{DirectorySettings, Record, Stage};
use crate::info::{DirectoryInfo, TenantInfo, WorkInfo};
use crate::name::{Directory, TenantName};
use crate::pool::Pool;
use crate::quota::Quota;
use crate::record::FileRecord;
use crate::tenant::Tenant;
use crate::{DepotError, DirectoryKind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

/// The most directories with settings of their own, of one tenant.
pub const DIRECTORIES_MAX: usize = 100_000;

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
        let tenant = self.tenant(name)?;
        let _changing = self.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let settings = DirectorySettings { kind, quota };
        let (number, limit) = (tenant.number, DIRECTORIES_MAX);
        self.history.record(|state| {
            let known = state.tenants.get(&number);
            let known = known.ok_or_else(|| DepotError::UnknownTenant(name.clone()))?;
            let is_new = !known.directories.contains_key(directory);
            if is_new && known.directories.len() >= limit {
                return Err(DepotError::TooMany { what: "directories with settings", limit });
            }
            let directory = directory.clone();
            Ok(((), vec![Record::Directory { tenant: number, directory, settings }]))
        })?;
        // Files that are counted meanwhile count themselves, before this or behind it.
        let files = tenant.files();
        let held = self.held_in(&tenant, &files, directory)?;
        tenant.set_directory(directory.clone(), settings, || held);
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
        let kept = self.history.read(|state| {
            let known = state.tenants.get(&tenant.number);
            known.map_or((0, 0), |it| it.kept.values().fold((0, 0), |sum, file| add(sum, file)))
        })?;
        Ok(files.after(None).fold(kept, |sum, file| add(sum, &file.record)))
    }

    pub(crate) fn tenant_info(&self, tenant: &Tenant) -> TenantInfo {
        let directory =
            |(directory, settings, used): (Directory, DirectorySettings, (u64, u64))| {
                let DirectorySettings { kind, quota } = settings;
                DirectoryInfo { directory, kind, quota, files: used.0, bytes: used.1 }
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
