//! A deadline for requests.

use super::time::Timer;
use crate::{Behaviour, Context, Error, ErrorKind, Handler, Request, Result};
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;

/// Gives up on a request after some time, or at the deadline it comes with, whichever is sooner.
///
/// The inner handler gets the deadline and is dropped when it passes: its effects are unknown after
/// [`Timeout`](ErrorKind::Timeout). A request whose deadline has passed is not begun.
#[derive(Clone, Copy, Debug)]
pub struct Timeout<T> {
    after: Duration,
    timer: T,
}

impl<T: Timer> Timeout<T> {
    /// Gives up after this time on this clock.
    #[must_use]
    pub fn new(after: Duration, timer: T) -> Timeout<T> {
        Timeout { after, timer }
    }
}

#[cold]
fn too_late<R: Request>() -> Error {
    let message = format!("{} had no answer when its time ran out.", R::NAME);
    Error::new(ErrorKind::Timeout, "deadline_passed", message)
}

impl<R: Request, T: Timer> Behaviour<R> for Timeout<T> {
    async fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        let now = self.timer.monotonic();
        // A time too far away to be expressed is no limit of its own.
        let own = now.checked_add(self.after);
        let Some(deadline) = own.into_iter().chain(cx.deadline).min() else {
            return next.handle(request, cx).await;
        };
        if deadline <= now {
            return Err(too_late::<R>());
        }
        let mut cx = *cx;
        cx.deadline = Some(deadline);
        let answer = pin!(next.handle(request, &cx));
        let alarm = pin!(self.timer.sleep_until(deadline));
        // The answer is polled first: one that is there in time counts.
        match select(answer, alarm).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err(too_late::<R>()),
        }
    }
}
