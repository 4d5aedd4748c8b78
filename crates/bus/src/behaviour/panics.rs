//! Panics become errors.

use crate::{Behaviour, BehaviourNow, Context, Error, Handler, HandlerNow, Request, Result};
use futures_util::FutureExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Turns a panic inside it into an error of the kind [`Panicked`](crate::ErrorKind::Panicked) with
/// the panic's message. The bus and other requests continue.
///
/// A handler that shares state must leave it fit for use when it panics, as with any panic that is
/// caught; a poisoned lock is the handler's to deal with. A program that is built to abort on panic
/// aborts all the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct IsolatePanics;

impl<R: Request> Behaviour<R> for IsolatePanics {
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` would keep a second copy of the request"
    )]
    fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        async move {
            let answer = async move { next.handle(request, cx).await };
            AssertUnwindSafe(answer)
                .catch_unwind()
                .await
                .unwrap_or_else(|payload| Err(Error::panicked(&*payload)))
        }
    }
}

impl<R: Request> BehaviourNow<R> for IsolatePanics {
    #[inline]
    fn call_now<N: HandlerNow<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        catch_unwind(AssertUnwindSafe(|| next.handle_now(request, cx)))
            .unwrap_or_else(|payload| Err(Error::panicked(&*payload)))
    }
}
