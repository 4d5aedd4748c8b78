//! The context of a flow.

mod child;
mod join;
mod step;
mod step_future;
mod undo;
mod wait;

pub use child::Child;
pub use step::{Step, StepKey};
pub use step_future::StepFuture;
pub use wait::{TimedWait, Wait};

use crate::Timestamp;
use crate::error::FlowError;
use crate::flow::Flow;
use crate::history::{Ending, EntryPosition, Kind, Stuck};
use crate::observe::Observed;
use crate::run::{Replayed, Run, encode, mix};
use crate::{FlowId, store::RunNumber};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Poll, Waker};
use std::time::Duration;
use undo::UndoList;

/// The context of a flow: steps, waits, children, branches.
///
/// Steps are identified by their number within their branch, in the order in which they are made,
/// and by their name. Concurrent steps must therefore be made in the same order every time. If each
/// is more than one step, give each a [`FlowContext::branch`].
pub struct FlowContext<'a> {
    run: Arc<Run>,
    branch: u64,
    /// The number of positions of the branch that have been assigned.
    positions: AtomicU32,
    /// Made when first needed: most flows undo nothing.
    undo: OnceLock<Arc<UndoList<'a>>>,
}

impl<'a> FlowContext<'a> {
    pub(crate) fn trunk(run: Arc<Run>) -> Self {
        Self { run, branch: 0, positions: AtomicU32::new(0), undo: OnceLock::new() }
    }

    /// The id of the run.
    #[must_use]
    pub fn id(&self) -> FlowId {
        self.run.id
    }

    /// The number of the run.
    #[must_use]
    pub fn number(&self) -> RunNumber {
        self.run.number
    }

    /// The time of the last finished step or wait, or of the beginning. It is the same when the
    /// code is executed again.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let state = self.run.state();
        state.told_time
    }

    /// A step: an action with an effect or a result that may differ. Once its end is confirmed, it
    /// is never executed again in this run.
    ///
    /// ```
    /// # use rialto_flow::{FlowContext, FlowError, RetryPolicy, StepError};
    /// # use std::time::Duration;
    /// # async fn reserve(_: u64) -> Result<u32, StepError> { Ok(1) }
    /// # async fn release(_: u32) -> Result<(), StepError> { Ok(()) }
    /// # async fn flow(cx: &FlowContext<'_>, amount: u64) -> Result<(), FlowError> {
    /// let held: u32 = cx
    ///     .step("reserve", || reserve(amount))
    ///     .retry(RetryPolicy::exponential(5))
    ///     .timeout(Duration::from_secs(2))
    ///     .compensate(release)
    ///     .await?;
    /// # Ok(()) }
    /// ```
    pub fn step<'c, T, F, Fut>(
        &'c self,
        name: &'static str,
        mut body: F,
    ) -> Step<'c, 'a, T, impl FnMut(StepKey) -> Fut + Send + 'c>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut() -> Fut + Send + 'c,
        Fut: Future<Output = Result<T, crate::StepError>> + Send + 'c,
    {
        Step::new(self, name, move |_| body())
    }

    /// A step that gets its key, by which the receiver of its effect can recognise a repetition.
    pub fn keyed_step<'c, T, F, Fut>(&'c self, name: &'static str, body: F) -> Step<'c, 'a, T, F>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: FnMut(StepKey) -> Fut + Send + 'c,
        Fut: Future<Output = Result<T, crate::StepError>> + Send + 'c,
    {
        Step::new(self, name, body)
    }

    /// Waits for an event of this name, also if it was delivered before the wait. Each event ends
    /// one wait.
    pub fn wait_for<'c, T: DeserializeOwned + Send + 'static>(
        &'c self,
        name: &'static str,
    ) -> Wait<'c, 'a, T> {
        Wait::new(self, name)
    }

    /// Waits for this duration, across restarts.
    pub async fn sleep(&self, name: &'static str, duration: Duration) -> Result<(), FlowError> {
        wait::sleep(self, name, wait::Limit::Within(duration)).await
    }

    /// Waits until a time, across restarts.
    pub async fn sleep_until(&self, name: &'static str, time: Timestamp) -> Result<(), FlowError> {
        wait::sleep(self, name, wait::Limit::Until(time)).await
    }

    /// Runs another flow as a part of this one, and waits for its end. It has an id and a history
    /// of its own; cancelling this run cancels it.
    pub fn child<'c, F: Flow>(
        &'c self,
        name: &'static str,
        id: FlowId,
        input: F::Input,
    ) -> Child<'c, 'a, F> {
        Child::new(self, name, id, input)
    }

    /// A branch: a context that numbers its steps by itself, for one of several parts of the flow
    /// that continue at once.
    #[must_use]
    pub fn branch(&self) -> FlowContext<'a> {
        let position = self.position();
        let branch = mix(self.branch ^ mix(u64::from(position.number))).max(1);
        let undo = OnceLock::new();
        let shared = self.undo_list().clone();
        undo.get_or_init(|| shared);
        FlowContext { run: self.run.clone(), branch, positions: AtomicU32::new(0), undo }
    }

    /// Runs two branches concurrently. Both finish, even if one of them fails, so that the other's
    /// effects are known and can be undone.
    pub async fn both<A, B>(
        &self,
        first: impl IntoFuture<Output = Result<A, FlowError>>,
        second: impl IntoFuture<Output = Result<B, FlowError>>,
    ) -> Result<(A, B), FlowError> {
        join::both(first.into_future(), second.into_future()).await
    }

    /// Runs any number of branches concurrently. All finish, even if some of them fail; the error
    /// is that of the first one in the order given.
    pub async fn all<T, P>(&self, parts: impl IntoIterator<Item = P>) -> Result<Vec<T>, FlowError>
    where
        P: IntoFuture<Output = Result<T, FlowError>>,
    {
        join::all(parts.into_iter().map(IntoFuture::into_future).collect()).await
    }

    fn undo_list(&self) -> &Arc<UndoList<'a>> {
        self.undo.get_or_init(Arc::default)
    }

    fn position(&self) -> EntryPosition {
        // One task makes the steps of a branch, so nothing is ordered by this.
        let number = self.positions.fetch_add(1, Ordering::Relaxed) + 1;
        EntryPosition { branch: self.branch, number }
    }

    /// The address of the run, which its own waker points to.
    fn ptr(&self) -> usize {
        Arc::as_ptr(&self.run) as usize
    }

    fn meet(&self, position: EntryPosition, kind: Kind, name: &'static str) -> Replayed {
        if self.run.services.stopped.load(Ordering::Acquire) {
            return Replayed::Changed;
        }
        let run = &self.run;
        if !run.is_resumed() {
            return Replayed::Fresh;
        }
        run.state().meet((run.id, run.flow, run.version), position, kind, name)
    }

    fn observe(&self, what: Observed<'_>) {
        if let Some(observer) = &self.run.services.observer {
            let at = self.run.state().polled_at;
            observer.observe(self.run.number, &self.run.id, at, what);
        }
    }

    /// Returns when the first `mark` entries of the history are confirmed.
    async fn confirm(&self, mark: u32) {
        poll_fn(|cx| self.poll_confirmed(mark, cx.waker())).await;
    }

    fn poll_confirmed(&self, mark: u32, waker: &Waker) -> Poll<()> {
        if self.run.services.at_once {
            return Poll::Ready(());
        }
        let mut state = self.run.state();
        if state.confirmed >= mark {
            return Poll::Ready(());
        }
        // The runtime polls the run when it has confirmed something.
        state.sleep(self.ptr(), waker);
        Poll::Pending
    }

    /// Returns when the next write has room for `bytes` of messages and marks. Branches that end in
    /// the same poll share a write.
    async fn room_to_send(&self, bytes: usize) {
        poll_fn(|cx| {
            if self.run.state().can_send(bytes) {
                return Poll::Ready(());
            }
            // Pending entries are written after this poll.
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Pauses in memory. False if it may be, and was, cut short by a cancel.
    async fn pause(&self, pause: Duration, heeds_cancel: bool) -> bool {
        let until = {
            let mut state = self.run.state();
            let until = state.polled_at.after(pause);
            state.want(until);
            until
        };
        let ptr = self.ptr();
        let whole = poll_fn(|cx| {
            let mut state = self.run.state();
            if heeds_cancel && state.cancelled {
                return Poll::Ready(false);
            }
            if state.polled_at >= until {
                return Poll::Ready(true);
            }
            state.sleep(ptr, cx.waker());
            Poll::Pending
        })
        .await;
        self.run.state().unwant(until);
        whole
    }

    /// Polls a future until the time is over; `None` if it has not finished by then.
    async fn within<F: Future>(&self, limit: Duration, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        let mut deadline = None;
        let ptr = self.ptr();
        let result = poll_fn(|cx| {
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
            let mut state = self.run.state();
            let now = state.polled_at;
            let until = *deadline.get_or_insert_with(|| {
                let until = now.after(limit);
                state.want(until);
                until
            });
            if now >= until {
                return Poll::Ready(None);
            }
            state.sleep(ptr, cx.waker());
            Poll::Pending
        })
        .await;
        if let Some(until) = deadline {
            self.run.state().unwant(until);
        }
        result
    }

    /// Converts the flow's result to an ending if it has completed without a resume.
    pub(crate) fn conclude_whole<T: Serialize>(
        &self,
        result: Result<T, FlowError>,
    ) -> Result<Ending, Result<T, FlowError>> {
        let run = &*self.run;
        let output = match result {
            Ok(output) if !run.is_resumed() => output,
            other => return Err(other),
        };
        match encode("output", &output, run.services.payload_bytes_max) {
            Ok(output) => Ok(Ending::Completed(output)),
            Err(error) => Err(Err(error)),
        }
    }

    /// Converts the flow's result to an ending, and undoes finished steps if it failed.
    pub(crate) async fn conclude<T: Serialize>(&self, result: Result<T, FlowError>) -> Ending {
        let run = &*self.run;
        let mut failing = None;
        if run.is_resumed() {
            if !run.state().played_whole((run.id, run.flow, run.version)) {
                std::future::pending::<()>().await;
            }
            failing = run.state().failing();
        }
        let result = match failing.clone() {
            Some(error) => Err(error),
            None => {
                result.and_then(|output| encode("output", &output, run.services.payload_bytes_max))
            }
        };
        let cause = match result {
            Ok(output) => return Ending::Completed(output),
            Err(cause) => cause,
        };
        let undone = self.undo_all(&cause, failing.is_some()).await;
        match undone {
            Err(error) => {
                let (cause, error) = (cause.to_stored(), error.to_stored());
                Ending::Stuck(Box::new(Stuck { cause, error }))
            }
            Ok(()) if cause == FlowError::Cancelled => Ending::Cancelled,
            Ok(()) => Ending::Failed(cause.to_stored()),
        }
    }

    pub(crate) fn end(&self, ending: Ending) {
        self.observe(Observed::Ended { ending: &ending });
        self.run.state().end(ending);
    }
}
