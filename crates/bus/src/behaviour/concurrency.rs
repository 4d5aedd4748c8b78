//! A limit of concurrent requests.

use super::permits::Permits;
use crate::{
    Behaviour, BehaviourNow, Context, Error, ErrorKind, Handler, HandlerNow, Request, Result,
};

/// Lets at most `in_flight_max` requests through at a time and refuses the others with
/// [`Busy`](ErrorKind::Busy) at once, so that work which could not be finished is not begun.
///
/// Requests that are awaited may instead wait in a line of bounded length, in the order in which
/// they came. Requests that are answered at once never wait.
#[derive(Debug)]
pub struct ConcurrencyLimit {
    permits: Permits,
}

impl ConcurrencyLimit {
    /// At most `in_flight_max` at a time; no request waits.
    #[must_use]
    pub fn new(in_flight_max: u32) -> ConcurrencyLimit {
        ConcurrencyLimit::with_line(in_flight_max, 0)
    }

    /// At most `in_flight_max` at a time, while at most `waiting_max` wait.
    #[must_use]
    pub fn with_line(in_flight_max: u32, waiting_max: u32) -> ConcurrencyLimit {
        ConcurrencyLimit { permits: Permits::new(in_flight_max, waiting_max) }
    }

    /// The number of requests that are being answered.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.permits.taken()
    }

    /// The number of waiting requests.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.permits.waiting()
    }
}

#[cold]
fn busy() -> Error {
    let message = "As many requests are in flight as may be; try again a little later.";
    Error::new(ErrorKind::Busy, "too_many_in_flight", message)
}

impl<R: Request> Behaviour<R> for ConcurrencyLimit {
    async fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        let _permit = self.permits.take().await.ok_or_else(busy)?;
        next.handle(request, cx).await
    }
}

impl<R: Request> BehaviourNow<R> for ConcurrencyLimit {
    #[inline]
    fn call_now<N: HandlerNow<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        let _permit = self.permits.take_now().ok_or_else(busy)?;
        next.handle_now(request, cx)
    }
}
