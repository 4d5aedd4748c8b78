//! A bus as a `tower` service.

use crate::{Context, Error, Request, Result, Serves, TraceContext};
use futures_util::future::BoxFuture;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Instant;
use tower_service::Service;

/// The way to the handler of requests of type `R`, on a bus of either kind, as a
/// [`tower_service::Service`] that takes an [`Envelope`]: `RequestService::<PlaceOrder, _>::new(bus)`.
///
/// The route is always ready: a limit belongs in a behaviour of the bus, which refuses with
/// [`Busy`](crate::ErrorKind::Busy), or in a layer, which waits. Each call allocates its future.
pub struct RequestService<R, B> {
    bus: Arc<B>,
    request: PhantomData<fn(R)>,
}

impl<R: Request, B: Serves<R>> RequestService<R, B> {
    /// The route on this bus.
    pub fn new(bus: Arc<B>) -> RequestService<R, B> {
        RequestService { bus, request: PhantomData }
    }
}

impl<R, B> Clone for RequestService<R, B> {
    fn clone(&self) -> Self {
        RequestService { bus: self.bus.clone(), request: PhantomData }
    }
}

impl<R, B> Service<Envelope<R>> for RequestService<R, B>
where
    R: Request,
    B: Serves<R> + Send + 'static,
{
    type Response = R::Response;
    type Error = Error;
    type Future = BoxFuture<'static, Result<R::Response>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, envelope: Envelope<R>) -> Self::Future {
        let bus = self.bus.clone();
        Box::pin(async move {
            let Envelope { request, trace, request_id, deadline, idempotency_key, principal } =
                envelope;
            let mut cx = Context::new();
            cx.trace = trace;
            cx.request_id = request_id;
            cx.deadline = deadline;
            cx.idempotency_key = idempotency_key.as_deref();
            if let Some(principal) = &principal {
                cx = cx.with_any_principal(&**principal);
            }
            bus.serve(request, &cx).await
        })
    }
}

/// A request with an owned form of its [`Context`], because a service cannot borrow from its
/// caller.
pub struct Envelope<R> {
    /// The request.
    pub request: R,
    /// The trace that the request belongs to.
    pub trace: TraceContext,
    /// The request's own id; zero is none.
    pub request_id: u64,
    /// The deadline: the caller waits for the answer until then.
    pub deadline: Option<Instant>,
    /// The key under which a repetition of the request is known, if the caller gave one.
    pub idempotency_key: Option<Box<str>>,
    principal: Option<Arc<dyn Any + Send + Sync>>,
}

impl<R> Envelope<R> {
    /// A request with an empty context.
    pub fn of(request: R) -> Envelope<R> {
        Envelope {
            request,
            trace: TraceContext::default(),
            request_id: 0,
            deadline: None,
            idempotency_key: None,
            principal: None,
        }
    }

    /// The same envelope with this principal, as [`Context::principal`] returns it.
    #[must_use]
    pub fn with_principal<P: Any + Send + Sync>(self, principal: Arc<P>) -> Envelope<R> {
        Envelope { principal: Some(principal), ..self }
    }
}
