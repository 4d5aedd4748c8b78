//! A pool as its users call it.

use crate::claim::{Claim, ClaimOptions, ClaimToken};
use crate::dead::DeadFile;
use crate::history::record::{Ending, Stage};
use crate::housekeeping::Housekeeping;
use crate::info::{FileInfo, TenantInfo};
use crate::name::{Directory, TenantName};
use crate::new_file::NewFile;
use crate::options::DepotOptions;
use crate::pool::Pool;
use crate::prepared::Prepared;
use crate::quota::Quota;
use crate::reading::FileReader;
use crate::recovery::{self, DepotReport};
use crate::upload::{StoredFile, Upload};
use crate::volume::{MountedVolume, VolumeNumber, VolumeSpec, VolumeStatus, VolumeTotals};
use crate::watcher::Watching;
use crate::{DepotError, DirectoryKind, FileId};
use rialto_clock::Timestamp;
use rialto_statelog::StateLogError;
use std::io::Read;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How many bytes of a source are read at a time.
const COPY_BYTES: usize = 256 << 10;

/// The content of a file, to be stored as a whole.
pub type Source<'a> = &'a mut dyn Read;

/// A pool of files of many tenants. Clones share it; dropping the last one closes it.
#[derive(Clone)]
pub struct Depot {
    pub(crate) pool: Arc<Pool>,
    report: Arc<DepotReport>,
    /// Stops with the last clone.
    _housekeeping: Option<Arc<Housekeeping>>,
    /// The threads of the watched folders; they stop with the last clone.
    pub(crate) watching: Option<Arc<Watching>>,
}

impl Depot {
    /// Opens a pool, or makes a new one, and starts its threads and those of its watched folders.
    ///
    /// # Errors
    /// If another process has it open, or its history, queues or volumes cannot be read.
    pub fn open(options: DepotOptions) -> Result<Self, DepotError> {
        let (pool, report) = recovery::open(options, false)?;
        let housekeeping = Some(Arc::new(Housekeeping::start(&pool)?));
        let watching = Some(Arc::new(Watching::start(&pool)?));
        Ok(Self { pool, report: Arc::new(report), _housekeeping: housekeeping, watching })
    }

    /// Opens a pool without a thread, for simulations: its housekeeping happens in
    /// [`Depot::step`], and that of the queue too; a watched folder is scanned by
    /// [`Depot::scan_watch`] alone.
    ///
    /// # Errors
    /// As [`Depot::open`].
    pub fn open_stepped(options: DepotOptions) -> Result<Self, DepotError> {
        let (pool, report) = recovery::open(options, true)?;
        Ok(Self { pool, report: Arc::new(report), _housekeeping: None, watching: None })
    }

    /// Does the housekeeping that is due, on this thread.
    ///
    /// # Errors
    /// Those of the history and the queue.
    pub fn step(&self) -> Result<(), DepotError> {
        self.pool.queue.step();
        self.pool.probe_when_due();
        self.pool.remove_some();
        self.pool.keep_house()?;
        self.pool.keep_up().map(drop)
    }

    /// What was found when the pool was opened.
    #[must_use]
    pub fn report(&self) -> &DepotReport {
        &self.report
    }

    /// The reason that the pool refuses everything, if its history failed.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.pool.history.failure().or_else(|| self.pool.queue.failure())
    }

    /// Creates a tenant.
    ///
    /// # Errors
    /// [`DepotError::TenantExists`], [`DepotError::TooMany`].
    pub fn create_tenant(&self, name: &TenantName, quota: Quota) -> Result<(), DepotError> {
        self.pool.create_tenant(name, quota).map(drop)
    }

    /// Creates a tenant whose files are kept: its root directory is a shelf. After a crash it is that, or
    /// is not there.
    ///
    /// # Errors
    /// [`DepotError::TenantExists`], [`DepotError::TooMany`].
    pub fn create_shelf(&self, name: &TenantName, quota: Quota) -> Result<(), DepotError> {
        self.pool.create_tenant_of(name, quota, DirectoryKind::Shelf).map(drop)
    }

    /// The state of a tenant.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn tenant(&self, name: &TenantName) -> Result<TenantInfo, DepotError> {
        Ok(self.pool.tenant_info(&*self.pool.tenant(name)?))
    }

    /// Whether there is a tenant of this name that accepts files.
    #[must_use]
    pub fn is_enabled(&self, name: &str) -> bool {
        self.pool.look_at_tenant(name, |tenant| tenant.stage() == Stage::Enabled).unwrap_or(false)
    }

    /// The files and bytes of a tenant, those being written included; `None` if there is no such
    /// tenant. Cheaper than [`Depot::tenant`].
    #[must_use]
    pub fn used(&self, tenant: &str) -> Option<(u64, u64)> {
        self.pool.look_at_tenant(tenant, |tenant| tenant.usage.used())
    }

    /// The tenants behind `after` in the order of their names, at most `max`.
    #[must_use]
    pub fn tenants(&self, after: Option<&TenantName>, max: usize) -> Vec<TenantInfo> {
        let mut tenants = self.pool.all_tenants();
        tenants.retain(|tenant| after.is_none_or(|after| tenant.name > *after));
        tenants.sort_by(|one, other| one.name.cmp(&other.name));
        tenants.iter().take(max).map(|tenant| self.pool.tenant_info(tenant)).collect()
    }

    /// Enables a tenant, which also ends its draining.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`]; [`DepotError::TenantStage`] if it is being deleted.
    pub fn enable_tenant(&self, name: &TenantName) -> Result<(), DepotError> {
        self.pool.set_stage(name, Stage::Enabled)
    }

    /// Disables a tenant: it accepts no files, and none is handed out.
    ///
    /// # Errors
    /// As [`Depot::enable_tenant`].
    pub fn disable_tenant(&self, name: &TenantName) -> Result<(), DepotError> {
        self.pool.set_stage(name, Stage::Disabled)
    }

    /// Drains a tenant: it accepts no files, and the files that it has are handed out.
    ///
    /// # Errors
    /// As [`Depot::enable_tenant`].
    pub fn drain_tenant(&self, name: &TenantName) -> Result<(), DepotError> {
        self.pool.set_stage(name, Stage::Draining)
    }

    /// Deletes a tenant with all its files. They are removed in small steps by the housekeeping, also
    /// after a restart; the name is free when they are gone.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn delete_tenant(&self, name: &TenantName) -> Result<(), DepotError> {
        self.pool.set_stage(name, Stage::Deleting)
    }

    /// Sets the quota of a tenant. Files beyond it stay.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn set_quota(&self, name: &TenantName, quota: Quota) -> Result<(), DepotError> {
        let tenant = self.pool.tenant(name)?;
        // The quota in use is that of the last record.
        let _changing = self.pool.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        self.pool.change_tenant(&tenant, |settings| settings.quota = quota)?;
        tenant.usage.set_quota(quota);
        Ok(())
    }

    /// Sets what becomes of the files of a directory and those below it, and its quota. `None` and no
    /// limits undo it.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`], [`DepotError::TooMany`].
    pub fn set_directory(
        &self,
        name: &TenantName,
        directory: &Directory,
        kind: Option<DirectoryKind>,
        quota: Quota,
    ) -> Result<(), DepotError> {
        self.pool.set_directory(name, directory, kind, quota)
    }

    /// What becomes of the files of a directory.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn directory_kind(
        &self,
        name: &TenantName,
        directory: &Directory,
    ) -> Result<DirectoryKind, DepotError> {
        Ok(self.pool.tenant(name)?.kind_of(directory))
    }

    /// Adds a volume to the pool. Returns its number.
    ///
    /// # Errors
    /// [`DepotError::Volume`] if the directory is not fit for one.
    pub fn mount(&self, spec: VolumeSpec) -> Result<VolumeNumber, DepotError> {
        self.pool.mount(spec)
    }

    /// Begins or ends the draining of a volume: it keeps its files, and takes no new ones.
    ///
    /// # Errors
    /// [`DepotError::Volume`] if there is no such volume.
    pub fn drain_volume(&self, name: &str, draining: bool) -> Result<(), DepotError> {
        self.pool.drain_volume(name, draining)
    }

    /// Removes a volume from the pool. One with files of the pool is refused.
    ///
    /// # Errors
    /// [`DepotError::VolumeInUse`]; [`DepotError::Volume`] if there is no such volume.
    pub fn unmount(&self, name: &str) -> Result<(), DepotError> {
        self.pool.unmount(name)
    }

    /// The volumes.
    #[must_use]
    pub fn volumes(&self) -> Vec<VolumeStatus> {
        self.pool.volumes.list()
    }

    /// A mounted volume, to ask for its state and space.
    #[must_use]
    pub fn volume(&self, number: VolumeNumber) -> Option<Arc<MountedVolume>> {
        self.pool.volumes.get(number).ok()
    }

    /// The space of all volumes.
    #[must_use]
    pub fn totals(&self) -> VolumeTotals {
        self.pool.volumes.totals()
    }

    /// Begins to store a file.
    ///
    /// # Errors
    /// If the tenant or a quota refuses it, a field is not valid, or no volume has room.
    pub fn begin(&self, tenant: &TenantName, file: NewFile) -> Result<Upload, DepotError> {
        let (tenant, new_tenant) = self.pool.tenant_of_upload(tenant)?;
        let mut upload = Upload::begin(self.pool.clone(), tenant, file, false)?;
        upload.new_tenant = new_tenant;
        Ok(upload)
    }

    /// Stores a file.
    ///
    /// # Errors
    /// As [`Depot::begin`] and [`Upload::finish`]; [`DepotError::Invalid`] if the source cannot be
    /// read.
    pub fn put(
        &self,
        tenant: &TenantName,
        file: NewFile,
        source: Source<'_>,
    ) -> Result<StoredFile, DepotError> {
        let mut upload = self.begin(tenant, file)?;
        copy(source, &mut upload)?;
        upload.finish()
    }

    /// Stores a file whose content is in memory.
    ///
    /// # Errors
    /// As [`Depot::put`].
    pub fn put_bytes(
        &self,
        tenant: &TenantName,
        mut file: NewFile,
        content: &[u8],
    ) -> Result<StoredFile, DepotError> {
        file.bytes.get_or_insert(content.len() as u64);
        let mut upload = self.begin(tenant, file)?;
        upload.write(content)?;
        upload.finish()
    }

    /// A file of a tenant.
    ///
    /// # Errors
    /// [`DepotError::UnknownFile`].
    pub fn file(&self, tenant: &TenantName, id: FileId) -> Result<FileInfo, DepotError> {
        self.pool.info(&*self.pool.tenant(tenant)?, id)
    }

    /// Whether a tenant has a file of this id.
    #[must_use]
    pub fn has_file(&self, tenant: &TenantName, id: FileId) -> bool {
        let tenant = self.pool.find_tenant(tenant.as_str());
        tenant.is_some_and(|tenant| self.pool.has_file(&tenant, id))
    }

    /// The file that is kept under a path.
    ///
    /// # Errors
    /// [`DepotError::UnknownFile`].
    pub fn file_at(&self, tenant: &TenantName, path: &str) -> Result<FileInfo, DepotError> {
        self.pool.info_at(&*self.pool.tenant(tenant)?, path)
    }

    /// Opens a file to be read, whatever its state.
    ///
    /// # Errors
    /// [`DepotError::UnknownFile`], [`DepotError::Bytes`].
    pub fn open_file(&self, tenant: &TenantName, id: FileId) -> Result<FileReader, DepotError> {
        self.pool.open_file(&*self.pool.tenant(tenant)?, id)
    }

    /// Opens a claimed file to be read.
    ///
    /// # Errors
    /// [`DepotError::Bytes`].
    pub fn read_claimed(&self, claim: &Claim) -> Result<FileReader, DepotError> {
        FileReader::of_claim(&self.pool, claim)
    }

    /// Work files in the order of their arrival, behind `after`, whose paths begin with `prefix`; at
    /// most `max`.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn work_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<FileId>,
        max: usize,
    ) -> Result<Vec<FileInfo>, DepotError> {
        Ok(self.pool.work_files(&*self.pool.tenant(tenant)?, prefix, after, max))
    }

    /// Kept files in the order of their paths, behind the path `after`, whose paths begin with
    /// `prefix`; at most `max`.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn kept_files(
        &self,
        tenant: &TenantName,
        prefix: &str,
        after: Option<&str>,
        max: usize,
    ) -> Result<Vec<FileInfo>, DepotError> {
        self.pool.kept_files(&*self.pool.tenant(tenant)?, prefix, after, max)
    }

    /// Deletes a file. One that is claimed is refused.
    ///
    /// # Errors
    /// [`DepotError::UnknownFile`], [`DepotError::Claimed`].
    pub fn delete(&self, tenant: &TenantName, id: FileId) -> Result<(), DepotError> {
        self.pool.delete(&self.pool.tenant(tenant)?, id, Ending::Deleted)
    }

    /// Claims files of a tenant that wait now, the oldest of the highest priority first.
    ///
    /// # Errors
    /// [`DepotError::TenantStage`] if the tenant hands out no files.
    pub fn claim(
        &self,
        tenant: &TenantName,
        options: &ClaimOptions,
    ) -> Result<Vec<Claim>, DepotError> {
        self.pool.claim_of(&self.pool.tenant(tenant)?, options)
    }

    /// As [`Depot::claim`], and waits for a file until the time is over.
    ///
    /// # Errors
    /// As [`Depot::claim`].
    pub fn claim_within(
        &self,
        tenant: &TenantName,
        options: &ClaimOptions,
        wait: Duration,
    ) -> Result<Vec<Claim>, DepotError> {
        self.pool.claim_within(&self.pool.tenant(tenant)?, options, wait)
    }

    /// Claims files of any tenant that `may` allows: tenants take turns. All files of one call belong
    /// to one tenant.
    ///
    /// # Errors
    /// If the options are not valid, or the queue refuses.
    pub fn claim_any(
        &self,
        options: &ClaimOptions,
        may: impl Fn(&TenantName) -> bool,
    ) -> Result<Vec<Claim>, DepotError> {
        self.pool.claim_any(options, may)
    }

    /// Ready when files of a tenant that `may` allows may be claimed: call [`Depot::claim_any`] with the
    /// same tenants then, and wait again if there were none. Of several callers that wait for a tenant,
    /// one is woken at a time.
    pub async fn claimable(&self, may: impl Fn(&TenantName) -> bool + Send + Sync + 'static) {
        let mut waiting = self.pool.ready.wait(Box::new(may));
        std::future::poll_fn(|context| waiting.poll(context)).await;
    }

    /// Refuses new files from now on, or accepts them again, because the disk has little room. Claims
    /// and their ends go on, which make room.
    pub fn set_refusing(&self, refusing: bool) {
        self.pool.is_refusing.store(refusing, Ordering::Relaxed);
    }

    /// The settings with which the pool was opened.
    #[must_use]
    pub fn options(&self) -> &DepotOptions {
        &self.pool.options
    }

    /// Whether there is a tenant of this name, in whatever state.
    #[must_use]
    pub fn has_tenant(&self, name: &TenantName) -> bool {
        self.pool.find_tenant(name.as_str()).is_some()
    }

    /// Whether a tenant is being deleted, and its name not free yet.
    #[must_use]
    pub fn is_deleting(&self, name: &TenantName) -> bool {
        let tenant = self.pool.find_tenant(name.as_str());
        tenant.is_some_and(|tenant| tenant.stage() == Stage::Deleting)
    }

    /// The names of all tenants, in no order.
    #[must_use]
    pub fn tenant_names(&self) -> Vec<TenantName> {
        self.pool.all_tenants().iter().map(|tenant| tenant.name.clone()).collect()
    }

    /// Makes a claim last for this time from now. Returns the new deadline.
    ///
    /// # Errors
    /// [`DepotError::ClaimLost`].
    pub fn renew(&self, token: &ClaimToken, duration: Duration) -> Result<Timestamp, DepotError> {
        self.pool.renew(&self.claimed_tenant(token)?, token, duration)
    }

    /// Ends a claimed file as completed. It is durable when this returns, and its bytes are removed
    /// soon.
    ///
    /// # Errors
    /// [`DepotError::ClaimLost`]; [`DepotError::Bytes`] if the bytes of the file are missing.
    pub fn complete(&self, token: &ClaimToken) -> Result<(), DepotError> {
        self.complete_with(token, Vec::new())
    }

    /// As [`Depot::complete`], for several files; those of a tenant share a write. The results are in
    /// the order of the tokens.
    pub fn complete_all(&self, tokens: &[ClaimToken]) -> Vec<Result<(), DepotError>> {
        let mut results: Vec<_> = tokens.iter().map(|_| Ok(())).collect();
        let mut by_tenant: std::collections::BTreeMap<&TenantName, Vec<usize>> = Default::default();
        for (nth, token) in tokens.iter().enumerate() {
            by_tenant.entry(&token.tenant).or_default().push(nth);
        }
        for places in by_tenant.into_values() {
            let some: Vec<_> = places.iter().map(|nth| tokens[*nth].clone()).collect();
            let Ok(tenant) = self.claimed_tenant(&some[0]) else {
                places.iter().for_each(|nth| {
                    results[*nth] = self.claimed_tenant(&tokens[*nth]).map(drop);
                });
                continue;
            };
            match self.pool.complete_all(&tenant, &some, vec![], vec![]) {
                Ok(completed) => {
                    places
                        .iter()
                        .zip(completed.results)
                        .for_each(|(nth, result)| results[*nth] = result);
                }
                Err(error) => {
                    let text = error.to_string();
                    let mut first = Some(error);
                    for nth in places {
                        let again = || DepotError::Internal(text.clone());
                        results[nth] = Err(first.take().unwrap_or_else(again));
                    }
                }
            }
        }
        results
    }

    /// Begins to store a result of a claimed file, for [`Depot::complete_with`].
    ///
    /// # Errors
    /// As [`Depot::begin`]; [`DepotError::Invalid`] for what a result cannot have: a submit key, a
    /// priority, a time of delivery, a level, or a condition.
    pub fn begin_result(&self, token: &ClaimToken, file: NewFile) -> Result<Upload, DepotError> {
        let tenant = self.claimed_tenant(token)?;
        check_result(&file)?;
        Upload::begin(self.pool.clone(), tenant, file, true)
    }

    /// Ends a claimed file as completed, and makes its results exist: all of it, or nothing.
    ///
    /// # Errors
    /// As [`Depot::complete`]; [`DepotError::Invalid`] if a result belongs to another tenant.
    pub fn complete_with(
        &self,
        token: &ClaimToken,
        results: Vec<Prepared>,
    ) -> Result<(), DepotError> {
        let tenant = self.claimed_tenant(token)?;
        if results.iter().any(|result| !Arc::ptr_eq(result.tenant(), &tenant)) {
            return Err(DepotError::invalid("results", "a result belongs to another tenant"));
        }
        let limit = RESULTS_MAX;
        if results.len() > limit {
            return Err(DepotError::TooMany { what: "results of a file", limit });
        }
        let (kept, published): (Vec<_>, Vec<_>) = results.iter().partition(|it| it.is_kept());
        let records = |some: Vec<&Prepared>| some.iter().map(|it| it.record().clone()).collect();
        let tokens = std::slice::from_ref(token);
        results.iter().for_each(|result| tenant.files().begin_counting(result.record().id));
        let ended = self.pool.complete_all(&tenant, tokens, records(kept), records(published));
        let ended = match ended {
            // The end was written and may be durable: then the results exist after the next start.
            Err(error @ DepotError::History(StateLogError::Failed { .. })) => {
                results.into_iter().for_each(Prepared::keep_bytes);
                return Err(error);
            }
            ended => ended?,
        };
        ended.results.into_iter().collect::<Result<(), _>>()?;
        results.into_iter().for_each(Prepared::accept);
        for file in ended.replaced {
            tenant.uncount(&file.directory, file.bytes);
        }
        Ok(())
    }

    /// Gives a claimed file back as failed: it is handed out again after a delay, or becomes a dead
    /// letter if this was the last attempt.
    ///
    /// # Errors
    /// [`DepotError::ClaimLost`].
    pub fn fail(
        &self,
        token: &ClaimToken,
        reason: &str,
        delay: Option<Duration>,
    ) -> Result<(), DepotError> {
        self.pool.fail(&self.claimed_tenant(token)?, token, reason, delay)
    }

    /// Makes a claimed file a dead letter now.
    ///
    /// # Errors
    /// [`DepotError::ClaimLost`].
    pub fn refuse(&self, token: &ClaimToken, reason: &str) -> Result<(), DepotError> {
        self.pool.refuse(&self.claimed_tenant(token)?, token, reason)
    }

    /// Gives a claimed file back as if it had not been handed out.
    ///
    /// # Errors
    /// [`DepotError::ClaimLost`].
    pub fn give_back(&self, token: &ClaimToken) -> Result<(), DepotError> {
        self.pool.give_back(&self.claimed_tenant(token)?, token)
    }

    /// The dead letters of a tenant, oldest first, at most `max`.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn dead_files(&self, tenant: &TenantName, max: usize) -> Result<Vec<DeadFile>, DepotError> {
        self.pool.dead_files(&self.pool.tenant(tenant)?, max)
    }

    /// Lets at most `max` dead letters of a tenant be handed out again. Returns their number.
    ///
    /// # Errors
    /// [`DepotError::UnknownTenant`].
    pub fn redrive(&self, tenant: &TenantName, max: u64) -> Result<u64, DepotError> {
        self.pool.redrive(&self.pool.tenant(tenant)?, max)
    }

    fn claimed_tenant(&self, token: &ClaimToken) -> Result<Arc<crate::tenant::Tenant>, DepotError> {
        self.pool.check_open()?;
        let tenant = self.pool.find_tenant(token.tenant.as_str());
        tenant.ok_or(DepotError::ClaimLost(token.file))
    }

    /// Closes the pool, durably. Later calls fail.
    ///
    /// # Errors
    /// Those of the history and the queue.
    pub fn close(&self) -> Result<(), DepotError> {
        if self.pool.is_closed.swap(true, Ordering::AcqRel) {
            // A second call does not report a success that the first one did not have.
            return match self.pool.is_close_failed.load(Ordering::Acquire) {
                true => Err(DepotError::CloseFailed),
                false => Ok(()),
            };
        }
        if let Some(watching) = &self.watching {
            watching.stop();
        }
        if let Some(housekeeping) = &self._housekeeping {
            housekeeping.stop();
        }
        self.pool.remove_the_rest();
        // The history is made durable whatever the queue says.
        let queue = self.pool.queue.close().map_err(DepotError::from);
        let history = self.pool.history.close().map_err(DepotError::from);
        let closed = queue.and(history);
        if closed.is_err() {
            self.pool.is_close_failed.store(true, Ordering::Release);
        }
        closed
    }
}

/// The most results of a file that is completed.
pub const RESULTS_MAX: usize = 64;

/// Refuses what would not take effect: a result comes to exist once, with the end of its file.
fn check_result(file: &NewFile) -> Result<(), DepotError> {
    let not = |field, why: &str| Err(DepotError::invalid(field, why));
    if file.submit_key.is_some() {
        return not("submit_key", "a result comes to exist once anyway");
    }
    if file.priority != 0 {
        return not("priority", "a result has none");
    }
    if file.deliver_at.is_some() {
        return not("deliver_at", "a result is not delayed");
    }
    if file.level.is_some() {
        return not("level", "a result is as durable as the end of its file");
    }
    if file.if_absent {
        return not("if_absent", "a result takes the place of a file of its path");
    }
    Ok(())
}

/// Streams a source into an upload.
pub(crate) fn copy(source: Source<'_>, upload: &mut Upload) -> Result<(), DepotError> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => upload.write(&buffer[..read])?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(DepotError::invalid("content", format!("it cannot be read: {error}")));
            }
        }
    }
}
