//! Child flows.

use super::FlowContext;
use super::step::fail;
use super::undo::Undo;
use crate::FlowId;
use crate::error::{FlowError, StepError};
use crate::flow::Flow;
use crate::flows::Target;
use crate::history::{Ending, EntryPosition, Kind};
use crate::observe::Observed;
use crate::retry::RetryPolicy;
use crate::run::Replayed;
use crate::run::replay::Recorded;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// A child flow that has not begun. Awaiting it runs it, or returns its recorded result.
#[must_use = "a child does nothing until it is awaited"]
pub struct Child<'c, 'a, F: Flow> {
    cx: &'c FlowContext<'a>,
    name: &'static str,
    position: EntryPosition,
    id: FlowId,
    input: F::Input,
    undo: Option<Undo<'a>>,
}

impl<'c, 'a, F: Flow> Child<'c, 'a, F> {
    pub(super) fn new(
        cx: &'c FlowContext<'a>,
        name: &'static str,
        id: FlowId,
        input: F::Input,
    ) -> Self {
        Self { cx, name, position: cx.position(), id, input, undo: None }
    }

    /// Says how to undo the child when it has completed and this flow then fails.
    pub fn compensate<U, UFut>(mut self, undo: U) -> Self
    where
        U: FnMut(F::Output) -> UFut + Send + 'a,
        UFut: Future<Output = Result<(), StepError>> + Send + 'a,
    {
        self.undo = Some(Undo::new(self.position, self.name, RetryPolicy::forever(), undo));
        self
    }

    async fn execute(self) -> Result<F::Output, FlowError> {
        let Self { cx, name, position, id, input, undo } = self;
        let run = &*cx.run;
        let decode = |output: &[u8]| {
            postcard::from_bytes(output).map_err(|error| FlowError::Codec {
                name: name.to_owned(),
                reason: error.to_string(),
            })
        };
        match cx.meet(position, Kind::Child, name) {
            Replayed::Recorded(Recorded::Finished { output, .. }, order) => {
                let value = decode(&output);
                if let Some(undo) = undo {
                    cx.undo_list().push(order, undo, output);
                }
                return value;
            }
            Replayed::Recorded(Recorded::Failed { error, .. }, _) => {
                return Err(FlowError::from_stored(&error));
            }
            // Nothing else is recorded of a child.
            Replayed::Recorded(..) | Replayed::Changed => std::future::pending().await,
            Replayed::Refused(error) => return Err(error),
            Replayed::Fresh => {}
        }
        cx.observe(Observed::StepBegan { kind: Kind::Child, name, attempt: 1 });
        let failed = |message: String| FlowError::Child { name: name.to_owned(), message };
        let Some(flows) = run.services.flows.upgrade() else {
            return std::future::pending().await;
        };
        // A child that was begun before a restart continues by itself, and must be awaited even if
        // this run was cancelled since.
        let is_cancelled = run.state().cancelled;
        if is_cancelled && flows.number_of(&id).is_none() {
            return Err(FlowError::Cancelled);
        }
        let target = match flows.begin_child::<F>(id, input, run.number) {
            Ok(target) => target,
            Err(error) => {
                return fail(cx, position, Kind::Child, name, failed(error.to_string())).await;
            }
        };
        let ending = match target {
            Target::Ended(ending) => ending,
            Target::Live(child) => {
                let mut cancel_told = false;
                poll_fn(|context| {
                    if !cancel_told && run.state().cancelled {
                        cancel_told = true;
                        // A child that ends at this moment needs no cancel.
                        let _ = flows.cancel(&id);
                    }
                    let mut state = child.state();
                    if let Some(ending) = state.ending.clone().filter(|_| state.is_over) {
                        return Poll::Ready(ending);
                    }
                    if !state.waiters.iter().any(|waker| waker.will_wake(context.waker())) {
                        state.waiters.push(context.waker().clone());
                    }
                    Poll::Pending
                })
                .await
            }
        };
        let error = match ending {
            Ending::Completed(output) => {
                let value: F::Output = decode(&output)?;
                let recorded = {
                    let mut state = run.state();
                    let services = &run.services;
                    state.record_finished(position, Kind::Child, name, &value, services)
                };
                match recorded {
                    Ok(mark) => {
                        if let Some(undo) = undo {
                            cx.undo_list().push(mark - 1, undo, output.clone());
                        }
                        let output = &output;
                        cx.observe(Observed::StepFinished { kind: Kind::Child, name, output });
                        cx.confirm(mark).await;
                        return Ok(value);
                    }
                    Err(error) => error,
                }
            }
            Ending::Cancelled if run.state().cancelled => return Err(FlowError::Cancelled),
            Ending::Cancelled => failed("it was cancelled".to_owned()),
            Ending::Failed(error) => failed(FlowError::from_stored(&error).to_string()),
            Ending::Stuck(stuck) => failed(format!(
                "{}; undoing it failed: {}",
                FlowError::from_stored(&stuck.cause),
                FlowError::from_stored(&stuck.error)
            )),
        };
        let message = error.to_string();
        cx.observe(Observed::StepFailed {
            kind: Kind::Child,
            name,
            message: &message,
            for_good: true,
        });
        fail(cx, position, Kind::Child, name, error).await
    }
}

impl<'c, F: Flow> IntoFuture for Child<'c, '_, F> {
    type Output = Result<F::Output, FlowError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'c>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.execute())
    }
}
