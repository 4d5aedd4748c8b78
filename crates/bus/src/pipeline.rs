//! Behaviours, one around the other, around a handler.

use crate::{Context, Handler, HandlerNow, Request, Result};
use std::future::Future;

/// Does something around the answering of requests, and may wait for something meanwhile.
///
/// `next` is the rest of the pipeline with the handler at its end. A behaviour may leave it out,
/// and answer itself, or ask it more than once.
pub trait Behaviour<R: Request>: Send + Sync {
    /// Answers one request by way of `next`.
    fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> impl Future<Output = Result<R::Response>> + Send;
}

/// A behaviour that waits for nothing, so that it can stand before a [`HandlerNow`] without a future.
pub trait BehaviourNow<R: Request>: Send + Sync {
    /// Answers one request by way of `next`.
    fn call_now<N: HandlerNow<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response>;
}

impl<R: Request, B: Behaviour<R>> Behaviour<R> for std::sync::Arc<B> {
    #[inline]
    fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        (**self).call(request, cx, next)
    }
}

impl<R: Request, B: BehaviourNow<R>> BehaviourNow<R> for std::sync::Arc<B> {
    #[inline]
    fn call_now<N: HandlerNow<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        (**self).call_now(request, cx, next)
    }
}

/// An optional behaviour, decided when the bus is built.
impl<R: Request, B: Behaviour<R>> Behaviour<R> for Option<B> {
    #[inline]
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
            match self {
                Some(behaviour) => behaviour.call(request, cx, next).await,
                None => next.handle(request, cx).await,
            }
        }
    }
}

impl<R: Request, B: BehaviourNow<R>> BehaviourNow<R> for Option<B> {
    #[inline]
    fn call_now<N: HandlerNow<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        match self {
            Some(behaviour) => behaviour.call_now(request, cx, next),
            None => next.handle_now(request, cx),
        }
    }
}

/// Behaviours in the order in which a request meets them, as nested pairs: `(first, (second, ()))`.
/// [`behaviours!`](crate::behaviours) writes the pairs.
pub trait Pipeline<R: Request>: Send + Sync {
    /// Answers one request by way of every behaviour and then the handler.
    fn run<H: Handler<R>>(
        &self,
        request: R,
        cx: &Context<'_>,
        handler: &H,
    ) -> impl Future<Output = Result<R::Response>> + Send;
}

/// A [`Pipeline`] of behaviours that wait for nothing.
pub trait PipelineNow<R: Request>: Send + Sync {
    /// Answers one request by way of every behaviour and then the handler.
    fn run_now<H: HandlerNow<R>>(
        &self,
        request: R,
        cx: &Context<'_>,
        handler: &H,
    ) -> Result<R::Response>;
}

/// The rest of a pipeline after one of its behaviours.
struct RemainingPipeline<'p, 'h, P, H> {
    pipeline: &'p P,
    handler: &'h H,
}

impl<P, H> Clone for RemainingPipeline<'_, '_, P, H> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, H> Copy for RemainingPipeline<'_, '_, P, H> {}

impl<R: Request, P: Pipeline<R>, H: Handler<R>> Handler<R> for RemainingPipeline<'_, '_, P, H> {
    #[inline]
    fn handle(
        &self,
        request: R,
        cx: &Context<'_>,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        self.pipeline.run(request, cx, self.handler)
    }
}

impl<R: Request, P: PipelineNow<R>, H: HandlerNow<R>> HandlerNow<R>
    for RemainingPipeline<'_, '_, P, H>
{
    #[inline]
    fn handle_now(&self, request: R, cx: &Context<'_>) -> Result<R::Response> {
        self.pipeline.run_now(request, cx, self.handler)
    }
}

impl<R: Request> Pipeline<R> for () {
    #[inline]
    fn run<H: Handler<R>>(
        &self,
        request: R,
        cx: &Context<'_>,
        handler: &H,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        handler.handle(request, cx)
    }
}

impl<R: Request> PipelineNow<R> for () {
    #[inline]
    fn run_now<H: HandlerNow<R>>(
        &self,
        request: R,
        cx: &Context<'_>,
        handler: &H,
    ) -> Result<R::Response> {
        handler.handle_now(request, cx)
    }
}

impl<R: Request, B: Behaviour<R>, P: Pipeline<R>> Pipeline<R> for (B, P) {
    #[inline]
    fn run<H: Handler<R>>(
        &self,
        request: R,
        cx: &Context<'_>,
        handler: &H,
    ) -> impl Future<Output = Result<R::Response>> + Send {
        self.0.call(request, cx, RemainingPipeline { pipeline: &self.1, handler })
    }
}

impl<R: Request, B: BehaviourNow<R>, P: PipelineNow<R>> PipelineNow<R> for (B, P) {
    #[inline]
    fn run_now<H: HandlerNow<R>>(
        &self,
        request: R,
        cx: &Context<'_>,
        handler: &H,
    ) -> Result<R::Response> {
        self.0.call_now(request, cx, RemainingPipeline { pipeline: &self.1, handler })
    }
}

/// Behaviours as a [`Pipeline`], in the order in which a request meets them.
///
/// ```
/// use rialto_bus::behaviours;
///
/// assert_eq!(behaviours!("first", "second"), ("first", ("second", ())));
/// ```
#[macro_export]
macro_rules! behaviours {
    () => { () };
    ($first:expr $(, $rest:expr)* $(,)?) => { ($first, $crate::behaviours!($($rest),*)) };
}

/// The type of what [`behaviours!`](crate::behaviours) makes of values of these types.
#[macro_export]
macro_rules! Behaviours {
    () => { () };
    ($first:ty $(, $rest:ty)* $(,)?) => { ($first, $crate::Behaviours!($($rest),*)) };
}
