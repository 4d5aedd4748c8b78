//! Awaiting a step.
//!
//! Most steps have neither history nor compensation nor retry, and finish at once. They are
//! executed here without the general path, which takes a future of some hundred bytes, and without
//! an allocation: the body is part of the flow's future.

use super::step::{BoxedStep, Step, StepKey, fail};
use crate::error::{FlowError, StepError};
use crate::history::Kind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

pin_project_lite::pin_project! {
    /// A step that is being executed.
    #[must_use = "a step does nothing until it is awaited"]
    pub struct StepFuture<'c, 'a, T, F, Fut> {
        // Until it is over, or left to `Stage::BoxedStep`.
        step: Option<Step<'c, 'a, T, F>>,
        #[pin]
        stage: Stage<'c, T, Fut>,
    }
}

pin_project_lite::pin_project! {
    #[project = StageProjection]
    #[project_replace = StageOwned]
    enum Stage<'c, T, Fut> {
        // It has not begun.
        New,
        // Its body is being polled in place.
        Body { #[pin] body: Fut },
        // It has finished and waits for the confirmation of an entry.
        Confirming { value: T, mark: u32 },
        // It needs the general path.
        Boxed { step: BoxedStep<'c, T> },
        // It has returned its result.
        Over,
    }
}

impl<'c, 'a, T, F, Fut> StepFuture<'c, 'a, T, F, Fut>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: FnMut(StepKey) -> Fut + Send + 'c,
    Fut: Future<Output = Result<T, StepError>> + Send + 'c,
{
    pub(super) fn new(step: Step<'c, 'a, T, F>) -> Self {
        Self { step: Some(step), stage: Stage::New }
    }
}

/// Whether the body may be executed now and its result recorded.
fn is_plain<T, F>(step: &Step<'_, '_, T, F>) -> bool {
    let run = &step.cx.run;
    step.extras.is_none()
        && !run.is_resumed()
        && run.services.observer.is_none()
        && !run.services.stopped.load(Ordering::Acquire)
}

/// Records the body's result, and returns it with the entry to confirm.
fn record<T: Serialize, F>(
    step: &Step<'_, '_, T, F>,
    result: Result<T, StepError>,
) -> Result<(T, u32), FlowError> {
    let Step { cx, name, position, .. } = step;
    let value = result.map_err(|error| FlowError::Step {
        name: (*name).to_owned(),
        message: error.message().to_owned(),
    })?;
    let run = &cx.run;
    let mut state = run.state();
    let mark = state.record_finished(*position, Kind::Step, name, &value, &run.services)?;
    run.watch_history(&state);
    Ok((value, mark))
}

impl<'c, T, F, Fut> Future for StepFuture<'c, '_, T, F, Fut>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: FnMut(StepKey) -> Fut + Send + 'c,
    Fut: Future<Output = Result<T, StepError>> + Send + 'c,
{
    type Output = Result<T, FlowError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (step, mut stage) = (this.step, this.stage);
        if let StageProjection::New = stage.as_mut().project() {
            match step.take_if(|step| !is_plain(step)) {
                Some(step) => stage.set(Stage::Boxed { step: Box::pin(step.execute()) }),
                None => {
                    let Some(step) = step else { return Poll::Pending };
                    if let Err(error) = step.check_may_begin() {
                        stage.set(Stage::Over);
                        return Poll::Ready(Err(error));
                    }
                    let key = step.key();
                    stage.set(Stage::Body { body: (step.body)(key) });
                }
            }
        }
        if let StageProjection::Body { body } = stage.as_mut().project() {
            let Poll::Ready(result) = body.poll(context) else { return Poll::Pending };
            stage.set(Stage::Over);
            let Some(step) = step else { return Poll::Pending };
            match record(step, result) {
                Ok((value, mark)) => {
                    if step.cx.poll_confirmed(mark, context.waker()).is_ready() {
                        return Poll::Ready(Ok(value));
                    }
                    stage.set(Stage::Confirming { value, mark });
                }
                Err(error) => {
                    let failed = fail(step.cx, step.position, Kind::Step, step.name, error);
                    stage.set(Stage::Boxed { step: Box::pin(failed) });
                }
            }
        }
        match stage.as_mut().project() {
            StageProjection::Boxed { step } => {
                let polled = step.as_mut().poll(context);
                if polled.is_ready() {
                    stage.set(Stage::Over);
                }
                polled
            }
            StageProjection::Confirming { mark, .. } => {
                let Some(step) = step else { return Poll::Pending };
                if step.cx.poll_confirmed(*mark, context.waker()).is_pending() {
                    return Poll::Pending;
                }
                match stage.project_replace(Stage::Over) {
                    StageOwned::Confirming { value, .. } => Poll::Ready(Ok(value)),
                    // It was that a moment ago.
                    _ => Poll::Pending,
                }
            }
            // Polled after its end, or never begun.
            StageProjection::New | StageProjection::Body { .. } | StageProjection::Over => {
                Poll::Pending
            }
        }
    }
}
