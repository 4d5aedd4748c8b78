//! The service: starts runs, one at a time, and lists them.

use crate::error::{StatementsOpenError, busy, of_flows, of_store};
use crate::flow::{StatementFlow, outcome_of};
use crate::maker::Maker;
use crate::run::{RunCause, RunStage, StatementRun};
use crate::schedule::DayTime;
use crate::utc;
use crate::worker::Worker;
use rialto_bus::Result;
use rialto_depot::Depot;
use rialto_desk::VenueParts;
use rialto_flow::store::{RunFilter, RunStanding, RunSummary, Store, StoreError};
use rialto_flow::{Clock, Flow, FlowId, Flows, FlowsError, Options};
use rialto_model::{Seq, Timestamp};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The settings of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementSettings {
    /// The time of the day at which they are made.
    pub at: DayTime,
    /// How long a request waits for the end of a run; the answer then has it as it stands.
    pub answer_within: Duration,
    /// How many statements are written at once. Each takes about 4 MiB of memory, and each group of
    /// as many members one reading of the events.
    pub members_per_pass: usize,
    /// By how much the priority of the thread that makes them is lowered, on Linux: 0 to 19.
    pub nice: u8,
}

impl Default for StatementSettings {
    fn default() -> StatementSettings {
        StatementSettings {
            at: DayTime::default(),
            answer_within: Duration::from_secs(10),
            members_per_pass: 16,
            nice: 10,
        }
    }
}

/// The service of statements. Call it through a [`StatementsBus`](crate::StatementsBus).
///
/// Dropping it stops a run; the next one resumes it.
pub struct StatementService {
    /// Taken when this is dropped, before the thread of statements ends.
    flows: Option<Flows>,
    settings: StatementSettings,
    clock: Arc<dyn Clock>,
    live: Arc<rialto_desk::Live>,
    stop: Arc<AtomicBool>,
    worker: Arc<Worker>,
    /// Locked while a run is begun, so that there is one at a time.
    starting: Mutex<()>,
}

impl StatementService {
    /// Opens the store, and resumes a run that was unfinished.
    ///
    /// # Errors
    /// If the store cannot be read, or no thread can be started.
    pub fn open(
        store: Arc<dyn Store>,
        venue: VenueParts,
        depot: Depot,
        settings: StatementSettings,
        options: Options,
    ) -> std::result::Result<StatementService, StatementsOpenError> {
        let stop = Arc::new(AtomicBool::new(false));
        let worker = Worker::start(settings.nice).map_err(StatementsOpenError::Thread)?;
        let worker = Arc::new(worker);
        let VenueParts { engine, live, .. } = venue;
        let maker = Maker {
            depot,
            live: Arc::clone(&live),
            stop: Arc::clone(&stop),
            members_per_pass: settings.members_per_pass,
        };
        let flow =
            StatementFlow { maker, engine, store: Arc::clone(&store), worker: Arc::clone(&worker) };
        let clock = Arc::clone(&options.clock);
        let flows = Flows::builder(store).register(flow).options(options).open()?;
        let (flows, starting) = (Some(flows), Mutex::default());
        Ok(StatementService { flows, settings, clock, live, stop, worker, starting })
    }

    fn flows(&self) -> &Flows {
        self.flows.as_ref().expect("it is there until this is dropped")
    }

    /// The failure that stopped the runs, if any.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let died = "the thread of statements panicked: a defect; its message was printed";
        let failed = self.flows().failure().map(|error| error.to_string());
        failed.or_else(|| self.worker.has_died().then(|| died.to_owned()))
    }

    /// Begins the run of the day if it is due: the time of the day has come since the last one, here
    /// or while the venue was down. Returns whether it began one.
    ///
    /// # Errors
    /// The store refused or failed.
    pub fn start_due(&self) -> std::result::Result<bool, FlowsError> {
        let due = self.settings.at.last_before(self.clock.now());
        let id = FlowId::new(&format!("daily-{}", utc::day(due))).map_err(of_id)?;
        let _door = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.flows().store().number_of(&id)?.is_some() || self.is_running()? {
            return Ok(false);
        }
        // Without a command before that time, there is nothing that it would cover.
        let is_younger = self.first_time().is_none_or(|first| first > due);
        if is_younger && self.newest(1)?.is_empty() {
            return Ok(false);
        }
        self.flows().start::<StatementFlow>(id, RunCause::Daily { due })?.confirmed().wait()?;
        Ok(true)
    }

    /// The time of the oldest command whose events are there.
    fn first_time(&self) -> Option<Timestamp> {
        let mut events = self.live.events(Seq::ZERO);
        let oldest = events.oldest();
        events = self.live.events(oldest);
        let batch = events.try_next().ok()??;
        batch.iter().next().and_then(|record| record.decode().ok()).map(|(time, _)| time)
    }

    fn is_running(&self) -> std::result::Result<bool, StoreError> {
        let running = RunFilter {
            flow: Some(StatementFlow::NAME.to_owned()),
            standing: Some(RunStanding::Unfinished),
        };
        Ok(!self.flows().store().list(&running, None, 1)?.is_empty())
    }

    /// Begins a run, and waits for its end.
    pub(crate) async fn run_now(&self) -> Result<StatementRun> {
        let at = self.clock.now();
        let handle = {
            let _door = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_running().map_err(of_store)? {
                return Err(busy());
            }
            let id = FlowId::new(&format!("demand-{at}")).map_err(of_id).map_err(of_flows)?;
            self.flows().start::<StatementFlow>(id, RunCause::Demand { at }).map_err(of_flows)?
        };
        // Its end, whatever it is, is in the store.
        let _ = tokio::time::timeout(self.settings.answer_within, handle.join()).await;
        let run = self.flows().find(&handle.id()).map_err(of_store)?;
        let run = run.ok_or_else(|| of_flows(FlowsError::Unknown(handle.id())))?;
        Ok(shown(&run))
    }

    /// The last runs, newest first.
    pub(crate) fn runs(&self, limit: usize) -> Result<Vec<StatementRun>> {
        let mut runs = Vec::new();
        for run in self.newest(limit).map_err(of_store)? {
            if let Some(stored) = self.flows().find(&run.id).map_err(of_store)? {
                runs.push(shown(&stored));
            }
        }
        Ok(runs)
    }

    fn newest(&self, limit: usize) -> std::result::Result<Vec<RunSummary>, StoreError> {
        let ours = RunFilter { flow: Some(StatementFlow::NAME.to_owned()), standing: None };
        let mut newest: Vec<RunSummary> = Vec::new();
        loop {
            let after = newest.last().map(|run| run.run);
            let page = self.flows().list(&ours, after, PAGE)?;
            let is_last = page.len() < PAGE;
            newest.extend(page);
            if is_last {
                break;
            }
        }
        newest.reverse();
        newest.truncate(limit);
        Ok(newest)
    }
}

impl Drop for StatementService {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // The flows first: what a step still does must not be recorded as its failure.
        self.flows = None;
        self.worker.stop();
    }
}

/// The number of runs that are read at once.
const PAGE: usize = 1_000;

fn of_id(error: rialto_flow::FlowIdError) -> FlowsError {
    FlowsError::Options(error.to_string())
}

fn shown(run: &rialto_flow::store::StoredRun) -> StatementRun {
    let stage = match outcome_of(run) {
        Ok(None) => RunStage::Running,
        Ok(Some(outcome)) => RunStage::Completed(outcome),
        Err(reason) => RunStage::Failed(reason),
    };
    let (id, started) = (run.id.to_string(), run.started);
    StatementRun { id, started, ended: run.ended.map(|end| end.at), stage }
}
