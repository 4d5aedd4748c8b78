//! What becomes of dead letters that nobody redrove in time.

use super::FailedDisposition;
use super::due::Due;
use crate::active::Standing;
use crate::history::record::{Ending, Record};
use crate::name::{DIRECTORY_BYTES_MAX, Directory, FileName};
use crate::pool::Pool;
use crate::reading::FileReader;
use crate::record::{FileRecord, METADATA_ENTRIES_MAX, Place, split_payload};
use crate::tenant::Tenant;
use crate::work::dead_topic;
use crate::working::ended_of;
use crate::{DepotError, FileId};
use rialto_queue::{Message, QueueError, dead_header};
use std::sync::Arc;
use std::time::Duration;

/// The time from the end of a pass through the tenants to the beginning of the next.
const PERIOD: Duration = Duration::from_secs(60);
/// The most dead letters that a round looks at.
const STEP_LETTERS: usize = 256;
/// The most bytes of them.
const STEP_BYTES: usize = 8 << 20;
/// How long a dead letter is withheld from a redrive while its file is shelved.
const LEASE: Duration = Duration::from_secs(600);
/// The directory of files that nobody could process.
const SHELF: &str = "dead-letter";
/// The metadata that says why.
const DETAIL: &str = "dead-letter-detail";
/// The most bytes of it.
const DETAIL_BYTES_MAX: usize = 512;

/// Where the pass through the tenants stands.
#[derive(Default)]
pub(super) struct Failed {
    due: Due,
    tenants: Vec<Arc<Tenant>>,
}

impl Pool {
    /// Applies the disposition to some dead letters. Returns whether the next round should follow
    /// soon.
    pub(super) fn failed_step(&self, failed: &mut Failed) -> Result<bool, DepotError> {
        if self.options.upkeep.failed_disposition == FailedDisposition::Keep {
            return Ok(false);
        }
        let now = self.now();
        let Some(tenant) = failed.tenants.pop() else {
            if failed.due.is_due(now, PERIOD) {
                failed.due.next(now, PERIOD);
                failed.tenants = self.busy_tenants();
            }
            return Ok(!failed.tenants.is_empty());
        };
        let topic = dead_topic(&tenant.name)?;
        let letters = match self.queue.dead_letters(&topic, STEP_LETTERS, STEP_BYTES) {
            Ok(letters) => letters,
            Err(QueueError::UnknownTopic(_)) => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let retention = self.options.upkeep.failed_retention;
        let mut disposed = 0;
        for letter in &letters {
            if letter.published_at().after(retention) <= now {
                disposed += usize::from(self.dispose(&tenant, letter)?);
            }
        }
        if disposed > 0 {
            // There may be more.
            failed.tenants.push(tenant);
        }
        Ok(!failed.tenants.is_empty())
    }

    /// Applies the disposition to a dead letter. False if it stays.
    fn dispose(&self, tenant: &Arc<Tenant>, letter: &Message) -> Result<bool, DepotError> {
        let Some((record, _)) = split_payload(letter.payload()) else { return Ok(false) };
        let id = record.id;
        let (has_ended, standing) = {
            let files = tenant.files();
            (files.has_ended(id), files.get(id).map(|file| file.standing))
        };
        if has_ended {
            // The process ended before the dead letter went.
            if !self.confirm_end(id)? {
                return Ok(false);
            }
            let is_dropped = self.drop_dead_letter(tenant, letter.id())?;
            if is_dropped {
                self.note_acknowledged(tenant, [id]);
            }
            return Ok(is_dropped);
        }
        if standing != Some(Standing::Dead) {
            return Ok(false);
        }
        match self.options.upkeep.failed_disposition {
            FailedDisposition::Keep => Ok(false),
            FailedDisposition::Delete => match self.delete(tenant, id, Ending::Deleted) {
                Ok(()) => Ok(true),
                Err(DepotError::UnknownFile { .. } | DepotError::Claimed(_)) => Ok(false),
                Err(error) => Err(error),
            },
            FailedDisposition::Shelve => match self.shelve(tenant, letter, record) {
                Err(DepotError::Volume(error)) => {
                    tracing::warn!(file = %id, "a dead letter was not shelved: {error}");
                    Ok(false)
                }
                result => result,
            },
        }
    }

    /// Keeps the file of a dead letter on a shelf, where it counts in the quotas as before.
    fn shelve(
        &self,
        tenant: &Arc<Tenant>,
        letter: &Message,
        record: FileRecord,
    ) -> Result<bool, DepotError> {
        let id = record.id;
        let consumer = self.dead_letter_consumer(&tenant.name)?;
        let Some(taken) = consumer.claim(letter.id(), Some(LEASE))? else { return Ok(false) };
        let give_back = || drop(consumer.return_unseen(&[(taken.id(), taken.lease())]));
        let _holding = self.upkeep.in_hand.hold(id);
        let old = Arc::new(record);
        let stored = match old.place {
            Place::Volume(_) => Ok((FileRecord::clone(&old), None)),
            Place::Inline => FileReader::inline(old.clone(), taken.message().clone())
                .and_then(|mut source| self.store_again(tenant, &old, &mut source, || Ok(())))
                .map(|(record, finished)| (record, Some(finished))),
        };
        let (mut kept, finished) = stored.inspect_err(|_| give_back())?;
        self.address_on_shelf(&mut kept)?;
        let other_name = FileName::new(&id.to_string())?;
        if kept.metadata.len() < METADATA_ENTRIES_MAX {
            kept.metadata.push((DETAIL.to_owned(), detail_of(letter)));
        }
        // The key belongs to the end of the work file.
        kept.submit_key = None;
        if !self.take_dead(tenant, id) {
            finished.into_iter().for_each(crate::volume::Finished::discard);
            give_back();
            return Ok(false);
        }
        let mut ended = ended_of(tenant, &old, Ending::Deleted, self.now());
        // The bytes are those of the kept file.
        ended.volume = None;
        let changed = self.history.record(|state| {
            // Looked up with the record, so that no file that is kept meanwhile is replaced.
            if state.kept(tenant.number, &kept.path()).is_some() {
                kept.name = other_name;
            }
            ended.kept = vec![kept.clone()];
            Ok::<_, DepotError>((kept, vec![Record::Ended(ended)]))
        })?;
        let kept = changed.value;
        tenant.count(&kept.directory, kept.bytes);
        tenant.uncount(&old.directory, old.bytes);
        consumer.ack(&taken)?;
        self.note_acknowledged(tenant, [id]);
        self.remove_bytes(changed.garbage);
        Ok(true)
    }

    /// Takes a dead letter out of the index, so that it ends once.
    fn take_dead(&self, tenant: &Tenant, id: FileId) -> bool {
        let mut files = tenant.files();
        if files.get(id).is_none_or(|file| file.standing != Standing::Dead) {
            return false;
        }
        files.remove(id);
        files.note_ended(id);
        true
    }

    /// Gives a file its directory below the shelf.
    fn address_on_shelf(&self, file: &mut FileRecord) -> Result<(), DepotError> {
        let below = format!("{SHELF}/{}", file.directory);
        let fits = below.len() <= DIRECTORY_BYTES_MAX && !file.directory.as_str().is_empty();
        let directory = Some(below).filter(|_| fits).and_then(|path| Directory::new(&path).ok());
        file.directory = match directory {
            Some(directory) => directory,
            None => Directory::new(SHELF)?,
        };
        Ok(())
    }
}

/// What the last worker said, as metadata may hold it.
fn detail_of(letter: &Message) -> String {
    let detail = letter.header(dead_header::DETAIL).unwrap_or_default();
    let mut text: String =
        String::from_utf8_lossy(detail).chars().filter(|letter| !letter.is_control()).collect();
    while text.len() > DETAIL_BYTES_MAX {
        text.pop();
    }
    text
}
