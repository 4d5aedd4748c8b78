//! Compensation of failed requests.

use crate::{Behaviour, Context, Error, Handler, Request, Result};
use std::error::Error as StdError;
use std::fmt;
use std::future::Future;

/// Undoes the effects of a failed request.
pub trait Compensate<R: Request>: Send + Sync {
    /// Undoes the effects of this request, which failed with this error. It may have had all
    /// effects, some or none; see [`Error::kind`].
    fn compensate(
        &self,
        request: R,
        failure: &Error,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// Undoes a failed request by a [`Compensate`].
///
/// The caller gets the failure of the request. If the compensation fails too, the source is a
/// [`CompensationFailed`]. A panic is compensated only if [`IsolatePanics`](super::IsolatePanics)
/// is inside this behaviour, and a request whose future is dropped is not: use a durable flow for
/// that. The compensation is not bound to the deadline of the request, which may have passed
/// already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compensation<A>(pub A);

/// The compensation of a failed request failed.
#[derive(Debug)]
pub struct CompensationFailed {
    failure: Error,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl CompensationFailed {
    /// The error of the compensation.
    #[must_use]
    pub fn failure(&self) -> &Error {
        &self.failure
    }
}

impl fmt::Display for CompensationFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the request could not be taken back: {}", self.failure)
    }
}

/// The source is the cause of the failure of the request itself.
impl StdError for CompensationFailed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as &(dyn StdError + 'static))
    }
}

impl<R: Request + Clone, A: Compensate<R>> Behaviour<R> for Compensation<A> {
    async fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        let kept = request.clone();
        let error = match next.handle(request, cx).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let mut own = *cx;
        own.deadline = None;
        match self.0.compensate(kept, &error, &own).await {
            Ok(()) => Err(error),
            Err(failure) => {
                let (error, cause) = error.without_source();
                Err(error.with_source(CompensationFailed { failure, cause }))
            }
        }
    }
}
