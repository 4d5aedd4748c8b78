//! The service: starts flows, delivers decisions to them, and answers queries.

use crate::error::{PaymentsOpenError, bad_id, conflict, decided, of_flows, stopped, unknown};
use crate::flow::{DECISION, Ended, WithdrawalFlow, state_after};
use crate::index::{WithdrawalFilter, WithdrawalIndex};
use crate::request::{ListWithdrawals, Requested, Withdrawals};
use crate::tally::Tally;
use crate::withdrawal::{
    Decision, DeliveredDecision, State, Withdrawal, WithdrawalFailure, WithdrawalId,
};
use rialto_bus::Result;
use rialto_desk::{DeskBus, Refused};
use rialto_flow::history::{self, Ending, Entry};
use rialto_flow::store::{RunFilter, Store, StoreError, StoredRun};
use rialto_flow::{Flow, FlowError, Flows, FlowsError, Options, Parked};
use rialto_model::{Attribution, Transfer};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// The settings of withdrawals.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a withdrawal may be pending before it is released.
    pub expires_after: Duration,
    /// How long a request waits for the engine; the answer then has the present state.
    pub answer_within: Duration,
    /// The number of ended withdrawals that are shown and known by their references. The store
    /// should keep as many.
    pub ended_max: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            expires_after: Duration::from_secs(3 * 24 * 3_600),
            answer_within: Duration::from_secs(5),
            ended_max: 100_000,
        }
    }
}

/// The service of withdrawals. Call it through a [`PaymentsBus`](crate::PaymentsBus).
///
/// Dropping it stops the flows; the next one resumes them.
pub struct WithdrawalService {
    flows: Flows,
    index: Arc<WithdrawalIndex>,
    settings: Settings,
    /// Locked while a request is looked up, so that of two equal requests at once one is a
    /// repetition.
    starting: Mutex<()>,
}

impl WithdrawalService {
    /// Opens the store: ended withdrawals are shown, and unfinished ones are resumed.
    ///
    /// # Errors
    /// If the store cannot be read, or has a form that this program does not know.
    pub fn open(
        store: Arc<dyn Store>,
        desk: Arc<DeskBus>,
        settings: Settings,
        options: Options,
    ) -> std::result::Result<WithdrawalService, PaymentsOpenError> {
        let index = Arc::new(WithdrawalIndex::new(settings.ended_max));
        let ours = RunFilter { flow: Some(WithdrawalFlow::NAME.to_owned()), standing: None };
        let mut last = None;
        loop {
            let page = store.list(&ours, last, PAGE)?;
            let Some(newest) = page.last() else { break };
            last = Some(newest.run);
            for run in &page {
                let Some(stored) = store.find(&run.id)? else { continue };
                let withdrawal = shown(&stored).map_err(|reason| {
                    PaymentsOpenError::Unreadable { id: run.id.to_string(), reason }
                })?;
                index.recall(run.run, &withdrawal);
            }
        }
        let flow = WithdrawalFlow {
            desk,
            index: Arc::clone(&index),
            expires_after: settings.expires_after,
        };
        let flows = Flows::builder(store).register(flow).options(options).open()?;
        Ok(WithdrawalService { flows, index, settings, starting: Mutex::default() })
    }

    /// Adopts withdrawals that the engine holds and no flow knows, such as after a restore from a
    /// backup: they are pending again. Returns their number.
    ///
    /// # Errors
    /// If one cannot be adopted.
    pub fn adopt(
        &self,
        held: impl IntoIterator<Item = Transfer>,
    ) -> std::result::Result<usize, PaymentsOpenError> {
        let mut adopted = 0;
        for transfer in held {
            if self.index.get(&WithdrawalId::of(&transfer)).is_none() {
                self.start(&transfer).map_err(PaymentsOpenError::Flows)?;
                adopted += 1;
            }
        }
        Ok(adopted)
    }

    /// Whether every unfinished withdrawal has been resumed, except those in
    /// [`WithdrawalService::parked`]. Until then some held ones are shown as not held.
    #[must_use]
    pub fn is_taken_up(&self) -> bool {
        self.index.waiting() <= self.flows.parked().len()
    }

    /// The parked flows, with their reasons.
    #[must_use]
    pub fn parked(&self) -> Vec<Parked> {
        self.flows.parked()
    }

    /// The failure that stopped the withdrawals, if any.
    #[must_use]
    pub fn fault(&self) -> Option<StoreError> {
        self.flows.failure()
    }

    /// The number of shown withdrawals by state: all open ones, and the last ended ones.
    #[must_use]
    pub fn shown(&self) -> Tally {
        self.index.shown()
    }

    /// The number of withdrawals that ended since this was opened, by state.
    #[must_use]
    pub fn ended_since_open(&self) -> Tally {
        self.index.ended_now()
    }

    fn start(&self, transfer: &Transfer) -> std::result::Result<(), FlowsError> {
        let id = WithdrawalId::of(transfer);
        let flow = id.flow_id().map_err(|error| FlowsError::Options(error.to_string()))?;
        self.flows.start::<WithdrawalFlow>(flow, *transfer)?;
        // Makes it visible to queries before its flow runs.
        if let Some(run) = self.flows.find(&flow)? {
            let withdrawal = Withdrawal::requested(*transfer, run.started);
            self.index.begin(run.run, &withdrawal);
        }
        Ok(())
    }

    pub(crate) async fn request(&self, transfer: Transfer) -> Result<Requested> {
        let id = WithdrawalId::of(&transfer);
        id.flow_id().map_err(bad_id)?;
        let (watched, repeated) = {
            let _door = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
            match self.index.watch(&id) {
                Some(watched) => (watched, true),
                None => {
                    self.start(&transfer).map_err(of_flows)?;
                    (self.index.watch(&id).ok_or_else(stopped)?, false)
                }
            }
        };
        if watched.borrow().transfer != transfer {
            return Err(conflict());
        }
        let withdrawal = self.wait(watched, |state| state != State::Requested).await?;
        match (withdrawal.state, &withdrawal.failure) {
            (State::Refused, Some(WithdrawalFailure::Refused { reason, seq })) => {
                Err(Refused { reason: *reason, seq: *seq }.into())
            }
            _ => Ok(Requested { withdrawal, repeated }),
        }
    }

    pub(crate) async fn decide(
        &self,
        id: WithdrawalId,
        decision: Decision,
        by: Option<Attribution>,
    ) -> Result<Withdrawal> {
        let watched = self.index.watch(&id).ok_or_else(unknown)?;
        let is_undecided = watched.borrow().state.is_undecided();
        if is_undecided {
            let delivered = DeliveredDecision::of(decision.clone(), by);
            match self.flows.deliver(id.flow_id().map_err(bad_id)?, DECISION, &delivered) {
                Ok(stored) => stored.await.map_err(|error| of_flows(error.into()))?,
                // It has ended meanwhile.
                Err(FlowsError::NotRunning(_)) => {}
                Err(error) => return Err(of_flows(error)),
            }
        }
        let withdrawal = self.wait(watched, State::is_ended).await?;
        // A later decision is refused, unless it is the same.
        let is_ours = withdrawal.decision.as_ref() == Some(&decision);
        if is_ours || withdrawal.state.is_undecided() {
            Ok(withdrawal)
        } else {
            Err(decided(&withdrawal))
        }
    }

    pub(crate) fn get(&self, id: &WithdrawalId) -> Result<Withdrawal> {
        self.index.get(id).ok_or_else(unknown)
    }

    pub(crate) fn list(&self, request: &ListWithdrawals) -> Withdrawals {
        let ListWithdrawals { account, ended, after, limit } = *request;
        let (withdrawals, more) =
            self.index.list(&WithdrawalFilter { account, ended, after, limit });
        Withdrawals { withdrawals, more }
    }

    /// Waits for a state or the end of the time, and returns the withdrawal.
    async fn wait(
        &self,
        mut watched: watch::Receiver<Withdrawal>,
        until: impl Fn(State) -> bool,
    ) -> Result<Withdrawal> {
        let changed = watched.wait_for(|withdrawal| until(withdrawal.state));
        match tokio::time::timeout(self.settings.answer_within, changed).await {
            Ok(Ok(withdrawal)) => return Ok(withdrawal.clone()),
            Ok(Err(_)) => return Err(stopped()),
            Err(_) => {}
        }
        let stands = watched.borrow().clone();
        Ok(stands)
    }
}

/// The number of runs that are read at once.
const PAGE: usize = 1_000;

fn shown(run: &StoredRun) -> std::result::Result<Withdrawal, String> {
    let transfer: Transfer = postcard::from_bytes(&run.input).map_err(|error| error.to_string())?;
    let requested = run.started;
    let mut withdrawal = Withdrawal::requested(transfer, requested);
    let Some(end) = run.ended else { return Ok(withdrawal) };
    let last = history::entries(&run.history).last();
    let ending = match last {
        Some(Ok(Entry::Ended { ending, .. })) => ending,
        Some(Err(error)) => return Err(error.to_string()),
        _ => return Err("it has ended without an ending".to_owned()),
    };
    let error = match ending {
        Ending::Completed(output) => {
            let ended: Ended = postcard::from_bytes(&output).map_err(|error| error.to_string())?;
            return Ok(ended.show(transfer, requested));
        }
        Ending::Failed(error) => FlowError::Failed(error.message),
        Ending::Stuck(stuck) => FlowError::Failed(stuck.error.message),
        Ending::Cancelled => FlowError::Cancelled,
    };
    withdrawal.state = state_after(&error);
    withdrawal.changed = end.at;
    withdrawal.failure = Some(WithdrawalFailure::Broken(error.to_string()));
    Ok(withdrawal)
}
