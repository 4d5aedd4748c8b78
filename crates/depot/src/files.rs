//! Finding, listing, opening and deleting files.

use crate::active::Standing;
use crate::history::record::{Ending, Record};
use crate::info::FileInfo;
use crate::pool::Pool;
use crate::reading::FileReader;
use crate::record::{FileRecord, Place, split_payload};
use crate::tenant::{Counters, Tenant};
use crate::work::dead_topic;
use crate::{DepotError, FileId};
use rialto_queue::{Message, MessageId};
use std::sync::Arc;

/// The most files of one page.
pub const PAGE_FILES_MAX: usize = 1_000;

impl Pool {
    fn unknown(&self, tenant: &Tenant, file: impl ToString) -> DepotError {
        DepotError::UnknownFile { tenant: tenant.name.clone(), file: file.to_string() }
    }

    pub(crate) fn info(&self, tenant: &Tenant, id: FileId) -> Result<FileInfo, DepotError> {
        let active = tenant.files().get(id).map(|file| FileInfo::of_active(file, || self.now()));
        if let Some(active) = active {
            return Ok(active);
        }
        let now = self.now();
        if let Some(kept) = self.kept_by_id(tenant, id)?.filter(|kept| !kept.is_expired(now)) {
            return Ok(FileInfo::of_kept(&kept));
        }
        let completed = self.retained_by_id(tenant, id)?.filter(|it| it.until > now);
        let info = completed.map(|it| FileInfo::of_completed(&it.file));
        info.ok_or_else(|| self.unknown(tenant, id))
    }

    pub(crate) fn has_file(&self, tenant: &Tenant, id: FileId) -> bool {
        let is_active = tenant.files().get(id).is_some();
        is_active || self.kept_by_id(tenant, id).is_ok_and(|kept| kept.is_some())
    }

    pub(crate) fn info_at(&self, tenant: &Tenant, path: &str) -> Result<FileInfo, DepotError> {
        let now = self.now();
        let kept = self.kept_by_path(tenant, path)?.filter(|kept| !kept.is_expired(now));
        kept.as_ref().map(FileInfo::of_kept).ok_or_else(|| self.unknown(tenant, path))
    }

    pub(crate) fn work_files(
        &self,
        tenant: &Tenant,
        prefix: &str,
        after: Option<FileId>,
        max: usize,
    ) -> Vec<FileInfo> {
        let (now, files) = (self.now(), tenant.files());
        let matching = files.after(after).filter(|file| begins_with(&file.record, prefix));
        let page = matching.take(max.min(PAGE_FILES_MAX));
        page.map(|file| FileInfo::of_active(file, || now)).collect()
    }

    pub(crate) fn kept_files(
        &self,
        tenant: &Tenant,
        prefix: &str,
        after: Option<&str>,
        max: usize,
    ) -> Result<Vec<FileInfo>, DepotError> {
        let now = self.now();
        let max = max.min(PAGE_FILES_MAX);
        let mut page = Vec::new();
        if max > 0 {
            self.history.read(|state| {
                state.each_kept(tenant.number, prefix, after, |file| {
                    if !file.is_expired(now) {
                        page.push(FileInfo::of_kept(&Arc::new(file)));
                    }
                    page.len() < max
                });
            })?;
        }
        Ok(page)
    }

    pub(crate) fn open_file(&self, tenant: &Tenant, id: FileId) -> Result<FileReader, DepotError> {
        let active = {
            let files = tenant.files();
            files.get(id).map(|file| (file.record.clone(), file.message, file.standing))
        };
        let Some((record, message, standing)) = active else {
            let record = self.info(tenant, id)?.record;
            return FileReader::stored(self, record);
        };
        match record.place {
            Place::Volume(_) => FileReader::stored(self, record),
            Place::Inline => {
                let message = match message {
                    // It was redriven, and not handed out since.
                    None => self.find_message(tenant, id)?,
                    message => self.message_of(tenant, message, standing)?,
                };
                // The message moved while it was looked up: the file has ended or has become a dead
                // letter.
                let message = message.filter(|it| holds(it, id));
                FileReader::inline(record, message.ok_or_else(|| self.unknown(tenant, id))?)
            }
        }
    }

    fn message_of(
        &self,
        tenant: &Tenant,
        message: Option<MessageId>,
        standing: Standing,
    ) -> Result<Option<Message>, DepotError> {
        let (Some(id), Some(work)) = (message, tenant.work()) else { return Ok(None) };
        Ok(match standing {
            Standing::Dead => self.queue.message(&dead_topic(&tenant.name)?, id)?,
            _ => self.queue.message(work.topic(), id)?,
        })
    }

    /// Looks through the work queue for the message of a file. The messages before it are noted, so that
    /// the queue is not read again for their files.
    fn find_message(&self, tenant: &Tenant, id: FileId) -> Result<Option<Message>, DepotError> {
        let Some(work) = tenant.work() else { return Ok(None) };
        for message in work.consumer().unacknowledged()? {
            let message = message?;
            let Some((record, _)) = split_payload(message.payload()) else { continue };
            if let Some(file) = tenant.files().get_mut(record.id)
                && file.standing == Standing::Waiting
                && file.message.is_none()
            {
                file.message = Some(message.id());
            }
            if record.id == id {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// Ends a file that no worker has, or that is kept.
    pub(crate) fn delete(
        &self,
        tenant: &Arc<Tenant>,
        id: FileId,
        ending: Ending,
    ) -> Result<(), DepotError> {
        self.check_open()?;
        let active = {
            let files = tenant.files();
            files.get(id).map(|file| (file.record.clone(), file.message, file.standing))
        };
        let Some((record, message, standing)) = active else {
            if self.retained_by_id(tenant, id)?.is_some() && self.remove_completed(tenant, id)? {
                return Ok(());
            }
            return self.delete_kept(tenant, id, ending);
        };
        self.end_unclaimed(tenant, &record, ending)?;
        // The message is of no use any more. One that cannot be taken now is recognised when it is
        // delivered.
        if let (Some(message), Some(work)) = (message, tenant.work()) {
            let dropped = match standing {
                Standing::Dead => self.drop_dead_letter(tenant, message),
                _ => work.drop_waiting(message),
            };
            match dropped {
                Ok(true) => self.note_acknowledged(tenant, [id]),
                Ok(false) => {}
                Err(error) => {
                    tracing::debug!(file = %id, "the message is dropped at its delivery: {error}");
                }
            }
        }
        Ok(())
    }

    /// Ends a file, unless a worker has it by now.
    pub(crate) fn end_unclaimed(
        &self,
        tenant: &Arc<Tenant>,
        record: &FileRecord,
        ending: Ending,
    ) -> Result<(), DepotError> {
        let (id, now) = (record.id, self.now());
        self.end_if(tenant, record, ending, |file| match file.standing {
            Standing::Claimed { until, .. } if until > now => Err(DepotError::Claimed(id)),
            Standing::Arriving => Err(self.unknown(tenant, id)),
            _ => Ok(()),
        })
    }

    /// Deletes those of the kept files that are still there, with one record.
    pub(crate) fn delete_all_kept(
        &self,
        files: &[(Arc<Tenant>, FileId)],
        ending: Ending,
    ) -> Result<(), DepotError> {
        if files.is_empty() {
            return Ok(());
        }
        let changed = self.history.record(|state| {
            let (mut deleted, mut records) = (Vec::new(), Vec::new());
            for (tenant, id) in files {
                let number = tenant.number;
                let Some(kept) = state.kept_by_id(number, *id) else { continue };
                deleted.push((tenant, kept));
                records.push(Record::Removed { tenant: number, id: *id });
            }
            Ok::<_, DepotError>((deleted, records))
        })?;
        for (tenant, kept) in changed.value {
            tenant.uncount(&kept.directory, kept.bytes);
            Counters::add(tenant.counters.of(ending), 1);
        }
        self.remove_bytes(changed.garbage);
        Ok(())
    }

    pub(crate) fn delete_kept(
        &self,
        tenant: &Tenant,
        id: FileId,
        ending: Ending,
    ) -> Result<(), DepotError> {
        let number = tenant.number;
        let changed = self.history.record(|state| {
            let kept = state.kept_by_id(number, id);
            let kept = kept.ok_or_else(|| self.unknown(tenant, id))?;
            Ok::<_, DepotError>((kept, vec![Record::Removed { tenant: number, id }]))
        })?;
        tenant.uncount(&changed.value.directory, changed.value.bytes);
        Counters::add(tenant.counters.of(ending), 1);
        self.remove_bytes(changed.garbage);
        Ok(())
    }
}

/// Whether a message holds this file.
fn holds(message: &Message, id: FileId) -> bool {
    split_payload(message.payload()).is_some_and(|(record, _)| record.id == id)
}

/// Whether the path of a file begins with a prefix.
fn begins_with(record: &FileRecord, prefix: &str) -> bool {
    prefix.is_empty() || record.path().starts_with(prefix)
}
