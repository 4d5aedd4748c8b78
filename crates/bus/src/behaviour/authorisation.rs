//! Authorisation of requests.

use super::interceptor::{Interceptor, both_ways};
use crate::{Context, Request, Result};

/// Decides which principals may send which requests.
///
/// A function of the request and the context is one too.
pub trait Policy<R: Request>: Send + Sync {
    /// Fails unless the sender (see [`Context::principal`]) may send this request.
    ///
    /// # Errors
    /// [`Unauthenticated`](crate::ErrorKind::Unauthenticated) if the sender is unknown, otherwise
    /// [`Forbidden`](crate::ErrorKind::Forbidden).
    fn permit(&self, request: &R, cx: &Context<'_>) -> Result<()>;
}

impl<R: Request, F: Fn(&R, &Context<'_>) -> Result<()> + Send + Sync> Policy<R> for F {
    #[inline]
    fn permit(&self, request: &R, cx: &Context<'_>) -> Result<()> {
        self(request, cx)
    }
}

/// Refuses requests that its [`Policy`] does not permit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Authorisation<P>(pub P);

impl<R: Request, P: Policy<R>> Interceptor<R> for Authorisation<P> {
    type Guard<'a>
        = ()
    where
        P: 'a;

    #[inline]
    fn enter(&self, request: &R, cx: &Context<'_>) -> Result<()> {
        self.0.permit(request, cx)
    }
}

both_ways!([P: Policy<R>] Authorisation<P> where R: Request);
