//! Handles of runs.

use super::{Flows, Target, lock};
use crate::FlowId;
use crate::error::{FlowError, RunError};
use crate::history::Ending;
use crate::store::{StoreError, Ticket};
use serde::de::DeserializeOwned;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

/// A run that was started, now or before.
pub struct Handle<T> {
    flows: Flows,
    id: FlowId,
    target: Target,
    /// The last write when the handle was made. The beginning of the run is included.
    ticket: Ticket,
    output: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Handle<T> {
    pub(super) fn new(flows: Flows, id: FlowId, target: Target) -> Self {
        let ticket = Ticket(flows.inner().taken.load(Ordering::Acquire));
        Self { flows, id, target, ticket, output: PhantomData }
    }

    /// The id of the run.
    #[must_use]
    pub fn id(&self) -> FlowId {
        self.id
    }

    /// Waits until the run survives the process.
    pub fn confirmed(&self) -> Confirmation {
        Confirmation::new(self.flows.clone(), self.ticket)
    }

    /// The result of the run, if it has ended.
    #[must_use]
    pub fn outcome(&self) -> Option<Result<T, RunError>> {
        let run = match &self.target {
            Target::Ended(ending) => return Some(read(ending)),
            Target::Live(run) => run,
        };
        let state = run.state();
        match (&state.ending, &state.parked) {
            (Some(ending), _) if state.is_over => Some(read(ending)),
            (_, Some(parked)) if !state.retried => Some(Err(RunError::Parked(parked.clone()))),
            _ => self.flows.inner().failure().map(|failure| Err(failure.into())),
        }
    }

    /// Waits for the end of the run.
    pub async fn join(&self) -> Result<T, RunError> {
        poll_fn(|cx| {
            if let Target::Live(run) = &self.target {
                let mut state = run.state();
                if !state.waiters.iter().any(|waker| waker.will_wake(cx.waker())) {
                    state.waiters.push(cx.waker().clone());
                }
            }
            // Checked after the waker is registered, so that an end in between is not missed.
            self.outcome().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Blocks until the end of the run. Without worker threads it does the work itself, and returns
    /// [`RunError::Waiting`] when all runs wait.
    pub fn wait(&self) -> Result<T, RunError> {
        if let Some(outcome) = self.outcome() {
            return outcome;
        }
        if self.flows.inner().options.workers == 0 {
            self.flows.run_until_idle()?;
            return self.outcome().unwrap_or(Err(RunError::Waiting));
        }
        block_on(self.join())
    }
}

fn read<T: DeserializeOwned>(ending: &Ending) -> Result<T, RunError> {
    match ending {
        Ending::Completed(output) => {
            postcard::from_bytes(output).map_err(|error| RunError::Unreadable(error.to_string()))
        }
        Ending::Failed(error) => Err(RunError::Failed(FlowError::from_stored(error))),
        Ending::Cancelled => Err(RunError::Cancelled),
        Ending::Stuck(stuck) => Err(RunError::Stuck {
            cause: FlowError::from_stored(&stuck.cause),
            error: FlowError::from_stored(&stuck.error),
        }),
    }
}

/// A confirmation at the level of the store, to be awaited on a task or a thread.
#[must_use = "what is not confirmed may be lost with the process"]
pub struct Confirmation {
    flows: Flows,
    ticket: Ticket,
}

impl Confirmation {
    pub(super) fn new(flows: Flows, ticket: Ticket) -> Self {
        Self { flows, ticket }
    }

    /// Blocks until it is confirmed, and does what is needed for that on the calling thread.
    pub fn wait(self) -> Result<(), StoreError> {
        self.flows.inner().store.commit(self.ticket)
    }

    fn poll(&self, waker: &Waker) -> Poll<Result<(), StoreError>> {
        let inner = self.flows.inner();
        if inner.services.at_once || inner.store.confirmed() >= self.ticket {
            return Poll::Ready(Ok(()));
        }
        if let Some(failure) = inner.failure() {
            return Poll::Ready(Err(failure));
        }
        lock(&inner.confirmations).push((self.ticket, waker.clone()));
        // A worker may have confirmed it before the waker was in place.
        if inner.store.confirmed() >= self.ticket {
            return Poll::Ready(Ok(()));
        }
        inner.services.ready.ring();
        Poll::Pending
    }
}

impl IntoFuture for Confirmation {
    type Output = Result<(), StoreError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { poll_fn(|cx| self.poll(cx.waker())).await })
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
