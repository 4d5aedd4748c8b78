//! A store that breaks one guarantee, so that tests can show that they detect it.

use rialto_flow::history::{Ending, Entry};
use rialto_flow::store::{
    Appended, Begun, End, FencingToken, Level, NewRun, Outcome, RunFilter, RunNumber, RunSummary,
    Store, StoreError, StoredRun, Ticket, Write,
};
use rialto_flow::{FlowId, Timestamp};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The guarantee of `docs/flow.md` that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// Writes are confirmed before they are durable.
    ConfirmEarly,
    /// That a step has finished is not stored.
    LoseSteps,
    /// A run that is there already is begun once more.
    BeginAgain,
    /// A run with another input passes for the one that was asked for.
    IgnoreInput,
    /// Events are not stored.
    LoseEvents,
    /// That undoing has begun is not stored.
    LoseFailing,
    /// That a step was undone is not stored.
    LoseUndone,
    /// Steps are loaded in another order than they ended in.
    SwapSteps,
    /// A run that could not be undone passes for one that was.
    HideStuck,
    /// A cancel is not stored.
    LoseCancels,
    /// Runs of another version pass for those of the present one.
    IgnoreVersion,
    /// Writes to a run are taken from any worker.
    IgnoreFence,
}

/// A store over another.
pub(crate) struct Broken {
    inner: Arc<dyn Store>,
    by: Option<Break>,
    /// Whether this is the first life of the process.
    is_first: bool,
    /// The holder of each run.
    holders: Mutex<HashMap<RunNumber, FencingToken>>,
    taken: AtomicU64,
}

impl Broken {
    /// A store that breaks a promise, or none.
    pub(crate) fn over(inner: Arc<dyn Store>, by: Option<Break>, is_first: bool) -> Arc<Broken> {
        let (holders, taken) = (Mutex::default(), AtomicU64::new(0));
        Arc::new(Broken { inner, by, is_first, holders, taken })
    }

    fn breaks(&self, what: Break) -> bool {
        self.by == Some(what)
    }

    fn hold(&self, run: RunNumber, worker: FencingToken) {
        self.holders.lock().unwrap().insert(run, worker);
    }

    /// Whether an entry is stored.
    fn keeps(&self, entry: &Entry<'_>) -> bool {
        let lost = match entry {
            Entry::Finished { .. } => Break::LoseSteps,
            Entry::Event { .. } => Break::LoseEvents,
            Entry::Failing { .. } => Break::LoseFailing,
            Entry::Undone { .. } => Break::LoseUndone,
            Entry::Cancelled { .. } => Break::LoseCancels,
            _ => return true,
        };
        !self.breaks(lost)
    }

    /// A write as it is stored.
    fn falsified(&self, write: &Write) -> Write {
        let mut write = write.clone();
        let mut entries = Vec::new();
        for entry in rialto_flow::history::entries(&write.entries).map(Result::unwrap) {
            let entry = match entry {
                Entry::Ended { at, ending: Ending::Stuck(stuck) }
                    if self.breaks(Break::HideStuck) =>
                {
                    write.ended = Some(End { at, outcome: Outcome::Failed });
                    Entry::Ended { at, ending: Ending::Failed(stuck.cause) }
                }
                entry => entry,
            };
            if self.keeps(&entry) {
                entries.extend(postcard::to_stdvec(&entry).unwrap());
            }
        }
        write.entries = entries;
        write
    }

    /// A run as it is loaded.
    fn loaded(&self, mut stored: StoredRun) -> StoredRun {
        if self.breaks(Break::IgnoreVersion) {
            stored.version = 2;
        }
        if self.breaks(Break::SwapSteps) {
            let mut entries: Vec<_> = stored.entries().map(Result::unwrap).collect();
            let finished = |entry: &Entry<'_>| matches!(entry, Entry::Finished { .. });
            let first = entries.iter().position(finished);
            let last = entries.iter().rposition(finished);
            if let (Some(first), Some(last)) = (first, last) {
                entries.swap(first, last);
            }
            let encode = |entry| postcard::to_stdvec(entry).unwrap();
            let history = entries.iter().flat_map(encode).collect();
            stored.history = history;
        }
        stored
    }
}

impl Store for Broken {
    fn level(&self) -> Level {
        self.inner.level()
    }

    fn join(&self, now: Timestamp, lease: Duration) -> Result<FencingToken, StoreError> {
        self.inner.join(now, lease)
    }

    fn renew(&self, worker: FencingToken, now: Timestamp) -> Result<(), StoreError> {
        let renewed = self.inner.renew(worker, now);
        if self.breaks(Break::IgnoreFence) { Ok(()) } else { renewed }
    }

    fn leave(&self, worker: FencingToken) {
        self.inner.leave(worker);
    }

    fn claim(
        &self,
        worker: FencingToken,
        now: Timestamp,
        max: usize,
    ) -> Result<Vec<StoredRun>, StoreError> {
        let claimed = self.inner.claim(worker, now, max)?;
        claimed.iter().for_each(|stored| self.hold(stored.run, worker));
        Ok(claimed.into_iter().map(|stored| self.loaded(stored)).collect())
    }

    fn begin(&self, worker: FencingToken, run: NewRun<'_>) -> Result<Begun, StoreError> {
        let mut run = run;
        if self.breaks(Break::BeginAgain) && !self.is_first && run.parent.is_none() {
            run.id = FlowId::new(&format!("{}-again", run.id)).unwrap();
        }
        let mut begun = self.inner.begin(worker, run)?;
        match &mut begun {
            Begun::New { run, .. } => self.hold(*run, worker),
            Begun::Known(stored) if self.breaks(Break::IgnoreInput) => {
                stored.input = run.input.to_vec();
            }
            Begun::Known(_) => {}
        }
        Ok(begun)
    }

    fn append(&self, worker: FencingToken, writes: &[Write]) -> Result<Appended, StoreError> {
        let mut appended = Appended::default();
        for write in writes {
            let write = self.falsified(write);
            let holder = self.holders.lock().unwrap().get(&write.run).copied();
            let worker = match holder {
                Some(holder) if self.breaks(Break::IgnoreFence) => holder,
                _ => worker,
            };
            let one = self.inner.append(worker, std::slice::from_ref(&write))?;
            appended.ticket = appended.ticket.max(one.ticket);
            appended.fenced.extend(one.fenced);
        }
        self.taken.fetch_max(appended.ticket.0, Ordering::Relaxed);
        Ok(appended)
    }

    fn commit(&self, through: Ticket) -> Result<(), StoreError> {
        if self.breaks(Break::ConfirmEarly) { Ok(()) } else { self.inner.commit(through) }
    }

    fn confirmed(&self) -> Ticket {
        match self.breaks(Break::ConfirmEarly) {
            true => Ticket(self.taken.load(Ordering::Relaxed)),
            false => self.inner.confirmed(),
        }
    }

    fn number_of(&self, id: &FlowId) -> Result<Option<RunNumber>, StoreError> {
        self.inner.number_of(id)
    }

    fn find(&self, id: &FlowId) -> Result<Option<StoredRun>, StoreError> {
        self.inner.find(id)
    }

    fn list(
        &self,
        filter: &RunFilter,
        after: Option<RunNumber>,
        max: usize,
    ) -> Result<Vec<RunSummary>, StoreError> {
        self.inner.list(filter, after, max)
    }

    fn reopen(
        &self,
        worker: FencingToken,
        run: RunNumber,
        entries: &[u8],
    ) -> Result<Option<(StoredRun, Ticket)>, StoreError> {
        self.inner.reopen(worker, run, entries)
    }

    fn maintain(&self, now: Timestamp) -> Result<(), StoreError> {
        self.inner.maintain(now)
    }
}
