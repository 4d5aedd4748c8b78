//! What the pool does by itself, in small steps.

use crate::history::record::{Ending, Record, Stage, TenantNumber};
use crate::pool::Pool;
use crate::tenant::Tenant;
use crate::work::{Work, dead_topic, topic_of};
use crate::{DepotError, FileId};
use rialto_queue::QueueError;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time between two rounds while there is work.
const ROUND: Duration = Duration::from_millis(20);
/// The time between two rounds of a pool without work.
const IDLE_ROUND: Duration = Duration::from_millis(200);
/// The most files of a kind that a round ends or removes.
const STEP_FILES: usize = 256;

/// The threads of a pool.
pub(crate) struct Housekeeping {
    stopped: Arc<(Mutex<bool>, Condvar)>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// What a thread does in one round. Returns whether the next follows soon.
type Round = fn(&Pool) -> Result<bool, DepotError>;
/// Logs the error of a round.
type LogError = fn(&str);

/// The thread that changes records, the one that reads and writes bytes, and the one that removes
/// them, so that a device that hangs keeps no record from changing: their names, what they do, and how
/// their errors are logged.
const THREADS: [(&str, Round, LogError); 3] = [
    ("depot", housekeeping_round, |error| {
        tracing::warn!("the housekeeping of the file pool failed: {error}");
    }),
    ("depot-upkeep", Pool::keep_up, |error| {
        tracing::warn!("the upkeep of the file pool failed: {error}");
    }),
    // A removal that fails is logged where it fails.
    ("depot-removal", |pool| Ok(pool.remove_some()), |_| {}),
];

fn housekeeping_round(pool: &Pool) -> Result<bool, DepotError> {
    pool.probe_when_due();
    pool.keep_house()?;
    Ok(!pool.busy_tenants().is_empty())
}

impl Housekeeping {
    pub(crate) fn start(pool: &Arc<Pool>) -> Result<Self, DepotError> {
        let started = Self { stopped: Arc::default(), threads: Mutex::default() };
        for (name, round, failed) in THREADS {
            let (signal, pool) = (started.stopped.clone(), Arc::downgrade(pool));
            let thread = std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || run(&signal, &pool, round, failed))
                .map_err(|error| {
                    DepotError::Internal(format!("no thread can be started: {error}"))
                })?;
            started.threads().push(thread);
        }
        Ok(started)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stop(&self) {
        *self.stopped.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stopped.1.notify_all();
        let threads = std::mem::take(&mut *self.threads());
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("the housekeeping of the file pool panicked");
            }
        }
    }
}

impl Drop for Housekeeping {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(signal: &(Mutex<bool>, Condvar), pool: &Weak<Pool>, work: Round, failed: LogError) {
    let (mut last_error, mut round) = (String::new(), ROUND);
    let mut stopped = signal.0.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let waited = signal.1.wait_timeout_while(stopped, round, |stopped| !*stopped);
        (stopped, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *stopped {
            return;
        }
        drop(stopped);
        let Some(pool) = pool.upgrade() else { return };
        round = IDLE_ROUND;
        match work(&pool) {
            Ok(is_busy) => {
                last_error.clear();
                if is_busy {
                    round = ROUND;
                }
            }
            Err(error) => {
                // Told once, until it changes or passes.
                let text = error.to_string();
                if text != last_error {
                    failed(&text);
                    last_error = text;
                }
            }
        }
        drop(pool);
        stopped = signal.0.lock().unwrap_or_else(PoisonError::into_inner);
    }
}

impl Pool {
    /// Removes some bytes. Returns whether there may be more.
    pub(crate) fn remove_some(&self) -> bool {
        let garbage = self.removals.take(STEP_FILES);
        let is_all = garbage.len() < STEP_FILES;
        garbage.into_iter().for_each(|garbage| self.remove_now(garbage));
        !is_all
    }

    /// One round. An error of one part does not keep the others from their turn.
    pub(crate) fn keep_house(&self) -> Result<(), DepotError> {
        // A round of the thread and one of a caller do not meet.
        let _round = self.housekeeping.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first_error = None;
        let mut note = |result: Result<(), DepotError>| {
            if let Err(error) = result {
                first_error.get_or_insert(error);
            }
        };
        let tenants = self.busy_tenants();
        note(self.forget_ended(&tenants));
        for tenant in tenants {
            note(self.expire_work(&tenant));
            note(self.follow_dead_letters(&tenant));
            if tenant.stage() == Stage::Deleting {
                note(self.delete_step(&tenant));
            } else if tenant.files().is_idle() {
                self.note_idle(&tenant);
            } else if tenant.work().is_some_and(Work::may_deliver)
                && tenant.check("hands out no files", true).is_ok()
            {
                // Delays and claims have ended.
                self.ready.announce_again(&tenant);
            }
        }
        note(self.expire_kept());
        note(self.expire_completed());
        note(self.history.maintain(self.now()).map_err(DepotError::from));
        first_error.map_or(Ok(()), Err)
    }

    /// Ends work files that expired and are not claimed.
    fn expire_work(&self, tenant: &Arc<Tenant>) -> Result<(), DepotError> {
        let expired = tenant.files().expired(self.now(), STEP_FILES);
        for id in expired {
            match self.delete(tenant, id, Ending::Expired) {
                Ok(()) | Err(DepotError::Claimed(_) | DepotError::UnknownFile { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes kept files that expired.
    fn expire_kept(&self) -> Result<(), DepotError> {
        let now = self.now();
        let expired = self.history.read(|state| state.expired_kept(now, STEP_FILES))?;
        self.delete_all_kept(&self.with_tenants(expired), Ending::Expired)
    }

    /// Files with their tenants, without those of tenants that are gone.
    pub(crate) fn with_tenants(
        &self,
        files: Vec<(TenantNumber, FileId)>,
    ) -> Vec<(Arc<Tenant>, FileId)> {
        if files.is_empty() {
            return Vec::new();
        }
        let tenants = self.all_tenants();
        let by_number: HashMap<_, _> = tenants.iter().map(|it| (it.number, it)).collect();
        let found = files.into_iter().filter_map(|(number, id)| {
            by_number.get(&number).map(|tenant| (Arc::clone(tenant), id))
        });
        found.collect()
    }

    /// Forgets files that ended, when their acknowledgement is durable.
    fn forget_ended(&self, tenants: &[Arc<Tenant>]) -> Result<(), DepotError> {
        let mut acknowledged = Vec::new();
        for tenant in tenants {
            let Some(work) = tenant.work() else { continue };
            let ids = tenant.files().take_acknowledged();
            if !ids.is_empty() {
                acknowledged.push((tenant, work, ids));
            }
        }
        // One confirmation covers the acknowledgements of all groups of the queue.
        let confirmed =
            acknowledged.last().map_or(Ok(()), |(_, work, _)| work.consumer().confirm());
        if let Err(error) = confirmed {
            for (tenant, _, ids) in acknowledged {
                self.note_acknowledged(tenant, ids);
            }
            return Err(error.into());
        }
        for (tenant, _, ids) in acknowledged {
            self.history.adjust(|state| ids.iter().for_each(|id| drop(state.ended.remove(id))))?;
            let mut files = tenant.files();
            ids.iter().for_each(|id| files.forget_ended(*id));
        }
        Ok(())
    }

    /// Removes some files of a tenant that is being deleted, and then the tenant.
    fn delete_step(&self, tenant: &Arc<Tenant>) -> Result<(), DepotError> {
        let active: Vec<_> = {
            let files = tenant.files();
            files.after(None).take(STEP_FILES).map(|file| file.record.clone()).collect()
        };
        for record in &active {
            // Claims of a deleted tenant are lost.
            self.end(tenant, record, Ending::Deleted)?;
        }
        let kept = self.kept_files(tenant, "", None, STEP_FILES)?;
        let ids = kept.iter().map(|file| (tenant.clone(), file.record.id));
        self.delete_all_kept(&ids.collect::<Vec<_>>(), Ending::Deleted)?;
        let completed = self.retained(tenant, None, STEP_FILES)?;
        let ids = completed.iter().map(|retained| (tenant.clone(), retained.file.id));
        self.remove_all_completed(&ids.collect::<Vec<_>>())?;
        if !active.is_empty() || !kept.is_empty() || !completed.is_empty() {
            return Ok(());
        }
        let topics = [dead_topic(&tenant.name)?, topic_of(&tenant.name)];
        for topic in topics {
            match self.queue.delete_topic(&topic) {
                Ok(()) | Err(QueueError::UnknownTopic(_) | QueueError::TopicDeleted(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let number = tenant.number;
        let _changing = self.changing_tenants.lock().unwrap_or_else(PoisonError::into_inner);
        self.history
            .record(|_| Ok::<_, DepotError>(((), vec![Record::TenantDeleted { number }])))?;
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        tenants.by_name.remove(&tenant.name);
        if tenant.work().is_some() {
            self.working.fetch_sub(1, Ordering::Relaxed);
        }
        drop(tenants);
        self.forget_busy(tenant);
        Ok(())
    }
}
