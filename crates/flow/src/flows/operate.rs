//! Operations for operators: list runs, inspect them, and continue parked ones.

use super::{Confirmation, Flows, Inner, lock};
use crate::FlowId;
use crate::error::{FlowsError, Parked};
use crate::history::{Ending, Entry};
use crate::run::{Run, put};
use crate::store::{
    Outcome, RunFilter, RunNumber, RunSummary, StoreError, StoredRun, Ticket, Write,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Wake;

impl Flows {
    /// The runs in the store that pass a filter and have greater numbers than `after`, in the order
    /// in which they began, at most `max`.
    pub fn list(
        &self,
        filter: &RunFilter,
        after: Option<RunNumber>,
        max: usize,
    ) -> Result<Vec<RunSummary>, StoreError> {
        self.inner().store.list(filter, after, max)
    }

    /// A run with its input and its history. [`StoredRun::entries`] reads the history.
    pub fn find(&self, id: &FlowId) -> Result<Option<StoredRun>, StoreError> {
        self.inner().store.find(id)
    }

    /// The parked runs of this process, with their reasons.
    #[must_use]
    pub fn parked(&self) -> Vec<Parked> {
        let live = lock(&self.inner().live);
        let mut parked: Vec<_> = live
            .iter()
            .filter_map(|run| Some((run.number, *run.state().parked.clone()?)))
            .collect();
        parked.sort_by_key(|(number, _)| *number);
        parked.into_iter().map(|(_, parked)| parked).collect()
    }

    /// Continues a run that stopped: a stuck one with undoing, a parked one from the end of its
    /// history. A run that failed and was undone is not continued; see [`Flows::start_again`].
    pub fn retry(&self, id: FlowId) -> Result<Confirmation, FlowsError> {
        let ticket = self.inner().retry(&id)?;
        Ok(Confirmation::new(self.clone(), ticket))
    }

    /// Ends a stuck run as failed or cancelled, after an operator has undone the rest by hand.
    pub fn give_up(&self, id: FlowId) -> Result<Confirmation, FlowsError> {
        let ticket = self.inner().give_up(&id)?;
        Ok(Confirmation::new(self.clone(), ticket))
    }

    /// Starts another run with the flow and input of one that failed or was cancelled. It has an
    /// id, and therefore step keys, of its own, and is independent of the first run.
    pub fn start_again(&self, id: FlowId, new: FlowId) -> Result<Confirmation, FlowsError> {
        let ticket = self.inner().start_again(&id, new)?;
        Ok(Confirmation::new(self.clone(), ticket))
    }
}

impl Inner {
    fn stored(&self, id: &FlowId) -> Result<StoredRun, FlowsError> {
        self.store.find(id)?.ok_or(FlowsError::Unknown(*id))
    }

    fn retry(&self, id: &FlowId) -> Result<Ticket, FlowsError> {
        if let Some(failure) = self.failure() {
            return Err(failure.into());
        }
        let number = self.store.number_of(id)?.ok_or(FlowsError::Unknown(*id))?;
        let live = lock(&self.live).get(number).cloned();
        match live {
            Some(run) => self.retry_parked(&run),
            None => self.retry_stuck(id),
        }
    }

    fn retry_parked(&self, run: &Arc<Run>) -> Result<Ticket, FlowsError> {
        let mut state = run.state();
        if state.parked.is_none() {
            let advice = "wait for its end";
            return Err(FlowsError::Standing { id: run.id, standing: "under way", advice });
        }
        state.retried = true;
        drop(state);
        // A worker does it, which first stores the entries from before the run was parked.
        run.wake_by_ref();
        Ok(Ticket(self.taken.load(Ordering::Acquire)))
    }

    /// Resumes a parked run, which the caller holds, from the end of its history.
    pub(super) fn revive(&self, run: &Arc<Run>) {
        run.uninstall();
        // If the store fails here, its next use reports the error.
        if let Ok(Some(stored)) = self.store.find(&run.id) {
            self.load(run, &stored);
        }
        run.state().retried = false;
    }

    /// Reopens a stuck run. Returns the run, held here, and the error that caused its undoing.
    fn reopen(&self, id: &FlowId) -> Result<(StoredRun, Ending, Ticket), FlowsError> {
        let stored = self.stored(id)?;
        let standing = |standing, advice| FlowsError::Standing { id: *id, standing, advice };
        match stored.ended.map(|end| end.outcome) {
            Some(Outcome::Stuck) => {}
            None => return Err(standing("held by another worker", "ask there")),
            Some(outcome) => {
                return Err(standing(outcome.word(), "start it again under another id"));
            }
        }
        let cause = stored.entries().filter_map(Result::ok).last();
        let Some(Entry::Ended { ending: Ending::Stuck(stuck), .. }) = cause else {
            return Err(standing("not readable", "restore the store from a copy"));
        };
        let cancelled = stuck.cause.code == crate::FlowError::Cancelled.code();
        let ending = if cancelled { Ending::Cancelled } else { Ending::Failed(stuck.cause) };
        let at = self.options.clock.now();
        let entry = encode(&Entry::Reopened { at })?;
        let reopened = self.store.reopen(self.fence, stored.run, &entry)?;
        let (stored, ticket) =
            reopened.ok_or_else(|| standing("no longer stuck", "look at it once more"))?;
        self.took(ticket);
        Ok((stored, ending, ticket))
    }

    fn retry_stuck(&self, id: &FlowId) -> Result<Ticket, FlowsError> {
        let now = self.options.clock.now();
        // As with a beginning: a run that is held here must be among the live ones.
        let mut live = lock(&self.live);
        let (stored, _, ticket) = self.reopen(id)?;
        let run = self.resume(&stored, now);
        live.insert(run.clone());
        drop(live);
        self.observe_beginning(&run, now, true);
        run.requeue();
        Ok(ticket)
    }

    fn give_up(&self, id: &FlowId) -> Result<Ticket, FlowsError> {
        if let Some(failure) = self.failure() {
            return Err(failure.into());
        }
        let _live = lock(&self.live);
        let (stored, ending, _) = self.reopen(id)?;
        let at = self.options.clock.now();
        let ended = Some(crate::store::End { at, outcome: ending.outcome() });
        let entries = encode(&Entry::Ended { at, ending })?;
        let (messages, marks) = (Vec::new(), Vec::new());
        let write = Write { run: stored.run, ended, entries, messages, marks };
        let appended = self.store.append(self.fence, std::slice::from_ref(&write))?;
        self.took(appended.ticket);
        Ok(appended.ticket)
    }

    fn start_again(&self, id: &FlowId, new: FlowId) -> Result<Ticket, FlowsError> {
        let stored = self.stored(id)?;
        let standing = |standing, advice| FlowsError::Standing { id: *id, standing, advice };
        match stored.ended.map(|end| end.outcome) {
            Some(Outcome::Failed | Outcome::Cancelled) => {}
            Some(Outcome::Completed) => {
                return Err(standing("completed", "start a run of its flow"));
            }
            Some(Outcome::Stuck) => return Err(standing("stuck", "retry it, or give it up")),
            None => return Err(standing("under way", "cancel it first")),
        }
        let flow = self.flows.iter().find(|flow| *flow.name() == *stored.flow);
        let flow = flow.ok_or_else(|| FlowsError::NotRegistered(stored.flow.to_string()))?;
        let code = (flow.name(), flow.version());
        self.begin_encoded(new, code, &stored.input, None, |run| {
            flow.clone().execute(run, &stored.input)
        })?;
        Ok(Ticket(self.taken.load(Ordering::Acquire)))
    }
}

fn encode(entry: &Entry<'_>) -> Result<Vec<u8>, FlowsError> {
    let mut encoded = Vec::new();
    put(entry, &mut encoded).map_err(|error| FlowsError::Codec(error.to_string()))?;
    Ok(encoded)
}
