//! The exchange of order files as a part of a venue.

use crate::counts::{OrderFileCounts, add};
use crate::error::{OrderFilesOpenError, WorkError};
use crate::history::{History, HistoryOptions};
use crate::home::Homes;
use crate::member::member_of;
use crate::options::{
    BATCH_ROWS_MAX, FILE_BYTES_MAX, FileStep, OrderFileLimits, OrderFileOptions, ROWS_MAX,
};
use crate::stop::{OrderPace, StopSignal};
use crate::work::{FileEnd, FileWork, has_file};
use rialto_clock::Clock;
use rialto_depot::{Claim, ClaimOptions, ClaimToken, Depot, DepotError, TenantName};
use rialto_desk::{DeskBus, DeskConfig, Live, VenueParts};
use rialto_engine::Engine;
use rialto_model::MemberId;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// How long a worker waits for a file before it looks at the tenants again: one may have become free
/// that another worker had a file of.
const CLAIM_WAIT: Duration = Duration::from_millis(200);
/// How often directories of new members are made, and the history is compacted.
const HOUSEKEEPING_PERIOD: Duration = Duration::from_secs(1);
/// A worker that failed waits before it claims another file.
const FAILURE_PAUSE: Duration = Duration::from_millis(100);
/// The longest reason of a failed claim.
const REASON_CHARS_MAX: usize = 500;

/// The exchange of order files: its threads and the runtime of its desk.
///
/// Open it when the feed has caught up, from a thread that is not inside an async runtime; and stop
/// it before the depot is closed and the engine is shut down.
pub struct OrderFiles {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    runtime: Option<Runtime>,
}

/// What all threads of the exchange use.
pub(crate) struct Shared {
    pub(crate) depot: Depot,
    pub(crate) engine: Arc<Engine>,
    pub(crate) live: Arc<Live>,
    pub(crate) desk: DeskBus,
    pub(crate) history: History,
    pub(crate) limits: OrderFileLimits,
    pub(crate) batch_rows: usize,
    pub(crate) pace: OrderPace,
    pub(crate) counts: Arc<OrderFileCounts>,
    pub(crate) stop: StopSignal,
    pub(crate) runtime: Handle,
    pub(crate) homes: Homes,
    pub(crate) clock: Arc<dyn Clock>,
    on_step: Option<Arc<dyn Fn(FileStep) + Send + Sync>>,
    /// The tenants with a file in work.
    working: Mutex<HashSet<TenantName>>,
}

impl OrderFiles {
    /// Opens the history, ends what was completed without a record of it, and starts to work.
    ///
    /// # Errors
    /// The history cannot be read, or a limit is out of its range.
    pub fn open(
        venue: VenueParts,
        depot: Depot,
        options: OrderFileOptions,
    ) -> Result<OrderFiles, OrderFilesOpenError> {
        let limits = options.limits;
        check_limits(&limits)?;
        let history_options = HistoryOptions {
            sealing: options.sealing,
            keys: options.keys,
            salt: options.salt,
            remembered_max: limits.remembered_max,
        };
        let history = History::open(options.disk, &options.dir, history_options)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("order-files")
            .enable_time()
            .build()?;
        let desk = {
            let _inside = runtime.enter();
            DeskBus::open(venue.clone(), &DeskConfig::default())
        };
        let capacity = venue.engine.config().producer_capacity;
        let shared = Arc::new(Shared {
            depot,
            engine: venue.engine,
            live: venue.live,
            desk,
            history,
            // All batches at once fit into the connection to the engine.
            batch_rows: (capacity / limits.files_max).clamp(1, BATCH_ROWS_MAX),
            pace: OrderPace::new(limits.orders_per_second),
            limits,
            counts: Arc::default(),
            stop: StopSignal::default(),
            runtime: runtime.handle().clone(),
            homes: Homes::default(),
            clock: options.clock,
            on_step: options.on_step,
            working: Mutex::default(),
        });
        shared.end_deleted(None).map_err(|error| match error {
            WorkError::History(error) => OrderFilesOpenError::History(error),
            error => OrderFilesOpenError::Limit(error.to_string()),
        })?;
        let mut exchange = OrderFiles { shared, threads: Vec::new(), runtime: Some(runtime) };
        for _ in 0..exchange.shared.limits.files_max {
            exchange.spawn("order-file", Shared::work)?;
        }
        exchange.spawn("order-file-home", Shared::keep_house)?;
        Ok(exchange)
    }

    fn spawn(&mut self, name: &str, body: fn(&Shared)) -> Result<(), OrderFilesOpenError> {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name(name.to_owned());
        self.threads.push(thread.spawn(move || body(&shared))?);
        Ok(())
    }

    /// What was done since the opening.
    #[must_use]
    pub fn counts(&self) -> Arc<OrderFileCounts> {
        Arc::clone(&self.shared.counts)
    }

    /// The reason that no file is worked on, if the history failed.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.shared.history.failure()
    }

    /// Stops: batches that were sent are answered and recorded, and the files are given back.
    pub fn stop(&mut self) {
        self.shared.stop.set();
        for thread in self.threads.drain(..) {
            // A panic was logged by its thread.
            let _ = thread.join();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for OrderFiles {
    fn drop(&mut self) {
        self.stop();
    }
}

fn check_limits(limits: &OrderFileLimits) -> Result<(), OrderFilesOpenError> {
    let within = |name: &str, value: u64, max: u64| match (1..=max).contains(&value) {
        true => Ok(()),
        false => {
            let message = format!("{name} of order files is 1 to {max}, not {value}");
            Err(OrderFilesOpenError::Limit(message))
        }
    };
    within("file_bytes_max", limits.file_bytes_max, FILE_BYTES_MAX)?;
    within("rows_max", limits.rows_max as u64, ROWS_MAX as u64)?;
    within("files_max", limits.files_max as u64, 64)?;
    within("orders_per_second", limits.orders_per_second.into(), 1_000_000)?;
    within("remembered_max", limits.remembered_max as u64, 1_000_000)
}

impl Shared {
    pub(crate) fn step(&self, step: FileStep) {
        if let Some(on_step) = &self.on_step {
            on_step(step);
        }
    }

    pub(crate) fn check_running(&self) -> Result<(), WorkError> {
        if self.stop.is_set() { Err(WorkError::Stopping) } else { Ok(()) }
    }

    /// Ends begun contents whose files are gone: completed without a record of it, or deleted.
    pub(crate) fn end_deleted(&self, member: Option<MemberId>) -> Result<(), WorkError> {
        for (key, file) in self.history.unfinished(member)? {
            if !has_file(self, &key, file) {
                self.history.end(key)?;
            }
        }
        Ok(())
    }

    /// Works on files until the exchange stops.
    fn work(&self) {
        while !self.stop.is_set() {
            match self.claim() {
                Ok(Some(claim)) => {
                    let tenant = claim.tenant().clone();
                    self.work_on(&claim);
                    self.working().remove(&tenant);
                }
                Ok(None) => self.wait_for_file(),
                Err(error) => {
                    if !matches!(error, DepotError::Closed) {
                        tracing::warn!("no order file can be claimed: {error}");
                    }
                    let _ = self.stop.sleep(FAILURE_PAUSE);
                }
            }
        }
    }

    fn working(&self) -> std::sync::MutexGuard<'_, HashSet<TenantName>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims a file of a member, members in turn.
    fn claim(&self) -> Result<Option<Claim>, DepotError> {
        let mut working = self.working();
        let options = ClaimOptions::default();
        let claims = self
            .depot
            .claim_any(&options, |tenant| may_claim(&self.depot, &self.live, &working, tenant))?;
        let claim = claims.into_iter().next();
        working.extend(claim.as_ref().map(|claim| claim.tenant().clone()));
        Ok(claim)
    }

    fn wait_for_file(&self) {
        // The depot holds a lock while it asks, which `claim` takes behind that of this set.
        let working = self.working().clone();
        let (depot, live) = (self.depot.clone(), Arc::clone(&self.live));
        let may = move |tenant: &TenantName| may_claim(&depot, &live, &working, tenant);
        let claimable = self.depot.claimable(may);
        let waiting = async { tokio::time::timeout(CLAIM_WAIT, claimable).await.is_ok() };
        self.runtime.block_on(waiting);
    }

    /// Works on a claimed file, and renews the claim meanwhile.
    fn work_on(&self, claim: &Claim) {
        let _renewing = Renewing::start(self, claim.token());
        let Some(work) = FileWork::new(self, claim) else { return };
        let _in_work = InWork::of(&self.counts);
        let (file, tenant) = (claim.file().id, claim.tenant());
        let ran = catch_unwind(AssertUnwindSafe(|| work.run()));
        match ran.unwrap_or(Err(WorkError::Panicked)) {
            Ok(FileEnd::Answered { rows }) => {
                add(&self.counts.files_answered, 1);
                tracing::info!(%file, %tenant, rows, "an order file was answered");
            }
            Ok(FileEnd::Repeated) => {
                add(&self.counts.files_repeated, 1);
                tracing::info!(%file, %tenant, "an order file was answered before");
            }
            Ok(FileEnd::Refused { faults }) => {
                add(&self.counts.files_refused, 1);
                tracing::info!(%file, %tenant, faults, "an order file was refused");
            }
            Err(error) => self.give_back(claim, &error),
        }
    }

    /// Gives a file back whose work ended early: it goes on with the rows that have no answer.
    fn give_back(&self, claim: &Claim, error: &WorkError) {
        let token = claim.token();
        let (file, tenant) = (claim.file().id, claim.tenant());
        let given = match error {
            WorkError::Stopping => self.depot.give_back(token),
            WorkError::Depot(DepotError::ClaimLost(_) | DepotError::Closed) => return,
            error => {
                add(&self.counts.files_failed, 1);
                tracing::warn!(%file, %tenant, "an order file fails: {error}");
                let reason: String = error.to_string().chars().take(REASON_CHARS_MAX).collect();
                self.depot.fail(token, &reason, None)
            }
        };
        if let Err(error) = given {
            tracing::debug!(%file, "an order file was not given back: {error}");
        }
        if let Some(reason) = self.history.failure() {
            self.fail(&reason);
        }
    }

    /// Ends the work for good: nothing can be recorded.
    fn fail(&self, reason: &str) {
        if !self.counts.has_failed.swap(true, Ordering::Relaxed) {
            tracing::error!("no order file is worked on until the next start: {reason}");
        }
        self.stop.set();
    }

    fn keep_house(&self) {
        loop {
            self.homes.make_all(self);
            if let Err(error) = self.history.maintain(self.clock.now()) {
                self.fail(&error.to_string());
            }
            if self.stop.sleep(HOUSEKEEPING_PERIOD).is_err() {
                return;
            }
        }
    }
}

/// Counts a file as in work.
struct InWork<'a>(&'a OrderFileCounts);

impl<'a> InWork<'a> {
    fn of(counts: &'a OrderFileCounts) -> InWork<'a> {
        add(&counts.files_in_work, 1);
        InWork(counts)
    }
}

impl Drop for InWork<'_> {
    fn drop(&mut self) {
        self.0.files_in_work.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Renews a claim until it is dropped.
struct Renewing(tokio::task::JoinHandle<()>);

impl Renewing {
    fn start(shared: &Shared, token: &ClaimToken) -> Renewing {
        let (depot, token) = (shared.depot.clone(), token.clone());
        let duration = depot.options().claim_duration;
        Renewing(shared.runtime.spawn(async move {
            loop {
                tokio::time::sleep(duration / 3).await;
                if let Err(error) = depot.renew(&token, duration) {
                    // Its next step fails, and says so.
                    tracing::debug!(file = %token.file(), "a claim was not renewed: {error}");
                    return;
                }
            }
        }))
    }
}

impl Drop for Renewing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether a file of this tenant may be claimed: of a known member without one in work, whose tenant
/// accepts answers.
fn may_claim(
    depot: &Depot,
    live: &Live,
    working: &HashSet<TenantName>,
    tenant: &TenantName,
) -> bool {
    let member = member_of(tenant);
    let is_known = |member| live.read().member(member).is_some();
    !working.contains(tenant) && member.is_some_and(is_known) && depot.is_enabled(tenant.as_str())
}
