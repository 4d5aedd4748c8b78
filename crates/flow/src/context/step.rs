//! Steps.

use super::FlowContext;
use super::step_future::StepFuture;
use super::undo::Undo;
use crate::FlowId;
use crate::error::{FlowError, StepError};
use crate::history::{Entry, EntryPosition, Kind};
use crate::observe::Observed;
use crate::retry::RetryPolicy;
use crate::run::Replayed;
use crate::run::replay::Recorded;
use crate::store::{InboxMark, OutboxMessage};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The key of one step of one run: the same for every attempt, before and after a restart. The
/// receiver of the step's effect can recognise a repetition by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepKey {
    id: FlowId,
    name: &'static str,
    position: EntryPosition,
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.id, self.name, self.position.number)?;
        if self.position.branch == 0 { Ok(()) } else { write!(f, "@{:016x}", self.position.branch) }
    }
}

/// A boxed future.
pub(super) type BoxedStep<'c, T> = Pin<Box<dyn Future<Output = Result<T, FlowError>> + Send + 'c>>;
/// The function that makes the messages of a step.
type Sender<'c, T> = Box<dyn FnOnce(&T) -> Vec<OutboxMessage> + Send + 'c>;

/// A step that has not begun. Awaiting it executes it, or returns its recorded result.
#[must_use = "a step does nothing until it is awaited"]
pub struct Step<'c, 'a, T, F> {
    pub(super) cx: &'c FlowContext<'a>,
    pub(super) name: &'static str,
    pub(super) position: EntryPosition,
    pub(super) body: F,
    pub(super) extras: Option<Box<Extras<'c, 'a, T>>>,
}

/// Optional parts of a step.
pub(super) struct Extras<'c, 'a, T> {
    retry: RetryPolicy,
    timeout: Option<Duration>,
    undo: Option<Undo<'a>>,
    send: Option<Sender<'c, T>>,
    marks: Vec<InboxMark>,
}

impl<T> Default for Extras<'_, '_, T> {
    fn default() -> Self {
        Self {
            retry: RetryPolicy::never(),
            timeout: None,
            undo: None,
            send: None,
            marks: Vec::new(),
        }
    }
}

impl<'c, 'a, T, F, Fut> Step<'c, 'a, T, F>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: FnMut(StepKey) -> Fut + Send + 'c,
    Fut: Future<Output = Result<T, StepError>> + Send + 'c,
{
    pub(super) fn new(cx: &'c FlowContext<'a>, name: &'static str, body: F) -> Self {
        Self { cx, name, position: cx.position(), body, extras: None }
    }

    fn extras(&mut self) -> &mut Extras<'c, 'a, T> {
        self.extras.get_or_insert_default()
    }

    pub(super) fn key(&self) -> StepKey {
        StepKey { id: self.cx.run.id, name: self.name, position: self.position }
    }

    /// Tries again after errors that are marked as retryable. Without it the first error is final.
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.extras().retry = retry;
        self
    }

    /// Ends an attempt after this time with a retryable error. Its effect is then unknown, so the
    /// step should be idempotent.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.extras().timeout = Some(timeout);
        self
    }

    /// Says how to undo the step, given what it returned. It happens when the flow fails or is
    /// cancelled after the step has finished, last step first, and is tried again without an end
    /// after errors that are marked as retryable.
    pub fn compensate<U, UFut>(self, undo: U) -> Self
    where
        U: FnMut(T) -> UFut + Send + 'a,
        UFut: Future<Output = Result<(), StepError>> + Send + 'a,
    {
        self.compensate_with(RetryPolicy::forever(), undo)
    }

    /// As [`Step::compensate`], with a limit to the attempts. When they are used up the run is
    /// [stuck](crate::RunError::Stuck).
    pub fn compensate_with<U, UFut>(mut self, retry: RetryPolicy, undo: U) -> Self
    where
        U: FnMut(T) -> UFut + Send + 'a,
        UFut: Future<Output = Result<(), StepError>> + Send + 'a,
    {
        self.extras().undo = Some(Undo::new(self.position, self.name, retry, undo));
        self
    }

    /// Makes messages from the step's result. They are stored in one atomic write with it, so that
    /// they are sent if and only if the step has finished. A message without a key gets the key of
    /// the step and its number. Together they may be as long as one payload.
    pub fn send(mut self, messages: impl FnOnce(&T) -> Vec<OutboxMessage> + Send + 'c) -> Self {
        self.extras().send = Some(Box::new(messages));
        self
    }

    /// Marks a received message as processed, in one atomic write with the end of the step.
    pub fn mark(mut self, mark: InboxMark) -> Self {
        self.extras().marks.push(mark);
        self
    }

    pub(super) async fn execute(mut self) -> Result<T, FlowError> {
        let (cx, name, position) = (self.cx, self.name, self.position);
        match cx.meet(position, Kind::Step, name) {
            Replayed::Recorded(Recorded::Finished { output, .. }, order) => {
                let value = postcard::from_bytes(&output).map_err(|error| FlowError::Codec {
                    name: name.to_owned(),
                    reason: error.to_string(),
                });
                if let Some(undo) = self.extras.and_then(|extras| extras.undo) {
                    cx.undo_list().push(order, undo, output);
                }
                return value;
            }
            Replayed::Recorded(Recorded::Failed { error, .. }, _) => {
                return Err(FlowError::from_stored(&error));
            }
            // Nothing else is recorded of a step.
            Replayed::Recorded(..) | Replayed::Changed => std::future::pending().await,
            Replayed::Refused(error) => return Err(error),
            Replayed::Fresh => self.check_may_begin()?,
        }
        match self.attempt().await {
            Ok(value) => self.finish(value).await,
            // It was interrupted and has no result.
            Err(FlowError::Cancelled) => Err(FlowError::Cancelled),
            Err(error) => fail(cx, position, Kind::Step, name, error).await,
        }
    }

    pub(super) fn check_may_begin(&self) -> Result<(), FlowError> {
        if !self.cx.run.beware.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut state = self.cx.run.state();
        if state.history_bytes >= self.cx.run.services.history_bytes_max {
            return Err(FlowError::HistoryFull { name: self.name.to_owned() });
        }
        if !state.cancelled {
            return Ok(());
        }
        // A restart after a cancel cannot know whether the step had begun before. If it can be
        // undone it is executed once more, so that there is something to undo.
        let branch = self.position.branch;
        let can_undo = self.extras.as_ref().is_some_and(|extras| extras.undo.is_some());
        let in_doubt = self.cx.run.is_resumed() && can_undo;
        if in_doubt && !state.in_doubt_done.contains(&branch) {
            state.in_doubt_done.push(branch);
            return Ok(());
        }
        Err(FlowError::Cancelled)
    }

    /// Executes the body until it succeeds, may not be retried, or the run is cancelled.
    async fn attempt(&mut self) -> Result<T, FlowError> {
        let (cx, name, kind) = (self.cx, self.name, Kind::Step);
        let key = self.key();
        let (retry, timeout) =
            self.extras.as_ref().map_or((RetryPolicy::never(), None), |it| (it.retry, it.timeout));
        let mut failed = 0;
        loop {
            cx.observe(Observed::StepBegan { kind, name, attempt: failed + 1 });
            let body = (self.body)(key);
            let result = match timeout {
                None => body.await,
                Some(limit) => cx.within(limit, body).await.unwrap_or_else(|| {
                    Err(StepError::retryable(format_args!("no end after {limit:?}")))
                }),
            };
            let error = match result {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            failed += 1;
            let pause = retry.pause(failed, cx.run.services.random());
            let pause = pause.filter(|_| error.is_retryable());
            let message = error.message();
            let for_good = pause.is_none();
            cx.observe(Observed::StepFailed { kind, name, message, for_good });
            match pause {
                Some(pause) if cx.pause(pause, true).await => {}
                Some(_) => return Err(FlowError::Cancelled),
                None => {
                    let message = message.to_owned();
                    return Err(FlowError::Step { name: name.to_owned(), message });
                }
            }
        }
    }

    async fn finish(self, value: T) -> Result<T, FlowError> {
        let key = self.key();
        let Self { cx, name, position, extras, .. } = self;
        let Extras { undo, send, marks, .. } = extras.map(|extras| *extras).unwrap_or_default();
        let run = &*cx.run;
        let mut messages = send.map(|send| send(&value)).unwrap_or_default();
        for (nth, message) in messages.iter_mut().enumerate().filter(|(_, it)| it.key.is_empty()) {
            message.key = format!("{key}#{nth}");
        }
        let sent = messages.iter().map(OutboxMessage::stored_bytes).sum::<usize>()
            + marks.iter().map(InboxMark::stored_bytes).sum::<usize>();
        if sent > 0 {
            cx.room_to_send(sent).await;
        }
        let recorded = {
            let limit = run.services.payload_bytes_max;
            let mut state = run.state();
            let recorded = if sent > limit {
                Err(FlowError::TooLarge { name: name.to_owned(), bytes: sent, limit })
            } else {
                state.record_finished(position, Kind::Step, name, &value, &run.services)
            };
            run.watch_history(&state);
            if let Ok(mark) = recorded {
                state.send(messages, marks, sent);
                if let Some(undo) = undo {
                    let output = state.last_value().to_vec();
                    cx.undo_list().push(mark - 1, undo, output);
                }
            }
            recorded
        };
        let mark = match recorded {
            Ok(mark) => mark,
            Err(error) => return fail(cx, position, Kind::Step, name, error).await,
        };
        if run.services.observer.is_some() {
            let output = run.state().last_value().to_vec();
            cx.observe(Observed::StepFinished { kind: Kind::Step, name, output: &output });
        }
        cx.confirm(mark).await;
        Ok(value)
    }
}

/// Records that a step or child has failed for good.
pub(super) async fn fail<T>(
    cx: &FlowContext<'_>,
    position: EntryPosition,
    kind: Kind,
    name: &'static str,
    error: FlowError,
) -> Result<T, FlowError> {
    let mark = {
        let mut state = cx.run.state();
        let at = state.polled_at;
        let mark =
            state.record(&Entry::Failed { position, kind, name, at, error: error.to_stored() });
        cx.run.watch_history(&state);
        mark
    };
    cx.confirm(mark).await;
    Err(error)
}

impl<'c, 'a, T, F, Fut> IntoFuture for Step<'c, 'a, T, F>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: FnMut(StepKey) -> Fut + Send + 'c,
    Fut: Future<Output = Result<T, StepError>> + Send + 'c,
{
    type Output = Result<T, FlowError>;
    type IntoFuture = StepFuture<'c, 'a, T, F, Fut>;

    fn into_future(self) -> Self::IntoFuture {
        StepFuture::new(self)
    }
}
