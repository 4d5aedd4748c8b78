//! Stores of answers to repeated requests.

use crate::{Error, ErrorKind, Request, Result};
use rialto_clock::{Clock, SystemClock};
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The key of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The name of the request.
    pub request: &'static str,
    /// The scope of the key.
    pub scope: String,
    /// The key itself.
    pub text: String,
}

/// Keeps answers to requests of type `R`. [`Idempotency`](super::Idempotency) ensures that one
/// request at a time uses a key, within one process.
pub trait AnswerStore<R: Request>: Send + Sync {
    /// The request and the answer under this key.
    ///
    /// # Errors
    /// If the store fails, or has no room for a new answer. The request is then not handled.
    fn find(&self, key: &Key) -> impl Future<Output = Result<Option<(R, R::Response)>>> + Send;

    /// Stores the request and the answer under a key without an answer.
    ///
    /// # Errors
    /// If it could not be stored.
    fn keep(
        &self,
        key: Key,
        request: R,
        answer: R::Response,
    ) -> impl Future<Output = Result<()>> + Send;
}

impl<R: Request, S: AnswerStore<R>> AnswerStore<R> for Arc<S> {
    fn find(&self, key: &Key) -> impl Future<Output = Result<Option<(R, R::Response)>>> + Send {
        (**self).find(key)
    }

    fn keep(
        &self,
        key: Key,
        request: R,
        answer: R::Response,
    ) -> impl Future<Output = Result<()>> + Send {
        (**self).keep(key, request, answer)
    }
}

/// Keeps answers in memory for some time, up to a capacity. While it is full, requests with new
/// keys are refused as [`Busy`](ErrorKind::Busy), because dropping an answer early would break
/// idempotency.
///
/// Requests that were in flight when it got full still have their answers kept.
#[derive(Debug)]
pub struct MemoryAnswerStore<C = SystemClock> {
    keep_for: Duration,
    answers_max: usize,
    clock: C,
    kept: Mutex<StoredAnswer>,
}

#[derive(Debug, Default)]
struct StoredAnswer {
    answers: HashMap<Key, Box<dyn Any + Send>>,
    /// Every key of `answers` once, oldest first.
    ages: VecDeque<(Instant, Key)>,
}

impl MemoryAnswerStore {
    /// Keeps up to `answers_max` answers for `keep_for` by the clock of the machine.
    #[must_use]
    pub fn new(keep_for: Duration, answers_max: usize) -> MemoryAnswerStore {
        MemoryAnswerStore::with_clock(keep_for, answers_max, SystemClock)
    }
}

impl<C: Clock> MemoryAnswerStore<C> {
    /// The same by this clock.
    #[must_use]
    pub fn with_clock(keep_for: Duration, answers_max: usize, clock: C) -> MemoryAnswerStore<C> {
        MemoryAnswerStore { keep_for, answers_max, clock, kept: Mutex::default() }
    }

    /// The number of answers, including expired ones that were not requested since.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().answers.len()
    }

    /// Whether it keeps none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, StoredAnswer> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The unexpired answers, and the time, which is read under the lock so that ages are in order.
    fn kept(&self) -> (MutexGuard<'_, StoredAnswer>, Instant) {
        let mut kept = self.lock();
        let now = self.clock.monotonic();
        while let Some((since, _)) = kept.ages.front()
            && now.saturating_duration_since(*since) >= self.keep_for
            && let Some((_, key)) = kept.ages.pop_front()
        {
            kept.answers.remove(&key);
        }
        (kept, now)
    }
}

#[cold]
fn full() -> Error {
    let message = "As many answers are kept as may be; try again a little later.";
    Error::new(ErrorKind::Busy, "answers_full", message)
}

#[cold]
fn other_type(key: &Key) -> Error {
    let message = format!("Two types of requests are both called {}.", key.request);
    Error::new(ErrorKind::Internal, "request_name_ambiguous", message)
}

impl<R, C> AnswerStore<R> for MemoryAnswerStore<C>
where
    R: Request<Response: Clone> + Clone,
    C: Clock,
{
    async fn find(&self, key: &Key) -> Result<Option<(R, R::Response)>> {
        let (kept, _) = self.kept();
        match kept.answers.get(key) {
            Some(answer) => match answer.downcast_ref::<(R, R::Response)>() {
                Some(found) => Ok(Some(found.clone())),
                None => Err(other_type(key)),
            },
            None if kept.answers.len() >= self.answers_max => Err(full()),
            None => Ok(None),
        }
    }

    async fn keep(&self, key: Key, request: R, answer: R::Response) -> Result<()> {
        let (mut kept, now) = self.kept();
        if kept.answers.insert(key.clone(), Box::new((request, answer))).is_none() {
            kept.ages.push_back((now, key));
        }
        Ok(())
    }
}
