//! Awaiting a step.
//!
//! Most steps have neither history nor compensation nor retry, and finish at once. They are executed
//! here without the machinery for the rest, which takes a future of some hundred bytes.

use super::step::{Step, StepKey, Whole, fail};
use crate::error::{FlowError, StepError};
use crate::history::Kind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

/// A step that is being executed.
#[must_use = "a step does nothing until it is awaited"]
pub struct StepFuture<'c, 'a, T, F, Fut> {
    stage: Stage<'c, 'a, T, F, Fut>,
}

enum Stage<'c, 'a, T, F, Fut> {
    /// It has not begun.
    New(Step<'c, 'a, T, F>),
    /// Its body goes on.
    Body(Step<'c, 'a, T, F>, Pin<Box<Fut>>),
    /// It has finished, which is to be confirmed up to an entry.
    Confirming(Step<'c, 'a, T, F>, T, u32),
    /// It needs more than this.
    Whole(Whole<'c, T>),
    /// It has returned.
    Over,
}

// Nothing in it is pinned but what lies in a box of its own.
impl<T, F, Fut> Unpin for StepFuture<'_, '_, T, F, Fut> {}

impl<'c, 'a, T, F, Fut> StepFuture<'c, 'a, T, F, Fut>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: FnMut(StepKey) -> Fut + Send + 'c,
    Fut: Future<Output = Result<T, StepError>> + Send + 'c,
{
    pub(super) fn new(step: Step<'c, 'a, T, F>) -> Self {
        Self { stage: Stage::New(step) }
    }

    /// Begins, if nothing forbids it.
    fn begin(mut step: Step<'c, 'a, T, F>) -> Result<Stage<'c, 'a, T, F, Fut>, FlowError> {
        let services = &step.cx.run.services;
        let is_plain = step.extras.is_none() && !step.cx.run.is_resumed();
        let is_watched = services.observer.is_some() || services.stopped.load(Ordering::Acquire);
        if !is_plain || is_watched {
            return Ok(Stage::Whole(Box::pin(step.execute())));
        }
        step.check_may_begin()?;
        let key = step.key();
        let body = Box::pin((step.body)(key));
        Ok(Stage::Body(step, body))
    }

    /// Records what the body came to.
    fn finish(step: Step<'c, 'a, T, F>, result: Result<T, StepError>) -> Stage<'c, 'a, T, F, Fut> {
        let Step { cx, name, place, .. } = step;
        let run = &cx.run;
        let recorded = result
            .map_err(|error| FlowError::Step {
                name: name.to_owned(),
                message: error.message().to_owned(),
            })
            .and_then(|value| {
                let services = &run.services;
                let kind = Kind::Step;
                let mut state = run.state();
                let mark = state.record_finished(place, kind, name, &value, services)?;
                run.watch_history(&state);
                drop(state);
                Ok((value, mark))
            });
        match recorded {
            Ok((value, mark)) => Stage::Confirming(step, value, mark),
            Err(error) => Stage::Whole(Box::pin(fail(cx, place, Kind::Step, name, error))),
        }
    }
}

impl<'c, T, F, Fut> Future for StepFuture<'c, '_, T, F, Fut>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: FnMut(StepKey) -> Fut + Send + 'c,
    Fut: Future<Output = Result<T, StepError>> + Send + 'c,
{
    type Output = Result<T, FlowError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let stage = &mut self.get_mut().stage;
        loop {
            *stage = match std::mem::replace(stage, Stage::Over) {
                Stage::New(step) => match Self::begin(step) {
                    Ok(next) => next,
                    Err(error) => return Poll::Ready(Err(error)),
                },
                Stage::Body(step, mut body) => match body.as_mut().poll(context) {
                    Poll::Ready(result) => Self::finish(step, result),
                    Poll::Pending => {
                        *stage = Stage::Body(step, body);
                        return Poll::Pending;
                    }
                },
                Stage::Confirming(step, value, mark) => {
                    if step.cx.poll_confirmed(mark, context.waker()).is_ready() {
                        return Poll::Ready(Ok(value));
                    }
                    *stage = Stage::Confirming(step, value, mark);
                    return Poll::Pending;
                }
                Stage::Whole(mut whole) => {
                    let polled = whole.as_mut().poll(context);
                    if polled.is_pending() {
                        *stage = Stage::Whole(whole);
                    }
                    return polled;
                }
                Stage::Over => return Poll::Pending,
            };
        }
    }
}
