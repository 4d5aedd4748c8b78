//! What is wrong in itself goes no further.

use super::around::{Around, both_ways};
use crate::{Context, Request, Result};

/// A request that can tell whether it makes sense, without looking at anything else.
pub trait Validate {
    /// Whether it makes sense.
    ///
    /// # Errors
    /// It does not: an error of the kind [`Invalid`](crate::ErrorKind::Invalid) that says what is
    /// wrong with which part.
    fn validate(&self) -> Result<()>;
}

/// Refuses requests that do not [`Validate`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Validation;

impl<R: Request + Validate> Around<R> for Validation {
    type Guard<'a> = ();

    #[inline]
    fn enter(&self, request: &R, _: &Context<'_>) -> Result<()> {
        request.validate()
    }
}

both_ways!([] Validation where R: Request + Validate);
