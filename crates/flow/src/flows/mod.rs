//! Running flows.

mod builder;
mod handle;
mod live;
mod operate;
mod options;
mod outside;
pub(crate) mod ready;
mod work;

pub use builder::FlowsBuilder;
pub use handle::{Confirmation, Handle};
pub use options::Options;

use crate::error::{FlowsError, Parked};
use crate::flow::{AnyFlow, Execution, Flow, execute};
use crate::history::{self, Ending, Entry};
use crate::observe::Observed;
use crate::run::{Run, RunState, Services, is_polling, put, spare};
use crate::store::{Begun, FencingToken, NewRun, RunNumber, Store, StoreError, StoredRun, Ticket};
use crate::{FlowId, Timestamp};
use live::Live;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::thread::JoinHandle;
use work::Worker;

/// Runs flows over a store. Clones share one runtime, which stops when the last of them is dropped:
/// runs in progress stay in the store and are resumed by the next runtime.
#[derive(Clone)]
pub struct Flows {
    /// Ends the runtime when the last clone goes.
    threads: Arc<Threads>,
}

/// A run that was requested.
pub(crate) enum Target {
    /// It is in progress here.
    Live(Arc<Run>),
    Ended(Ending),
}

/// The shared state of a runtime.
pub(crate) struct Inner {
    store: Arc<dyn Store>,
    fence: FencingToken,
    options: Options,
    services: Arc<Services>,
    flows: Vec<Arc<dyn AnyFlow>>,
    /// The runs in progress here. Locked before the store.
    live: Mutex<Live>,
    timers: Mutex<BTreeSet<(Timestamp, RunNumber)>>,
    /// The last ticket that the store gave.
    taken: AtomicU64,
    confirmations: Mutex<Vec<(Ticket, Waker)>>,
    /// When the lease was last renewed.
    renewed: AtomicU64,
    stopping: AtomicBool,
    failed: OnceLock<StoreError>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks runs code of the user.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Flows {
    fn inner(&self) -> &Arc<Inner> {
        &self.threads.inner
    }

    /// A builder, to register flows with.
    pub fn builder(store: Arc<dyn Store>) -> FlowsBuilder {
        FlowsBuilder::new(store)
    }

    /// Starts a run. If there is one of this id already, with the same flow and input, returns its
    /// handle. It is not run again, for as long as the store keeps it.
    ///
    /// When this returns, the run has begun in this process. [`Handle::confirmed`] returns when it
    /// survives the process.
    pub fn start<F: Flow>(
        &self,
        id: FlowId,
        input: F::Input,
    ) -> Result<Handle<F::Output>, FlowsError> {
        let target = self.inner().begin::<F>(id, input, None)?;
        Ok(Handle::new(self.clone(), id, target))
    }

    /// A handle to a run that was started before, if the store still has it.
    pub fn handle<F: Flow>(&self, id: FlowId) -> Result<Option<Handle<F::Output>>, FlowsError> {
        let Some(stored) = self.inner().store.find(&id)? else { return Ok(None) };
        if *stored.flow != *F::NAME {
            let what = format!("of flow `{}`", stored.flow);
            return Err(FlowsError::Conflict { id, what });
        }
        let live = lock(&self.inner().live);
        let target = self.inner().target(&live, &stored)?;
        drop(live);
        Ok(Some(Handle::new(self.clone(), id, target)))
    }

    /// Gives an event to a run, which keeps it until it waits for it.
    pub fn deliver<T: Serialize>(
        &self,
        id: FlowId,
        event: &str,
        payload: &T,
    ) -> Result<Confirmation, FlowsError> {
        let ticket = self.inner().deliver(&id, event, payload)?;
        Ok(Confirmation::new(self.clone(), ticket))
    }

    /// Cancels a run: a step that is being executed finishes, waits and pauses are interrupted, and
    /// finished steps are undone. A second cancel has no effect.
    pub fn cancel(&self, id: FlowId) -> Result<Confirmation, FlowsError> {
        let ticket = self.inner().cancel(&id)?;
        Ok(Confirmation::new(self.clone(), ticket))
    }

    /// The failure that stopped the runtime, if any: the store has failed, or another worker has
    /// taken over.
    #[must_use]
    pub fn failure(&self) -> Option<StoreError> {
        self.inner().failure()
    }

    /// The number of unfinished runs in this process.
    #[must_use]
    pub fn live(&self) -> usize {
        lock(&self.inner().live).len()
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner().store
    }

    /// Works on the calling thread until every run waits for an event, a time, or something outside.
    /// Meant for runtimes without worker threads; with them, it helps.
    pub fn run_until_idle(&self) -> Result<(), StoreError> {
        Worker::new(self.inner().clone()).until_idle()
    }

    /// The next timer of a run.
    #[must_use]
    pub fn next_timer(&self) -> Option<Timestamp> {
        lock(&self.inner().timers).first().map(|(at, _)| *at)
    }
}

/// The worker threads; dropping them ends the runtime.
struct Threads {
    inner: Arc<Inner>,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

impl Drop for Threads {
    fn drop(&mut self) {
        let inner = &*self.inner;
        inner.stopping.store(true, Ordering::Release);
        inner.services.ready.ring();
        let here = std::thread::current().id();
        for handle in lock(&self.handles).drain(..).filter(|handle| handle.thread().id() != here) {
            // A worker that panicked has left its runs unfinished; the next runtime resumes them.
            let _ = handle.join();
        }
        inner.stop();
        inner.store.leave(inner.fence);
    }
}

impl Inner {
    /// Ends all executions, and wakes their waiters.
    fn stop(&self) {
        self.services.stopped.store(true, Ordering::Release);
        self.stopping.store(true, Ordering::Release);
        let runs = lock(&self.live).take_all();
        for run in runs {
            run.uninstall();
            let waiters = std::mem::take(&mut run.state().waiters);
            waiters.into_iter().for_each(Waker::wake);
        }
        let confirmations = std::mem::take(&mut *lock(&self.confirmations));
        confirmations.into_iter().for_each(|(_, waker)| waker.wake());
        self.services.ready.ring();
    }

    /// Remembers the first failure of the store and stops.
    fn fail(&self, error: StoreError) {
        if self.failed.set(error.clone()).is_ok() {
            tracing::error!("no flow goes on, because their store failed: {error}");
        }
        self.stop();
    }

    /// The failure that stopped the runtime, if any.
    fn failure(&self) -> Option<StoreError> {
        let stopped = self.stopping.load(Ordering::Acquire);
        let stopped = stopped.then(|| StoreError::Failed { reason: "it was stopped".to_owned() });
        self.failed.get().cloned().or(stopped)
    }

    fn took(&self, ticket: Ticket) {
        if self.services.at_once {
            // No caller waits for a confirmation.
            return;
        }
        self.taken.fetch_max(ticket.0, Ordering::AcqRel);
    }

    /// A store that fails here fails for good: its next use reports the error and stops the runtime.
    pub(crate) fn number_of(&self, id: &FlowId) -> Option<RunNumber> {
        self.store.number_of(id).ok().flatten()
    }

    fn registered<F: Flow>(&self) -> Result<Arc<F>, FlowsError> {
        let flow = self.flows.iter().find(|flow| flow.name() == F::NAME);
        flow.and_then(|flow| flow.clone().into_any().downcast().ok())
            .ok_or_else(|| FlowsError::NotRegistered(F::NAME.to_owned()))
    }

    pub(crate) fn begin_child<F: Flow>(
        &self,
        id: FlowId,
        input: F::Input,
        parent: RunNumber,
    ) -> Result<Target, FlowsError> {
        self.begin::<F>(id, input, Some(parent))
    }

    fn begin<F: Flow>(
        &self,
        id: FlowId,
        input: F::Input,
        parent: Option<RunNumber>,
    ) -> Result<Target, FlowsError> {
        let flow = self.registered::<F>()?;
        let mut encoded = spare::buffer();
        self.encode_into(&input, &mut encoded)?;
        let begun = self.begin_encoded(id, (F::NAME, F::VERSION), &encoded, parent, |run| {
            Ok(execute(flow, run, input))
        });
        spare::give_back(encoded);
        begun
    }

    fn begin_encoded(
        &self,
        id: FlowId,
        code: (&'static str, u32),
        encoded: &[u8],
        parent: Option<RunNumber>,
        execute: impl FnOnce(Arc<Run>) -> Result<Execution, String>,
    ) -> Result<Target, FlowsError> {
        if let Some(failure) = self.failure() {
            return Err(failure.into());
        }
        let at = self.options.clock.now();
        let (flow, version) = code;
        let new = NewRun { id, flow, version, parent, at, input: encoded };
        // A run must be live before others can find it in the store.
        let mut live = lock(&self.live);
        match self.store.begin(self.fence, new)? {
            Begun::New { run, ticket } => {
                let state = RunState::new(at, encoded.len());
                let run = Run::new(run, id, code, self.services.clone(), state);
                live.insert(run.clone());
                drop(live);
                self.took(ticket);
                let execution = execute(run.clone());
                self.observe_beginning(&run, at, false);
                let is_inline = self.services.at_once
                    && self.options.start_inline
                    && parent.is_none()
                    && !is_polling();
                match execution {
                    Ok(execution) if is_inline => self.execute_inline(&run, execution),
                    Ok(execution) => {
                        run.install(execution);
                        run.clone().requeue();
                    }
                    Err(reason) => {
                        run.park(Parked::Unreadable { id, flow: flow.to_owned(), reason });
                        run.clone().requeue();
                    }
                }
                Ok(Target::Live(run))
            }
            Begun::Known(stored) => {
                let what = if *stored.flow != *flow {
                    Some(format!("of flow `{}`", stored.flow))
                } else if stored.input != encoded {
                    Some("with another input".to_owned())
                } else {
                    None
                };
                match what {
                    Some(what) => Err(FlowsError::Conflict { id, what }),
                    None => self.target(&live, &stored),
                }
            }
        }
    }

    fn observe_beginning(&self, run: &Run, at: Timestamp, resumed: bool) {
        if let Some(observer) = &self.options.observer {
            let (flow, version) = (run.flow, run.version);
            let began = Observed::Began { flow, version, resumed };
            observer.observe(run.number, &run.id, at, began);
        }
    }

    fn target(&self, live: &Live, stored: &StoredRun) -> Result<Target, FlowsError> {
        // An ended run is still among the live ones until its end is confirmed.
        if let Some(run) = live.get(stored.run) {
            return Ok(Target::Live(run.clone()));
        }
        let last = history::entries(&stored.history).filter_map(Result::ok).last();
        match last {
            Some(Entry::Ended { ending, .. }) => Ok(Target::Ended(ending)),
            _ => Err(FlowsError::NotRunning(stored.id)),
        }
    }

    fn encode(&self, value: &impl Serialize) -> Result<Vec<u8>, FlowsError> {
        let mut encoded = Vec::with_capacity(64);
        self.encode_into(value, &mut encoded)?;
        Ok(encoded)
    }

    /// Encodes a value into an empty buffer.
    fn encode_into(&self, value: &impl Serialize, encoded: &mut Vec<u8>) -> Result<(), FlowsError> {
        put(value, encoded).map_err(|error| FlowsError::Codec(error.to_string()))?;
        let limit = self.options.payload_bytes_max;
        let bytes = encoded.len();
        if bytes > limit { Err(FlowsError::TooLarge { bytes, limit }) } else { Ok(()) }
    }

    /// Claims unfinished runs that no worker holds, up to the limit of executed runs.
    fn claim(&self, now: Timestamp) -> Result<(), StoreError> {
        let room = self.options.executions_max.saturating_sub(lock(&self.live).len());
        if room == 0 {
            return Ok(());
        }
        for stored in self.store.claim(self.fence, now, room)? {
            let run = self.resume(&stored, now);
            lock(&self.live).insert(run.clone());
            self.observe_beginning(&run, now, true);
            if run.state().parked.is_none() {
                run.requeue();
            }
        }
        Ok(())
    }

    fn resume(&self, stored: &StoredRun, now: Timestamp) -> Arc<Run> {
        let flow = self.flows.iter().find(|flow| *flow.name() == *stored.flow);
        let code = flow.map_or(("", 0), |flow| (flow.name(), flow.version()));
        let state = RunState::new(now, 0);
        let run = Run::new(stored.run, stored.id, code, self.services.clone(), state);
        self.load(&run, stored);
        run
    }

    /// Resumes a run from its history, or parks it if the code does not match.
    fn load(&self, run: &Arc<Run>, stored: &StoredRun) {
        let id = stored.id;
        let flow = self.flows.iter().find(|flow| *flow.name() == *stored.flow);
        let name = || stored.flow.to_string();
        let state = RunState::resumed(stored.started, stored.input.len(), &stored.history);
        let unreadable = state.map(|state| run.resume(state)).err();
        let parked = match (flow, unreadable) {
            (None, _) => Some(Parked::UnknownFlow { id, flow: name() }),
            (_, Some(reason)) => Some(Parked::Unreadable { id, flow: name(), reason }),
            (Some(flow), None) if flow.version() != stored.version => Some(Parked::Version {
                id,
                flow: name(),
                recorded: stored.version,
                present: flow.version(),
            }),
            (Some(flow), None) => match flow.clone().execute(run.clone(), &stored.input) {
                Ok(execution) => {
                    run.install(execution);
                    None
                }
                Err(reason) => Some(Parked::Unreadable { id, flow: name(), reason }),
            },
        };
        if let Some(parked) = parked {
            run.park(parked);
        }
    }
}
