//! Handlers of requests and of events.

use crate::{Context, Event, Request, Result};
use std::future::Future;

/// Answers requests of one type, and may wait for something meanwhile.
pub trait Handler<R: Request>: Send + Sync {
    /// Answers one request.
    fn handle(
        &self,
        request: R,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<R::Response>> + Send;
}

/// Answers requests of one type at once: no future is made for it.
pub trait HandlerNow<R: Request>: Send + Sync {
    /// Answers one request.
    fn handle_now(&self, request: R, cx: &Context<'_>) -> Result<R::Response>;
}

/// A [`HandlerNow`] where a [`Handler`] is wanted: behind behaviours that wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ready<H>(pub H);

impl<R: Request, H: HandlerNow<R>> Handler<R> for Ready<H> {
    async fn handle(&self, request: R, cx: &Context<'_>) -> Result<R::Response> {
        self.0.handle_now(request, cx)
    }
}

impl<R: Request, H: Handler<R>> Handler<R> for &H {
    fn handle(
        &self,
        request: R,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        (**self).handle(request, cx)
    }
}

impl<R: Request, H: HandlerNow<R>> HandlerNow<R> for &H {
    #[inline]
    fn handle_now(&self, request: R, cx: &Context<'_>) -> Result<R::Response> {
        (**self).handle_now(request, cx)
    }
}

impl<R: Request, H: Handler<R>> Handler<R> for std::sync::Arc<H> {
    fn handle(
        &self,
        request: R,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        (**self).handle(request, cx)
    }
}

impl<R: Request, H: HandlerNow<R>> HandlerNow<R> for std::sync::Arc<H> {
    #[inline]
    fn handle_now(&self, request: R, cx: &Context<'_>) -> Result<R::Response> {
        (**self).handle_now(request, cx)
    }
}

/// Handles events of one type, and may wait for something meanwhile.
pub trait EventHandler<E: Event>: Send + Sync {
    /// Handles one event.
    fn on(&self, event: &E, cx: &Context<'_>) -> impl Future<Output = Result<()>> + Send;
}

/// Handles events of one type, without waiting.
pub trait EventHandlerNow<E: Event>: Send + Sync {
    /// Handles one event.
    fn on_now(&self, event: &E, cx: &Context<'_>) -> Result<()>;
}

impl<E: Event, H: EventHandler<E>> EventHandler<E> for std::sync::Arc<H> {
    fn on(&self, event: &E, cx: &Context<'_>) -> impl Future<Output = Result<()>> + Send {
        (**self).on(event, cx)
    }
}

impl<E: Event, H: EventHandlerNow<E>> EventHandlerNow<E> for std::sync::Arc<H> {
    #[inline]
    fn on_now(&self, event: &E, cx: &Context<'_>) -> Result<()> {
        (**self).on_now(event, cx)
    }
}
