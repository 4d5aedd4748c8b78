//! The service: starts flows, hands decisions to them, and answers how they stand.

use crate::error::{PaymentsOpenError, bad_id, conflict, decided, of_flows, stopped, unknown};
use crate::flow::{DECISION, Ended, WithdrawalFlow, state_after};
use crate::index::{Wanted, WithdrawalIndex};
use crate::request::{ListWithdrawals, Requested, Withdrawals};
use crate::tally::Tally;
use crate::withdrawal::{Decision, State, Trouble, Withdrawal, WithdrawalId};
use rialto_bus::Result;
use rialto_desk::{DeskBus, Refused};
use rialto_flow::history::{self, Ending, Entry};
use rialto_flow::store::{RunFilter, Store, StoreError, StoredRun};
use rialto_flow::{Flow, FlowError, Flows, FlowsError, Options, Parked};
use rialto_model::Transfer;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How withdrawals are dealt with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// For how long a withdrawal may be pending before it is given back.
    pub expires_after: Duration,
    /// For how long whoever asks waits for the engine: the answer then says how it stands.
    pub answer_within: Duration,
    /// How many withdrawals that have ended are shown and known by their references. The store
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

/// Where withdrawals are dealt with. Ask it by a [`PaymentsBus`](crate::PaymentsBus).
///
/// Dropping it stops the flows where they stand; the next one takes them up there.
pub struct WithdrawalService {
    flows: Flows,
    index: Arc<WithdrawalIndex>,
    settings: Settings,
    /// Held while it is looked up whether a withdrawal has been asked for, so that of two who ask
    /// at once one is told that the other came first.
    starting: Mutex<()>,
}

impl WithdrawalService {
    /// Takes up what the store knows: what has ended is shown again, and what has not goes on where
    /// it stood.
    ///
    /// # Errors
    /// The store cannot be read, or has what this program does not know.
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

    /// Takes up withdrawals that the engine holds and no flow knows of, such as after the venue was
    /// restored from a backup: they are pending once more. Returns how many there were.
    ///
    /// # Errors
    /// One cannot be taken up.
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

    /// Whether every withdrawal under way has been taken up, those left aside that
    /// [`WithdrawalService::parked`] names. Until then some are shown as not yet held that are.
    #[must_use]
    pub fn is_taken_up(&self) -> bool {
        self.index.waiting() <= self.flows.parked().len()
    }

    /// The flows that this program cannot go on with, and why.
    #[must_use]
    pub fn parked(&self) -> Vec<Parked> {
        self.flows.parked()
    }

    /// Why no withdrawal comes any further, if that is so.
    #[must_use]
    pub fn fault(&self) -> Option<StoreError> {
        self.flows.failure()
    }

    /// How many withdrawals are shown, by state: all that have not ended, and the last that have.
    #[must_use]
    pub fn shown(&self) -> Tally {
        self.index.shown()
    }

    /// How many withdrawals have come to which end since this was opened.
    #[must_use]
    pub fn ended_since_open(&self) -> Tally {
        self.index.ended_now()
    }

    fn start(&self, transfer: &Transfer) -> std::result::Result<(), FlowsError> {
        let id = WithdrawalId::of(transfer);
        let flow = id.flow_id().map_err(|error| FlowsError::Options(error.to_string()))?;
        self.flows.start::<WithdrawalFlow>(flow, *transfer)?;
        // So that whoever asks from now on finds it, though its flow has not yet begun to run.
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
        match (withdrawal.state, &withdrawal.trouble) {
            (State::Refused, Some(Trouble::Refused { reason, seq })) => {
                Err(Refused { reason: *reason, seq: *seq }.into())
            }
            _ => Ok(Requested { withdrawal, repeated }),
        }
    }

    pub(crate) async fn decide(&self, id: WithdrawalId, decision: Decision) -> Result<Withdrawal> {
        let watched = self.index.watch(&id).ok_or_else(unknown)?;
        let is_undecided = watched.borrow().state.is_undecided();
        if is_undecided {
            match self.flows.deliver(id.flow_id().map_err(bad_id)?, DECISION, &decision) {
                Ok(stored) => stored.await.map_err(|error| of_flows(error.into()))?,
                // It has ended meanwhile.
                Err(FlowsError::NotRunning(_)) => {}
                Err(error) => return Err(of_flows(error)),
            }
        }
        let withdrawal = self.wait(watched, State::is_ended).await?;
        // Whoever comes second is told so, unless both wanted the same.
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
        let (withdrawals, more) = self.index.list(&Wanted { account, ended, after, limit });
        Withdrawals { withdrawals, more }
    }

    /// Waits for a state, and says how the withdrawal stands then, or when the time is up.
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

/// How many runs are read at once.
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
    withdrawal.trouble = Some(Trouble::Broken(error.to_string()));
    Ok(withdrawal)
}
