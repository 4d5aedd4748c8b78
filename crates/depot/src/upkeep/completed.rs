//! Completed files that stay readable for a while.
//!
//! The record of the end names the file and until when it stays. Nobody claims it, and it counts in
//! the quotas. An inline file moves to a volume when it is completed, since its message goes.

use super::Holding;
use crate::claim::ClaimToken;
use crate::files::PAGE_FILES_MAX;
use crate::history::TenantState;
use crate::history::record::{Ended, Record, Retained};
use crate::info::FileInfo;
use crate::name::TenantName;
use crate::pool::Pool;
use crate::reading::FileReader;
use crate::record::{FileRecord, Place};
use crate::tenant::Tenant;
use crate::volume::Finished;
use crate::work::Work;
use crate::{Depot, DepotError, FileId};
use rialto_clock::Timestamp;
use std::sync::Arc;

/// The most completed files that a round removes.
const STEP_FILES: usize = 256;

/// A file that is being completed.
pub(crate) struct Completing {
    pub(crate) record: Arc<FileRecord>,
    /// The bytes of a file that was inline.
    finished: Option<Finished>,
    /// Its bytes are no orphans meanwhile, and no other call completes it.
    _holding: Option<[Holding; 2]>,
}

impl Completing {
    /// Its claim was lost in the end.
    pub(crate) fn discard(self) {
        self.finished.into_iter().for_each(Finished::discard);
    }
}

impl Depot {
    /// Completed files of a tenant that are still kept, in the order of their ids, behind `after`; at
    /// most `max`.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn completed_files(
        &self,
        tenant: &TenantName,
        after: Option<FileId>,
        max: usize,
    ) -> Result<Vec<FileInfo>, DepotError> {
        let tenant = self.pool.tenant(tenant)?;
        let now = self.pool.now();
        let retained = self.pool.retained(&tenant, after, max.min(PAGE_FILES_MAX))?;
        let living = retained.iter().filter(|it| it.until > now);
        Ok(living.map(|it| FileInfo::of_completed(&it.file)).collect())
    }
}

impl Pool {
    /// Completed files behind `after`.
    pub(crate) fn retained(
        &self,
        tenant: &Tenant,
        after: Option<FileId>,
        max: usize,
    ) -> Result<Vec<Arc<Retained>>, DepotError> {
        Ok(self.history.read(|state| state.completed_after(tenant.number, after, max))?)
    }

    /// A completed file that is kept.
    pub(crate) fn retained_by_id(
        &self,
        tenant: &Tenant,
        id: FileId,
    ) -> Result<Option<Arc<Retained>>, DepotError> {
        Ok(self.history.read(|state| {
            let retains = |known: &TenantState| known.completed.files > 0;
            let retains = state.tenants.get(&tenant.number).is_some_and(retains);
            retains.then(|| state.completed(tenant.number, id)).flatten()
        })?)
    }

    /// Brings the bytes of a claimed file where they outlive its message, if completed files are kept.
    pub(crate) fn prepare_completion(
        &self,
        tenant: &Tenant,
        work: &Work,
        token: &ClaimToken,
        record: Arc<FileRecord>,
    ) -> Result<Completing, DepotError> {
        let is_inline = record.place == Place::Inline;
        if self.options.upkeep.completed_retention.is_zero() || !is_inline {
            return Ok(Completing { record, finished: None, _holding: None });
        }
        // Another call with the same token is faster.
        let lost = || DepotError::ClaimLost(token.file);
        let alone = self.upkeep.completing.hold_alone(record.id).ok_or_else(lost)?;
        let holding = self.upkeep.in_hand.hold(record.id);
        let message = self.queue.message(work.topic(), token.message)?.ok_or_else(lost)?;
        let mut source = FileReader::inline(record.clone(), message)?;
        let (record, finished) = self.store_again(tenant, &record, &mut source, || Ok(()))?;
        let (record, finished) = (Arc::new(record), Some(finished));
        Ok(Completing { record, finished, _holding: Some([alone, holding]) })
    }

    /// Has a completed file stay for as long as the pool keeps them.
    pub(crate) fn retain_completed(&self, ended: &mut Ended, file: &FileRecord, at: Timestamp) {
        let retention = self.options.upkeep.completed_retention;
        if retention.is_zero() || file.place == Place::Inline {
            return;
        }
        let until = at.after(retention);
        let until = file.expires_at.map_or(until, |expires_at| until.min(expires_at));
        ended.volume = None;
        ended.retained = Some(Retained { file: file.clone(), until });
    }

    /// Removes completed files whose time is over.
    pub(crate) fn expire_completed(&self) -> Result<(), DepotError> {
        let now = self.now();
        let expired = self.history.read(|state| state.expired_completed(now, STEP_FILES))?;
        self.remove_all_completed(&self.with_tenants(expired))
    }

    /// Removes those of the completed files that are still there, with one record.
    pub(crate) fn remove_all_completed(
        &self,
        files: &[(Arc<Tenant>, FileId)],
    ) -> Result<(), DepotError> {
        if files.is_empty() {
            return Ok(());
        }
        let changed = self.history.record(|state| {
            let (mut removed, mut records) = (Vec::new(), Vec::new());
            for (tenant, id) in files {
                let number = tenant.number;
                let Some(known) = state.completed(number, *id) else { continue };
                removed.push((tenant, known));
                records.push(Record::Removed { tenant: number, id: *id });
            }
            Ok::<_, DepotError>((removed, records))
        })?;
        self.remove_bytes(changed.garbage);
        for (tenant, retained) in changed.value {
            tenant.uncount(&retained.file.directory, retained.file.bytes);
        }
        Ok(())
    }

    /// Removes a completed file. False if there is none.
    pub(crate) fn remove_completed(&self, tenant: &Tenant, id: FileId) -> Result<bool, DepotError> {
        let number = tenant.number;
        let changed = self.history.record(|state| {
            let known = state.completed(number, id);
            let record = known.as_ref().map(|_| Record::Removed { tenant: number, id });
            Ok::<_, DepotError>((known, record.into_iter().collect()))
        })?;
        self.remove_bytes(changed.garbage);
        let Some(retained) = changed.value else { return Ok(false) };
        tenant.uncount(&retained.file.directory, retained.file.bytes);
        Ok(true)
    }
}
