//! The common form of behaviours that do not wait.

use crate::{ErrorKind, Request, Result};

/// The outcome of a request, for statistics.
pub type Outcome = std::result::Result<(), ErrorKind>;

#[inline]
pub(crate) fn outcome_of<T>(answer: &Result<T>) -> Outcome {
    match answer {
        Ok(_) => Ok(()),
        Err(error) => Err(error.kind()),
    }
}

/// The outcome of a request that was left without an answer: its future was dropped, or it panicked.
#[cold]
pub(crate) fn outcome_of_abandoned() -> Outcome {
    Err(if std::thread::panicking() { ErrorKind::Panicked } else { ErrorKind::Cancelled })
}

/// The actions of a behaviour before and after the inner handler, awaited or not.
pub(crate) trait Interceptor<R: Request>: Send + Sync {
    /// A value that lives as long as the request is inside this behaviour. It is dropped without
    /// [`Interceptor::leave`] when the request panics or its future is dropped.
    type Guard<'a>: Send
    where
        Self: 'a;

    /// Lets the request pass, or refuses it.
    fn enter<'a>(&'a self, request: &R, cx: &crate::Context<'_>) -> Result<Self::Guard<'a>>;

    /// Handles the answer.
    #[inline]
    fn leave(held: Self::Guard<'_>, _answer: &Result<R::Response>) {
        drop(held);
    }
}

/// Writes both forms of a behaviour that has an [`Interceptor`].
macro_rules! both_ways {
    ([$($parameter:tt)*] $behaviour:ty where $request:ident: $($bound:tt)+) => {
        impl<$request: $($bound)+, $($parameter)*> $crate::Behaviour<$request> for $behaviour {
            // An `async fn` would keep a second copy of the request; so it is kept once.
            #[inline]
            fn call<N: $crate::Handler<$request> + Copy>(
                &self,
                request: $request,
                cx: &$crate::Context<'_>,
                next: N,
            ) -> impl ::std::future::Future<Output = $crate::Result<$request::Response>> + Send
            {
                async move {
                    let held = $crate::behaviour::interceptor::Interceptor::enter(self, &request, cx)?;
                    let answer = next.handle(request, cx).await;
                    <Self as $crate::behaviour::interceptor::Interceptor<$request>>::leave(held, &answer);
                    answer
                }
            }
        }

        impl<$request: $($bound)+, $($parameter)*> $crate::BehaviourNow<$request> for $behaviour {
            #[inline]
            fn call_now<N: $crate::HandlerNow<$request> + Copy>(
                &self,
                request: $request,
                cx: &$crate::Context<'_>,
                next: N,
            ) -> $crate::Result<$request::Response> {
                let held = $crate::behaviour::interceptor::Interceptor::enter(self, &request, cx)?;
                let answer = next.handle_now(request, cx);
                <Self as $crate::behaviour::interceptor::Interceptor<$request>>::leave(held, &answer);
                answer
            }
        }
    };
}

pub(crate) use both_ways;
