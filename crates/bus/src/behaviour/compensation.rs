//! What was half done is taken back.

use crate::{Behaviour, Context, Error, Handler, Request, Result};
use std::error::Error as StdError;
use std::fmt;
use std::future::Future;

/// Takes back what a request may have done before it failed.
pub trait Compensate<R: Request>: Send + Sync {
    /// Takes back what this request did, which failed with this error. It may have done everything,
    /// a part or nothing; see [`Error::kind`].
    fn compensate(
        &self,
        request: R,
        failure: &Error,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// Has a failed request taken back by a [`Compensate`].
///
/// The caller gets the failure of the request. If it could not be taken back either, that is told
/// as its source, a [`CompensationFailed`]. A panic is compensated only if
/// [`IsolatePanics`](super::IsolatePanics) stands behind this behaviour, and a request whose future
/// is dropped is not: whatever has to be taken back even then is work for a durable flow. Taking
/// back is not bound to the deadline of the request, which may have passed already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compensation<A>(pub A);

/// A failed request could not be taken back.
#[derive(Debug)]
pub struct CompensationFailed {
    failure: Error,
    cause: Option<Box<dyn StdError + Send + Sync>>,
}

impl CompensationFailed {
    /// Why it could not be taken back.
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

/// The source is what had caused the failure of the request itself.
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
