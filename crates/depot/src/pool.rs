//! What the parts of a pool share.

use crate::claim::ClaimSecret;
use crate::file_id::FileIds;
use crate::history::record::{DirectorySettings, Record, Stage, TenantNumber, TenantSettings};
use crate::history::{Garbage, History, TenantState};
use crate::name::{Directory, TenantName};
use crate::new_tenant::NewTenant;
use crate::options::DepotOptions;
use crate::quota::{Quota, Usage};
use crate::rate::Rate;
use crate::ready::ReadyTenants;
use crate::record::FileRecord;
use crate::removal::Removals;
use crate::tenant::Tenant;
use crate::upkeep::Upkeep;
use crate::volume::Volumes;
use crate::watcher::Watches;
use crate::work::Work;
use crate::{DepotError, DirectoryKind, FileId};
use rialto_clock::{Clock, Timestamp};
use rialto_disk::DirLock;
use rialto_queue::Queue;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

#[derive(Default)]
pub(crate) struct TenantTable {
    pub(crate) by_name: HashMap<TenantName, Arc<Tenant>>,
}

/// How long the closing of a pool removes bytes that nothing refers to.
const REMOVING_MAX: Duration = Duration::from_secs(5);

/// Everything of a pool that its callers and its housekeeping share.
pub(crate) struct Pool {
    pub(crate) options: DepotOptions,
    pub(crate) queue: Queue,
    pub(crate) history: History,
    pub(crate) volumes: Volumes,
    pub(crate) tenants: RwLock<TenantTable>,
    /// Taken while tenants come, change and go.
    pub(crate) changing_tenants: Mutex<()>,
    /// Taken for a round of housekeeping.
    pub(crate) housekeeping: Mutex<()>,
    pub(crate) ready: ReadyTenants,
    /// The tenants that housekeeping visits: they have work files, or ends to be forgotten.
    busy: Mutex<HashMap<TenantNumber, Arc<Tenant>>>,
    pub(crate) removals: Removals,
    pub(crate) upkeep: Upkeep,
    pub(crate) watches: Watches,
    /// The rate of all tenants.
    pub(crate) rate: Rate,
    /// The tenants with an open work queue.
    pub(crate) working: AtomicUsize,
    pub(crate) is_closed: AtomicBool,
    /// Whether closing failed: what was not durable then may be lost.
    pub(crate) is_close_failed: AtomicBool,
    /// Whether new files are refused because the disk has little room.
    pub(crate) is_refusing: AtomicBool,
    ids: FileIds,
    _lock: Box<dyn DirLock>,
}

impl Pool {
    pub(crate) fn new(
        options: DepotOptions,
        lock: Box<dyn DirLock>,
        queue: Queue,
        history: History,
        volumes: Volumes,
        upkeep: Upkeep,
    ) -> Self {
        let mut opening = [0; 8];
        opening.copy_from_slice(&(options.salt)()[..8]);
        let opening = u64::from_le_bytes(opening);
        Self {
            watches: Watches::new(&options.watcher),
            rate: Rate::default(),
            options,
            queue,
            history,
            volumes,
            tenants: RwLock::default(),
            changing_tenants: Mutex::default(),
            housekeeping: Mutex::default(),
            ready: ReadyTenants::default(),
            busy: Mutex::default(),
            removals: Removals::default(),
            upkeep,
            working: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            is_close_failed: AtomicBool::new(false),
            is_refusing: AtomicBool::new(false),
            ids: FileIds::new(opening),
            _lock: lock,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// The random bits of a new claim.
    pub(crate) fn claim_secret(&self) -> ClaimSecret {
        ClaimSecret(u128::from_le_bytes((self.options.salt)()))
    }

    pub(crate) fn next_id(&self) -> FileId {
        self.ids.next(self.now())
    }

    pub(crate) fn check_open(&self) -> Result<(), DepotError> {
        if self.is_closed.load(Ordering::Acquire) { Err(DepotError::Closed) } else { Ok(()) }
    }

    /// Refuses a new file while the disk has little room.
    pub(crate) fn check_room(&self) -> Result<(), DepotError> {
        match self.is_refusing.load(Ordering::Relaxed) {
            true => Err(DepotError::StorageLow),
            false => Ok(()),
        }
    }

    pub(crate) fn check_file_bytes(&self, bytes: u64) -> Result<(), DepotError> {
        let max = self.options.file_bytes_max;
        if bytes > max { Err(DepotError::TooLarge { max }) } else { Ok(()) }
    }

    /// A tenant in memory.
    pub(crate) fn find_tenant(&self, name: &str) -> Option<Arc<Tenant>> {
        self.look_at_tenant(name, Arc::clone)
    }

    /// Looks at a tenant in memory while no tenant can come or go. It spares the counting of a
    /// reference, which costs as much as the rest of a short look.
    pub(crate) fn look_at_tenant<T>(
        &self,
        name: &str,
        look: impl FnOnce(&Arc<Tenant>) -> T,
    ) -> Option<T> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        let tenant = tenants.by_name.get(name)?;
        if !tenant.is_looked_up.load(Ordering::Relaxed) {
            tenant.is_looked_up.store(true, Ordering::Release);
        }
        Some(look(tenant))
    }

    pub(crate) fn tenant(&self, name: &TenantName) -> Result<Arc<Tenant>, DepotError> {
        self.check_open()?;
        self.find_tenant(name.as_str()).ok_or_else(|| DepotError::UnknownTenant(name.clone()))
    }

    pub(crate) fn all_tenants(&self) -> Vec<Arc<Tenant>> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        tenants.by_name.values().cloned().collect()
    }

    /// Has housekeeping visit a tenant, until it has nothing to do there.
    pub(crate) fn note_busy(&self, tenant: &Arc<Tenant>) {
        if !tenant.is_busy.swap(true, Ordering::AcqRel) {
            let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
            busy.insert(tenant.number, tenant.clone());
        }
    }

    /// The messages of ended files were acknowledged.
    pub(crate) fn note_acknowledged(
        &self,
        tenant: &Arc<Tenant>,
        ids: impl IntoIterator<Item = FileId>,
    ) {
        tenant.files().note_acknowledged(ids);
        self.note_busy(tenant);
    }

    pub(crate) fn busy_tenants(&self) -> Vec<Arc<Tenant>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Ends the visits to a tenant without work files.
    pub(crate) fn note_idle(&self, tenant: &Tenant) {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        tenant.is_busy.store(false, Ordering::Release);
        // A file that arrives behind this look is noted again.
        if tenant.files().is_idle() {
            busy.remove(&tenant.number);
        } else {
            tenant.is_busy.store(true, Ordering::Release);
        }
    }

    /// Ends the visits to a tenant that is gone.
    pub(crate) fn forget_busy(&self, tenant: &Tenant) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&tenant.number);
    }

    /// The tenant of a new file, created if the pool does that.
    pub(crate) fn tenant_of_file(&self, name: &TenantName) -> Result<Arc<Tenant>, DepotError> {
        Ok(self.find_or_create(name)?.0)
    }

    /// The same, and what removes the tenant again if the file is refused.
    pub(crate) fn tenant_of_upload(
        self: &Arc<Self>,
        name: &TenantName,
    ) -> Result<(Arc<Tenant>, Option<NewTenant>), DepotError> {
        let (tenant, is_new) = self.find_or_create(name)?;
        let new = is_new.then(|| NewTenant::new(self.clone(), tenant.clone()));
        Ok((tenant, new))
    }

    /// A tenant, and whether this call created it.
    fn find_or_create(&self, name: &TenantName) -> Result<(Arc<Tenant>, bool), DepotError> {
        match self.tenant(name) {
            Err(DepotError::UnknownTenant(_)) if self.options.create_tenants => {}
            found => return Ok((found?, false)),
        }
        match self.create_tenant(name, Quota::default()) {
            Ok(tenant) => Ok((tenant, true)),
            // Another thread was faster.
            Err(DepotError::TenantExists(_)) => Ok((self.tenant(name)?, false)),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn create_tenant(
        &self,
        name: &TenantName,
        quota: Quota,
    ) -> Result<Arc<Tenant>, DepotError> {
        self.create_tenant_of(name, quota, DirectoryKind::Work)
    }

    /// Creates a tenant whose root directory is of this kind.
    pub(crate) fn create_tenant_of(
        &self,
        name: &TenantName,
        quota: Quota,
        kind: DirectoryKind,
    ) -> Result<Arc<Tenant>, DepotError> {
        self.check_open()?;
        let _changing = self.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        if self.find_tenant(name.as_str()).is_some() {
            return Err(DepotError::TenantExists(name.clone()));
        }
        let limit = self.options.tenants_max;
        let created_at = self.now();
        let changed = self.history.record(|state| {
            if state.tenants.len() >= limit {
                return Err(DepotError::TooMany { what: "tenants", limit });
            }
            let number = state.next_tenant();
            let settings = TenantSettings { stage: Stage::Enabled, quota };
            let name = name.clone();
            // One record: after a crash the tenant is a shelf, or is not there.
            let record = match kind {
                DirectoryKind::Work => Record::Tenant { number, name, created_at, settings },
                DirectoryKind::Shelf => Record::Shelf { number, name, created_at, settings },
            };
            Ok((number, vec![record]))
        })?;
        let usage = Usage::new(quota);
        let tenant =
            Arc::new(Tenant::new(changed.value, name.clone(), created_at, Stage::Enabled, usage));
        if kind == DirectoryKind::Shelf {
            tenant.set_directory(Directory::root(), DirectorySettings::shelf(), || (0, 0));
        }
        self.insert_tenant(tenant.clone());
        Ok(tenant)
    }

    pub(crate) fn insert_tenant(&self, tenant: Arc<Tenant>) {
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        tenants.by_name.insert(tenant.name.clone(), tenant);
    }

    /// The work queue of a tenant, made with its first file.
    pub(crate) fn work_of<'t>(&self, tenant: &'t Tenant) -> Result<&'t Work, DepotError> {
        if let Some(work) = tenant.work() {
            return Ok(work);
        }
        let _changing = self.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        // Its topic may be deleted already, and would come back with the files of a deleted tenant.
        if tenant.stage() == Stage::Deleting {
            tenant.check("accepts no files", true)?;
        }
        tenant.work_or_open(|| {
            let limit = self.options.working_tenants_max;
            if self.working.load(Ordering::Relaxed) >= limit {
                return Err(DepotError::TooMany { what: "tenants with a work queue", limit });
            }
            let work = Work::open(&self.queue, &tenant.name, &self.options)?;
            self.working.fetch_add(1, Ordering::Relaxed);
            Ok(work)
        })
    }

    /// The file that was accepted under a submit key, and is kept or gone.
    pub(crate) fn submitted_before(
        &self,
        tenant: &Tenant,
        key: &str,
    ) -> Result<Option<(FileId, u64)>, DepotError> {
        Ok(self.history.read(|state| state.submitted(tenant.number, key))?)
    }

    pub(crate) fn kept_by_id(
        &self,
        tenant: &Tenant,
        id: FileId,
    ) -> Result<Option<Arc<FileRecord>>, DepotError> {
        Ok(self.history.read(|state| {
            // Most tenants keep no files, and need no look into the index.
            let keeps = |known: &TenantState| known.kept.files > 0;
            let keeps = state.tenants.get(&tenant.number).is_some_and(keeps);
            keeps.then(|| state.kept_by_id(tenant.number, id)).flatten()
        })?)
    }

    pub(crate) fn kept_by_path(
        &self,
        tenant: &Tenant,
        path: &str,
    ) -> Result<Option<Arc<FileRecord>>, DepotError> {
        Ok(self.history.read(|state| state.kept(tenant.number, path))?)
    }

    /// Removes bytes without a record, soon.
    pub(crate) fn remove_bytes(&self, garbage: impl IntoIterator<Item = Garbage>) {
        for garbage in garbage {
            if let Some(garbage) = self.removals.add(garbage) {
                self.remove_now(garbage);
            }
        }
    }

    /// Removes bytes. A failure is logged: they are then found as bytes without a record.
    /// Removes what still waits when the pool is closed: the old bytes of a file that moved are in no
    /// record. What takes too long is left to the search for bytes without a record.
    pub(crate) fn remove_the_rest(&self) {
        let begun = Instant::now();
        for garbage in self.removals.take(usize::MAX) {
            if begun.elapsed() > REMOVING_MAX {
                tracing::warn!("bytes of files that are gone are left; a later search finds them");
                return;
            }
            self.remove_now(garbage);
        }
    }

    pub(crate) fn remove_now(&self, Garbage { id, volume }: Garbage) {
        if let Err(error) = self.volumes.remove(id, volume) {
            tracing::warn!(file = %id, volume = volume.0, "bytes were not removed: {error}");
        }
    }

    /// The settings of a tenant as history has them, changed and recorded.
    pub(crate) fn change_tenant(
        &self,
        tenant: &Tenant,
        change: impl FnOnce(&mut TenantSettings),
    ) -> Result<TenantSettings, DepotError> {
        let number: TenantNumber = tenant.number;
        let changed = self.history.record(|state| {
            let found = state.tenants.get(&number);
            let Some(known) = found.filter(|known| known.name.is_some()) else {
                return Err(DepotError::UnknownTenant(tenant.name.clone()));
            };
            let mut settings = known.settings.clone();
            change(&mut settings);
            let record = Record::Tenant {
                number,
                name: tenant.name.clone(),
                created_at: known.created_at,
                settings: settings.clone(),
            };
            Ok((settings, vec![record]))
        })?;
        Ok(changed.value)
    }
}
