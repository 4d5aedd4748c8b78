//! Idempotency: a repeated request gets its first answer.

use super::answers::{AnswerStore, Key};
use super::flight::{Flights, Refused};
use crate::{Behaviour, Context, Error, ErrorKind, Handler, Request, Result};

/// Limits of concurrent requests.
#[derive(Clone, Copy, Debug)]
pub struct IdempotencyLimits {
    /// The most keys in flight; a request with another one is refused as busy.
    pub keys_max: usize,
    /// The most requests that wait for another one with their key; more are refused as busy.
    pub waiting_max: usize,
}

impl Default for IdempotencyLimits {
    /// 4,096 keys, with 64 waiting for each.
    fn default() -> IdempotencyLimits {
        IdempotencyLimits { keys_max: 4_096, waiting_max: 64 }
    }
}

/// Answers a repeated request with the same key (see [`Context::idempotency_key`]) by its first
/// answer, without handling it again. A request without a key passes.
///
/// - Requests with one key that come at the same time wait for the first, and then get its answer.
///   If the first fails or is dropped, the next takes over: failures are not kept.
/// - Another request under a key that has an answer is a [`Conflict`](ErrorKind::Conflict).
/// - Keys of different request types, and of different scopes, are independent.
///
/// Answers last as long as the [`AnswerStore`] keeps them. If the process dies between the
/// handler's work and the storing of its answer, a repetition is handled again: to prevent that,
/// the handler stores the key together with its effect. If storing fails, the answer is returned
/// all the same, and `answer_not_stored` is noted on the trail.
#[derive(Debug)]
pub struct Idempotency<S> {
    store: S,
    scope: fn(&Context<'_>) -> String,
    flights: Flights,
}

impl<S> Idempotency<S> {
    /// Keeps answers in this store, by keys that all callers share.
    #[must_use]
    pub fn new(store: S, limits: IdempotencyLimits) -> Idempotency<S> {
        Idempotency::scoped(store, limits, |_| String::new())
    }

    /// Keeps answers in this store. Keys are also distinguished by this scope, such as the caller.
    #[must_use]
    pub fn scoped(
        store: S,
        limits: IdempotencyLimits,
        scope: fn(&Context<'_>) -> String,
    ) -> Idempotency<S> {
        let flights = Flights::new(limits.keys_max, limits.waiting_max);
        Idempotency { store, scope, flights }
    }

    /// The number of keys in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }
}

#[cold]
fn other_request<R: Request>(key: &str) -> Error {
    let message = format!(
        "Another {} was answered under the key {key:?}; give each request a key of its own.",
        R::NAME
    );
    Error::new(ErrorKind::Conflict, "idempotency_key_conflict", message)
}

#[cold]
fn busy(refused: Refused) -> Error {
    let message = match refused {
        Refused::Keys => "As many keys are in flight as may be; try again a little later.",
        Refused::Waiting => "Too many wait for the answer under this key; try again later.",
    };
    Error::new(ErrorKind::Busy, "too_many_in_flight", message)
}

impl<R, S> Behaviour<R> for Idempotency<S>
where
    R: Request<Response: Clone> + Clone + PartialEq,
    S: AnswerStore<R>,
{
    async fn call<N: Handler<R> + Copy>(
        &self,
        request: R,
        cx: &Context<'_>,
        next: N,
    ) -> Result<R::Response> {
        let Some(text) = cx.idempotency_key else { return next.handle(request, cx).await };
        let key = Key { request: R::NAME, scope: (self.scope)(cx), text: text.to_owned() };
        // From here to the end of this function, no other request uses the key.
        let _flight = self.flights.take_off(&key).await.map_err(busy)?;
        if let Some((asked, answer)) = self.store.find(&key).await? {
            return if asked == request { Ok(answer) } else { Err(other_request::<R>(text)) };
        }
        let answer = next.handle(request.clone(), cx).await?;
        if let Err(error) = self.store.keep(key, request, answer.clone()).await {
            cx.note("answer_not_stored", &error);
        }
        Ok(answer)
    }
}
