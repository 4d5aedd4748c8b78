//! Undoes the steps of a failed or cancelled flow.

use super::FlowContext;
use crate::error::{FlowError, StepError};
use crate::history::{Entry, EntryPosition};
use crate::observe::Observed;
use crate::retry::RetryPolicy;
use serde::de::DeserializeOwned;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

type UndoFuture<'a> = Pin<Box<dyn Future<Output = Result<(), StepError>> + Send + 'a>>;
type Call<'a> = Box<dyn FnMut(&[u8]) -> UndoFuture<'a> + Send + 'a>;

pub(super) struct Undo<'a> {
    position: EntryPosition,
    name: &'static str,
    retry: RetryPolicy,
    call: Call<'a>,
}

impl<'a> Undo<'a> {
    pub(super) fn new<T, U, Fut>(
        position: EntryPosition,
        name: &'static str,
        retry: RetryPolicy,
        mut undo: U,
    ) -> Self
    where
        T: DeserializeOwned + Send + 'static,
        U: FnMut(T) -> Fut + Send + 'a,
        Fut: Future<Output = Result<(), StepError>> + Send + 'a,
    {
        // Every attempt gets a value of its own, without the type having to be cloned.
        let call: Call<'a> = Box::new(move |output| match postcard::from_bytes(output) {
            Ok(value) => Box::pin(undo(value)),
            Err(error) => Box::pin(std::future::ready(Err(StepError::permanent(error)))),
        });
        Self { position, name, retry, call }
    }
}

/// The compensations so far.
#[derive(Default)]
pub(super) struct UndoList<'a>(Mutex<Vec<Finished<'a>>>);

struct Finished<'a> {
    /// The index of the step's end in the history.
    order: u32,
    output: Vec<u8>,
    undo: Undo<'a>,
}

impl<'a> UndoList<'a> {
    pub(super) fn push(&self, order: u32, undo: Undo<'a>, output: Vec<u8>) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(Finished { order, output, undo });
    }

    fn take(&self) -> Vec<Finished<'a>> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = std::mem::take(&mut *list);
        list.sort_by_key(|finished| finished.order);
        list
    }
}

impl FlowContext<'_> {
    /// Undoes all finished steps that are not undone, last first. Its beginning is stored before,
    /// so that a restart continues with it whatever the flow would decide then.
    pub(super) async fn undo_all(&self, cause: &FlowError, begun: bool) -> Result<(), FlowError> {
        let list = self.undo.get().map(|list| list.take()).unwrap_or_default();
        if list.is_empty() {
            return Ok(());
        }
        if !begun {
            let mark = {
                let mut state = self.run.state();
                let at = state.polled_at;
                state.record(&Entry::Failing { at, error: cause.to_stored() })
            };
            self.confirm(mark).await;
        }
        for mut finished in list.into_iter().rev() {
            let Undo { position, name, .. } = finished.undo;
            if self.run.state().is_undone(position) {
                continue;
            }
            self.undo_one(&mut finished).await.map_err(|error| FlowError::Step {
                name: name.to_owned(),
                message: error.message().to_owned(),
            })?;
            self.observe(Observed::Undone { name });
            let mark = {
                let mut state = self.run.state();
                let at = state.polled_at;
                state.record(&Entry::Undone { position, at })
            };
            self.confirm(mark).await;
        }
        Ok(())
    }

    async fn undo_one(&self, finished: &mut Finished<'_>) -> Result<(), StepError> {
        let Undo { retry, call, .. } = &mut finished.undo;
        let mut failed = 0;
        loop {
            let error = match call(&finished.output).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            failed += 1;
            let pause = retry.pause(failed, self.run.services.random());
            let Some(pause) = pause.filter(|_| error.is_retryable()) else { return Err(error) };
            // Undoing is not interrupted by a cancel.
            self.pause(pause, false).await;
        }
    }
}
