//! What becomes of dead letters that nobody redrove in time.

use super::FailedDisposition;
use super::due::Due;
use super::in_hand::Holding;
use crate::active::Standing;
use crate::history::record::{Ending, Record};
use crate::name::{DIRECTORY_BYTES_MAX, Directory, FileName};
use crate::pool::Pool;
use crate::reading::FileReader;
use crate::record::{FileRecord, METADATA_ENTRIES_MAX, Place, split_payload};
use crate::tenant::Tenant;
use crate::volume::{Finished, VolumeError};
use crate::work::dead_topic;
use crate::working::ended_of;
use crate::{DepotError, FileId};
use rialto_queue::{Consumer, Delivered, Message, QueueError, dead_header};
use std::collections::HashSet;
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

/// A dead letter whose file is being shelved.
struct Shelving {
    taken: Delivered,
    old: Arc<FileRecord>,
    kept: FileRecord,
    /// Its bytes, if they were in the message.
    finished: Option<Finished>,
    _holding: Holding,
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
        let due = letters.iter().filter(|letter| letter.published_at().after(retention) <= now);
        let disposed = self.dispose(&tenant, due)?;
        if disposed > 0 {
            // There may be more.
            failed.tenants.push(tenant);
        }
        Ok(!failed.tenants.is_empty())
    }

    /// Applies the disposition to dead letters. Returns how many of them do not stay.
    fn dispose<'l>(
        &self,
        tenant: &Arc<Tenant>,
        letters: impl Iterator<Item = &'l Message>,
    ) -> Result<usize, DepotError> {
        let (mut disposed, mut to_shelve) = (0, Vec::new());
        for letter in letters {
            let Some((record, _)) = split_payload(letter.payload()) else { continue };
            let id = record.id;
            let (has_ended, standing) = {
                let files = tenant.files();
                (files.has_ended(id), files.get(id).map(|file| file.standing))
            };
            if has_ended {
                // The process ended before the dead letter went.
                if self.confirm_end(id)? && self.drop_dead_letter(tenant, letter.id())? {
                    self.note_acknowledged(tenant, [id]);
                    disposed += 1;
                }
                continue;
            }
            if standing != Some(Standing::Dead) {
                continue;
            }
            match self.options.upkeep.failed_disposition {
                FailedDisposition::Keep => {}
                FailedDisposition::Delete => match self.delete(tenant, id, Ending::Deleted) {
                    Ok(()) => disposed += 1,
                    Err(DepotError::UnknownFile { .. } | DepotError::Claimed(_)) => {}
                    Err(error) => return Err(error),
                },
                FailedDisposition::Shelve => to_shelve.push((letter, record)),
            }
        }
        if !to_shelve.is_empty() {
            disposed += self.shelve(tenant, to_shelve)?;
        }
        Ok(disposed)
    }

    /// Keeps the files of dead letters on a shelf, where they count in the quotas as before. Their
    /// bytes share a sync, and their records a change of the history.
    fn shelve(
        &self,
        tenant: &Arc<Tenant>,
        letters: Vec<(&Message, FileRecord)>,
    ) -> Result<usize, DepotError> {
        let consumer = self.dead_letter_consumer(&tenant.name)?;
        let (mut begun, mut failed) = (Vec::new(), None);
        for (letter, record) in letters {
            let id = record.id;
            match self.begin_shelving(tenant, &consumer, letter, record) {
                Ok(shelving) => begun.extend(shelving),
                Err(DepotError::Volume(error)) => note_unshelved(id, &error),
                // What has begun is brought to its end.
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        let mut shelved = self.with_durable_bytes(tenant, &consumer, begun);
        if shelved.is_empty() {
            return failed.map_or(Ok(0), Err);
        }
        let now = self.now();
        let changed = self.history.record(|state| {
            let mut paths = HashSet::new();
            let records = shelved.iter_mut().map(|Shelving { old, kept, .. }| {
                // Looked up with the record, so that no file that is kept meanwhile is replaced.
                if state.kept(tenant.number, &kept.path()).is_some() || paths.contains(&kept.path())
                {
                    kept.name = FileName::new(&kept.id.to_string())?;
                }
                paths.insert(kept.path());
                let mut ended = ended_of(tenant, old, Ending::Deleted, now);
                // The bytes are those of the kept file.
                ended.volume = None;
                ended.kept = vec![kept.clone()];
                Ok(Record::Ended(ended))
            });
            let records: Result<Vec<_>, DepotError> = records.collect();
            Ok::<_, DepotError>(((), records?))
        })?;
        for Shelving { old, kept, .. } in &shelved {
            tenant.count(&kept.directory, kept.bytes);
            tenant.uncount(&old.directory, old.bytes);
        }
        // One that is not acknowledged is met again, and known to have ended.
        let lost = consumer.ack_all(shelved.iter().map(|it| &it.taken));
        let acknowledged = shelved.iter().filter(|it| !lost.contains(&it.taken.id()));
        self.note_acknowledged(tenant, acknowledged.map(|it| it.kept.id));
        self.remove_bytes(changed.garbage);
        failed.map_or(Ok(shelved.len()), Err)
    }

    /// Leases a dead letter, and writes its bytes to a volume if they are not on one. `None` if it is
    /// leased already.
    fn begin_shelving(
        &self,
        tenant: &Arc<Tenant>,
        consumer: &Consumer,
        letter: &Message,
        record: FileRecord,
    ) -> Result<Option<Shelving>, DepotError> {
        let Some(taken) = consumer.claim(letter.id(), Some(LEASE))? else { return Ok(None) };
        let holding = self.upkeep.in_hand.hold(record.id);
        let old = Arc::new(record);
        let written = match old.place {
            Place::Volume(_) => Ok((FileRecord::clone(&old), None)),
            Place::Inline => FileReader::inline(old.clone(), taken.message().clone())
                .and_then(|mut source| self.write_again(tenant, &old, &mut source, || Ok(())))
                .map(|(record, finished)| (record, Some(finished))),
        };
        let (mut kept, finished) = written.inspect_err(|_| give_back(consumer, &taken))?;
        self.address_on_shelf(&mut kept)?;
        if kept.metadata.len() < METADATA_ENTRIES_MAX {
            kept.metadata.push((DETAIL.to_owned(), detail_of(letter)));
        }
        // The key belongs to the end of the work file.
        kept.submit_key = None;
        Ok(Some(Shelving { taken, old, kept, finished, _holding: holding }))
    }

    /// Makes the bytes of files durable together, and takes the files out of the index. Returns those
    /// that are durable and were not handed out meanwhile; the others stay dead letters.
    fn with_durable_bytes(
        &self,
        tenant: &Tenant,
        consumer: &Consumer,
        mut begun: Vec<Shelving>,
    ) -> Vec<Shelving> {
        let written: Vec<_> = begun.iter().filter_map(|it| it.finished.as_ref()).collect();
        let mut results = Finished::make_all_durable(&written).into_iter();
        begun.retain_mut(|it| {
            let result = if it.finished.is_some() { results.next() } else { None };
            if let Some(Err(error)) = &result {
                note_unshelved(it.kept.id, error);
            }
            let is_durable = result.is_none_or(|result| result.is_ok());
            let is_taken = is_durable && self.take_dead(tenant, it.kept.id);
            if !is_taken {
                it.finished.take().into_iter().for_each(Finished::discard);
                give_back(consumer, &it.taken);
            }
            is_taken
        });
        begun
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

fn give_back(consumer: &Consumer, taken: &Delivered) {
    drop(consumer.return_unseen(&[(taken.id(), taken.lease())]));
}

fn note_unshelved(id: FileId, error: &VolumeError) {
    tracing::warn!(file = %id, "a dead letter was not shelved: {error}");
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
