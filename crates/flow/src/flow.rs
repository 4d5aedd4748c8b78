//! The definition of a flow.

use crate::context::FlowContext;
use crate::error::FlowError;
use crate::run::Run;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A durable workflow: plain async code whose steps and waits go through a [`FlowContext`].
///
/// The code is executed again from its beginning whenever a run is resumed, and its finished steps
/// then return their recorded results. Code outside of steps must therefore be deterministic: no
/// clock but [`FlowContext::now`], no random numbers, nothing read from outside.
pub trait Flow: Send + Sync + 'static {
    /// The name in the store. Changing it orphans unfinished runs.
    const NAME: &'static str;

    /// The version, to be raised when the steps of the flow, or their order, change. Runs of other
    /// versions are parked instead of being resumed by code that does not match.
    const VERSION: u32 = 1;

    /// The input of a run.
    type Input: Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The output of a run.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// Does the work. An error undoes the finished steps that have a compensation, last first.
    ///
    /// In an `impl`, write `async fn run(&self, cx: &FlowContext<'_>, input: &Input)`; where
    /// compensations borrow from `self` or `input`, give all three the same lifetime:
    /// `async fn run<'a>(&'a self, cx: &FlowContext<'a>, input: &'a Input)`.
    fn run<'a>(
        &'a self,
        cx: &FlowContext<'a>,
        input: &'a Self::Input,
    ) -> impl Future<Output = Result<Self::Output, FlowError>> + Send;
}

/// A run of some flow, to be polled.
pub(crate) type Execution = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A type-erased flow.
pub(crate) trait AnyFlow: Any + Send + Sync {
    fn name(&self) -> &'static str;
    fn version(&self) -> u32;
    /// Begins to execute a run whose input is stored.
    fn execute(self: Arc<Self>, run: Arc<Run>, input: &[u8]) -> Result<Execution, String>;
    /// For downcasting to the typed flow.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

impl<F: Flow> AnyFlow for F {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn version(&self) -> u32 {
        F::VERSION
    }

    fn execute(self: Arc<Self>, run: Arc<Run>, input: &[u8]) -> Result<Execution, String> {
        let input = postcard::from_bytes(input).map_err(|error| error.to_string())?;
        Ok(execute(self, run, input))
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

pub(crate) fn execute<F: Flow>(flow: Arc<F>, run: Arc<Run>, input: F::Input) -> Execution {
    Box::pin(async move {
        let cx = FlowContext::trunk(run);
        let result = flow.run(&cx, &input).await;
        let ending = match cx.conclude_whole(result) {
            Ok(ending) => ending,
            // Rarely used state is boxed, so that every run stays small.
            Err(result) => Box::pin(cx.conclude(result)).await,
        };
        cx.end(ending);
    })
}
