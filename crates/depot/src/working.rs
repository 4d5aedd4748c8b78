//! Handing out files to workers, and their ends.
//!
//! A file ends with a record in the history; then its message is acknowledged, and then its bytes are
//! removed. After a crash in between the message is delivered again, recognised by the id of the
//! file, and acknowledged: it is handed to nobody.

use crate::active::{ActiveFile, Standing};
use crate::claim::{Claim, ClaimOptions, ClaimToken};
use crate::history::record::{Ended, Ending, Record, Submitted};
use crate::pool::Pool;
use crate::record::{FileRecord, Place, split_payload};
use crate::tenant::{Counters, Tenant};
use crate::upkeep::Completing;
use crate::work::{Held, Work};
use crate::{DepotError, FileId};
use rialto_clock::Timestamp;
use rialto_queue::{Consumer, Delivered, MessageId, QueueError};
use std::sync::Arc;
use std::time::Duration;

/// The most files of one claim.
pub const CLAIM_FILES_MAX: usize = 1_000;
/// The shortest and the longest duration of a claim.
pub const CLAIM_DURATION_MIN: Duration = Duration::from_millis(100);
/// The longest duration of a claim.
pub const CLAIM_DURATION_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the lease of a claim is kept while its end is recorded.
const ENDING: Duration = Duration::from_secs(60);

/// How long one call makes claims at most, before it gives the rest back: their time runs meanwhile.
const CLAIMING_MAX: Duration = Duration::from_millis(50);

/// How often a fetch that delivered only ended files is repeated within one call.
const EMPTY_FETCHES_MAX: usize = 64;

/// Files that were completed.
pub(crate) struct Completed {
    /// The result of each, at the place of its token.
    pub(crate) results: Vec<Result<(), DepotError>>,
    /// The kept files that results took the place of. They are still counted.
    pub(crate) replaced: Vec<Arc<FileRecord>>,
}

impl Pool {
    pub(crate) fn check_claim(&self, options: &ClaimOptions) -> Result<Duration, DepotError> {
        self.check_open()?;
        if !(1..=CLAIM_FILES_MAX).contains(&options.files_max) {
            let why = format!("use 1 to {CLAIM_FILES_MAX}, not {}", options.files_max);
            return Err(DepotError::invalid("files_max", why));
        }
        let duration = options.duration.unwrap_or(self.options.claim_duration);
        check_duration(duration)?;
        Ok(duration)
    }

    /// Claims files of a tenant that wait now.
    pub(crate) fn claim_of(
        &self,
        tenant: &Arc<Tenant>,
        options: &ClaimOptions,
    ) -> Result<Vec<Claim>, DepotError> {
        let duration = self.check_claim(options)?;
        tenant.check("hands out no files", true)?;
        let Some(work) = tenant.work() else { return Ok(Vec::new()) };
        for _ in 0..EMPTY_FETCHES_MAX {
            let fetched = work.take(options.files_max, duration)?;
            if fetched.is_empty() {
                break;
            }
            let deadline = self.now().after(duration);
            let claims = self.claims_of(tenant, work, fetched, deadline)?;
            if !claims.is_empty() {
                Counters::add(&tenant.counters.claimed, claims.len() as u64);
                return Ok(claims);
            }
        }
        Ok(Vec::new())
    }

    /// Makes claims of the delivered messages, and acknowledges those of files that ended.
    fn claims_of(
        &self,
        tenant: &Arc<Tenant>,
        work: &Work,
        fetched: Vec<Delivered>,
        deadline: Timestamp,
    ) -> Result<Vec<Claim>, DepotError> {
        let mut claims: Vec<Claim> = Vec::with_capacity(fetched.len());
        let (begun_at, mut late) = (self.options.clock.monotonic(), Vec::new());
        for delivered in fetched {
            let held = Held { message: delivered.id(), lease: delivered.lease() };
            // The stored files are opened one by one, on a slow volume too.
            let is_late = || self.options.clock.monotonic() - begun_at >= CLAIMING_MAX;
            if !late.is_empty() || !claims.is_empty() && is_late() {
                late.push(held);
                continue;
            }
            let Some((record, _)) = split_payload(delivered.payload()) else {
                // Only a message of another program can be one.
                let detail = "the message does not hold the record of a file";
                note_skipped(work.refuse(held, detail));
                continue;
            };
            let (id, attempt) = (record.id, delivered.attempt());
            let mut files = tenant.files();
            if files.has_ended(id) {
                drop(files);
                note_skipped(self.acknowledge_ended(tenant, work, held, id));
                continue;
            }
            if record.is_expired(self.now()) {
                drop(files);
                let ended = self.end(tenant, &record, Ending::Expired);
                let acknowledged = ended.and_then(|()| work.ack(held));
                note_skipped(acknowledged.map(|()| self.note_acknowledged(tenant, [id])));
                continue;
            }
            if files.get(id).is_none() {
                files.insert(ActiveFile::new(Arc::new(record.clone()), Standing::Waiting));
            }
            let Some(file) = files.get_mut(id) else { continue };
            if file.record.place != record.place {
                // It moved: its message says where it is now.
                file.record = Arc::new(record);
            }
            let secret = self.claim_secret();
            file.standing = Standing::Claimed { lease: held.lease, until: deadline, secret };
            file.message = Some(held.message);
            file.attempts = attempt;
            let record = file.record.clone();
            drop(files);
            let problem = self.missing(&record);
            if let Some(file) = tenant.files().get_mut(id) {
                file.is_missing = problem.is_some();
            }
            claims.push(Claim {
                token: ClaimToken {
                    tenant: tenant.name.clone(),
                    file: id,
                    message: held.message,
                    lease: held.lease,
                    secret,
                },
                file: record,
                attempt,
                deadline,
                problem,
                message: delivered,
            });
        }
        late.into_iter().for_each(|held| note_skipped(work.give_back(held)));
        Ok(claims)
    }

    /// The reason that the bytes of a file cannot be read, if they are missing.
    fn missing(&self, record: &FileRecord) -> Option<String> {
        let stored = record.place.stored()?;
        if let Some(problem) = self.upkeep.damage.problem_of(record) {
            return Some(problem);
        }
        self.volumes.open(record.id, stored).err().map(|error| error.to_string())
    }

    /// Acknowledges the message of a file that ended, and publishes the results that were recorded
    /// with its end.
    fn acknowledge_ended(
        &self,
        tenant: &Arc<Tenant>,
        work: &Work,
        held: Held,
        id: FileId,
    ) -> Result<(), DepotError> {
        // The message goes behind the end. It is delivered again if that is not recorded yet.
        if !self.confirm_end(id)? {
            return Ok(());
        }
        let results = self.unpublished_results(tenant, id)?;
        if results.is_empty() {
            work.ack(held)?;
        } else {
            self.publish_results(tenant, work, work.consumer(), held, &results)?;
        }
        self.note_acknowledged(tenant, [id]);
        Ok(())
    }

    /// Makes the end of a file durable. False if it is not recorded yet: a file is indexed as ended
    /// before its end is recorded.
    pub(crate) fn confirm_end(&self, id: FileId) -> Result<bool, DepotError> {
        if !self.history.read(|state| state.ended.contains_key(&id))? {
            return Ok(false);
        }
        self.history.commit_taken()?;
        Ok(true)
    }

    /// Publishes the results of a file that ended in an earlier process. If its message has no attempt
    /// left, that happens when it is a dead letter.
    pub(crate) fn publish_after_end(
        &self,
        tenant: &Arc<Tenant>,
        work: &Work,
        message: MessageId,
        id: FileId,
    ) -> Result<(), DepotError> {
        let Some(delivered) = work.consumer().claim(message, None)? else { return Ok(()) };
        let held = Held { message: delivered.id(), lease: delivered.lease() };
        self.acknowledge_ended(tenant, work, held, id)
    }

    /// The results of a file that ended that are work. Its message is not acknowledged, so that they
    /// are not published.
    pub(crate) fn results_of(&self, id: FileId) -> Result<Vec<FileId>, DepotError> {
        let ended = self.history.read(|state| state.ended.get(&id).cloned())?;
        Ok(ended.iter().flat_map(|it| &it.published).map(|result| result.id).collect())
    }

    /// Those that were not deleted meanwhile.
    pub(crate) fn unpublished_results(
        &self,
        tenant: &Tenant,
        id: FileId,
    ) -> Result<Vec<FileRecord>, DepotError> {
        let ended = self.history.read(|state| state.ended.get(&id).cloned())?;
        let Some(ended) = ended else { return Ok(Vec::new()) };
        let files = tenant.files();
        Ok(ended.published.iter().filter(|it| !files.has_ended(it.id)).cloned().collect())
    }

    /// Publishes the results of a file and acknowledges its message, which `consumer` has, in one
    /// transaction.
    pub(crate) fn publish_results(
        &self,
        tenant: &Arc<Tenant>,
        work: &Work,
        consumer: &Consumer,
        held: Held,
        results: &[FileRecord],
    ) -> Result<(), DepotError> {
        {
            let mut files = tenant.files();
            for result in results {
                if files.get(result.id).is_none() {
                    files.insert(ActiveFile::new(Arc::new(result.clone()), Standing::Waiting));
                }
            }
        }
        work.publish_and_ack(&self.queue, consumer, held, results)?;
        self.ready.announce(tenant);
        Ok(())
    }

    /// The claim of a token in the index, if it lasts. Returns the work queue and the record.
    fn held<'t>(
        &self,
        tenant: &'t Arc<Tenant>,
        token: &ClaimToken,
    ) -> Result<(&'t Work, Arc<FileRecord>, bool), DepotError> {
        self.check_open()?;
        let lost = || DepotError::ClaimLost(token.file);
        let work = tenant.work().ok_or_else(lost)?;
        let files = tenant.files();
        let file = files.get(token.file).ok_or_else(lost)?;
        if is_held(file, token) {
            Ok((work, file.record.clone(), file.is_missing))
        } else {
            Err(lost())
        }
    }

    /// Makes a claim last for `duration` from now.
    pub(crate) fn renew(
        &self,
        tenant: &Arc<Tenant>,
        token: &ClaimToken,
        duration: Duration,
    ) -> Result<Timestamp, DepotError> {
        check_duration(duration)?;
        let (work, _, _) = self.held(tenant, token)?;
        work.extend(token.held(), duration).map_err(|error| lost(error, token))?;
        let until = self.now().after(duration);
        // Another worker may have the file by now.
        if let Some(file) = tenant.files().get_mut(token.file).filter(|it| is_held(it, token)) {
            let ClaimToken { lease, secret, .. } = *token;
            file.standing = Standing::Claimed { lease, until, secret };
        }
        Ok(until)
    }

    /// Ends claimed files as completed. All ends of one call share a write.
    pub(crate) fn complete_all(
        &self,
        tenant: &Arc<Tenant>,
        tokens: &[ClaimToken],
        kept: Vec<FileRecord>,
        published: Vec<FileRecord>,
    ) -> Result<Completed, DepotError> {
        let mut results = Vec::with_capacity(tokens.len());
        let mut ending: Vec<(&ClaimToken, &Work, Completing)> = Vec::new();
        for token in tokens {
            let begun = self.begin_ending(tenant, token);
            results.push(match begun {
                Ok((work, completing)) => {
                    ending.push((token, work, completing));
                    Ok(())
                }
                Err(error) => Err(error),
            });
        }
        if ending.is_empty() {
            return Ok(Completed { results, replaced: Vec::new() });
        }
        let paths: Vec<_> = kept.iter().map(|file| (file.path(), file.clone())).collect();
        let at = self.now();
        let mut extra = Some((kept, published.clone()));
        let ends = ending.iter().map(|(_, _, Completing { record, .. })| {
            let mut ended = ended_of(tenant, record, Ending::Completed, at);
            self.retain_completed(&mut ended, record, at);
            if let Some((kept, published)) = extra.take() {
                (ended.kept, ended.published) = (kept, published);
            }
            Record::Ended(ended)
        });
        let records: Vec<_> = ends.collect();
        let is_retained = !self.options.upkeep.completed_retention.is_zero();
        let changed = self.history.record(|state| {
            // A result takes the place of a kept file, or of a result before it.
            let before = |nth: usize, path: &str| {
                let earlier = paths[..nth].iter().rev().find(|(other, _)| other == path);
                let known = || state.kept(tenant.number, path);
                earlier.map(|(_, file)| Arc::new(file.clone())).or_else(known)
            };
            let replaced = paths.iter().enumerate();
            let replaced = replaced.filter_map(|(nth, (path, _))| before(nth, path)).collect();
            Ok::<_, DepotError>((replaced, records))
        })?;
        for (token, work, Completing { record, .. }) in &ending {
            if !is_retained {
                tenant.uncount(&record.directory, record.bytes);
            }
            Counters::add(&tenant.counters.completed, 1);
            // The end is durable: whatever becomes of the acknowledgement, a redelivery is recognised.
            let acknowledged = if published.is_empty() {
                work.ack(token.held())
            } else {
                self.publish_results(tenant, work, work.consumer(), token.held(), &published)
            };
            match acknowledged {
                Ok(()) => self.note_acknowledged(tenant, [token.file]),
                Err(error) => {
                    tracing::debug!(file = %token.file, "acknowledged at redelivery: {error}");
                }
            }
        }
        self.remove_bytes(changed.garbage);
        Ok(Completed { results, replaced: changed.value })
    }

    /// Takes a claimed file out of the index, so that it ends once.
    fn begin_ending<'t>(
        &self,
        tenant: &'t Arc<Tenant>,
        token: &ClaimToken,
    ) -> Result<(&'t Work, Completing), DepotError> {
        let (work, record, is_missing) = self.held(tenant, token)?;
        if is_missing {
            let Some(stored) = record.place.stored() else {
                return Err(DepotError::Internal("an inline file has no volume".to_owned()));
            };
            // The bytes may have come back with their volume, or were restored from a copy.
            let is_damaged = self.upkeep.damage.problem_of(&record).is_some();
            self.volumes
                .open(record.id, stored)
                .and_then(|mut reader| if is_damaged { reader.verify() } else { Ok(()) })
                .map_err(|source| DepotError::Bytes { id: record.id, source: Box::new(source) })?;
        }
        // The lease is checked, and does not end before the end of the file is recorded.
        work.extend(token.held(), ENDING).map_err(|error| lost(error, token))?;
        let completing = self.prepare_completion(tenant, work, token, record)?;
        let mut files = tenant.files();
        if files.remove(token.file).is_none() {
            drop(files);
            completing.discard();
            return Err(DepotError::ClaimLost(token.file));
        }
        files.note_ended(token.file);
        Ok((work, completing))
    }

    /// Ends a file that nobody has claimed, or whose worker is gone.
    pub(crate) fn end(
        &self,
        tenant: &Arc<Tenant>,
        record: &FileRecord,
        ending: Ending,
    ) -> Result<(), DepotError> {
        self.end_if(tenant, record, ending, |_| Ok(()))
    }

    /// As [`Pool::end`], unless `check` refuses the file as it stands now.
    pub(crate) fn end_if(
        &self,
        tenant: &Arc<Tenant>,
        record: &FileRecord,
        ending: Ending,
        check: impl FnOnce(&ActiveFile) -> Result<(), DepotError>,
    ) -> Result<(), DepotError> {
        {
            let mut files = tenant.files();
            // Another caller ends it.
            if files.has_ended(record.id) {
                return Ok(());
            }
            files.get(record.id).map_or(Ok(()), check)?;
            let is_new = files.remove(record.id).is_some();
            files.note_ended(record.id);
            if !is_new && ending != Ending::Expired {
                drop(files);
                // Another call has ended it, and may still be recording that.
                let unknown = || DepotError::UnknownFile {
                    tenant: tenant.name.clone(),
                    file: record.id.to_string(),
                };
                return self.confirm_end(record.id)?.then_some(()).ok_or_else(unknown);
            }
        }
        let ended = Record::Ended(ended_of(tenant, record, ending, self.now()));
        let changed = self.history.record(|_| Ok::<_, DepotError>(((), vec![ended])))?;
        tenant.uncount(&record.directory, record.bytes);
        Counters::add(tenant.counters.of(ending), 1);
        self.remove_bytes(changed.garbage);
        Ok(())
    }

    /// Gives a claimed file back as failed.
    pub(crate) fn fail(
        &self,
        tenant: &Arc<Tenant>,
        token: &ClaimToken,
        reason: &str,
        delay: Option<Duration>,
    ) -> Result<(), DepotError> {
        let (work, _, _) = self.held(tenant, token)?;
        work.nack(token.held(), delay, reason).map_err(|error| lost(error, token))?;
        Counters::add(&tenant.counters.failed, 1);
        self.note_returned(tenant, token);
        Ok(())
    }

    /// Makes a claimed file a dead letter, without further attempts.
    pub(crate) fn refuse(
        &self,
        tenant: &Arc<Tenant>,
        token: &ClaimToken,
        reason: &str,
    ) -> Result<(), DepotError> {
        let (work, _, _) = self.held(tenant, token)?;
        work.refuse(token.held(), reason).map_err(|error| lost(error, token))?;
        Counters::add(&tenant.counters.failed, 1);
        self.note_returned(tenant, token);
        Ok(())
    }

    /// Gives a claimed file back as if it had not been handed out.
    pub(crate) fn give_back(
        &self,
        tenant: &Arc<Tenant>,
        token: &ClaimToken,
    ) -> Result<(), DepotError> {
        let (work, _, _) = self.held(tenant, token)?;
        work.give_back(token.held()).map_err(|error| lost(error, token))?;
        self.note_returned(tenant, token);
        Ok(())
    }

    fn note_returned(&self, tenant: &Arc<Tenant>, token: &ClaimToken) {
        if let Some(file) = tenant.files().get_mut(token.file).filter(|it| is_held(it, token)) {
            file.standing = Standing::Waiting;
        }
        self.ready.announce(tenant);
    }
}

/// Whether a file is claimed under a token.
fn is_held(file: &ActiveFile, token: &ClaimToken) -> bool {
    let ClaimToken { message, .. } = *token;
    file.message == Some(message)
        && matches!(file.standing, Standing::Claimed { lease, secret, .. }
            if lease == token.lease && secret == token.secret)
}

fn check_duration(duration: Duration) -> Result<(), DepotError> {
    if (CLAIM_DURATION_MIN..=CLAIM_DURATION_MAX).contains(&duration) {
        return Ok(());
    }
    let (min, max) = (CLAIM_DURATION_MIN.as_millis(), CLAIM_DURATION_MAX.as_secs());
    Err(DepotError::invalid("duration", format!("a claim lasts {min} ms to {max} s")))
}

/// A message that no worker gets was not settled. The others of its fetch have leases and attempts, and
/// are handed out all the same; this one is delivered again.
fn note_skipped(settled: Result<(), DepotError>) {
    if let Err(error) = settled {
        tracing::debug!("settled at redelivery: {error}");
    }
}

fn lost(error: DepotError, token: &ClaimToken) -> DepotError {
    match error {
        DepotError::Queue(QueueError::LeaseLost(_)) => DepotError::ClaimLost(token.file),
        error => error,
    }
}

/// The end of a file, as it is recorded.
pub(crate) fn ended_of(
    tenant: &Tenant,
    record: &FileRecord,
    ending: Ending,
    at: Timestamp,
) -> Ended {
    let submitted = record.submit_key.clone().map(|key| Submitted {
        key,
        id: record.id,
        fingerprint: record.fingerprint(),
    });
    Ended {
        tenant: tenant.number,
        id: record.id,
        at,
        ending,
        volume: match &record.place {
            Place::Inline => None,
            Place::Volume(stored) => Some(stored.volume),
        },
        submitted,
        kept: Vec::new(),
        published: Vec::new(),
        retained: None,
    }
}
