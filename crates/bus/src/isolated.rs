//! Handlers of events that may panic.

use crate::{Context, Error, Event, EventHandler, EventHandlerNow, Result};
use futures_util::FutureExt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Turns a panic of the handler of an event inside it into an error of the kind
/// [`Panicked`](crate::ErrorKind::Panicked), so that the handlers after it are still called.
///
/// It is to events what [`IsolatePanics`](crate::behaviour::IsolatePanics) is to requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Isolated<H>(pub H);

impl<E: Event, H: EventHandler<E>> EventHandler<E> for Isolated<H> {
    async fn on(&self, event: &E, cx: &Context<'_>) -> Result<()> {
        // Also the making of the future is inside, since a handler may be more than an `async fn`.
        let told = async move { self.0.on(event, cx).await };
        AssertUnwindSafe(told)
            .catch_unwind()
            .await
            .unwrap_or_else(|payload| Err(Error::panicked(&*payload)))
    }
}

impl<E: Event, H: EventHandlerNow<E>> EventHandlerNow<E> for Isolated<H> {
    #[inline]
    fn on_now(&self, event: &E, cx: &Context<'_>) -> Result<()> {
        catch_unwind(AssertUnwindSafe(|| self.0.on_now(event, cx)))
            .unwrap_or_else(|payload| Err(Error::panicked(&*payload)))
    }
}
