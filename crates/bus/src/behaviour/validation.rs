//! Validation of requests.

use super::interceptor::{Interceptor, both_ways};
use crate::{Context, Request, Result};

/// A request that can be validated by itself.
pub trait Validate {
    /// Validates the request.
    ///
    /// # Errors
    /// An error of the kind [`Invalid`](crate::ErrorKind::Invalid) that names the invalid part and
    /// the reason.
    fn validate(&self) -> Result<()>;
}

/// Refuses requests that do not [`Validate`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Validation;

impl<R: Request + Validate> Interceptor<R> for Validation {
    type Guard<'a> = ();

    #[inline]
    fn enter(&self, request: &R, _: &Context<'_>) -> Result<()> {
        request.validate()
    }
}

both_ways!([] Validation where R: Request + Validate);
